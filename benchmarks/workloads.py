"""The workloads: binding sets and keys, made from a seed.

Each is drawn with the shape that its source gives: numbers of bindings and keys, shares of wildcards, the share of keys that
match. Keys of production logs repeat more than these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["WORKLOADS", "Workload", "hard_patterns", "make_workload"]

Words = npt.NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A binding set and a column of keys."""

    name: str
    patterns: list[str]
    keys: pa.Array
    cache_bytes: int = 64 << 20
    """The bound on the DFA's cache that the workload is matched with."""


def make_workload(name: str, *, scale: float = 1.0, seed: int = 2011) -> Workload:
    """Make a workload by name; ``scale`` below 1 makes one of fewer bindings and keys for a quick run.

    >>> make_workload("throughput", scale=0.001).name
    'throughput'
    """
    return WORKLOADS[name](np.random.default_rng(seed), scale)


def _throughput(rng: np.random.Generator, scale: float) -> Workload:
    """Make Tyler Treat's throughput test: three words over the digits, 13 % with one ``*``, few distinct keys."""
    digits = rng.integers(0, 10, (1000, 3))
    words = digits.astype("<U1")
    starred = np.flatnonzero(rng.random(1000) < 0.13)
    at = rng.integers(0, 3, len(starred))
    filled = _joined(words)
    words[starred, at] = "*"
    rows = np.arange(int(1_000_000 * scale)) % 1000
    return Workload(name="throughput", patterns=_joined(words).tolist(), keys=_column(filled, rows))


def _stock(rng: np.random.Generator, scale: float) -> Workload:
    """Make bindings of five skewed words, a quarter of them with wildcards, and keys of which 60 % match."""
    columns, popular = _stock_words(rng, 10_000)
    patterns = columns.copy()
    rows = rng.permutation(len(patterns))
    one, two, tail, inside = np.split(rows, (len(rows) * np.array([0.20, 0.25, 0.27, 0.275])).astype(int))[:4]
    patterns[one, rng.integers(0, 5, len(one))] = "*"
    places = np.argsort(rng.random((len(two), 5)), axis=1)[:, :2]
    patterns[two[:, None], places] = "*"
    texts = _joined(patterns)
    for row, length in zip(tail, rng.integers(2, 5, len(tail)), strict=True):
        texts[row] = ".".join([*patterns[row, :length], "#"])
    for row, place in zip(inside, rng.integers(0, 4, len(inside)), strict=True):
        texts[row] = ".".join([*patterns[row, :place], "#", *patterns[row, place + 1 :]])
    base = int(600_000 * scale)
    keys, _ = _stock_words(rng, base, popular)
    # Most keys that match do so by a wildcard, as else the same few keys would recur: a drawn word stands in its place.
    wild = np.flatnonzero((columns != patterns).any(axis=1))
    matching = np.flatnonzero(rng.random(base) < 0.58)
    literal = rng.random(len(matching)) < 0.05
    chosen = patterns[np.where(literal, rng.integers(0, 10_000, len(matching)), rng.choice(wild, len(matching)))]
    keys[matching] = np.where(chosen == "*", keys[matching], chosen)
    return Workload(
        name="stock",
        patterns=texts.tolist(),
        keys=_column(_joined(keys), rng.integers(0, base, int(2_000_000 * scale))),
    )


def _stock_words(
    rng: np.random.Generator, rows: int, popular: list[Words] | None = None
) -> tuple[npt.NDArray[np.object_], list[Words]]:
    """Draw rows of five words, each from a vocabulary of its level, with a skew like that of traded shares."""
    if popular is None:
        popular = [_vocabulary(rng, size) for size in (30, 150, 2500, 400, 60)]
    drawn = [words[_zipf(rng, len(words), rows, 0.7)] for words in popular]
    return np.column_stack(drawn).astype(object), popular


def _fleet(rng: np.random.Generator, scale: float) -> Workload:
    """Make the metrics of a million devices, ``site.N.dev.N.metric``: hardly any key occurs twice, and half of them match."""
    count, sites, devices = int(1_000_000 * scale), max(10, int(20_000 * scale)), 5000
    metrics = np.array(["temp", "humidity", "power", "uptime", "signal", "errors", "load", "battery"])
    parts = _fleet_parts(rng, count, sites, devices, metrics)
    literal = parts.copy()
    starred = np.flatnonzero(rng.random(count) < 0.08)
    parts[starred, rng.choice([3, 4], len(starred), p=[0.3, 0.7])] = "*"
    texts = _joined(parts)
    tail = np.flatnonzero(rng.random(count) < 0.02)
    for row, length in zip(tail, rng.choice([3, 4], len(tail), p=[0.1, 0.9]), strict=True):
        texts[row] = ".".join([*parts[row, :length], "#"])
    for row in rng.integers(0, count, max(1, int(200 * scale))):
        texts[row] = ".".join([*literal[row, :2], "#", literal[row, 4]])
    rows = int(2_000_000 * scale)
    keys = _fleet_parts(rng, rows, sites, devices, metrics)
    matching = np.flatnonzero(rng.random(rows) < 0.33)
    keys[matching] = literal[rng.integers(0, count, len(matching))]
    return Workload(
        name="fleet", patterns=texts.tolist(), keys=_column(_joined(keys), np.arange(rows)), cache_bytes=256 << 20
    )


