"""The engine benchmark: every contestant takes part and is compared with the others, and targets are computed."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dfa_router as dr
from benchmarks import __main__ as cli
from benchmarks.agreement import agree, summary, trie_summary
from benchmarks.compiled_trie import CompiledTrie
from benchmarks.engine import PARTS, WORKLOADS, Claim, Row, run, suite, write
from benchmarks.engine import memory as memory_part
from benchmarks.engine.peers import MATCHERS
from benchmarks.engine.rows import RATIOS, claims
from dfa_router.cli.exit_codes import ExitCode


@pytest.fixture(scope="module")
def found() -> list[Row | Claim]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suite, "SAMPLE_SECONDS", 0.05)
        patch.setattr(suite, "MATCHERS", [replace(peer, limit=min(peer.limit, 2000)) for peer in MATCHERS])
        return list(run(("throughput", "nservicebus", "repeat"), scale=0.005, rounds=1))


def test_every_workload_has_all_contestants(found: list[Row | Claim]) -> None:
    rows = [one for one in found if isinstance(one, Row)]
    for name in ("throughput", "nservicebus", "repeat"):
        contestants = {row.contestant for row in rows if row.workload == name}
        assert {"dfa, cold", "dfa, warm", "nfa", "compiled trie", "pyarrow index_in", "google-re2 Set"} <= contestants
    assert all(row.ns_per_key for row in rows if row.contestant in ("dfa, cold", "dfa, warm", "nfa", "compiled trie"))


def test_targets_are_the_ratios_of_the_rows(found: list[Row | Claim]) -> None:
    times = {(row.workload, row.contestant): row.ns_per_key or 0.0 for row in found if isinstance(row, Row)}
    targets = {(one.workload, one.what): one for one in found if isinstance(one, Claim)}
    warm = targets["throughput", "dfa, warm to pyarrow index_in"]
    assert warm.measured == pytest.approx(times["throughput", "dfa, warm"] / times["throughput", "pyarrow index_in"])
    better = min(times["nservicebus", "nfa"], times["nservicebus", "compiled trie"])
    cold = targets["nservicebus", "dfa, cold to nfa or compiled trie"]
    assert cold.measured == pytest.approx(times["nservicebus", "dfa, cold"] / better)
    assert cold.bound == 1.2


def test_a_target_is_met_missed_or_not_measured() -> None:
    times = {"dfa, warm": 50.0, "dfa, cold": 200.0, "pyarrow index_in": 200.0, "compiled trie": 900.0}
    rows = [Row(workload="stock", contestant=n, ns_per_key=t, ratio=None) for n, t in times.items()]
    met = {one.what: one.met for one in claims(rows)}
    assert met == {
        "dfa, warm to pyarrow index_in": True,
        "dfa, cold to pyarrow index_in": False,
        "dfa, cold to DuckDB hash join": None,
        "compiled trie to pyarrow index_in": False,
    }
    assert {workload for workload, *_ in RATIOS} == set(WORKLOADS)


class Blind:
    """A trie that finds nothing."""

    nbytes = 0

    def __init__(self, patterns: Sequence[str]) -> None: ...

    def match(self, keys: pa.Array) -> Any:
        found = dr.compile([]).match_batch(keys)
        return type("Found", (), {"offsets": np.zeros(len(found) + 1, np.int64), "positions": np.zeros(0, np.int32)})


def test_a_wrong_contestant_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "CompiledTrie", Blind)
    with pytest.raises(AssertionError, match=r"throughput: contestants disagree on .*'compiled trie': \(0, 0\)"):
        list(run(("throughput",), scale=0.005, rounds=1))


def test_a_peer_that_is_not_installed_is_named_and_its_targets_are_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(suite, "installed", lambda package: package == "pyarrow")
    found = list(run(("hard",), scale=0.005, rounds=1))
    row = next(one for one in found if isinstance(one, Row) and one.contestant == "google-re2 Set")
    assert row.ns_per_key is None
    assert row.note == "not installed"
    assert not any(one.contestant == "DuckDB hash join" for one in found if isinstance(one, Row))
    assert [one.met for one in found if isinstance(one, Claim)] == [None, None]


def test_pairs_and_sums_weigh_sets_by_their_keys() -> None:
    bindings = [("a.*", "x"), ("#", "y"), ("b", "z")]
    keys = pa.array(["a.b", "b", "a.b", None, "c"])
    assert summary(dr.compile(bindings).match_batch(keys)) == (2 + 2 + 2 + 1, 1 + 3 + 1 + 1)
    encoded = pa.array(["a.b", "b", "a.b", "c"]).dictionary_encode()
    found = CompiledTrie([pattern for pattern, _ in bindings]).match(encoded.dictionary)
    assert trie_summary(found, encoded) == (7, 6)
    with pytest.raises(AssertionError, match=r"here: contestants disagree on .*'a': \(1, 2\), 'b': \(1, 3\)"):
        agree("here", {"a": (1, 2), "b": (1, 3)})


def test_the_page_and_the_csvs_hold_everything(found: list[Row | Claim], tmp_path: Path) -> None:
    missed = Claim(workload="hard", what="a thing", measured=3.0, unit="x", sense="<=", bound=2.0, note="why")
    rows, targets, page = write([*found, missed], tmp_path / "new", command="the command", plots=False)
    with rows.open(encoding="utf-8") as file:
        assert [line["contestant"] for line in csv.DictReader(file)] == [
            one.contestant for one in found if isinstance(one, Row)
        ]
    assert targets.read_text("utf-8").splitlines()[-1] == "hard,a thing,3.0,x,<=,2.0,why"
    text = page.read_text("utf-8")
    assert "| hard | a thing | 3.00 x | ≤ 2.00 x | **missed** | why |" in text
    for stated in (
        "`index_in` builds its hash table",
        "`max_mem`",
        "compiled trie is the fair opponent",
        "the command",
    ):
        assert stated in text


def test_the_plot_has_no_panel_for_what_has_no_ratio(found: list[Row | Claim], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    without = [one for one in found if isinstance(one, Row) and one.ratio is None]
    assert not any(path.suffix == ".svg" for path in write(without, tmp_path / "a", command="", plots=True))
    drawn = write(found, tmp_path / "b", command="", plots=True)[-1].read_text("utf-8")
    assert "nservicebus" in drawn
    assert "compiled trie" in drawn


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc to see memory from outside")
def test_memory_is_seen_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk stays within its bound, and one that takes 64 MiB on the side is noticed."""
    monkeypatch.setattr(memory_part, "CASES", (("hard", (16 << 20,)),))
    honest = [one for one in memory_part.memory(0.02, 1, lambda _: None) if isinstance(one, Claim)]
    assert [one.met for one in honest] == [True]
    assert "fallbacks" in honest[0].note
    leak = memory_part.CHILD.replace("stats = matcher.stats()", "leak = b'x' * (64 << 20); stats = matcher.stats()")
    monkeypatch.setattr(memory_part, "CHILD", leak)
    leaking = [one for one in memory_part.memory(0.02, 1, lambda _: None) if isinstance(one, Claim)]
    assert [one.met for one in leaking] == [False]
    assert (leaking[0].measured or 0) > 64


def test_single_keys_threads_and_processes_have_their_targets() -> None:
    found = [one for part in ("threads", "single", "process") for one in PARTS[part](0.005, 1, lambda _: None)]
    targets = [one for one in found if isinstance(one, Claim)]
    assert [(one.sense, one.bound, one.unit) for one in targets] == [
        (">=", 1.8, "x"),
        ("<=", 2.0, "x"),
        ("<=", 1.5, "us"),
        ("<=", 0.5, "s"),
        ("<=", 1.5, "s"),
    ]
    assert all(one.measured is not None and one.measured > 0 for one in targets)


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["-q", "engine", "stok"]) == ExitCode.USAGE
    assert "no part 'stok'" in capsys.readouterr().err.replace("\n", " ")
