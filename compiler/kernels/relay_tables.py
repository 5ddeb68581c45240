"""The flat tables of a relay: where accept sets lead, and what of that has been found out.

A *relay* sends keys from station to station (:mod:`compiler.relay`). Where a key has got to is its *itinerary*: the outputs that
it has collected, the stations at which it waits, and those that it has visited. At a station the key has an accept set, and
itinerary and set together decide the next itinerary, whatever the key is. So itineraries are the states of an automaton whose
letters are accept sets; like a lazy DFA it is built as keys need it, kept in a cache, and cleared when that is full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiler.kernels.tables import Bools, Bytes, Int32s, Int64s, Keys, Uint64s, Unsigned, frozen

__all__ = ["NO_TEXTS", "SLACK", "Directory", "Itineraries", "Network", "Room", "Scratch", "Texts"]

SLACK = 64
"""How many bytes kernels may copy beyond the end of a text."""

# --- Network.kinds -------------------------------------------------------------------------------------------------------

ASKS, CONSTANT = 0, 1
"""A station that asks for the key's accept set; and one all of whose conditions are met by every key."""

# --- Itineraries.counts --------------------------------------------------------------------------------------------------

SETS, VALUES, STATES, MEMBERS, STEPS = range(5)
"""Slots of ``counts``: how many entries of each growing table are in use. SETS and STATES count the sentinel 0, too."""
NEXT = 5
"""The row at which a kernel that has stopped is to go on."""
WANTED = 6
"""How many entries the table that must grow needs in all."""
EPOCH = 7
"""The number of the last itinerary that was worked out: what a mark in ``Scratch`` must be equal to."""
FOUND = 8
"""How many rows such a kernel had found to wait somewhere."""
NAMES, NAME_BYTES = 9, 10
"""How many entries of ``name_ends`` and ``name_texts`` are in use."""
COUNTS = 11
"""The length of ``counts``."""

# --- What a kernel returns when it stops -----------------------------------------------------------------------------------

DONE = 0
GROW_SETS, GROW_VALUES, GROW_STATES, GROW_MEMBERS, GROW_STEPS, GROW_NAMES, GROW_NAME_BYTES = range(1, 8)
"""This table is full. Helpers that return the number of a set or of an itinerary otherwise return minus this."""


class Network(NamedTuple):
    """Stations and where their conditions lead; immutable. Conditions are numbered station by station."""

    kinds: Bytes
    """For each station ASKS or CONSTANT."""
    conditions: Int32s
    """The conditions of station s are ``range(conditions[s], conditions[s + 1])``."""
    offsets: Int32s
    """Condition c leads to ``targets[offsets[c]:offsets[c + 1]]``."""
    targets: Int32s
    """An output, below the number of outputs, or that number plus a station."""
    alternates: Int32s
    """For each station that where keys go which meet none of its conditions, or -1."""
    group_offsets: Int32s
    """The accept set of a key that waits at station s tells also which conditions it meets at the stations
    ``groups[group_offsets[s]:group_offsets[s + 1]]``, if it gets there."""
    groups: Int32s
    """Ascending for each station."""


class Itineraries(NamedTuple):
    """The cache: accept sets and itineraries that have occurred, and the steps between these. Numbers count from 1."""

    counts: Int64s
    begins: Int32s
    """For each station the itinerary of keys that begin there, or 0 while it is not worked out."""
    set_ends: Int32s
    """Set s has the conditions ``values[set_ends[s - 1]:set_ends[s]]``."""
    set_slots: Uint64s
    """The hash table of sets: hash << 32 | set."""
    values: Int32s
    ends: Int32s
    """Three entries for each itinerary: where in ``members`` its outputs, its waiting stations and its visited stations end.
    All are ascending. One that waits nowhere does not say what it has visited."""
    waits: Int32s
    """For each itinerary the station at which the key's accept set is asked for next, or -1."""
    slots: Uint64s
    """The hash table of itineraries: hash << 32 | itinerary."""
    members: Int32s
    steps: Uint64s
    """The hash table of steps, with linear probing: pairs of (itinerary << 32 | set) and the next itinerary."""
    messages: Uint64s
    """Where whole messages lead, as :mod:`compiler.kernels.relay_messages` has them; no entries as long as nobody wants it."""
    named: Int32s
    """What :mod:`compiler.kernels.relay_names` has written of each itinerary; no entries as long as nobody wants names."""
    name_ends: Int32s
    """Where each name ends that was written, from where its itinerary's text begins."""
    name_texts: Bytes


