"""Rounds of the soak: a router in random circumstances is asked in several ways, and every answer is checked."""

from __future__ import annotations

import pickle
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

import dfa_router as dr
from benchmarks.verification.soak.material import as_column, draw_bindings, draw_keys, draw_order
from dfa_router.engines.automaton import prepare
from dfa_router.reference.naive import matches as specified

__all__ = ["Tally", "run"]

MOST_DISAGREEMENTS = 20
"""The soak ends after this many: more would not help to find the cause."""
NAIVE_KEYS, NAIVE_WORDS, NAIVE_HASHES = 12, 14, 3
"""The specification judges this many keys of a round, of fewer words than this, and patterns with this many ``#`` at most: it
takes exponential time."""


@dataclass(slots=True)
class Tally:
    """What a soak has done so far."""

    first_seed: int
    seconds: float = 0.0
    rounds: int = 0
    bindings: int = 0
    keys: int = 0
    """Rows that were matched in batches."""
    pairs: int = 0
    single_keys: int = 0
    by_specification: int = 0
    """(pattern, key) pairs on which the reference trie itself was compared with the specification."""
    clears: int = 0
    fallbacks: int = 0
    circumstances: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)


def run(
    *,
    minutes: float | None,
    rounds: int | None = None,
    seed: int = 0,
    progress: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Soak for some minutes or for a number of rounds; round i has the seed ``seed + i``.

    A disagreement or an exception is recorded with its seed and circumstances, and the soak goes on.
    """
    prepare()
    tally = Tally(first_seed=seed)
    started = time.monotonic()
    while (rounds is None or tally.rounds < rounds) and len(tally.disagreements) < MOST_DISAGREEMENTS:
        try:
            _round(seed + tally.rounds, tally)
        except AssertionError as error:
            tally.disagreements.append(f"seed {seed + tally.rounds}: {error}")
        except Exception as error:  # noqa: BLE001 - a crash is a finding as well: it is recorded and reported
            tally.disagreements.append(f"seed {seed + tally.rounds}: {type(error).__name__}: {error}")
        tally.rounds += 1
        tally.seconds = time.monotonic() - started
        progress(tally)
        if minutes is not None and tally.seconds >= 60 * minutes:
            break
    return tally


def _round(seed: int, tally: Tally) -> None:
    """Draw a round and check its answers; raises AssertionError for one that differs."""
    rng = random.Random(seed)
    kind, bindings = draw_bindings(rng)
    patterns = [pattern for pattern, _ in bindings]
    keys = draw_keys(rng, patterns)
    expected = _expected(rng, bindings, keys, tally)
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
        life = rng.choice(["as it is", "as it is", "as it is", "pickled", "saved and loaded"])
        if life != "as it is":
            _count(router, tally)
            router = _reborn(router, life, key_cache)
        threads = rng.randint(1, 4)
        at_once = rng.choice([1, 1, 1, 2, 4])
        what = f"{kind}, {engine}, {cache_bytes} bytes, key cache {key_cache}, {life}, {threads} threads, asked {at_once} times at once"
        tally.circumstances.update([f"life: {life}", f"threads: {threads}", f"asked at once: {at_once}"])
        jobs = []
        for _ in range(at_once):
            order, rows = draw_order(rng, keys)
            form, column = as_column(rng, rows)
            tally.circumstances.update([f"order: {order}", f"form: {form}"])
            tally.keys += len(rows)
            jobs.append((f"{what}, {order}, {form}", rows, column))
        for context, rows, found in _asked(router, jobs, threads):
            tally.pairs += _compare(context, rows, found, expected)
        for key in rng.sample(keys, min(len(keys), 30)):
            tally.single_keys += 1
            answer = list(router.match_bindings(key))
            assert answer == expected[key], f"{what}: match_bindings({_short(key)}) is {answer}, not {expected[key]}"
            names = tuple(dict.fromkeys(bindings[position][1] for position in expected[key]))
            assert router.match(key) == names, f"{what}: match({_short(key)}) is {router.match(key)}, not {names}"
            assert router.any(key) == bool(expected[key]), f"{what}: any({_short(key)})"
        stats = router.stats()
        assert stats.bytes <= stats.capacity, f"{what}: {stats.bytes} bytes in a cache of {stats.capacity}"
    _count(router, tally)


def _expected(
    rng: random.Random, bindings: Sequence[tuple[str, str]], keys: Sequence[str], tally: Tally
) -> dict[str, list[int]]:
    """Return who matches each key, by the reference trie, which the specification judges on some of them."""
    trie = dr.compile(bindings, engine="trie")
    expected = {key: list(trie.match_bindings(key)) for key in keys}
    short = [key for key in keys if key.count(".") < NAIVE_WORDS]
    simple = [i for i, (pattern, _) in enumerate(bindings) if pattern.split(".").count("#") <= NAIVE_HASHES]
    some = set(rng.sample(simple, min(len(simple), 100)))
    for key in rng.sample(short, min(len(short), NAIVE_KEYS)):
        right = {i for i in some if specified(bindings[i][0].encode(), key.encode())}
        assert some & set(expected[key]) == right, f"the reference trie is wrong for {_short(key)}: not {sorted(right)}"
        tally.by_specification += len(some)
    return expected


def _asked(
    router: dr.Router, jobs: Sequence[tuple[str, list[str | None], Any]], threads: int
) -> list[tuple[str, list[str | None], dr.Matches]]:
    """Match the columns, by a thread for each at the same time if there are several."""
    if len(jobs) == 1:
        context, rows, column = jobs[0]
        return [(context, rows, router.match_batch(column, threads=threads))]
    found: dict[int, dr.Matches | BaseException] = {}

    def ask(number: int) -> None:
        try:
            found[number] = router.match_batch(jobs[number][2], threads=threads)
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            found[number] = error

    workers = [threading.Thread(target=ask, args=(number,)) for number in range(len(jobs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    out = []
    for number, (context, rows, _) in enumerate(jobs):
        answer = found[number]
        if isinstance(answer, BaseException):
            raise answer
        out.append((context, rows, answer))
    return out


def _compare(context: str, rows: Sequence[str | None], found: dr.Matches, expected: dict[str, list[int]]) -> int:
    """Compare a batch's answer row by row, and return its pairs."""
    ours = found.bindings()
    right = pa.array([None if row is None else expected[row] for row in rows], pa.list_(pa.int32()))
    if not ours.equals(right):
        for row, (key, left) in enumerate(zip(rows, ours.to_pylist(), strict=True)):
            wanted = None if key is None else expected[key]
            assert left == wanted, f"{context}: row {row}, {_short(key)}, matches {left}, not {wanted}"
        raise AssertionError(f"{context}: {len(ours)} rows for {len(rows)} keys")
    pairs = sum(len(expected[row]) for row in rows if row is not None)
    assert found.pair_count == pairs, f"{context}: pair_count is {found.pair_count}, not {pairs}"
    return pairs


def _reborn(router: dr.Router, life: str, key_cache: str) -> dr.Router:
    """Return the router after pickling, or after saving and loading."""
    if life == "pickled":
        copy: dr.Router = pickle.loads(pickle.dumps(router))
        return copy
    with tempfile.TemporaryDirectory() as folder:
        router.save(f"{folder}/router")
        return dr.load(f"{folder}/router", key_cache=key_cache)


def _count(router: dr.Router, tally: Tally) -> None:
    """Add a router's counters to the tally, before the router is replaced."""
    stats = router.stats()
    tally.clears += stats.clears
    tally.fallbacks += stats.fallbacks


def _size(cache_bytes: int) -> str:
    """Return the class of a bound on the cache, for the table of circumstances."""
    for bound, name in ((1 << 11, "under 2 KiB"), (1 << 14, "2 to 16 KiB"), (1 << 20, "16 KiB to 1 MiB")):
        if cache_bytes < bound:
            return name
    return "over 1 MiB"


def _short(key: str | None) -> str:
    text = repr(key)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(key or ''):,} characters)"
