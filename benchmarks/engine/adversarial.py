"""Families of binding sets whose DFA has exponentially many states, at sizes that no cache can hold.

``#.a.*^n`` needs 2^(n+1) states, and the keys reach them all: they are cut from a De Bruijn sequence, which contains every
run of n + 1 words over two letters once. ``#.w_i.#`` for n words needs 2^n states with 2^n accept sets, and there is a key
for every subset of the words. With 5,000 bindings that begin with ``#`` every word leads to another state.

Answers, bytes and counters are checked. For the first two families a formula tells what matches each key; for the third the
compiled trie does. The reference trie judges a sample of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import dfa_router as dr
from benchmarks.agreement import agree, summary, trie_summary
from benchmarks.compiled_trie import CompiledTrie
from benchmarks.engine.rows import Claim, Row

__all__ = ["FAMILIES", "Case", "adversarial", "check", "leading_hashes", "stars_behind_a_hash", "words_anywhere"]

SAMPLE = 300
"""How many keys of a case the reference trie judges."""
CACHES = (16 << 10, 1 << 20, 64 << 20)
"""The bounds on the cache, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A family at a size."""

    name: str
    patterns: list[str]
    keys: pa.Array
    pairs: npt.NDArray[np.int64] | None = None
    """For each key how many bindings match it; None where no formula tells."""
    sums: npt.NDArray[np.int64] | None = None
    """For each key the sum of these bindings' positions; None where no formula tells."""


def stars_behind_a_hash(n: int) -> Case:
    """``#.a.*^n``, and keys that together hold every run of n + 1 words over ``a`` and ``b``.

    The sequence is cut into keys of 64 words more than the n that the next key repeats, so that no run is lost.

    >>> case = stars_behind_a_hash(2)
    >>> case.patterns, case.keys.to_pylist(), case.pairs.tolist()
    (['#.a.*.*'], ['b.b.b.a.a.a.b.a.b.b'], [1])
    """
    sequence = de_bruijn(n + 1)
    sequence = np.concatenate([sequence, sequence[:n]])
    letters = np.where(sequence == 1, "a", "b")
    starts = np.arange(0, len(sequence) - n, 64)
    keys = [".".join(letters[start : start + 64 + n].tolist()) for start in starts]
    ends = np.minimum(starts + 64 + n, len(sequence))
    matched = sequence[ends - n - 1].astype(np.int64)  # the word before the last n
    return Case(
        name=f"#.a.*^{n}",
        patterns=[".".join(["#", "a", *["*"] * n])],
        keys=pa.array(keys),
        pairs=matched,
        sums=np.zeros(len(keys), np.int64),
    )


def words_anywhere(n: int, *, seed: int = 0) -> Case:
    """``#.w_i.#`` for n words, and a key for each subset of them, its words in any order, with an unknown word in some."""
    rng = np.random.default_rng(seed)
    subsets = rng.permutation(1 << n)
    order = rng.permutation(n)
    names = np.array([f"w{i}" for i in range(n)], object)
    keys = []
    for i, subset in enumerate(subsets.tolist()):
        words = [names[j] for j in np.roll(order, i).tolist() if subset >> j & 1]
        if i % 3 == 0:
            words.insert(i % (len(words) + 1), "stranger")
        keys.append(".".join(words))
    bits = (subsets[:, None] >> np.arange(n)) & 1
    return Case(
        name=f"#.w_i.#, {n} bindings",
        patterns=[f"#.w{i}.#" for i in range(n)],
        keys=pa.array(keys),
        pairs=bits.sum(axis=1),
        sums=(bits * np.arange(n)).sum(axis=1),
    )


