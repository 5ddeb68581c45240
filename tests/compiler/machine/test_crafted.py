"""Words, patterns and keys that were chosen so that they meet in the hash tables of the kernels, whose arithmetic is public.

Each test rebuilds that arithmetic in whole numbers of Python, and chooses input by it. What is asserted is counted: bytes of
tables, and slots that a search passes. Nothing waits for the clock.
"""

from __future__ import annotations

import numpy as np
import pytest

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.kernels._text_vectors import ADDENDS
from compiler.kernels.tables import SCRAMBLE, Program, Uint64s
from compiler.kernels.unsigned import GOLDEN
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.program import make_program
from compiler.machine.simulator import Simulator
from compiler.prepare import jit_enabled
from tests.compiler.machines import answers, column, without_bits

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled machines")

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


HALVES = [half for addend in ADDENDS for half in (int(addend) % 2**32, int(addend) >> 32)]
BEHIND = b".the.same.words.stand.behind.the.first.of.each.."


def keys_with_one_home(number: int, bits: int) -> list[bytes]:
    """Keys of 64 bytes that end in BEHIND, and whose hashes begin with so many zeros, but have different upper halves.

    Of the eight products of a key's hash the last six are given. The first two are chosen as p * quotient and 1 * rest, where p is 2^32 - 1.
    """
    words = np.frombuffer(BEHIND, np.uint32).tolist()
    sums = [(word + half) % 2**32 for word, half in zip(words, HALVES[4:], strict=True)]
    given = sum(a * b for a, b in zip(sums[0::2], sums[1::2], strict=True)) + 64 * int(GOLDEN)
    found: list[bytes] = []
    upper = 0
    while len(found) < number:
        upper += 1
        assert upper >> 32 - bits == 0
        mixed = (upper << 32) * pow(int(GOLDEN), -1, WIDE) % WIDE
        quotient, rest = divmod(((mixed ^ mixed >> 32) - given) % WIDE, 2**32 - 1)
        factors = zip((2**32 - 1, quotient, 1, rest), HALVES, strict=False)
        key = b"".join(((factor - half) % 2**32).to_bytes(4, "little") for factor, half in factors) + BEHIND
        if quotient < 2**32 and b"." not in key[:16]:
            found.append(key)
    return found


def assert_searches_end(index: Uint64s) -> None:
    """Whatever key is looked for, at most 256 slots are tried: those of an aligned block, one of which is empty."""
    taken = np.flatnonzero(index)
    homes = (index[taken] >> np.uint64(65 - len(index).bit_length())).astype(np.int64)
    assert (homes ^ taken).max() < 256
    assert (index.reshape(-1, 256) == 0).any(axis=1).all()


def test_stored_keys_that_meet_in_the_index_are_left_out() -> None:
    crafted, number = keys_with_one_home(3000, bits=12), 4000
    nfa = build_nfa([[Wildcard.MANY, b"behind", Wildcard.MANY], [b"other", Wildcard.ONE], [Wildcard.MANY, b"7"]])
    keys: list[bytes | None] = [*crafted, *(b"other.%d" % i for i in range(number))]
    expected = [[0]] * len(crafted) + [[1, 2] if i == 7 else [1] for i in range(number)]
    machine = LazyDfa(nfa, b".", 16 << 20, key_cache="auto", policy=Policy(key_store=True, simulate=False))
    for _ in range(3):
        assert answers(machine, keys) == expected
    tables = machine._walkers[0]._key_store._stored._tables
    assert tables is not None
    assert len(tables.slots) >= 2 * number  # so it has grown from the first 2,048
    assert_searches_end(tables.slots)
    assert number < np.count_nonzero(tables.slots) < number + 256
    assert machine.stats().key_cache_hits >= 2 * number


