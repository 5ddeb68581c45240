"""The families that policies are held to: drawn so widely that no fixed choice is right for all of them.

A family has bindings, a column of keys, and another column for the time after a change of phase: other keys, keys that recur more
or less, or the same keys with others in favour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

import dfa_router as dr
from benchmarks.shapes import Patterns, Shape, draw_keys, draw_patterns, log_uniform, skewed, texts_of

__all__ = ["Family", "draw_family"]

WORDS = 2_500_000
"""About how many words a column of keys has, at full size."""
MOST_KEYS, LEAST_KEYS = 600_000, 20_000
LONGEST_PATTERN = 250
"""The most bytes of a pattern: AMQP carries 255."""
PLACES = (1, 2, 3, 4, 5, 5, 6, 8, 12, 24, 64)
"""The words of a key, drawn from these."""
CACHES = (None, None, None, 16 << 20, 4 << 20, 1 << 20)
"""The bounds on the cache, in bytes, drawn from these; None for the default."""
MOST_PAIRS, SAMPLE = 40.0, 1000
"""The most bindings that a key may match on average, by a sample of so many: more would measure how answers are copied."""
CHANGES = ("other keys", "other favourites", "keys that recur", "keys that do not recur", "keys that drift")


@dataclass(frozen=True, slots=True)
class Family:
    """What is matched, and what it is in a few words."""

    patterns: list[str]
    keys: pa.Array
    changed: pa.Array
    """The keys after the change."""
    cache_bytes: int | None
    about: str


def draw_family(number: int, *, seed: int, scale: float = 1.0) -> Family:
    """Draw a family; the same number, seed and scale give the same one.

    >>> family = draw_family(0, seed=1, scale=0.01)
    >>> len(family.keys) == len(family.changed)
    True
    """
    rng = np.random.default_rng((seed, number))
    places = int(rng.choice(PLACES))
    count = int(max(LEAST_KEYS, min(MOST_KEYS, WORDS / places)) * scale)
    longest = min(40, LONGEST_PATTERN // places - 1)
    shortest = int(rng.integers(1, min(9, longest + 1)))
    shape = Shape(
        name="family",
        words=tuple(log_uniform(rng, 2, 20_000 if places < 24 else 100) for _ in range(places)),
        skew=float(rng.choice([0.0, rng.uniform(0.2, 1.3)])),
        lengths=(shortest, log_uniform(rng, shortest, longest)),
        bindings=log_uniform(rng, 50, 200_000 if places < 8 else 5000),
        stars=float(rng.uniform(0.0, 0.5)),
        tails=float(rng.choice([0.0, rng.uniform(0.0, 0.2)])),
        inner=float(rng.choice([0.0, rng.uniform(0.0, 0.05)])),
        matching=float(rng.uniform(0.0, 1.0)),
        keys=count,
        distinct=min(count, log_uniform(rng, max(2, count // 2000), 2 * count)),
        recurring=float(rng.choice([0.0, rng.uniform(0.3, 1.3)])),
    )
    while True:
        patterns = draw_patterns(rng, shape)
        texts = texts_of(patterns)
        router = dr.compile([(text, "q") for text in texts], engine="nfa")
        pairs = router.match_batch(draw_keys(rng, replace(shape, keys=SAMPLE, distinct=SAMPLE), patterns)).pair_count
        if pairs <= MOST_PAIRS * SAMPLE or shape.bindings < 20:
            break
        shape = replace(shape, bindings=shape.bindings // 2)
    keys = draw_keys(rng, shape, patterns)
    change = str(rng.choice(CHANGES))
    cache_bytes = CACHES[rng.integers(len(CACHES))]
    return Family(
        texts, keys, _changed(rng, shape, patterns, keys, change), cache_bytes, _about(shape, change, cache_bytes)
    )


def _changed(rng: np.random.Generator, shape: Shape, patterns: Patterns, keys: pa.Array, change: str) -> pa.Array:
    """Draw the keys after a change."""
    count = len(keys)
    if change == "other favourites":
        distinct = keys.unique()
        order = rng.permutation(len(distinct))
        return distinct.take(pa.array(order[skewed(rng, len(distinct), count, max(shape.recurring, 0.5))]))
    if change == "keys that recur":
        shape = replace(shape, distinct=max(2, count // 500), recurring=0.8)
    elif change == "keys that do not recur":
        shape = replace(shape, distinct=count, recurring=0.0)
    elif change == "keys that drift":  # each stretch of keys has favourites of its own, next to those of the one before
        distinct = draw_keys(rng, replace(shape, keys=count, distinct=count, recurring=0.0), patterns)
        window = max(2, count // 50)
        near = np.minimum(np.arange(count) // 20 + skewed(rng, window, count, 1.0), count - 1)
        return distinct.take(pa.array(near))
    return draw_keys(rng, shape, patterns)


def _about(shape: Shape, change: str, cache_bytes: int | None) -> str:
    sizes = [f"{size:,}" for size in shape.words[:6]] + ["..."] * (len(shape.words) > 6)
    bound = "" if cache_bytes is None else f"; cache of {cache_bytes >> 20} MiB"
    return (
        f"{shape.bindings:,} bindings of {len(shape.words)} words ({', '.join(sizes)}; skew {shape.skew:.1f}; {shape.lengths[0]} to "
        f"{shape.lengths[1]} bytes), {shape.stars:.0%} with *, {shape.tails:.0%} with a final #, {shape.inner:.0%} with an inner one; "
        f"{shape.keys:,} keys of {shape.distinct:,}, skew {shape.recurring:.1f}, {shape.matching:.0%} made to match; then {change}{bound}"
    )
