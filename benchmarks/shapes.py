"""Shapes: what a binding set and its keys are like, in figures, and workloads that are drawn from them.

One workload of each kind says how fast it is on that one, and it is the one that everything was tuned on. So benchmarks
draw others: a shape has the number of different words at each place of a key, how unequal their frequencies are, how many
keys are made to match, and so on. All of it is made by whole-column arithmetic, seconds for millions of keys.

What it leaves out: words at different places are drawn independently of each other, but for the keys that are made from a
pattern; real keys have structure between their places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.workloads import Workload

__all__ = [
    "Patterns",
    "Shape",
    "draw_keys",
    "draw_patterns",
    "draw_workload",
    "log_uniform",
    "skewed",
    "texts_of",
    "vocabulary",
]

Rows = npt.NDArray[np.int64]
"""A number of a word for each place of a key or pattern, shape (rows, places)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What to draw."""

    name: str
    words: tuple[int, ...]
    """How many different words there are at each place of a key. Where it is 1, the place has the same word in all."""
    skew: float
    """The k-th most frequent word of a place has a frequency proportional to k to the power of minus this."""
    lengths: tuple[int, int]
    """The shortest and the longest word, in bytes; more bytes are taken where so few cannot tell all words apart."""
    bindings: int
    stars: float
    """Share of patterns with a ``*``; a third of these have two."""
    tails: float
    """Share of patterns that end in ``#`` instead of some words."""
    inner: float
    """Share of patterns with a ``#`` before another word."""
    matching: float
    """Share of keys that are made from a pattern."""
    keys: int
    distinct: int
    """The keys are drawn from so many different ones, or fewer."""
    wild_from: int = 0
    """The first place that may have a wildcard."""
    recurring: float = 0.0
    """How unequal the frequencies of these are, as ``skew``; where it is 0 and there are as many as keys, none is drawn twice."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Drawn patterns, and what keys are made of."""

    words: list[pa.Array]
    """The vocabulary of each place; behind the last word ``*`` and ``#``."""
    literal: Rows
    """The patterns before anything became a wildcard."""
    starred: npt.NDArray[np.bool_]
    """Places with a ``*``, shape (patterns, places)."""
    cuts: npt.NDArray[np.int64]
    """How many places stand before a final ``#``; all of them where there is none."""
    inner: npt.NDArray[np.int64]
    """The place with a ``#`` before another word, or -1."""


def draw_workload(shape: Shape, seed: int) -> Workload:
    """Draw a workload; the same shape and seed give the same.

    >>> shape = Shape(name="two", words=(3, 40), skew=0.5, lengths=(2, 5), bindings=9, stars=0.3, tails=0.1, inner=0.1,
    ...               matching=0.5, keys=20, distinct=20)
    >>> work = draw_workload(shape, 1)
    >>> len(work.patterns), len(work.keys)
    (9, 20)
    """
    rng = np.random.default_rng(seed)
    patterns = draw_patterns(rng, shape)
    return Workload(name=shape.name, patterns=texts_of(patterns), keys=draw_keys(rng, shape, patterns))


def draw_patterns(rng: np.random.Generator, shape: Shape) -> Patterns:
    """Draw the bindings of a shape."""
    count, places = shape.bindings, len(shape.words)
    words = [pa.array([*vocabulary(rng, size, shape.lengths), "*", "#"]) for size in shape.words]
    literal = np.column_stack([skewed(rng, size, count, shape.skew) for size in shape.words])
    free = np.array([place for place, size in enumerate(shape.words) if size > 1 and place >= shape.wild_from] or [0])
    starred = np.zeros((count, places), np.bool_)
    one = np.flatnonzero(rng.random(count) < shape.stars)
    two = one[rng.random(len(one)) < 1 / 3]
    for rows in (one, two):
        starred[rows, rng.choice(free, len(rows))] = True
    cuts = np.full(count, places)
    tails = np.flatnonzero(rng.random(count) < shape.tails)
    cuts[tails] = rng.integers(min(max(2, shape.wild_from + 1), places - 1), places, len(tails))
    inner = np.full(count, -1)
    inside = np.flatnonzero((rng.random(count) < shape.inner) & (cuts == places))
    if places > 1:
        inner[inside] = rng.integers(min(shape.wild_from, places - 2), places - 1, len(inside))
    return Patterns(words, literal, starred, cuts, inner)


