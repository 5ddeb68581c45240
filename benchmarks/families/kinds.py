"""Variants of the workloads of ``benchmarks engine``: the same kind, other figures, drawn from a seed.

A kind says what its source says: what the keys are, how many there are, and what a target was set for. What varies is what the
source leaves open: how many words a place has, from 2 to 20,000; how unequal their frequencies are; how long words are; how many
keys match; how many patterns have wildcards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from benchmarks.shapes import Shape, draw_workload, log_uniform
from benchmarks.workloads import Workload, hard_patterns

__all__ = ["KINDS", "make_variant"]


def make_variant(kind: str, variant: int, *, seed: int, scale: float = 1.0) -> tuple[Workload, str]:
    """Draw a variant of a kind, and say in a few words what it is; a ``scale`` below 1 makes fewer bindings and keys of it.

    >>> make_variant("throughput", 0, seed=7, scale=0.01)[0].name
    'throughput 1'
    """
    rng = np.random.default_rng((seed, list(KINDS).index(kind), variant))
    return KINDS[kind](rng, f"{kind} {variant + 1}", scale)


def _throughput(rng: np.random.Generator, name: str, scale: float) -> tuple[Workload, str]:
    """Few short words, few distinct keys, all of which match: they are the patterns before wildcards."""
    places = int(rng.integers(2, 6))
    shape = Shape(
        name=name,
        words=(log_uniform(rng, 4, 40),) * places,
        skew=_uniform(rng, 0.0, 0.8),
        lengths=_lengths(rng, 4),
        bindings=log_uniform(rng, 300, 3000),
        stars=_uniform(rng, 0.05, 0.3),
        tails=0.0,
        inner=0.0,
        matching=1.0,
        keys=_scaled(1_000_000, scale),
        distinct=log_uniform(rng, 300, 3000),
    )
    return _drawn(rng, shape)


def _stock(rng: np.random.Generator, name: str, scale: float) -> tuple[Workload, str]:
    """Five skewed words, ten thousand bindings, two million keys of some hundred thousand distinct ones."""
    sizes = [log_uniform(rng, 10, 100), log_uniform(rng, 50, 600), log_uniform(rng, 500, 20_000)]
    sizes += [log_uniform(rng, 100, 2000), log_uniform(rng, 2, 200)]
    shape = Shape(
        name=name,
        words=tuple(int(size) for size in rng.permutation(sizes)),
        skew=_uniform(rng, 0.3, 1.1),
        lengths=_lengths(rng, 12),
        bindings=_scaled(10_000, max(scale, 0.1)),
        stars=_uniform(rng, 0.1, 0.35),
        tails=_uniform(rng, 0.01, 0.05),
        inner=_uniform(rng, 0.0, 0.01),
        matching=_uniform(rng, 0.4, 0.8),
        keys=_scaled(2_000_000, scale),
        distinct=_scaled(600_000, scale),
    )
    return _drawn(rng, shape)


def _fleet(rng: np.random.Generator, name: str, scale: float) -> tuple[Workload, str]:
    """A million devices at 500 to 20,000 sites: a site's state has 50 to 2,000 literals, and no key is drawn twice.

    The more devices a site has, the smaller is the share of patterns with a wildcard: else each key would match hundreds.
    """
    sites = log_uniform(rng, 500, 20_000)
    tame = min(1.0, 100 * sites / 1_000_000)
    sites = max(2, _scaled(sites, scale))
    devices = log_uniform(rng, 500, 20_000)
    shape = Shape(
        name=name,
        words=(1, sites, 1, devices, log_uniform(rng, 4, 20)),
        skew=float(rng.choice([0.0, 0.0, _uniform(rng, 0.2, 0.7)])),
        lengths=_lengths(rng, 10),
        bindings=_scaled(1_000_000, scale),
        stars=tame * _uniform(rng, 0.02, 0.12),
        tails=tame * _uniform(rng, 0.0, 0.03),
        inner=tame * 200 / 1_000_000,
        matching=_uniform(rng, 0.2, 0.6),
        keys=_scaled(2_000_000, scale),
        distinct=_scaled(2_000_000, scale),
        wild_from=2,
    )
    return _drawn(rng, shape)


def _hard(rng: np.random.Generator, name: str, scale: float) -> tuple[Workload, str]:
    """Patterns that need many states (``*`` behind ``#``, several ``#``), and long keys over few words."""
    letters = np.array(list("abcdefgh"))[: int(rng.integers(3, 7))]
    count, shortest = int(rng.integers(32, 97)), int(rng.integers(8, 17))
    longest = int(rng.integers(30, 49))
    patterns = hard_patterns(rng, letters, count, stars=(2, 10))
    lengths = rng.integers(shortest, longest, _scaled(100_000, scale))
    flat = letters[rng.integers(0, len(letters), int(lengths.sum()))]
    keys = [".".join(words) for words in np.split(flat, np.cumsum(lengths)[:-1])]
    about = f"{count} patterns over {len(letters)} words, keys of {shortest} to {longest - 1} words"
    return Workload(name=name, patterns=patterns, keys=pa.array(keys)), about


KINDS: dict[str, Callable[[np.random.Generator, str, float], tuple[Workload, str]]] = {
    "throughput": _throughput,
    "stock": _stock,
    "fleet": _fleet,
    "hard": _hard,
}
"""Every kind by name, as a function of a random generator, the variant's name and a scale."""


def _drawn(rng: np.random.Generator, shape: Shape) -> tuple[Workload, str]:
    about = (
        f"{shape.bindings:,} bindings; words by place {', '.join(f'{size:,}' for size in shape.words)}, skew {shape.skew:.2f}, "
        f"{shape.lengths[0]} to {shape.lengths[1]} bytes; {shape.stars:.0%} with *, {shape.tails:.0%} with a final #; "
        f"{shape.matching:.0%} of {shape.keys:,} keys made to match"
    )
    return draw_workload(shape, int(rng.integers(2**32))), about


def _uniform(rng: np.random.Generator, least: float, most: float) -> float:
    return float(rng.uniform(least, most))


def _lengths(rng: np.random.Generator, most: int) -> tuple[int, int]:
    """Draw the shortest and the longest word."""
    shortest = int(rng.integers(1, max(2, most // 2)))
    return shortest, int(rng.integers(shortest, most + 1))


def _scaled(count: int, scale: float) -> int:
    return max(2, int(count * scale))
