"""The tables of published articles: every figure is measured, checked meanwhile, and put beside the published one."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

import pytest

import dfa_router as dr
from benchmarks import __main__ as cli
from benchmarks.seeds import Row, Scale, run, write
from benchmarks.seeds.contestants import CONTESTANTS, random_topics
from benchmarks.seeds.rows import PUBLISHED
from benchmarks.seeds.single import deep_size, throughput
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.engines.protocol import Matcher

TINY = Scale(seconds=0.0005, operations=4, subscriptions=20, subscribers=20, column=2000)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(run(TINY))


def test_every_engine_and_every_published_figure_has_its_row(rows: list[Row]) -> None:
    found = {(row.table, row.matcher, row.measure, row.condition) for row in rows}
    assert set(PUBLISHED) <= found
    assert len(found) == len(rows)
    assert {row.matcher for row in rows if row.table == "latency"} >= set(dr.engines())
    assert all(row.value >= 0 for row in rows)
    assert sum(row.published is not None for row in rows) == len(PUBLISHED) == 35


def test_mixes_and_inserts_run_at_the_sources_numbers_of_threads(rows: list[Row]) -> None:
    mixes = {row.condition for row in rows if row.table == "mix"}
    assert mixes == {f"{threads} threads" for threads in (2, 4, 8, 16)}
    assert {row.measure for row in rows if row.table == "mix"} == {"50-50 reads and writes", "90-10 reads and writes"}
    inserts = {row.measure for row in rows if row.table == "inserts"}
    assert inserts == {"1:1 inserts to lookups", "1:3 inserts to lookups"}


def test_progress_tells_every_step() -> None:
    told: list[tuple[str, int, int]] = []
    first = next(iter(run(TINY, lambda *step: told.append(step))))
    assert first.table == "latency"
    assert told[0][1] == 0
    assert told[0][2] > 100


def test_the_csv_and_the_page_hold_the_rows(rows: list[Row], tmp_path: Path) -> None:
    table, page = write(rows, tmp_path / "new" / "folder", quick=True, plots=False)
    with table.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["matcher"], float(line["value"])) for line in lines] == [(row.matcher, row.value) for row in rows]
    text = page.read_text("utf-8")
    assert "--quick" in text
    assert "(816 µs)" in text  # the published look-up of the hash map, hot
    assert "What this comparison cannot show" in text
    assert "Of the 20,000 times" in text


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install 'dfa-router[bench]'")
def test_the_plots_are_drawn_and_the_same_figures_give_the_same_bytes(rows: list[Row], tmp_path: Path) -> None:
    written = write(rows, tmp_path / "a", quick=True)
    again = write(rows, tmp_path / "b", quick=True)
    images = [path for path in written if path.suffix == ".svg"]
    assert [path.stem for path in images] == [
        f"seeds-{name}" for name in ("latency", "throughput", "memory", "mix", "inserts")
    ]
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


def test_a_wrong_matcher_does_not_get_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark is also a test: an engine that misses matches is stopped."""
    trie = next(one for one in CONTESTANTS if one.label == "trie")

    class Blind:
        def match(self, key: bytes) -> tuple[int, ...]:
            return ()

        def any(self, key: bytes) -> bool:
            return False

    def build(*_: object) -> Matcher:
        return Blind()

    monkeypatch.setattr(type(trie), "build", build)
    with pytest.raises(AssertionError, match="found 0 pairs"):
        list(throughput(trie, 0.0))


def test_deep_size_counts_what_an_engine_holds_once() -> None:
    word = b"x" * 1000
    assert deep_size([word, word]) < 1300
    assert deep_size([word, b"y" * 1000]) > 2000


def test_random_topics_are_the_same_every_time() -> None:
    assert random_topics(3) == random_topics(5)[:3]
    assert all(topic.count(".") == 4 for topic in random_topics(50))


def test_without_matplotlib_the_command_says_so_before_it_measures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.run(["-q", "seeds"]) == ExitCode.ENVIRONMENT
    assert "pip install 'dfa-router[bench]'" in capsys.readouterr().err.replace("\n", " ")
