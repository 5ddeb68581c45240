"""The flat tables that kernels read and fill, and the constants that say what is in them.

:class:`Program` is an NFA as arrays: made once, immutable, shared by all threads. :class:`Cache` is the lazy DFA: its states,
accept sets and transitions; one walker at a time owns it. :class:`Keys` is a column of routing keys. All are NamedTuples of
arrays, because numba takes a NamedTuple as one argument and compiles a kernel for it once. :mod:`compiler.machine.cache`
makes, grows and clears caches; :mod:`compiler.kernels.work` has a walker's scratch space.

The transition table
    is a hash table with open addressing that maps (state, symbol) to a state, in entries of 8 bytes. It stores no keys and
    is still exact. With S bits of symbol and T bits of state, the number ``state << S | symbol`` is scrambled by a
    bijection on S + T bits: its upper half is folded into its lower half, and the result is multiplied by an odd constant
    modulo 2^(S + T). The top bits of the scrambled number are the home slot. The next 32 bits are stored in the entry; they
    are its *check*. The table never has fewer than 2^(S + T - 32) slots, so home slot and check together are all bits of
    the scrambled number, and an entry with the right check is an entry of the right key.

    An entry is, from its top bit down: the check (32 bits), the displacement from the home slot (4 bits), FINAL (1 bit),
    and the target state (27 bits). Entries of 16 bytes, with the key in them, were rejected: in a table of twice the bytes
    a key of `stock` takes 1.3 times as long (``python -m benchmarks ablations``).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bools",
    "Bytes",
    "Cache",
    "Int32s",
    "Int64s",
    "Keys",
    "Program",
    "Signed",
    "Uint64s",
    "Unsigned",
    "frozen",
    "frozen_cache",
    "longer",
]

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Uint64s = npt.NDArray[np.uint64]

Unsigned: TypeAlias = Any
"""A uint64, to numba. Not ``np.uint64``, as mypy takes what ``range`` yields for ``int``, whatever its bounds are."""
Signed: TypeAlias = Any
"""An int64, to numba: an ``int`` where Python calls a kernel, an ``np.int64`` where kernels call each other."""

# --- Cache.meta ----------------------------------------------------------------------------------------------------------

STATES, MEMBERS, SETS, TAGS, TRANSITIONS, DEFAULTS = range(6)
"""Slots of ``Cache.meta``: how many entries of each growing table are in use. STATES and SETS count the sentinel 0, too.
DEFAULTS counts the states whose default successor is built."""
ROW, WORDS, MISSES = 6, 7, 8
"""The row at which the walk must be resumed. The words that were read. The words among these whose transition was not in the
cache, so that it was built or the key was deferred. Words and misses are added together when a block of keys is complete, so
there are never more misses than words."""
WANTED = 9
"""How many entries the table that must grow needs in all: members after GROW_MEMBERS, tags after GROW_TAGS, numbers of
filters after GROW_FILTERS."""
START, START_RESERVED = 10, 11
"""The start state with its FINAL bit, or 0 if it is not built yet; and the start state of keys that begin with the program's
reserved byte."""
KEY_CACHE_HITS = 12
"""The keys that the key cache answered."""
DEFERRED = 13
"""The keys that the last walk has left to be simulated."""
SEEN = 14
"""The doorkeeper's counters that are not zero."""
BUILDS = 15
"""The transitions and default successors that were built. A missing word may need one of each."""
STRAYS = 16
"""The words that passed a state's filter and were no literals of it."""
FILTERS, FILTERS_FULL = 17, 18
"""How many numbers of ``Cache.filters`` are in use, the sentinel 0 among them; and 1 if there is no room for more of them."""
TRANSITIONS_FULL = 19
"""1 if the table of transitions does not grow any more for a crowded place or for half of its slots being in use."""
CLOSED = 20
"""1 in a full cache to which nothing is added any more: a key that needs what is not there is deferred."""
CRAMPED = 21
"""1 in a cache that was full once: its doorkeeper asks for each transition by itself."""
COUNTS = [WORDS, MISSES, BUILDS, KEY_CACHE_HITS]
"""The slots that survive a clear of the cache."""
META = 22
"""The length of ``Cache.meta``."""

# --- Counts of keys that are matched a few at a time (compiler.machine.pace) -------------------------------------------------

PAUSED, UNJUDGED, SIMULATED, CACHELESS = range(4)
"""Keys still to simulate before the DFA is tried again; keys that may need what is missing before it is judged, one more being left to
Python; keys that were simulated singly; and 1 where there is no cache."""

# --- What a kernel returns when it stops -----------------------------------------------------------------------------------

