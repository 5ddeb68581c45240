"""The flat tables of sealed states: what a lazy DFA knew at one moment, laid out for those who only read.

A cache finds a transition by hashing (state, symbol) over one large table, half of which is empty. Here each state that words lead on
from has a *record*, in which all that a step asks for lies side by side: its default successor, its filter, its accept set, and
its transitions in *buckets* of two. A state that nothing leads on from has no record: whoever leads there has its accept set. So a step
reads one or two lines of the processor's cache.

Records are arrays of pairs of 64 bits, and begin at any pair; the number of that pair is the state's *reference*. Pair 0 belongs to
none.

The first pair of a record
    From its top bit down: whether the record is *complete* (1 bit), which bits of a symbol's hash choose the bucket (2), the binary
    logarithm of the buckets (5), the accept set (27), and a reference to the default successor, or 0 if that is not known (29). And
    the filter of the state's literals, as in a cache (:mod:`compiler.kernels.filters`), which all words pass if it is complete.

The buckets
    follow, a pair each; a state without literals has none. An entry is a symbol (32 bits) and a reference (32 bits), or 0 where
    there is none. An entry is in the bucket that its symbol is hashed to, or if that is full, and says so, in the next one;
    behind the last bucket comes the first. A record is complete if all literals of the state have an entry, with the reference 0 if nobody has
    met them there: then a word without an entry leads to the default successor, and is neither looked for in a filter nor
    asked of the NFA. A record is completed where it has at most COMPLETED times as many entries then
    (:mod:`compiler.kernels.sealing`). Without, a key of `fleet` took 1.1 times as long, in processes in turns.

A reference
    is the number of a pair; or, with the bit FINAL or ENDED, of an accept set. FINAL: no word can change this any more, as in a cache.
    ENDED: no pattern goes on, so the next word leads to where nothing matches. Pair 0 says that, as if it were a state: its
    default successor is FINAL with the empty set.

What a state is made of, its NFA positions, is read only for words that pass a filter and are no literals, and when tables are proven. It
lies elsewhere, in the order of the records. ``starts`` tells which pairs begin records: by it a reference is known for one, and the
number of its state is counted.
"""

from __future__ import annotations

from typing import NamedTuple

from compiler.kernels.tables import FINAL, Int32s, Int64s, Uint64s

__all__ = ["Seal"]

ENDED = FINAL << 1
"""The bit of a reference to an accept set behind which no pattern goes on."""
REFERENCE_BITS = 29
"""The bits of a reference with FINAL and ENDED."""
ACCEPT_SHIFT, SIZE_SHIFT = REFERENCE_BITS, 56
"""Of the first number of a record: the lowest bits of its accept set and of its size."""
MOST_BUCKETS = 31
"""The mask of the binary logarithm of a record's buckets, in its size."""
CHOICE_SHIFT = 5
"""The lowest bit, in a record's size, of the choice of its hash."""
CHOICES = 4
"""The hashes that a record can choose from, so that few of its buckets overflow."""
COMPLETE = 1 << 63
"""Of the first number of a record: the bit of a complete one."""
OVERFLOWED = 1 << 31
"""Of the second entry of a full bucket: the bit which says that a further one that belongs here is in the next."""
EVERY_WORD = (1 << 63) - 1
"""The filter of a complete record."""
FIRST_HASH, NEXT_HASH = 16, 5
"""By how many bits a symbol's product with SCRAMBLE is shifted to find its bucket: with the first choice, and how many more with each
further one."""
PAIRS = 64
"""The pairs that a number of ``Seal.starts`` tells of."""


class Seal(NamedTuple):
    """Sealed tables. State and accept set numbers count from 1; entry 0 of their tables is a sentinel."""

    meta: Int64s
    """As that of a cache: START and START_RESERVED are references; the words that were read are counted, by a reader in its own copy."""
    records: Uint64s
    """The records."""
    starts: Uint64s
    """Bit i of number w says whether a record begins at pair 64w + i."""
    before: Int32s
    """How many records begin before pair 64w."""
    state_end: Int32s
    """The members of state s, the s-th of the records, are ``members[state_end[s - 1]:state_end[s]]``."""
    members: Int32s
    """The members of all states."""
    set_end: Int32s
    """The accept tags of set s are ``tags[set_end[s - 1]:set_end[s]]``."""
    tags: Int32s
    """The accept tags of all sets."""
    filters: Uint64s
    """The wide filters of states; number 0 belongs to none."""