def test_exact_keys_that_meet_in_the_index_stay_in_the_automaton() -> None:
    crafted, number = keys_with_one_home(3000, bits=12), 4000
    keys: list[bytes | None] = [*crafted, *(b"other.%d" % i for i in range(number))]
    nfa = build_nfa([[*key.split(b".")] for key in keys if key is not None] + [[b"other", Wildcard.ONE]])
    expected = [[i] if i < len(crafted) else [i, len(keys)] for i in range(len(keys))]
    machine = LazyDfa(nfa, b".", 16 << 20, policy=Policy(exact=True))
    exact = machine._parts.exact
    assert exact is not None
    assert_searches_end(exact.slots)
    assert number < np.count_nonzero(exact.slots) < number + 256
    assert answers(machine, keys) == expected
    assert [list(machine.match(key)) for key in keys[::10] if key is not None] == expected[::10]


def test_as_many_keys_of_one_home_as_there_are_others_are_no_part_of_their_own() -> None:
    """More than half of the patterns would stay in the automaton then, so all of them do."""
    keys: list[bytes | None] = [*keys_with_one_home(1200, bits=12)]
    nfa = build_nfa([key.split(b".") for key in keys if key is not None])
    machine = LazyDfa(nfa, b".", 16 << 20, policy=Policy(exact=True))
    assert machine._parts.exact is None
    assert answers(machine, keys) == [[i] for i in range(len(keys))]


CHOSEN = 18
"""Words that are searched for anywhere in a key: so whoever sends keys chooses which sets of bindings match."""


def sets_in_one_place(bindings: int, least: int) -> list[list[int]]:
    """Sets of at least so many words, each with so many bindings, whose hashes end in 14 bits that are below 256 as a number."""
    chosen = np.arange(1 << CHOSEN, dtype=np.uint64)
    inside = [(chosen >> np.uint64(word) & np.uint64(1)).astype(np.bool_) for word in range(CHOSEN)]
    size = np.sum(inside, axis=0)
    hashed = (bindings * size).astype(np.uint64)
    for tag in range(bindings * CHOSEN):
        further = (hashed ^ np.uint64(tag)) * GOLDEN
        hashed = np.where(inside[tag // bindings], further ^ further >> np.uint64(32), hashed)
    found = np.flatnonzero((hashed % np.uint64(1 << 14) < 256) & (size >= least))
    return [[word for word in range(CHOSEN) if number >> word & 1] for number in found.tolist()]


def words_anywhere(bindings: int) -> Nfa:
    patterns: list[list[Token]] = [[Wildcard.MANY, b"w%d" % word, Wildcard.MANY] for word in range(CHOSEN)]
    return build_nfa([pattern for pattern in patterns for _ in range(bindings)])


def longest_run(slots: Uint64s) -> int:
    """The most slots in a row that are in use; behind the last one comes the first."""
    empty = np.flatnonzero(slots == 0)
    return int(np.diff(np.append(empty, empty[0] + len(slots))).max()) - 1


def test_sets_that_meet_in_their_table_make_no_long_run() -> None:
    sets = sets_in_one_place(bindings=1, least=1)
    assert len(sets) > 3000
    machine = LazyDfa(words_anywhere(1), b".", 64 << 20, policy=Policy(simulate=False))
    keys: list[bytes | None] = [b".".join(b"w%d" % word for word in words) for words in sets]
    for _ in range(2):
        assert answers(machine, keys) == sets
    cache = machine._walkers[0]._cache
    assert cache is not None
    assert np.count_nonzero(cache.set_slots) > 1023
    assert longest_run(cache.set_slots) <= 1023
    assert longest_run(cache.state_slots) <= 1023
    sealed = machine.seal()
    assert sealed is None or answers(sealed, keys) == sets


def test_large_sets_of_simulated_keys_that_meet_are_told_again_rather_than_searched_for() -> None:
    sets = sets_in_one_place(bindings=8, least=8)
    keys: list[bytes | None] = [b".".join(b"w%d" % word for word in words) for words in sets]
    simulator = Simulator(words_anywhere(8), b".")
    assert len(sets) > 2000
    found = simulator.match_batch([column(2 * keys)])
    expected = [[8 * word + i for word in words for i in range(8)] for words in sets]
    once = 16 * max(map(len, expected))  # at most: so long may a run be
    assert 2 * len(sets) - once <= len(found.offsets) - 1 < 2 * len(sets)
    assert answers(simulator, 2 * keys) == 2 * expected
