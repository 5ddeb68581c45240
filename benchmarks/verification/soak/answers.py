"""What is right, how a router is asked, and how its answers are compared."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

import dfa_router as dr
from benchmarks.verification.soak.tally import Tally
from dfa_router.reference.naive import matches as specified

__all__ = ["Expected", "Key", "asked", "compare", "compare_single", "raw", "right_answers", "short"]

Key = str | bytes
Expected = dict[Key, list[int]]
"""Who matches each key: positions of bindings, ascending."""

NAIVE_KEYS, NAIVE_WORDS, NAIVE_HASHES = 12, 14, 3
"""The specification judges this many keys of a round, of fewer words than this, and patterns with this many ``#`` at most: it
takes exponential time."""


def raw(key: Key) -> bytes:
    """Return the bytes of a key."""
    return key if isinstance(key, bytes) else key.encode()


def right_answers(
    rng: random.Random, bindings: Sequence[tuple[str, str]], keys: Sequence[Key], tally: Tally
) -> Expected:
    """Return who matches each key, by the reference trie, which the specification judges on some of them."""
    trie = dr.compile(bindings, engine="trie")
    expected: Expected = {key: list(trie.match_bindings(key)) for key in keys}
    brief = [key for key in keys if raw(key).count(b".") < NAIVE_WORDS]
    simple = [i for i, (pattern, _) in enumerate(bindings) if pattern.split(".").count("#") <= NAIVE_HASHES]
    some = set(rng.sample(simple, min(len(simple), 100)))
    for key in rng.sample(brief, min(len(brief), NAIVE_KEYS)):
        right = {i for i in some if specified(bindings[i][0].encode(), raw(key))}
        assert some & set(expected[key]) == right, f"the reference trie is wrong for {short(key)}: not {sorted(right)}"
        tally.by_specification += len(some)
    return expected


def asked(
    router: dr.Router, jobs: Sequence[tuple[str, list[Key | None], Any]], threads: int
) -> list[tuple[str, list[Key | None], dr.Matches]]:
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


def compare(context: str, rows: Sequence[Key | None], found: dr.Matches, expected: Expected) -> int:
    """Compare a batch's answer row by row, and return its pairs."""
    ours = found.bindings()
    right = pa.array([None if row is None else expected[row] for row in rows], pa.list_(pa.int32()))
    if not ours.equals(right):
        for row, (key, left) in enumerate(zip(rows, ours.to_pylist(), strict=True)):
            wanted = None if key is None else expected[key]
            assert left == wanted, f"{context}: row {row}, {short(key)}, matches {left}, not {wanted}"
        raise AssertionError(f"{context}: {len(ours)} rows for {len(rows)} keys")
    pairs = sum(len(expected[row]) for row in rows if row is not None)
    assert found.pair_count == pairs, f"{context}: pair_count is {found.pair_count}, not {pairs}"
    return pairs


def short(key: Key | None) -> str:
    text = repr(key)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(key or ''):,} characters)"


def compare_single(
    context: str, router: dr.Router, keys: Sequence[Key], expected: Expected, bindings: Sequence[tuple[str, str]]
) -> None:
    """Ask for keys one at a time, in the three ways that there are."""
    for key in keys:
        answer = list(router.match_bindings(key))
        assert answer == expected[key], f"{context}: match_bindings({short(key)}) is {answer}, not {expected[key]}"
        names = tuple(dict.fromkeys(bindings[position][1] for position in expected[key]))
        assert router.match(key) == names, f"{context}: match({short(key)}) is {router.match(key)}, not {names}"
        assert router.any(key) == bool(expected[key]), f"{context}: any({short(key)})"
