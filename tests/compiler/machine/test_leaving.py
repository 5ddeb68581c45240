"""Keys that are answered early leave their block, and the others close up: with the words that are found of them, and no others."""

from __future__ import annotations

import random

import pytest

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.kernels.tables import STATES, WORDS
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from tests.compiler.machines import answers

ROWS = {"in rows": 1 << 30, "by hashes": 0}
LONG = [b"w" * n for n in (8, 9, 20, 70)]
"""Words that are their own names or are named by a hash, and one that no window of 64 bytes holds."""


def automaton(rng: random.Random) -> Nfa:
    """Patterns of which each is told apart by its first word and by all others, down to the ninth and beyond."""
    words: list[Token] = [b"a", b"b", b"", *LONG, Wildcard.ONE]
    patterns: list[list[Token]] = [[b"go", b"a", Wildcard.MANY], [b"stop"], [b"go", b"b", b"a"]]
    patterns += [[b"go", *rng.choices(words, k=rng.choice([3, 7, 8, 9, 18]))] for _ in range(60)]
    return build_nfa(patterns)


def keys_of(rng: random.Random, *, going: float) -> list[bytes]:
    """Keys of which so many are read to their ends, where most words are those of the patterns; the others are told by their first word."""
    words = [b"a", b"b", b"", b"other", *LONG]

    def key() -> bytes:
        first = b"go" if rng.random() < going else rng.choice([b"stop", b"other", b""])
        return b".".join([first, *rng.choices(words, k=rng.choice([0, 1, 3, 7, 8, 9, 18]))])

    return [key() for _ in range(1500)]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("going", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("sealed", [False, True])
def test_who_leaves_early_and_who_stays_are_answered_right(rows: str, going: float, sealed: bool) -> None:
    rng = random.Random(f"{rows} {going}")
    nfa = automaton(rng)
    machine = LazyDfa(
        nfa, b".", 1 << 22, key_cache="off", policy=Policy(row_bytes=ROWS[rows], key_store=False, exact=False)
    )
    twin = Twin(nfa, b".", 1 << 22)
    for _ in range(4):  # by the time of the last ones nothing is built
        keys = keys_of(rng, going=going)
        expected = answers(twin, keys)
        for _ in range(2):
            assert answers(machine, keys) == expected
        behind = machine.seal() if sealed else machine
        assert behind is not None
        for _ in range(2):
            assert answers(behind, keys) == expected


def test_words_of_keys_that_have_left_are_not_counted() -> None:
    """What a walk counts as read is what could change a state, whether keys have left or not; nothing is read of whoever stood behind the last."""
    nfa = build_nfa([[b"go", *[Wildcard.ONE] * 7], [b"go", b"a"]])
    machine = LazyDfa(nfa, b".", 1 << 20, key_cache="off", policy=Policy(row_bytes=0, key_store=False, exact=False))
    keys = [b"go.b.b.b.b.b.b.b" if i % 9 == 0 else b"stop.b.b.b.b.b.b.b" for i in range(1024)]
    answers(machine, keys)
    (walker,) = machine._walkers
    assert walker._cache is not None
    assert walker._cache.meta[STATES] > 2
    before = int(walker._cache.meta[WORDS])
    answers(machine, keys)
    assert int(walker._cache.meta[WORDS]) - before == 114 * 8 + 910