def leading_hashes(bindings: int, keys: int, *, seed: int = 0) -> Case:
    """Bindings that all begin with ``#``, with a second ``#`` or stars in some, over 200 words."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(200)])
    patterns = []
    for i in range(bindings):
        some = rng.choice(words, int(rng.integers(1, 4))).tolist()
        if i % 5 == 0:
            some.insert(int(rng.integers(0, len(some) + 1)), "*")
        if i % 7 == 0:
            some.insert(int(rng.integers(1, len(some) + 1)), "#")
        patterns.append(".".join(["#", *some]))
    texts = [".".join(rng.choice(words, int(length)).tolist()) for length in rng.integers(4, 13, keys)]
    return Case(name=f"{bindings:,} bindings that begin with #", patterns=patterns, keys=pa.array(texts))


def _sizes(scale: float) -> tuple[int, ...]:
    return (4, 8, 12, 16, 20) if scale >= 1.0 else (4, 8, 12)


FAMILIES: tuple[Callable[[float], Sequence[Callable[[], Case]]], ...] = (
    lambda scale: [partial(stars_behind_a_hash, n) for n in _sizes(scale)],
    lambda scale: [partial(words_anywhere, n) for n in _sizes(scale)],
    lambda scale: [partial(leading_hashes, int(max(500, 5000 * scale)), int(20_000 * max(0.1, scale)))],
)
"""The families at their sizes; a scale below 1 leaves the large ones out."""


def adversarial(scale: float, _rounds: int, progress: Callable[[str], None]) -> Iterator[Row | Claim]:
    """Run every family within each bound on the cache."""
    clears = fallbacks = 0
    for family in FAMILIES:
        for make in family(scale):
            case = make()
            progress(f"adversarial: {case.name}, {len(case.keys):,} keys")
            for cache_bytes in CACHES:
                seconds, stats = check(case, cache_bytes)
                clears += stats.clears
                fallbacks += stats.fallbacks
                yield Row(
                    workload="adversarial",
                    contestant=f"{case.name}, within {cache_bytes >> 10:,} KiB",
                    ns_per_key=seconds / len(case.keys) * 1e9,
                    ratio=None,
                    keys=len(case.keys),
                    note=f"{stats.states:,} states and {stats.bytes / 2**20:.2f} MiB at the end, {stats.clears} clears, "
                    f"{stats.fallbacks:,} fallbacks",
                )
    for what, count in (("clears", clears), ("fallbacks", fallbacks)):
        yield Claim(
            workload="adversarial",
            what=f"{what} in all, with right answers and bytes within bounds",
            measured=count,
            unit="",
            sense=">=",
            bound=1,
        )


def check(case: Case, cache_bytes: int, *, sample: int = SAMPLE) -> tuple[float, dr.CacheStats]:
    """Match a case's keys and check the answers; return the seconds of matching, and the router's counters.

    Raises ``AssertionError`` where an answer is wrong or the cache has outgrown its bound.
    """
    router = dr.compile([(pattern, "q") for pattern in case.patterns], cache_bytes=cache_bytes)
    started = time.perf_counter()
    matches = router.match_batch(case.keys)
    matches.set_ids  # noqa: B018  # materialising it is what is timed
    seconds = time.perf_counter() - started
    stats = router.stats()
    assert stats.bytes <= cache_bytes, f"{case.name}: {stats.bytes} bytes in a cache of {cache_bytes}"
    if case.pairs is not None and case.sums is not None:
        sets = matches.sets
        offsets, positions = sets.offsets.to_numpy(), sets.values.to_numpy()
        running = np.concatenate(([0], np.cumsum(positions, dtype=np.int64)))
        ids = matches.set_ids.to_numpy()
        np.testing.assert_array_equal(np.diff(offsets)[ids], case.pairs, err_msg=f"{case.name}: pairs")
        np.testing.assert_array_equal(
            (running[offsets[1:]] - running[offsets[:-1]])[ids], case.sums, err_msg=f"{case.name}: sums of positions"
        )
    else:
        found = CompiledTrie(case.patterns).match(case.keys)
        agree(case.name, {"dfa": summary(matches), "compiled trie": trie_summary(found, case.keys)})
    some = np.unique(np.linspace(0, len(case.keys) - 1, sample).astype(np.int64))
    reference = dr.compile([(pattern, "q") for pattern in case.patterns], engine="trie")
    bindings = matches.bindings().take(pa.array(some)).to_pylist()
    for key, ours in zip(case.keys.take(pa.array(some)).to_pylist(), bindings, strict=True):
        theirs = list(reference.match_bindings(key))
        assert ours == theirs, f"{case.name}: {key!r} matches {theirs}, not {ours}"
    return seconds, stats


def de_bruijn(n: int) -> npt.NDArray[np.uint8]:
    """Return a cyclic sequence of 2^n bits that contains every run of n bits once.

    The greedy construction that prefers ones, after M. H. Martin, "A problem in arrangements" (1934).

    >>> de_bruijn(3).tolist()
    [0, 0, 0, 1, 1, 1, 0, 1]
    """
    size, mask = 1 << n, (1 << n) - 1
    seen = bytearray(size)
    bits = bytearray(n)
    seen[0] = 1
    window = 0
    for _ in range(size - n):
        step = (window << 1 | 1) & mask
        if seen[step]:
            step ^= 1
        seen[step] = 1
        bits.append(step & 1)
        window = step
    return np.frombuffer(bytes(bits), np.uint8)
