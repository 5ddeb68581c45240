"""What tests of divided sets share: sets with patterns of both kinds, keys that some of them spell, and how machines are asked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.values import SetBatch
from tests.compiler.machines import answers

__all__ = [
    "ANY",
    "LARGE_KEYS",
    "MANY",
    "RESERVED",
    "SETS",
    "SPELLED",
    "WORDS",
    "Answer",
    "Drawn",
    "all_found_keys",
    "divided",
    "expected_of",
    "fleet",
    "found_keys",
    "large",
    "singly",
    "told",
]

MANY, ANY = Wildcard.MANY, Wildcard.ONE
WORDS = (b"a", b"b", b"", b"$x", b"longer-than-8", b"y" * 64, b"a\0")
PLAIN = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
TOKENS: st.SearchStrategy[Token] = st.sampled_from([*WORDS, b"a.b", ANY, MANY])


@st.composite
def _sets(draw: st.DrawFn) -> tuple[list[list[Token]], list[bytes | None]]:
    plain = draw(st.lists(PLAIN, min_size=2, max_size=25))
    others: list[list[Token]] = draw(st.lists(st.lists(TOKENS, max_size=4), max_size=max(1, len(plain) // 2)))
    patterns: list[list[Token]] = [[*words] for words in (*plain, *plain[::4])]  # some come twice
    patterns += others
    spelled = st.sampled_from([b".".join(words) for words in plain])
    drawn = st.lists(st.sampled_from([*WORDS, b"other"]), max_size=5).map(b".".join)
    return draw(st.permutations(patterns)), draw(st.lists(spelled | drawn | st.none(), min_size=10, max_size=80))


SETS = _sets()
"""Patterns half of which have no wildcards, if not by chance, and keys that some of them spell."""
RESERVED = st.sampled_from([b"", b"$"])

Drawn = tuple[list[list[Token]], list[bytes | None]]
Answer = list[list[int] | None]


def expected_of(nfa: Nfa, keys: Sequence[bytes | None]) -> Answer:
    return answers(Twin(nfa, b".", 1 << 22), keys)


def told(batch: SetBatch) -> Answer:
    """Return the accept tags of each key, and None for a null key."""
    sets = [batch.positions[a:b].tolist() for a, b in zip(batch.offsets[:-1], batch.offsets[1:], strict=True)]
    return [None if number < 0 else sets[number] for number in batch.set_ids.tolist()]


def singly(machine: LazyDfa, keys: Sequence[bytes | None]) -> Answer:
    return [None if key is None else list(machine.match(key)) for key in keys]


def divided(machine: LazyDfa) -> bool:
    return machine._parts.exact is not None


def found_keys(machine: LazyDfa) -> int:
    """Return how many keys of columns and small batches were found by looking them up whole."""
    finders = [walker._exact for walker in machine._walkers]
    return sum(0 if finder is None else finder.answered for finder in finders)


def all_found_keys(machine: LazyDfa) -> int:
    """Return how many keys were found in all, one by one, too; for machines without a key cache, whose hits count with them."""
    return machine.stats().key_cache_hits


LARGE: list[list[Token]] = [[b"a", b"%d" % (i % 50), b"%d" % i] for i in range(6000)]
LARGE += [[ANY, b"%d" % i, MANY] for i in range(0, 50, 7)]
LARGE += [[b"a", ANY, b"%d" % i] for i in range(0, 6000, 11)]
LARGE += [[b"b", MANY]]
SPELLED = {b"a.%d.%d" % (i % 50, i) for i in range(6000)}
LARGE_KEYS: list[bytes | None] = [
    (b"a.%d.%d", b"b.%d.%d", b"c.%d.%d", b"a.%d.x%d")[0 if i % 5 < 3 else i % 4]
    % (i % 50, i * 7919 % 9000 // 50 * 50 + i % 50)
    for i in range(20_000)
]
LARGE_KEYS[77] = LARGE_KEYS[12_345] = None


@cache
def large() -> tuple[Nfa, Answer]:
    nfa = build_nfa(LARGE)
    return nfa, answers(LazyDfa(nfa, b".", 64 << 20, policy=Policy(exact=False)), LARGE_KEYS)


def fleet(count: int) -> Nfa:
    return build_nfa(
        [[b"a", b"%d" % (i % 500), b"%d" % i] for i in range(count)] + [[b"a", b"%d" % i, ANY] for i in range(50)]
    )