DONE = 0
"""All keys that were asked for are matched; or MOST_DEFERRED of them are deferred, and must be simulated first."""
GROW_STATES, GROW_MEMBERS, GROW_SETS, GROW_TAGS, GROW_TRANSITIONS, GROW_FILTERS = 1, 2, 3, 4, 5, 6
"""This table of the cache is full: it must grow, or the cache be cleared. Helpers that return a state or a set otherwise
return minus this number."""
LOST = -2
"""In place of the set number of a key that a walk could not answer; -1 is a null key's."""
MISSING, LISTED = -1, 0
"""In place of the accept set of a single key: a transition is missing; or its accept tags are in ``Work.tags``, as it was simulated. What is
below stands for the record of a key that was found whole."""

# --- Sizes -----------------------------------------------------------------------------------------------------------------

PADDING = 72
"""How many bytes behind the last key of a column must be readable: kernels load 64 bytes, and 8 from within these, at once."""
BLOCK = 128
"""How many keys are walked together. With 8, a key takes 1.5 to 3 times as long (``python -m benchmarks ablations``)."""
AHEAD = 8
"""How many words of a key are found before the first of them is read. Where they end is packed into one uint64, in a byte for
each word."""
KEY_CACHE_BYTES = 56
"""The bytes of the longest key that fits into a slot of the key cache, seven numbers."""
DOORKEEPER_ASKS = 3
"""A doorkeeper has a transition built at the request after this many. At most 3, as a counter has two bits."""
MOST_DEFERRED = 16384
"""A walk returns when it has deferred at least this many keys, so that they are simulated."""
MOST_LANES = 64
"""The most machine words that a binding set may take in the bit-parallel simulation."""

# --- Hashing, and the parts of packed numbers ------------------------------------------------------------------------------

SCRAMBLE = 0x9E3779B97F4A7C15
"""The odd multiplier of hashing, 2^64 over the golden ratio (Knuth's multiplicative hashing); words may get another."""
SAMPLE_FACTORS = 0xAA7C6BD7D92A7AAD, 0xFEBBE5B619785427, 0xB56D30A4324676D5
"""Three more, drawn at random, for the first, middle and last bytes of a key of which it is asked whether it is in a sample."""
KEY_CACHE_FOLD = 29
"""By how many bits the hash of a whole key is folded into itself before it is multiplied."""
PROBES = 16
"""An entry of the transition table lies in its home slot or one of the 15 behind it: 4 bits of displacement."""
DISPLACEMENT_SHIFT = 28
"""The lowest bit of a transition's displacement."""
TARGET_BITS = 27
"""The bits of a state number."""
TARGET = (1 << TARGET_BITS) - 1
"""The mask of a state number, in a transition and beside a FINAL bit."""
FINAL = 1 << TARGET_BITS
"""The bit above a state number which says that no further word can change that state."""
FIRST_MARK, SECOND_MARK, FILTER_WORD = 58, 52, 20
"""What stands for a symbol in filters is taken from its product with SCRAMBLE, shifted by these: the numbers of its two bits, and
which number of a wide filter has them."""
MARK, LAST_MARK = 63, 62
"""The mask of a bit's number, and the last one that is used: the bit above it says that a filter is WIDE."""
WIDE = 1 << 63
"""The bit of a wide filter. Beside it are, in the upper half, where it begins in ``Cache.filters``, and in the lower half how many
numbers it has, minus one."""

# --- Flags of an NFA position ----------------------------------------------------------------------------------------------

LOOPS = 1
"""The position stays active on every word: it is a MANY (``#``)."""
FIRST_IS_MANY = 2
"""Its first child is a MANY, which an epsilon move enters."""
HAS_ONE = 4
"""It has a child ONE (``*``): the first child, or the second behind a MANY."""
LEADS_ON = 8
"""It has a child that a word enters."""
HAS_TAGS = 16
"""A pattern ends here."""
NESTED = 32
"""It is a MANY below another MANY, and so may be entered again while it is active."""
CROWDED = 64
"""Words lead to more of its children than are worth searching one by one: they are found in ``Program.edges``."""


class Keys(NamedTuple):
    """A column of routing keys as kernels read it: key i is ``data[offsets[i]:offsets[i + 1]]``.

    All arrays are frozen (:func:`frozen`).
    """

    offsets: Int32s
    """The n + 1 ascending byte offsets into ``data``."""
    data: Bytes
    """The bytes of all keys, and at least PADDING more."""
    valid: Bools
    """False where a key is null, n long; no entries at all where no key is null."""


