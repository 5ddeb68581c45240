"""Words, patterns and keys that were chosen so that they meet in the hash tables of the kernels, whose arithmetic is public.

Each test rebuilds that arithmetic in whole numbers of Python, and chooses input by it. What is asserted is counted: bytes of
tables, and slots that a search passes. Nothing waits for the clock.
"""

from __future__ import annotations

import numpy as np
import pytest

from compiler import build_nfa
from compiler.automata.nfa import Nfa
from compiler.kernels.tables import SCRAMBLE, Program
from compiler.machine.lazy import LazyDfa
from compiler.machine.program import make_program
from compiler.machine.simulator import Simulator
from tests.compiler.machines import answers, without_bits

WIDE = 2**64
INVERSE = pow(SCRAMBLE, -1, WIDE)


def words_in_one_slot(number: int) -> list[bytes]:
    """Words of eight bytes, which are their own names, with names that the multiplier sends to the first slots of a table."""
    found: list[bytes] = []
    slot = 0
    while len(found) < number:
        name = INVERSE * slot % WIDE
        slot += 1
        word = name.to_bytes(8, "little")
        if word[7] > 8 and b"." not in word:
            found.append(word)
    return found


def words_of_one_hash(number: int) -> list[bytes]:
    """Words of sixteen bytes that are named by a hash, and by the same one."""

    def first_step(half: bytes) -> int:
        product = (16 ^ int.from_bytes(half, "little")) * SCRAMBLE
        return product >> 64 ^ product % WIDE

    found = []
    for i in range(2 * number):
        half = b"%08d" % i
        word = half + (first_step(half) ^ first_step(b"beginnin")).to_bytes(8, "little")
        if b"." not in word:
            found.append(word)
    return found[:number]


def farthest(program: Program, nfa: Nfa) -> int:
    """How many slots behind its home slot the farthest word lies, for words whose names the table holds."""
    names, symbols = program.words[0::2], program.words[1::2]
    home = names * program.word_multiplier >> np.uint64(program.word_shift)
    taken = np.flatnonzero(symbols)
    assert len(taken) == len(nfa.symbols)
    return int(((taken - home[taken].astype(np.int64)) % len(names)).max())


@pytest.mark.parametrize("craft", [words_in_one_slot, words_of_one_hash])
def test_words_that_meet_in_the_table_of_words_are_parted(craft: object) -> None:
    words = words_in_one_slot(20_000) if craft is words_in_one_slot else words_of_one_hash(20_000)
    nfa = build_nfa([[word] for word in words])
    program = make_program(nfa, b".")
    assert farthest(program, nfa) < 256
    assert program.words.nbytes <= 64 * len(words)
    keys: list[bytes | None] = [*words[:200], b"other", b"other-word-of-16"]
    expected = [[i] for i in range(200)] + [[], []]
    for machine in (LazyDfa(nfa, b".", 1 << 20), Simulator(nfa, b".")):
        assert answers(machine, keys) == expected
        assert [list(machine.match(key)) for key in keys if key is not None] == expected


WORDS, PARENTS = 3000, 600


def pairs_in_one_place(number: int, key_bits: int, first: int) -> list[list[bytes]]:
    """Patterns: word i alone, for symbols to be numbered by it; and pairs of words whose entries in a table meet.

    What leads to word i alone is number ``first + i``, a position or a state.
    """
    symbol, parent = np.meshgrid(np.arange(1, WORDS + 1, dtype=np.uint64), np.arange(1, PARENTS + 1, dtype=np.uint64))
    key = parent + np.uint64(first) << np.uint64(WORDS.bit_length()) | symbol
    mixed = ((key ^ key >> np.uint64(1 + key_bits >> 1)) << np.uint64(64 - key_bits)) * np.uint64(SCRAMBLE)
    chosen = np.argsort(mixed, axis=None)[:number]
    pairs = [[b"w%d" % parent.flat[i], b"w%d" % symbol.flat[i]] for i in chosen]
    return [[b"w%d" % i] for i in range(1, WORDS + 1)] + pairs


def test_children_that_meet_in_their_table_do_not_make_it_grow() -> None:
    number = 11_000
    positions = 1 + WORDS + number
    patterns = pairs_in_one_place(number, WORDS.bit_length() + positions.bit_length(), first=0)
    nfa = build_nfa(patterns)
    assert len(nfa) == positions
    assert make_program(nfa, b".").edges.nbytes <= 128 * len(patterns)
    some = range(0, len(patterns), 7)
    keys: list[bytes | None] = [b".".join(patterns[i]) for i in some]
    keys += [b"w1.none", b"w600.w3000.w1", b"none.w1"]
    expected = [[i] for i in some] + [[], [], []]
    for machine in (LazyDfa(nfa, b".", 1 << 20), without_bits(Simulator(nfa, b"."))):
        assert answers(machine, keys) == expected


def test_transitions_that_meet_in_their_table_do_not_make_it_grow() -> None:
    number, capacity = 2000, 16 << 20
    state_bits = (capacity // 36).bit_length()
    # State 1 is the start state and state 2 the one without positions.
    patterns = pairs_in_one_place(number, WORDS.bit_length() + state_bits, first=2)
    machine = LazyDfa(build_nfa(patterns), b".", capacity)
    keys: list[bytes | None] = [b".".join(pattern) for pattern in patterns]
    for _ in range(3):
        assert answers(machine, keys) == [[i] for i in range(len(patterns))]
    cache = machine._walkers[0]._cache
    assert cache is not None
    assert int(cache.symbol_bits) == WORDS.bit_length()
    assert int(cache.key_shift) == 64 - WORDS.bit_length() - state_bits
    assert cache.transitions.nbytes <= 64 * 8 * (WORDS + number)
    assert machine.stats().clears == 0