def _fleet_parts(
    rng: np.random.Generator, rows: int, sites: int, devices: int, metrics: Words
) -> npt.NDArray[np.object_]:
    parts = np.empty((rows, 5), object)
    parts[:, 0], parts[:, 2] = "site", "dev"
    parts[:, 1] = rng.integers(0, sites, rows).astype(str)
    parts[:, 3] = rng.integers(0, devices, rows).astype(str)
    parts[:, 4] = metrics[rng.integers(0, len(metrics), rows)]
    return parts


def _hard(rng: np.random.Generator, scale: float) -> Workload:
    """Make 64 patterns that need many states (``*`` behind ``#``, several ``#``), and keys of 12 to 40 words of four."""
    letters = np.array(list("abcd"))
    patterns = hard_patterns(rng, letters, 64, stars=(3, 9))
    lengths = rng.integers(12, 41, int(100_000 * scale))
    flat = letters[rng.integers(0, 4, int(lengths.sum()))]
    keys = [".".join(words) for words in np.split(flat, np.cumsum(lengths)[:-1])]
    return Workload(name="hard", patterns=patterns, keys=pa.array(keys))


def hard_patterns(rng: np.random.Generator, letters: Words, count: int, *, stars: tuple[int, int]) -> list[str]:
    """Make patterns that need many states; ``stars`` bounds how many ``*`` stand behind a ``#`` and a word."""
    patterns = []
    for number in range(count):
        kind, a, b, c = number % 4, *rng.choice(letters, 3)
        if kind == 0:
            patterns.append(".".join(["#", a, *["*"] * int(rng.integers(*stars))]))
        elif kind == 1:
            patterns.append(f"*.#.{a}.#.{b}" + ".*" * int(rng.integers(0, 4)))
        elif kind == 2:
            patterns.append(f"#.{a}.#.{b}.#.{c}" + ".*" * int(rng.integers(0, 3)))
        else:
            patterns.append(f"{a}.#.{b}.*.*.#.{c}.{rng.choice(letters)}")
    return patterns


def _rabbit2011(rng: np.random.Generator, scale: float) -> Workload:
    """Make RabbitMQ's contest of 2011: 2,000 patterns, one word in ten ``*`` and one in a hundred ``#``; a million keys."""
    vocabulary = _vocabulary(rng, 100)

    def rows(count: int) -> list[list[str]]:
        lengths = rng.integers(2, 9, count)
        flat = vocabulary[rng.integers(0, len(vocabulary), int(lengths.sum()))].tolist()
        ends = np.cumsum(lengths)
        return [flat[end - length : end] for length, end in zip(lengths, ends, strict=True)]

    patterns = []
    for words in rows(2000):
        drawn = rng.random(len(words))
        patterns.append(
            ".".join("#" if x < 0.01 else "*" if x < 0.11 else word for word, x in zip(words, drawn, strict=True))
        )
    keys = pa.array([".".join(words) for words in rows(int(1_000_000 * scale))])
    return Workload(name="rabbit2011", patterns=patterns, keys=keys)


def _nservicebus(rng: np.random.Generator, scale: float) -> Workload:
    """Make NServiceBus's topology for delayed delivery, the bindings of all 28 levels in one set: states hardly recur.

    A key is 28 binary words, which are the delay in seconds, and an endpoint. Level n has two bindings for its bit, behind
    n times ``*``: a 0 leads to the next lower level, a 1 to a queue that delays.
    """
    endpoints = [f"endpoint{i}.input" if i % 3 else f"endpoint{i}" for i in range(8)]
    patterns = [".".join([*["*"] * level, bit, "#"]) for level in range(28) for bit in "10"]
    patterns += [f"#.{endpoint}" for endpoint in endpoints]
    delays = rng.integers(0, 2**28, int(100_000 * scale))
    bits = (delays[:, None] >> np.arange(27, -1, -1) & 1).astype("<U1")
    tails = np.array(endpoints)[rng.integers(0, len(endpoints), len(delays))]
    keys = [".".join([*row, tail]) for row, tail in zip(bits, tails, strict=True)]
    return Workload(name="nservicebus", patterns=patterns, keys=pa.array(keys))


def _repeat(rng: np.random.Generator, scale: float) -> Workload:
    """Make the stock workload with dictionary-encoded keys, of which a few make most of the rows."""
    stock = _stock(rng, scale)
    distinct = pc.unique(stock.keys)
    indices = pa.array(_zipf(rng, len(distinct), len(stock.keys), 1.1), pa.int32())
    return Workload(name="repeat", patterns=stock.patterns, keys=pa.DictionaryArray.from_arrays(indices, distinct))


def _vocabulary(rng: np.random.Generator, size: int) -> Words:
    """Make ``size`` distinct words of 3 to 8 letters."""
    words: set[str] = set()
    while len(words) < size:
        words.add("".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), int(rng.integers(3, 9)))))
    return np.array(sorted(words))


def _zipf(rng: np.random.Generator, size: int, count: int, skew: float) -> npt.NDArray[np.int64]:
    """Draw ``count`` numbers below ``size``; the frequency of the k-th is proportional to k^-skew."""
    weights = np.arange(1, size + 1) ** -skew
    return np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(count)).clip(0, size - 1)


def _joined(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.object_]:
    return np.array([".".join(row) for row in rows.tolist()], object)


def _column(distinct: npt.NDArray[np.object_], rows: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(distinct, pa.string()).take(pa.array(rows))


WORKLOADS: dict[str, Callable[[np.random.Generator, float], Workload]] = {
    "throughput": _throughput,
    "stock": _stock,
    "fleet": _fleet,
    "hard": _hard,
    "rabbit2011": _rabbit2011,
    "nservicebus": _nservicebus,
    "repeat": _repeat,
}
"""Every workload by name, as a function of a random generator and a scale."""
