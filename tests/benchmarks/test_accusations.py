"""Campaigns against right matchers: nobody is accused, and one that is wrong would be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import __main__ as cli
from benchmarks.verification.accusations import WAYS, run, write
from benchmarks.verification.accusations import campaigns as asking
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.language.dialects import AMQP, DIALECTS, NATS

FEW = tuple(replace(way, rounds=6) for way in (WAYS[0], WAYS[3]))


def test_nobody_is_accused_and_the_page_counts_what_was_asked(tmp_path: Path) -> None:
    result = run(seeds=1, seed=3, dialects=[NATS], ways=FEW)
    assert not result.accusations, result.accusations[0].text
    assert [name for _, name in result.asked] == [way.name for way in FEW]
    assert result.total.rounds > 4 * len(FEW)
    text = write(result, tmp_path, command="it").read_text()
    assert "**Nobody was accused.**" in text
    assert f"| all |  | {len(FEW)} | {result.total.rounds}" in text


@pytest.mark.long
def test_all_dialects_have_histories_and_threads() -> None:
    result = run(seeds=2, seed=7)
    assert not result.accusations, result.accusations[0].text
    assert {dialect for dialect, _ in result.asked} == set(DIALECTS)
    assert all(asked.histories for asked in result.asked.values())


def test_a_matcher_that_is_wrong_is_accused_and_ends_with_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.py").write_text("def match(patterns, key):\n    return []\n")
    monkeypatch.syspath_prepend(tmp_path)
    wrong = replace(FEW[0], target="wrong:match")
    told = {**(asking.run.__kwdefaults__ or {}), "ways": (wrong,), "dialects": (AMQP,)}
    monkeypatch.setattr(asking.run, "__kwdefaults__", told)
    assert cli.run(["-q", "accusations", "--seeds", "1", "--out", str(tmp_path)]) == ExitCode.FOUND
    text = (tmp_path / "accusations.md").read_text()
    assert "**1 campaigns accused a matcher that is right.**" in text
    assert "wrong:match misses a match" in text
