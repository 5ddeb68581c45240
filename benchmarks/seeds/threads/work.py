"""What the threads do: reads and writes, inserts beside look-ups, look-ups alone, and look-ups one by one beside a writer.

All threads begin together, and the time ends with the last of them; of five runs the fastest counts. Keys and subscriptions
of the mixes are Treat's: each thread has the same thousand, ``j%10.j%50.j``, in a structure with 1,000 random ones.
"""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.seeds.threads.contestants import live
from dfa_router.engines.live import LiveMatcher
from dfa_router.language.bindings import Binding

__all__ = ["Figure", "inserts", "mix", "reads", "tail", "treats_keys"]

Work = Callable[[], None]
RUNS = 5
POPULATION = 1_000


class Figure(NamedTuple):
    """A figure of one contestant."""

    table: str
    measure: str
    condition: str
    value: float
    unit: str
    note: str


def mix(label: str, reads_in_ten: int, threads: int, operations: int, *, share: int = 1) -> Figure:
    """Measure a mix: with 5 ``reads_in_ten`` half of the threads read and half write, else each thread does both.

    With a ``share`` of n only one n-th of the operations is done, and the time is multiplied by n.
    """
    operations = max(1, operations // share)
    keys = treats_keys(operations)
    population = _population()

    def works() -> list[Work]:
        matcher = live(label, population, [*population, *keys])
        if reads_in_ten == 5 and threads > 1:
            return [
                _inserting(matcher, keys) if thread % 2 else _reading(matcher, keys, operations)
                for thread in range(threads)
            ]
        return [_mixing(matcher, keys, reads_in_ten) for _ in range(threads)]

    return Figure(
        "mix",
        f"{10 * reads_in_ten}-{100 - 10 * reads_in_ten} reads and writes",
        f"{threads} thread" + "s" * (threads > 1),
        _fastest(works) * 1e3 * share,
        "ms",
        f"{operations} operations a thread" + (f", times {share}" if share > 1 else ""),
    )


def inserts(label: str, lookups_per_insert: int, inserters: int, operations: int) -> Iterator[Figure]:
    """Measure threads that insert into an empty structure beside threads that look up; and the same work in one thread."""
    topics = _random_topics(inserters * operations, 3)
    threads = inserters * (1 + lookups_per_insert)

    def works() -> list[Work]:
        matcher = live(label, [], topics)
        inserting = [
            _inserting(matcher, topics[thread * operations : (thread + 1) * operations]) for thread in range(inserters)
        ]
        return inserting + [_reading(matcher, topics, operations) for _ in range(inserters * lookups_per_insert)]

    def one_after_the_other() -> list[Work]:
        parts = works()

        def all_of_them() -> None:
            for work in parts:
                work()

        return [all_of_them]

    for condition, make in (
        (f"{threads} threads", works),
        (f"1 thread, the work of {threads} threads", one_after_the_other),
    ):
        measure = f"1:{lookups_per_insert} inserts to lookups"
        yield Figure("inserts", measure, condition, _fastest(make) * 1e3, "ms", f"{operations} operations a thread")


def reads(label: str, lookups: int) -> Iterator[Figure]:
    """Measure look-ups alone: in one thread, and as many again in a second one, of the same structure and of one of its own."""
    keys = treats_keys(1_000)
    patterns = [*_population(), *keys]

    def shared(threads: int) -> list[Work]:
        matcher = live(label, patterns, [])
        return [_reading(matcher, keys, lookups) for _ in range(threads)]

    for condition, make in (
        ("1 thread", lambda: shared(1)),
        ("2 threads", lambda: shared(2)),
        ("2 threads, a structure each", lambda: [*shared(1), *shared(1)]),
    ):
        yield Figure("reads", "look-ups alone", condition, _fastest(make) * 1e3, "ms", f"{lookups} look-ups a thread")


def tail(label: str, lookups: int) -> Iterator[Figure]:
    """Measure single look-ups in one thread while another one writes: the median, and the slowest of a thousand."""
    matcher = live(label, _population(), [])
    keys = treats_keys(1_000)
    stop = threading.Event()
    times: list[float] = []

    def write() -> None:
        while not stop.is_set():
            for key in keys:
                matcher.subscribe(Binding(key, "subscriber"))
            for key in keys:
                matcher.unsubscribe(Binding(key, "subscriber"))

    def read() -> None:
        encoded = [key.encode() for key in keys]
        try:
            for number in range(lookups):
                begun = time.perf_counter()
                matcher.match(encoded[number % len(encoded)])
                times.append(time.perf_counter() - begun)
        finally:
            stop.set()

    _timed([read, write])
    times.sort()
    note = f"{lookups} look-ups beside a writer"
    yield Figure("tail", "look-up", "median", statistics.median(times) * 1e6, "us", note)
    yield Figure("tail", "look-up", "slowest of a thousand", times[-1 - lookups // 1_000] * 1e6, "us", note)


def treats_keys(count: int) -> list[str]:
    """Return the keys of Treat's benchmark, ``j%10.j%50.j``.

    >>> treats_keys(12)[-1]
    '1.11.11'
    """
    return [f"{number % 10}.{number % 50}.{number}" for number in range(count)]


def _population() -> list[str]:
    return _random_topics(POPULATION, 2016)


def _random_topics(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [".".join(f"{chance.getrandbits(31):x}" for _ in range(5)) for _ in range(count)]


def _inserting(matcher: LiveMatcher, topics: Sequence[str]) -> Work:
    bindings = [Binding(topic, "subscriber") for topic in topics]

    def work() -> None:
        for binding in bindings:
            matcher.subscribe(binding)

    return work


def _reading(matcher: LiveMatcher, topics: Sequence[str], operations: int) -> Work:
    keys = [topics[number % len(topics)].encode() for number in range(operations)]

    def work() -> None:
        for key in keys:
            matcher.match(key)

    return work


def _mixing(matcher: LiveMatcher, topics: Sequence[str], reads_in_ten: int) -> Work:
    def work() -> None:
        for number, topic in enumerate(topics):
            if number % 10 < reads_in_ten:
                matcher.match(topic.encode())
            else:
                matcher.subscribe(Binding(topic, "subscriber"))

    return work


def _fastest(make: Callable[[], list[Work]]) -> float:
    """Return the seconds of the fastest run, each of a new structure."""
    return min(_timed(make()) for _ in range(RUNS))


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
