"""The tables of published articles: every figure is measured, checked meanwhile, and put beside the published one."""

from __future__ import annotations

import csv
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from benchmarks import __main__ as cli
from benchmarks.seeds import Row, Scale, run, write
from benchmarks.seeds.claims import CLAIMS
from benchmarks.seeds.contestants import CONTESTANTS, random_topics
from benchmarks.seeds.memory import BY_SUBSCRIPTIONS, LITERAL, OVER_TOPICS, WILDCARDS, deep_size
from benchmarks.seeds.predicates import RECURRING, SKIP, recurring
from benchmarks.seeds.rows import PUBLISHED
from benchmarks.seeds.single import throughput
from benchmarks.seeds.sources import digest
from benchmarks.seeds.suite import TABLES, steps
from benchmarks.seeds.threads.contestants import THREADED, UNLOCKED, live
from benchmarks.seeds.threads.interpreters import FREE, threads
from benchmarks.seeds.threads.work import mix, treats_keys
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.engines.live import LiveMatcher, LockedMatcher, LockFreeMatcher
from dfa_router.engines.protocol import Matcher

TINY = Scale(seconds=0.0005, operations=4, subscriptions=20, subscribers=(20, 40), column=2000)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """All tables but those of several threads, and of these two tries."""
    tables = [table for table in TABLES if not table.startswith("threads")]
    return [*run(TINY, tables=tables), *threads("trie", 4), *threads("cstrie", 4)]


def test_every_engine_and_every_published_figure_has_its_row(rows: list[Row]) -> None:
    found = {(row.table, row.matcher, row.measure, row.condition) for row in rows}
    assert set(PUBLISHED) <= found
    assert len(found) == len(rows)
    assert {row.matcher for row in rows if row.table == "latency"} >= set(dr.engines())
    assert all(row.value >= 0 for row in rows)
    assert sum(row.published is not None for row in rows) == len(PUBLISHED) == 35


def test_the_naive_figures_stand_beside_the_scan_that_splits_every_time() -> None:
    """Treat's naive matcher splits both sides for each pair; his figures stood beside a scan that does not."""
    naive = {matcher for _, matcher, _, _ in PUBLISHED if matcher.startswith("scan")}
    assert naive == {"scan, split every time"}
    assert PUBLISHED["latency", "scan, split every time", "lookup", "hot"] == 815_787


def test_mixes_and_inserts_run_at_the_sources_numbers_of_threads(rows: list[Row]) -> None:
    mixes = {row.condition for row in rows if row.table == "mix"}
    assert mixes == {"1 thread", *(f"{threads} threads" for threads in (2, 4, 8, 16))}
    assert {row.measure for row in rows if row.table == "mix"} == {"50-50 reads and writes", "90-10 reads and writes"}
    inserts = {row.measure for row in rows if row.table == "inserts"}
    assert inserts == {"1:1 inserts to lookups", "1:3 inserts to lookups"}
    assert {step.label for step in steps(TINY) if step.table == "threads"} == set(THREADED)
    free = {step.label for step in steps(TINY, Path("python3.13t")) if step.table == f"threads{FREE}"}
    assert free == set(UNLOCKED)