class Scratch(NamedTuple):
    """Room to work an itinerary out: lists, and marks that are set where they are equal to the epoch."""

    outputs: Int32s
    waiting: Int32s
    visited: Int32s
    agenda: Int32s
    output_marks: Int32s
    station_marks: Int32s


# --- Plain batches: see compiler.kernels.relay_batches ------------------------------------------------------------------------

WRONG, LEFT = 1, 2
"""What a kernel returns for a batch that must go another way, and for one of which keys are left that it could not walk."""
PLACE, NAME, KEY = 0, 4, 8
"""Slots of ``Room.columns``, four for each column: the address of its offsets, how many these are, the address of its bytes, and
how many there are."""
WAITING, ASIDE, ROUTES, OUTPUTS = range(4)
"""Slots of ``Room.counts``: how many rows wait at stations that the automaton knows and at others; and, where none waits, how many
distinct itineraries the rows have, and how many outputs these have."""
KNOWN, LEARNS, SIZE, KEPT = range(4, 8)
"""How many rows were known as whole messages; whether those that were not are kept; the bytes of all keys; and how many were not known."""
LISTED, LETTERS, OTHERS, OTHER_LETTERS = range(8, 12)
"""How many outputs with a name of the first sort all rows have together, the bytes of these names, and the same of the second sort."""
LISTS_AT = 12
"""Seven slots: where parts of the lists begin, in bytes. They are the ends of lists, the ends of names and the names of the first sort, the
same of the second, and the bits."""
BLOCK_BYTES = 19
"""The bytes of all that."""
WALKED, PASSING = 20, 21
"""How many keys were walked by :mod:`compiler.kernels.relay_walk`, and whether it was taking rows a step further when it stopped."""
BEGIN, GO_ON = -2, -1
"""Where that begins: with the batch, or with the keys that wait."""
ROOM_COUNTS = 22
"""The length of ``Room.counts``."""
LONGEST = 255
"""The most bytes of a key of a batch in which whole messages are looked up."""
LINE = 64
"""Each part of the lists begins at a multiple of so many bytes, as Arrow recommends."""


class Texts(NamedTuple):
    """Names of outputs: name n, that of output ``first + n``, is ``data[offsets[n]:offsets[n + 1]]``. Immutable."""

    first: int
    offsets: Int64s
    data: Bytes
    """With SLACK bytes more."""


NO_TEXTS = Texts(0, frozen(np.zeros(1, np.int64)), frozen(np.zeros(SLACK, np.uint8)))
"""No name."""


class Directory(NamedTuple):
    """Where keys begin, by the name of a place and a name there: see :mod:`compiler.kernels.places`. Immutable."""

    places: Keys
    names: Keys
    table: Uint64s
    multiplier: Unsigned
    stations: Int32s
    """The station of each row of ``places`` and ``names``."""


class Room(NamedTuple):
    """Room for a batch of at most so many rows as ``itineraries`` has entries. It means nothing between two batches."""

    columns: Uint64s
    counts: Int64s
    itineraries: Int32s
    begun: Int32s
    """The itinerary that each row has begun with, or 0 where it goes by more than its key."""
    unknown: Int32s
    """Rows whose whole messages are not known, and belong at ``slots``."""
    slots: Uint64s
    rows: Int32s
    """The rows that wait at stations that the automaton knows, ascending."""
    offsets: Int32s
    """The keys of these behind the words of their stations, in ``data``."""
    data: Bytes
    ids: Int32s
    """The numbers of the accept sets of these, where the relay walks itself."""
    aside: Int32s
    """The rows that wait at other stations, ascending."""
    aside_at: Int32s
    asked: Bools
    """Which stations these are."""
    word_offsets: Int32s
    words: Bytes
    answer: Int32s
    """For each row the number of its route, then the offsets of the routes' outputs, then all outputs."""
    block: Int32s
    """Lists of names, if they are few."""