def texts_of(patterns: Patterns) -> list[str]:
    """Write patterns as text."""
    rows = patterns.literal.copy()
    sizes = np.array([len(words) - 2 for words in patterns.words])
    rows[patterns.starred] = np.broadcast_to(sizes, rows.shape)[patterns.starred]
    inside = np.flatnonzero(patterns.inner >= 0)
    rows[inside, patterns.inner[inside]] = sizes[patterns.inner[inside]] + 1
    found = np.empty(len(rows), object)
    for cut in np.unique(patterns.cuts):
        some = np.flatnonzero(patterns.cuts == cut)
        texts = joined(patterns.words[:cut], rows[some, :cut]).to_pylist() if cut else [""] * len(some)
        tail = "" if cut == rows.shape[1] else ".#" if cut else "#"
        found[some] = [text + tail for text in texts]
    listed: list[str] = found.tolist()
    return listed


def draw_keys(rng: np.random.Generator, shape: Shape, patterns: Patterns) -> pa.Array:
    """Draw keys for patterns; wildcards of those that are made from one are drawn words."""
    rows = np.column_stack([skewed(rng, size, shape.distinct, shape.skew) for size in shape.words])
    made = np.flatnonzero(rng.random(shape.distinct) < shape.matching)
    chosen = rng.integers(0, len(patterns.literal), len(made))
    places = np.arange(rows.shape[1])
    fixed = ~patterns.starred[chosen] & (places < patterns.cuts[chosen, None])
    fixed &= places != patterns.inner[chosen, None]
    rows[made] = np.where(fixed, patterns.literal[chosen], rows[made])
    keys = joined(patterns.words, rows)
    if shape.distinct == shape.keys and not shape.recurring:
        return keys
    order = skewed(rng, shape.distinct, shape.keys, shape.recurring)
    return keys.take(pa.array(order))


def vocabulary(rng: np.random.Generator, size: int, lengths: tuple[int, int]) -> list[str]:
    """Make so many distinct words of lower-case letters, their lengths drawn from ``lengths``, in any order."""
    least, most = lengths
    while 26**most < 4 * size:
        most += 1
    found = np.empty(0, f"S{most}")
    while len(found) < size:
        letters = rng.integers(97, 123, (2 * size, most), np.uint8)
        ends = rng.integers(least, most + 1, 2 * size)
        letters[np.arange(most) >= ends[:, None]] = 0  # which numpy takes for the end
        found = np.unique(np.concatenate((found, letters.reshape(-1).view(f"S{most}"))))
        least = min(least + 1, most)
    return [word.decode() for word in rng.permutation(found)[:size].tolist()]


def skewed(rng: np.random.Generator, size: int, count: int, skew: float) -> Rows:
    """Draw ``count`` numbers below ``size``; the frequency of the k-th is proportional to k to the power of minus ``skew``."""
    if not skew:
        return rng.integers(0, size, count)
    sums = np.cumsum(np.arange(1, size + 1) ** -skew)
    found: Rows = np.searchsorted(sums / sums[-1], rng.random(count)).clip(0, size - 1)
    return found


def joined(words: list[pa.Array], rows: Rows) -> pa.Array:
    """Write rows of words as texts, with dots between the words."""
    columns = [some.take(pa.array(rows[:, place])) for place, some in enumerate(words)]
    return pc.binary_join_element_wise(*columns, ".") if len(columns) > 1 else columns[0]


def log_uniform(rng: np.random.Generator, least: int, most: int) -> int:
    """Draw a number whose logarithm is uniform."""
    return round(float(np.exp(rng.uniform(np.log(least), np.log(most)))))
