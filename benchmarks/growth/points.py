"""The measurements: along each axis one quantity grows, and the others stay as they are.

Patterns are made of words of skewed frequency. Three in ten have a ``*``; where the axis is not the share of ``#``, one in a
hundred ends in ``#``. Six keys in ten are made from a pattern, so that they match. A slow contestant matches fewer keys of the
same column, and the answers of all contestants are compared for the keys that they share.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import dfa_router as dr
from benchmarks.agreement import agree, summary, trie_summary
from benchmarks.compiled_trie import CompiledTrie
from benchmarks.measure import warm_up
from compiler.prepare import compile_kernels
from dfa_router.storage.compiled import sections_of

__all__ = ["AXES", "Point", "run"]

KEYS = 200_000
"""Keys of a column."""
FIRST = 2000
"""Keys that are matched first, to estimate how many there is time for."""
SECONDS = 0.4
"""About how long a contestant may take for a point and round."""
CACHE_BYTES = 256 << 20
"""The bound on the DFA's cache."""
AUTOMATON = ("labels", "children", "tag_offsets", "tags", "word_offsets", "word_data")
"""The sections of a saved router that hold the automaton: their bytes are counted."""

Words = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one contestant costs at one place of an axis."""

    axis: str
    x: float
    contestant: str
    ns_per_key: float
    bytes: int | None
    """Of its tables: the automaton and the cache, or the trie; None where it keeps none."""
    keys: int


AXES: dict[str, tuple[tuple[float, ...], str]] = {
    "bindings": ((1e2, 1e3, 1e4, 1e5, 1e6), "bindings of five words"),
    "words": ((1, 2, 4, 8, 16, 32, 64), "words of a key and of each of 1,000 bindings"),
    "hashes": ((0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5), "share of 1,000 bindings with a # at any place"),
}
"""The axes: the places that are measured, and what grows."""


def run(
    *, scale: float = 1.0, rounds: int = 3, seed: int = 0, progress: Callable[[str], None] = lambda _: None
) -> Iterator[Point]:
    """Measure every point; a ``scale`` below 1 leaves the large binding sets out and matches fewer keys.

    Raises ``AssertionError`` if contestants disagree on what matches.
    """
    compile_kernels()
    for axis, (places, what) in AXES.items():
        for x in places:
            if scale < 1.0 and axis == "bindings" and x > 1e4:
                continue
            progress(f"growth: {x:g} {what}")
            rng = np.random.default_rng(seed)
            patterns = draw_patterns(rng, axis, x)
            keys = draw_keys(rng, patterns, max(2 * FIRST, int(KEYS * scale)))
            yield from _point(axis, x, patterns, keys, rounds)


def draw_patterns(rng: np.random.Generator, axis: str, x: float) -> Words:
    """Draw patterns for a place of an axis, as words; shape (patterns, words).

    >>> draw_patterns(np.random.default_rng(0), "words", 2).shape
    (1000, 2)
    """
    count = int(x) if axis == "bindings" else 1000
    length = int(x) if axis == "words" else 5
    words = np.array([f"w{i}" for i in range(max(50, count // 20))], object)
    ranks = (rng.random((count, length)) ** 2 * len(words)).astype(np.int64)
    ranks[:, 1:] %= 200  # the first word has many values in a large set, the others 200 at most
    patterns: Words = words[ranks % len(words)]
    starred = np.flatnonzero(rng.random(count) < (0.3 if length > 1 else 0.0))  # a star alone would match all keys
    patterns[starred, rng.integers(0, length, len(starred))] = "*"
    share = x if axis == "hashes" else 0.01 if length > 1 else 0.0
    hashed = np.flatnonzero(rng.random(count) < share)
    places = rng.integers(0, length, len(hashed)) if axis == "hashes" else np.full(len(hashed), length - 1)
    patterns[hashed, places] = "#"
    return patterns


def draw_keys(rng: np.random.Generator, patterns: Words, count: int) -> pa.Array:
    """Draw a column of keys: six in ten match the pattern that they are made from."""
    length = patterns.shape[1]
    rows = patterns[rng.integers(0, len(patterns), count)]
    words = np.array([f"w{i}" for i in range(250)], object)
    fillers = words[rng.integers(0, len(words), rows.shape)]
    wrong = (rng.random(rows.shape) < 1 / length) & (rng.random(count) < 0.4)[:, None]
    wrong[(rng.random(count) < 0.4), length - 1] = True
    filled = np.where((rows == "*") | (rows == "#") | wrong, fillers, rows)
    return pa.array([".".join(row) for row in filled.tolist()], pa.string())


def _point(axis: str, x: float, patterns: Words, keys: pa.Array, rounds: int) -> Iterator[Point]:
    texts = [".".join(row) for row in patterns.tolist()]
    bindings = [(text, "q") for text in texts]

    def compiled() -> dr.Router:
        return dr.compile(bindings, cache_bytes=CACHE_BYTES, key_cache="off")

    warm, simulated = compiled(), dr.compile(bindings, engine="nfa")
    automaton = _automaton_bytes(warm)
    warm_up(warm, keys)
    trie = CompiledTrie(texts)
    distinct: dict[int, pa.Array] = {}
    runs: dict[str, Callable[[pa.Array], Any]] = {
        "dfa, warm": lambda some: warm.match_batch(some).set_ids,
        "nfa": lambda some: simulated.match_batch(some).set_ids,
        "pyarrow index_in": lambda some: pc.index_in(some, distinct[len(some)]),
        "compiled trie": trie.match,
    }
    times: dict[str, list[float]] = {"dfa, cold": []}
    columns = {}
    for name, ask in runs.items():
        distinct[FIRST] = pc.unique(keys[:FIRST])
        ask(keys[:FIRST])  # the first call may compile a kernel
        each = _seconds(ask, keys[:FIRST]) / FIRST
        columns[name] = keys[: min(len(keys), max(FIRST, int(SECONDS / each)))]
        distinct[len(columns[name])] = pc.unique(columns[name])
        times[name] = []
    fresh = warm
    for _ in range(rounds):
        fresh = compiled()
        times["dfa, cold"].append(_seconds(fresh.match_batch, keys) / len(keys))
        for name, ask in runs.items():
            times[name].append(_seconds(ask, columns[name]) / len(columns[name]))
    shared = keys[: min(map(len, columns.values()))]
    answers = {
        "dfa": summary(warm.match_batch(shared)),
        "nfa": summary(simulated.match_batch(shared)),
        "compiled trie": trie_summary(trie.match(shared), shared),
    }
    agree(f"growth, {x:g} {axis}", answers)
    held = {
        "dfa, warm": automaton + warm.stats().bytes,
        "dfa, cold": automaton + fresh.stats().bytes,
        "nfa": automaton,
        "compiled trie": trie.nbytes,
    }
    for name, values in times.items():
        yield Point(
            axis=axis,
            x=x,
            contestant=name,
            ns_per_key=float(np.median(values)) * 1e9,
            bytes=held.get(name),
            keys=len(columns.get(name, keys)),
        )


def _automaton_bytes(router: dr.Router) -> int:
    sections = sections_of(router.compiled())
    return sum(sections[name].nbytes for name in AUTOMATON)


def _seconds(ask: Callable[[pa.Array], Any], keys: pa.Array) -> float:
    started = time.perf_counter()
    ask(keys)
    return time.perf_counter() - started
