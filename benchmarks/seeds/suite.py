"""The run: the steps of all tables in order, and their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.seeds.contestants import CONTESTANTS
from benchmarks.seeds.predicates import predicates
from benchmarks.seeds.rows import Row
from benchmarks.seeds.single import columns, latency, memory, throughput
from benchmarks.seeds.threads import inserts, mix

__all__ = ["Scale", "run"]

THREADS = (2, 4, 8, 16)
INSERTERS = (1, 2, 4, 8)
TRIES = ("trie", "cstrie", "cstrie, locked cells")
"""The contestants of the inserts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured of everything."""

    seconds: float
    """How long each figure of latency, throughput and messages per second may take."""
    operations: int
    """Operations of each thread in a mix, or beside inserts."""
    subscriptions: int = 1000
    """The number of subscriptions, and of topics where a topic space is needed."""
    subscribers: int = 5000
    """Subscribers of the skipfilter."""
    column: int = 1_000_000
    """Keys of the Arrow column."""

    @classmethod
    def full(cls) -> Scale:
        """Return the sizes of the sources: a run of some minutes."""
        return cls(seconds=0.5, operations=1000)

    @classmethod
    def quick(cls) -> Scale:
        """Return sizes for the same tables in less than a minute."""
        return cls(seconds=0.03, operations=50, subscribers=1000)


def run(scale: Scale, progress: Callable[[str, int, int], None] | None = None) -> Iterator[Row]:
    """Yield the rows of all tables; ``progress`` is called with the next step's name, the steps done and the steps in all."""
    steps = list(_steps(scale))
    for done, (label, step) in enumerate(steps):
        if progress is not None:
            progress(label, done, len(steps))
        yield from step()
    if progress is not None:
        progress("done", len(steps), len(steps))


def _steps(scale: Scale) -> Iterator[tuple[str, Callable[[], Iterator[Row]]]]:
    for one in CONTESTANTS:
        yield f"latency of {one.label}", partial(latency, one, scale.subscriptions, scale.seconds / 2)
    for one in CONTESTANTS:
        yield f"throughput of {one.label}", partial(throughput, one, scale.seconds)
    yield "throughput of a column", partial(columns, "dfa", scale.column)
    for one in CONTESTANTS:
        yield f"memory of {one.label}", partial(memory, one, scale.subscriptions)
    dynamic = [one for one in CONTESTANTS if one.dynamic and "split" not in one.options]
    for reads_in_ten in (5, 9):
        for threads in THREADS:
            for one in dynamic:
                label = f"{reads_in_ten}0 % reads in {threads} threads of {one.label}"
                # Each write drops the word cache, and the next read asks every subscription five times: that takes minutes.
                share = 50 if one.engine == "word_cache" else 1
                mixed = partial(mix, one, reads_in_ten, threads, scale.operations, scale.subscriptions, share=share)
                yield label, mixed
    for lookups in (1, 3):
        for inserters in INSERTERS:
            for one in CONTESTANTS:
                if one.label in TRIES:
                    label = f"1:{lookups} in {inserters * (1 + lookups)} threads of {one.label}"
                    yield label, partial(inserts, one, lookups, inserters, scale.operations)
    yield "skipfilter", partial(predicates, scale.subscribers, 2 * scale.seconds)