class Program(NamedTuple):
    """An NFA as kernels read it."""

    separator: np.uint8
    """The byte between words."""
    reserved: np.int64
    """Keys that begin with this byte begin at the second root; -1 if there is one root."""
    roots: np.int64
    """The number of roots, 1 or 2. They are the positions 0 and 1."""
    labels: Int32s
    """For each position what leads to it: a symbol above 0, ONE or MANY."""
    nodes: Uint64s
    """Two entries for each position, side by side, so that a step reads both at once. The first is the number of its first child
    << 32 | its flags. The second is a narrow filter of the words that lead to its children. A sentinel behind the last
    position ends that one's children."""
    tag_offsets: Int32s
    """The accept tags of position p are ``tags[tag_offsets[p]:tag_offsets[p + 1]]``."""
    tags: Int32s
    """The accept tags of all positions."""
    words: Uint64s
    """The hash table of the literal words, with linear probing: pairs of a name (:mod:`compiler.kernels.words`) and a symbol."""
    word_shift: np.int64
    """64 minus the binary logarithm of the number of slots of ``words``."""
    word_multiplier: np.uint64
    """The odd number by which names are multiplied to find their slots, and by which long words are hashed."""
    word_data: Bytes
    """The bytes of all literal words, one after the other, with PADDING."""
    word_offsets: Int32s
    """The word with symbol s is ``word_data[word_offsets[s - 1]:word_offsets[s]]``."""
    edges: Uint64s
    """The children of crowded positions by (position, symbol), in a hash table like the transition table."""
    edge_shift: np.int64
    """64 minus the binary logarithm of the number of home slots of ``edges``."""
    edge_symbol_bits: np.int64
    """The bits of a symbol in a key of ``edges``."""
    edge_key_shift: np.int64
    """64 minus the bits of a key of ``edges``, which are those of a symbol and of a position."""
    nested: Int32s
    """Numbers the positions that are NESTED from 1 up, and has 0 for the others; no entries if none is."""
    nested_count: np.int64
    """The number of positions that are NESTED."""

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays, those that are the NFA's own among them."""
        return sum(array.nbytes for array in self if isinstance(array, np.ndarray))


class Cache(NamedTuple):
    """The lazy DFA. State and accept set numbers count from 1; entry 0 of their tables is a sentinel."""

    meta: Int64s
    """Counters and numbers that change (STATES and the constants below it say which slot is what)."""
    state_end: Int32s
    """The members of state s, which are its live NFA positions, are ``members[state_end[s - 1]:state_end[s]]``."""
    info: Uint64s
    """Two entries for each state, side by side. The first is its accept set << 32 | its default successor with FINAL bit, which is
    0 until it is built. The second is a filter of the state's literals (:mod:`compiler.kernels.filters`)."""
    state_slots: Uint64s
    """The hash table of states by members and accept set: hash << 32 | state. As the hash is stored, looking for a state that is new
    reads no state, and growing the table reads and writes it in order."""
    members: Int32s
    """The members of all states."""
    set_end: Int32s
    """The accept tags of set s are ``tags[set_end[s - 1]:set_end[s]]``."""
    set_slots: Uint64s
    """The hash table of accept sets by their tags: hash << 32 | set."""
    tags: Int32s
    """The accept tags of all sets."""
    transitions: Uint64s
    """The transition table: 2^b home slots and PROBES - 1 more, so that probing never wraps around."""
    transition_shift: np.int64
    """64 - b."""
    filters: Uint64s
    """The wide filters of states; number 0 belongs to none, and is read in place of filters that are narrow."""
    symbol_bits: np.int64
    """The bits of a symbol in a transition's key."""
    key_shift: np.int64
    """64 minus the bits of a transition's key, which are those of a symbol and of a state."""
    state_limit: np.int64
    """The most states that the cache may have."""
    doorkeeper: Uint64s
    """Counters of two bits, chosen by the top bits of a transition's scrambled key: how often it was asked for while it was not
    built. No entries where a transition is built at the first request."""
    doorkeeper_shift: np.int64
    """64 minus the binary logarithm of the number of counters."""


def longer(old: Int32s, size: int) -> Int32s:
    """Return a longer array that begins as an old one."""
    new = np.empty(size, np.int32)
    new[: len(old)] = old
    return new


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only, aligned, contiguous view of an array, or such a copy if a view is impossible.

    To numba, a read-only array is of another type than a writable one, and a kernel is compiled for each type that it is
    given. So whatever kernels only read is frozen before they get it, wherever it came from.
    """
    # Asked first, as np.require takes 2 us, ten times as long.
    flags = array.flags
    view = array.view() if flags.c_contiguous and flags.aligned else np.require(array, requirements=("C", "A")).view()
    view.flags.writeable = False
    return view


def frozen_cache(cache: Cache) -> Cache:
    """Return a cache with the same arrays, read-only but for ``meta``: what a kernel takes that reads sealed tables, too."""
    fields: dict[str, Any] = cache._asdict()
    arrays = {name: frozen(one) for name, one in fields.items() if isinstance(one, np.ndarray) and name != "meta"}
    return Cache(**{**fields, **arrays})
