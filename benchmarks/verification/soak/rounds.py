"""Rounds of the soak: a router in random circumstances is asked in several ways, and every answer is checked."""

from __future__ import annotations

import pickle
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import dfa_router as dr
from benchmarks.resident import memory
from benchmarks.verification.soak.answers import Key, asked, compare, compare_single, right_answers
from benchmarks.verification.soak.disturbances import DISTURBANCES, Disturbed
from benchmarks.verification.soak.material import as_column, draw_bindings, draw_keys, draw_order, draw_raw_keys
from benchmarks.verification.soak.tally import Tally
from benchmarks.verification.soak.watch import watched
from compiler.prepare import compile_kernels

__all__ = ["run"]

MOST_DISAGREEMENTS = 20
"""The soak ends after this many: more would not help to find the cause."""
HANG_SECONDS = 600.0
"""A round that takes longer than that is taken for one that never ends; the slowest take ten seconds."""


def run(
    *,
    minutes: float | None,
    rounds: int | None = None,
    seed: int = 0,
    hangs: Path | None = None,
    hang_seconds: float = HANG_SECONDS,
    progress: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Soak for some minutes or for a number of rounds; round i has the seed ``seed + i``.

    A disagreement or an exception is recorded with its
    seed and circumstances, and the soak goes on. A round that takes longer than ``hang_seconds`` ends the process, and the
    stacks of its threads go to the file ``hangs``, if that is given.
    """
    compile_kernels()
    tally = Tally(first_seed=seed)
    started = time.monotonic()
    while (rounds is None or tally.rounds < rounds) and len(tally.disagreements) < MOST_DISAGREEMENTS:
        number = seed + tally.rounds
        with watched(hangs, hang_seconds, f"the round of seed {number}"):
            try:
                _round(number, tally)
            except AssertionError as error:
                tally.disagreements.append(f"seed {number}: {error}")
            except Exception as error:  # noqa: BLE001 - a crash is a finding as well: it is recorded and reported
                tally.disagreements.append(f"seed {number}: {type(error).__name__}: {error}")
        if (held := memory()) is not None:
            tally.memory.append(held)
        tally.rounds += 1
        tally.seconds = time.monotonic() - started
        progress(tally)
        if minutes is not None and tally.seconds >= 60 * minutes:
            break
    if (growth := tally.growth()) is not None:
        tally.disagreements.append(growth)
    return tally


def _round(seed: int, tally: Tally) -> None:
    """Draw a round and check its answers; raises AssertionError for one that differs."""
    rng = random.Random(seed)
    kind, bindings = draw_bindings(rng)
    patterns = [pattern for pattern, _ in bindings]
    keys = draw_keys(rng, patterns)
    unreadable = draw_raw_keys(rng, keys)
    expected = right_answers(rng, bindings, [*keys, *unreadable], tally)
    cache_bytes = 0 if rng.random() < 0.05 else int(2 ** rng.uniform(8, 27))
    engine = "nfa" if rng.random() < 0.1 else "dfa"
    key_cache = rng.choice(["auto", "on", "off"])
    options = {"key_cache": key_cache} if engine == "dfa" else {}
    router = dr.compile(bindings, cache_bytes=cache_bytes, engine=engine, **options)
    tally.bindings += len(bindings)
    tally.circumstances.update(
        [f"bindings: {kind}", f"engine: {engine}", f"cache: {_size(cache_bytes)}", f"key cache: {key_cache}"]
    )
    for _ in range(rng.randint(1, 4)):
        life = rng.choice(["as it is", "as it is", "as it is", "pickled", "saved and loaded", "sealed", "sealed"])
        if life != "as it is":
            tally.count(router.stats())
            router = _reborn(router, life, key_cache, rng.sample(keys, rng.randint(0, len(keys))))
        threads = rng.randint(1, 4)
        at_once = rng.choice([1, 1, 1, 2, 4])
        what = f"{kind}, {engine}, {cache_bytes} bytes, key cache {key_cache}, {life}, {threads} threads, asked {at_once} times at once"
        tally.circumstances.update([f"life: {life}", f"threads: {threads}", f"asked at once: {at_once}"])
        jobs = []
        for _ in range(at_once):
            order, rows = draw_order(rng, rng.choice([keys, keys, unreadable]))
            form, column = as_column(rng, rows)
            tally.circumstances.update([f"order: {order}", f"form: {form}"])
            tally.keys += len(rows)
            jobs.append((f"{what}, {order}, {form}", rows, column))
        for context, rows, found in asked(router, jobs, threads):
            tally.pairs += compare(context, rows, found, expected)
        some: list[Key] = [*rng.sample(keys, min(len(keys), 30)), *unreadable[:5]]
        tally.single_keys += len(some)
        compare_single(what, router, some, expected, bindings)
        disturbance = rng.choice(["none", "none", *DISTURBANCES])
        tally.circumstances.update([f"disturbed by: {disturbance}"])
        if disturbance != "none":
            context, rows, column = jobs[0]
            disturbed = Disturbed(f"{context}, disturbed by {disturbance}", router, rows, column, expected)
            router = DISTURBANCES[disturbance](rng, disturbed, tally)
            Disturbed(f"{context}, after {disturbance}", router, rows, column, expected).ask(threads)
        stats = router.stats()
        assert stats.bytes <= stats.capacity, f"{what}: {stats.bytes} bytes in a cache of {stats.capacity}"
    tally.count(router.stats())


def _reborn(router: dr.Router, life: str, key_cache: str, known: list[Key]) -> dr.Router:
    """Return the router after pickling, after saving and loading, or sealed with what these keys need."""
    if life == "sealed":
        with suppress(dr.OptionError):  # an engine without a cache, or a cache that holds nothing
            return router.seal(known)
        return router
    if life == "pickled":
        copy: dr.Router = pickle.loads(pickle.dumps(router))
        return copy
    with tempfile.TemporaryDirectory() as folder:
        router.save(f"{folder}/router")
        return dr.load(f"{folder}/router", key_cache=key_cache)


def _size(cache_bytes: int) -> str:
    """Return the class of a bound on the cache, for the table of circumstances."""
    for bound, name in ((1 << 11, "under 2 KiB"), (1 << 14, "2 to 16 KiB"), (1 << 20, "16 KiB to 1 MiB")):
        if cache_bytes < bound:
            return name
    return "over 1 MiB"
