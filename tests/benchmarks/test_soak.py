"""The soak: it finds nothing where nothing is wrong, finds planted faults, and a seed repeats a round."""

from __future__ import annotations

from pathlib import Path

import pytest

import dfa_router as dr
from benchmarks import __main__ as cli
from benchmarks.verification.soak import Tally, run, write
from benchmarks.verification.soak.material import FORMS, KINDS
from dfa_router.cli.exit_codes import ExitCode


@pytest.fixture(scope="module")
def tally() -> Tally:
    return run(minutes=None, rounds=12, seed=100)


def test_no_answer_differs(tally: Tally) -> None:
    assert tally.disagreements == []
    assert tally.rounds == 12
    assert tally.keys > 10_000
    assert tally.pairs > tally.keys
    assert tally.by_specification > 100
    assert tally.clears > 0
    assert tally.fallbacks > 0


def test_rounds_differ_in_their_circumstances(tally: Tally) -> None:
    seen = set(tally.circumstances)
    assert len([name for name in seen if name.startswith("bindings:")]) >= 4
    assert len([name for name in seen if name.startswith("form:")]) >= len(FORMS) - 2
    assert {"life: pickled", "life: saved and loaded", "asked at once: 4", "threads: 4"} <= seen
    assert {f"bindings: {kind}" for kind in KINDS} >= {name for name in seen if name.startswith("bindings:")}


def test_a_seed_repeats_a_round() -> None:
    once, again = (run(minutes=None, rounds=1, seed=104) for _ in range(2))
    assert once.circumstances == again.circumstances
    assert (once.keys, once.pairs, once.bindings) == (again.keys, again.pairs, again.bindings)


def test_time_ends_it() -> None:
    assert run(minutes=1e-9).rounds == 1


def test_a_lost_answer_is_found_with_its_seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A planted fault: accept sets are not handed to the result before the cache is cleared."""
    from compiler.machine.collector import Collector
    from compiler.machine.walker import Walker

    clear = Walker._clear
    hand_over = Walker._hand_over_sets

    def forgetful(self: Walker, found: Collector, stop: int) -> None:
        if self.stats().clears == 0:
            hand_over(self, found, stop)

    monkeypatch.setattr(Walker, "_hand_over_sets", forgetful)
    assert Walker._clear is clear
    code = cli.run(["-q", "soak", "--rounds", "12", "--seed", "100", "--out", str(tmp_path)])
    assert code == ExitCode.FOUND
    text = (tmp_path / "soak.md").read_text("utf-8")
    assert "disagreements.**" in text
    assert "* seed 1" in text


def test_a_crash_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: dr.Router, key: str) -> bool:
        raise ZeroDivisionError(key[:1])

    monkeypatch.setattr(dr.Router, "any", broken)
    tally = run(minutes=None, rounds=2, seed=7)
    assert [one.split(":")[0] for one in tally.disagreements] == ["seed 7", "seed 8"]
    assert "ZeroDivisionError" in tally.disagreements[0]


def test_the_page_tells_counts_and_seeds(tally: Tally, tmp_path: Path) -> None:
    text = write(tally, tmp_path / "new", command="the command").read_text("utf-8")
    assert "**No answer differed.**" in text
    assert "seeds 100 to 111" in text
    assert f"| caches cleared | {tally.clears:,} |" in text
