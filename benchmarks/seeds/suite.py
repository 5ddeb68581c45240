"""The run: the steps of all tables in order, and their progress."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.seeds import growth
from benchmarks.seeds.contestants import CONTESTANTS
from benchmarks.seeds.fields import fields
from benchmarks.seeds.memory import literal_memory, space_memory, wildcard_memory
from benchmarks.seeds.predicates import FRESH, RECURRING, churn, predicates
from benchmarks.seeds.rows import Row
from benchmarks.seeds.single import columns, latency, throughput
from benchmarks.seeds.threads.contestants import THREADED, UNLOCKED
from benchmarks.seeds.threads.interpreters import FREE, threads

__all__ = ["TABLES", "Scale", "Step", "run", "steps"]

TABLES = ("latency", "throughput", "memory", "growth", "fields", "threads", f"threads{FREE}", "predicates")
"""What can be measured by itself. The tables of threads are called mix, inserts, reads and tail in the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured of everything."""

    seconds: float
    """How long each figure of latency, throughput and messages per second may take."""
    operations: int
    """Operations of each thread in a mix, or beside inserts."""
    subscriptions: int = 1000
    """The number of subscriptions, and of topics where a topic space is needed."""
    subscribers: tuple[int, ...] = (1_000, 5_000, 20_000, 80_000)
    """Subscribers of the skipfilter; the second is the source's number."""
    column: int = 1_000_000
    """Keys of the Arrow column."""

    @classmethod
    def full(cls) -> Scale:
        """Return the sizes of the sources: a run of some minutes."""
        return cls(seconds=0.5, operations=1000)

    @classmethod
    def quick(cls) -> Scale:
        """Return sizes for the same tables in about a minute."""
        return cls(seconds=0.03, operations=50, subscribers=(200, 1_000))


class Step(NamedTuple):
    """A part of a table that is measured by itself."""

    table: str
    label: str
    measure: Callable[[], Iterator[Row]]


def run(
    scale: Scale,
    progress: Callable[[str, int, int], None] | None = None,
    *,
    tables: Collection[str] = TABLES,
    free_threaded: Path | None = None,
) -> Iterator[Row]:
    """Yield the rows of tables, all of them unless some are named.

    ``free_threaded`` is a Python without the global lock, without which there are no tables of it. ``progress`` is called
    with the next step's name, the steps done and the steps in all.
    """
    chosen = [step for step in steps(scale, free_threaded) if step.table in tables]
    for done, step in enumerate(chosen):
        if progress is not None:
            progress(f"{step.table} of {step.label}", done, len(chosen))
        yield from step.measure()
    if progress is not None:
        progress("done", len(chosen), len(chosen))


def steps(scale: Scale, free_threaded: Path | None = None) -> Iterator[Step]:
    """Yield what is measured, part by part."""
    for one in CONTESTANTS:
        yield Step("latency", one.label, partial(latency, one, scale.subscriptions, scale.seconds / 2))
    for one in CONTESTANTS:
        yield Step("throughput", one.label, partial(throughput, one, scale.seconds))
    yield Step("throughput", "a column", partial(columns, scale.column))
    for one in CONTESTANTS:
        yield Step("memory", one.label, partial(literal_memory, one, scale.subscriptions))
    yield Step("memory", "wildcards", wildcard_memory)
    yield Step("memory", "topic spaces", partial(space_memory, scale.subscriptions))
    for kind in (
        *(growth.by_subscriptions, growth.by_words, growth.updates, growth.wildcards),
        *(growth.snapshots, growth.constituents, growth.filtering, growth.bitmaps),
    ):
        yield Step("growth", kind.__name__.replace("_", " "), partial(kind, scale.seconds / 2))
    yield Step("fields", "requests", partial(fields, scale.seconds / 2))
    for label in THREADED:
        yield Step("threads", label, partial(threads, label, scale.operations))
        if free_threaded is not None and label in UNLOCKED:
            yield Step(f"threads{FREE}", label, partial(threads, label, scale.operations, free_threaded))
    for subscribers in scale.subscribers:
        measured = partial(predicates, subscribers, RECURRING, 2 * scale.seconds)
        yield Step("predicates", f"{subscribers:,} subscribers", measured)
    yield Step("predicates", "topics that never recur", partial(predicates, scale.subscribers[1], FRESH, scale.seconds))
    yield Step("predicates", "subscribers that come and go", partial(churn, 20 * scale.operations))