@pytest.mark.parametrize("reads_in_ten", [5, 9])
def test_threads_of_a_mix_subscribe_with_treats_own_keys(reads_in_ten: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were random ones of five words, none of which shares its beginning with another."""
    made: list[LiveMatcher] = []

    def noted(*given: Any) -> LiveMatcher:
        made.append(live(*given))
        return made[-1]

    monkeypatch.setattr("benchmarks.seeds.threads.work.live", noted)
    mix("trie", reads_in_ten, 2, 60)
    added = {binding.pattern for binding in made[0].bindings[1_000:]}
    assert added
    assert added <= set(treats_keys(60))
    assert treats_keys(60)[59] == "9.9.59"


def test_the_page_says_how_many_topics_recur() -> None:
    """It said a hundred."""
    assert len({topic for message in recurring() for topic in message}) == 6
    assert RECURRING.startswith("six topics")


def test_only_the_locks_that_an_engine_needs_are_measured() -> None:
    assert isinstance(live("cstrie", ["a"], []), LockFreeMatcher)
    assert isinstance(live("trie", ["a"], []), LockedMatcher)


def test_a_dfa_that_was_used_is_larger_than_a_new_one(rows: list[Row]) -> None:
    """The table once had the DFA as it is built, without a single state."""
    held = {r.condition: r.value for r in rows if (r.table, r.matcher, r.measure) == ("memory", "dfa", LITERAL)}
    assert held["after use"] > 1.5 * held["as built"]
    wild = {
        r.matcher: r.value
        for r in rows
        if r.table == "memory" and r.measure == WILDCARDS and r.condition == "after use"
    }
    assert wild["dfa"] > 2 * wild["trie"]


def test_a_topic_space_counts_as_memory(rows: list[Row]) -> None:
    """Without it the plain inverted bitmap seemed to take less than the optimised one."""
    spaces = {(r.matcher, r.condition): r.value for r in rows if r.table == "memory" and r.measure == OVER_TOPICS}
    assert spaces["inverted", "9,000 topics"] > 5 * spaces["inverted", "1,000 topics"]
    assert all(value > 2 * spaces["inverted_opt", size] for (name, size), value in spaces.items() if name == "inverted")


def test_the_factor_between_the_bitmaps_falls_with_the_subscriptions(rows: list[Row]) -> None:
    """From one number of subscriptions a single factor seemed to be the bitmaps' own."""
    held = {(r.matcher, r.condition): r.value for r in rows if r.table == "memory" and r.measure == BY_SUBSCRIPTIONS}
    conditions = [condition for name, condition in held if name == "inverted"]
    factors = [held["inverted", one] / held["inverted_opt", one] for one in conditions]
    assert conditions == ["1 subscriptions", "2 subscriptions", "6 subscriptions", "20 subscriptions"]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] > 3 * factors[-1]


def test_columns_are_measured_with_and_without_the_key_cache(rows: list[Row]) -> None:
    labels = [r.matcher for r in rows if r.table == "throughput" and "column" in r.matcher]
    assert labels == ["dfa, Arrow column", "dfa, Arrow column, without the key cache"]


def test_the_skipfilter_is_measured_by_the_number_of_subscribers(rows: list[Row]) -> None:
    """From one number it seemed that the factor of 20,000 could not be had."""
    found = [r.condition for r in rows if (r.table, r.matcher, r.measure) == ("predicates", SKIP, RECURRING)]
    assert found == ["20 subscribers", "40 subscribers"]
    assert Scale.full().subscribers[-1] >= 80_000


def test_progress_tells_every_step() -> None:
    told: list[tuple[str, int, int]] = []
    first = next(iter(run(TINY, lambda *step: told.append(step))))
    assert first.table == "latency"
    assert told[0][1] == 0
    assert told[0][2] == len(list(steps(TINY))) > 60


def test_the_csv_and_the_pages_hold_the_rows(rows: list[Row], tmp_path: Path) -> None:
    table, page, claims = write(rows, tmp_path / "new" / "folder", quick=True, plots=False)
    with table.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["matcher"], float(line["value"])) for line in lines] == [(row.matcher, row.value) for row in rows]
    text = page.read_text("utf-8")
    assert "--quick" in text
    assert "(816 µs)" in text  # the published look-up of the naive map, hot
    assert "What this comparison cannot show" in text
    assert "no free-threaded Python was named" in text
    assert digest() in text
    assert all(claim.says.replace("``", "`") in claims.read_text("utf-8") for claim in CLAIMS)


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install 'dfa-router[bench]'")
def test_the_plots_are_drawn_and_the_same_figures_give_the_same_bytes(rows: list[Row], tmp_path: Path) -> None:
    free = [
        replace(row, table=f"{row.table}{FREE}") for row in rows if row.table in ("mix", "inserts", "reads", "tail")
    ]
    written = write([*rows, *free], tmp_path / "a", quick=True)
    again = write([*rows, *free], tmp_path / "b", quick=True)
    images = [path for path in written if path.suffix == ".svg"]
    names = ("latency", "throughput", "memory", "mix", "inserts", "mix-free", "inserts-free", "predicates")
    assert [path.stem for path in images] == [f"seeds-{name}" for name in names]
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
