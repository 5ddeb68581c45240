"""The tables of several threads: mixes of reads and writes, and inserts beside look-ups.

All threads begin together, and the time ends with the last of them. Python runs the bytecode of one thread at a time, so
a trie without locks can gain no more than the waiting for a lock that a suspended thread holds. The time of the same
operations in one thread is measured as well, to show that.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.seeds.contestants import Contestant, random_topics
from benchmarks.seeds.rows import Row
from dfa_router.router import Router

__all__ = ["inserts", "mix"]

Work = Callable[[], None]


def mix(
    contestant: Contestant, reads_in_ten: int, threads: int, operations: int, subscriptions: int, *, share: int = 1
) -> Iterator[Row]:
    """Measure a mix: with 5 ``reads_in_ten`` half of the threads read and half write, else each thread does both.

    With a ``share`` of n only one n-th of the operations is done, and the time is multiplied by n.
    """
    operations = max(1, operations // share)
    topics = random_topics(subscriptions, seed=2)
    fresh = random_topics(threads * operations, seed=3)

    def works() -> list[Work]:
        router = contestant.router(random_topics(subscriptions), topics)
        works: list[Work] = []
        for thread in range(threads):
            mine = fresh[thread * operations : (thread + 1) * operations]
            if reads_in_ten == 5:
                works.append(_inserting(router, mine) if thread % 2 else _reading(router, topics, operations))
            else:
                works.append(_mixing(router, mine, topics, reads_in_ten))
        return works

    yield Row(
        table="mix",
        matcher=contestant.label,
        measure=f"{10 * reads_in_ten}-{100 - 10 * reads_in_ten} reads and writes",
        condition=f"{threads} threads",
        value=_median(works) * 1e3 * share,
        unit="ms",
        note=f"{operations} operations a thread" + (f", times {share}" if share > 1 else ""),
    )


def inserts(contestant: Contestant, lookups_per_insert: int, inserters: int, operations: int) -> Iterator[Row]:
    """Measure threads that insert into an empty structure beside threads that look up; and the same work in one thread."""
    topics = random_topics(inserters * operations, seed=3)

    def works() -> list[Work]:
        router = contestant.router([], topics)
        inserting = [
            _inserting(router, topics[thread * operations : (thread + 1) * operations]) for thread in range(inserters)
        ]
        return inserting + [_reading(router, topics, operations) for _ in range(inserters * lookups_per_insert)]

    def one_after_the_other() -> list[Work]:
        parts = works()

        def all_of_them() -> None:
            for work in parts:
                work()

        return [all_of_them]

    threads = inserters * (1 + lookups_per_insert)
    for condition, make in (
        (f"{threads} threads", works),
        (f"1 thread, the work of {threads} threads", one_after_the_other),
    ):
        yield Row(
            table="inserts",
            matcher=contestant.label,
            measure=f"1:{lookups_per_insert} inserts to lookups",
            condition=condition,
            value=_median(make) * 1e3,
            unit="ms",
            note=f"{operations} operations a thread",
        )


def _inserting(router: Router, topics: Sequence[str]) -> Work:
    def work() -> None:
        for topic in topics:
            router.subscribe(topic, "subscriber")

    return work


def _reading(router: Router, topics: Sequence[str], operations: int) -> Work:
    def work() -> None:
        for number in range(operations):
            router.match_bindings(topics[number % len(topics)])

    return work


def _mixing(router: Router, fresh: Sequence[str], topics: Sequence[str], reads_in_ten: int) -> Work:
    def work() -> None:
        for number, topic in enumerate(fresh):
            if number % 10 < reads_in_ten:
                router.match_bindings(topics[number % len(topics)])
            else:
                router.subscribe(topic, "subscriber")

    return work


def _median(make: Callable[[], list[Work]]) -> float:
    """Return the median seconds of three runs, each of a new structure."""
    return statistics.median(_timed(make()) for _ in range(3))


def _timed(works: Sequence[Work]) -> float:
    """Run each function in a thread of its own; return the seconds from their common start to the last end."""
    barrier = threading.Barrier(len(works) + 1)
    errors: list[BaseException] = []

    def run(work: Work) -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised below, in the caller's thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    barrier.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begun
    if errors:
        raise errors[0]
    return took
