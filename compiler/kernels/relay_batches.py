"""A plain batch on its way through a relay, in few calls: where nothing is out of the ordinary, and rows are not too many.

A kernel costs 20 ns for each array that it is handed, and numpy a quarter of a microsecond for each that it makes: of a batch of
256 messages that went from kernel to kernel, four fifths of the time went into this. So one kernel reads the columns where they lie, and
finds where each key begins, or where it gets to if the whole message is known; another takes all keys a step further, and both end with
what comes next: the keys that wait are written behind the words of their stations, or, where none waits, the whole answer is put together,
as routes or as what lists of names take.

What this leaves out, and the caller sees to: nulls, keys that are too long or not ASCII, names of no station, columns whose
offsets are damaged, and answers for which there is no room. All of them are seen here, and the batch goes the general way.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import array_at, inlined, kernel, load64, store64
from compiler.kernels._place_vectors import stations_of_eight
from compiler.kernels.leading import copy_text, screened
from compiler.kernels.places import ends_within, station_of
from compiler.kernels.relay import take_steps
from compiler.kernels.relay_messages import keep_messages, recall_messages
from compiler.kernels.relay_steps import work_out
from compiler.kernels.relay_tables import (
    ASIDE,
    DONE,
    KEY,
    KNOWN,
    LEARNS,
    NAME,
    OUTPUTS,
    PLACE,
    ROUTES,
    SIZE,
    SLACK,
    WAITING,
    WRONG,
    Directory,
    Itineraries,
    Network,
    Room,
    Scratch,
)
from compiler.kernels.tables import Bytes, Int32s, Signed, Unsigned
from compiler.kernels.unsigned import EIGHT, ONE, ZERO

__all__ = ["pass_on", "publish"]

DOT = np.uint8(46)
WIDE = np.uint64(SLACK)


@kernel
def publish(
    directory: Directory,
    network: Network,
    cache: Itineraries,
    scratch: Scratch,
    room: Room,
    marks: Int32s,
    named: Signed,
    rows: Signed,
    longest: Signed,
    word: Signed,
    learns: Signed,
) -> Signed:
    """Begin a batch of ``rows`` rows, whose columns are in ``room``; one text in the column of places is that of all rows.

    Keys may have ``longest`` bytes, and the words of stations have up to ``word``. Where it ``learns``, whole messages are looked up and
    kept. The answer is put together as routes, unless what rows get to is to be ``named``. Returns DONE, WRONG, or minus the table that must
    grow: then it is called again.
    """
    for column in (PLACE, NAME, KEY):
        if not _lies_within(array_at(room.columns, column, np.int32), room.columns[column + 3]):
            return np.int64(WRONG)
    offsets, data = array_at(room.columns, KEY, np.int32), array_at(room.columns, KEY + 2, np.uint8)
    if np.int64(offsets[rows]) - offsets[0] + rows * (word + 1) + SLACK + 8 > room.data.size:
        return np.int64(WRONG)
    if screened(offsets, data) > longest:
        return np.int64(WRONG)
    room.counts[SIZE], room.counts[LEARNS], room.counts[KNOWN] = offsets[rows] - offsets[0], learns, 0
    status = _begin(directory, network, cache, scratch, room, np.uint64(rows))
    if status != DONE:
        return np.int64(status)
    if learns:
        recall_messages(cache, room, offsets, data, rows)
    return _what_comes_next(cache, room, marks, named, offsets, data, rows, np.uint64(rows), False)


@inlined
def _begin(
    directory: Directory,
    network: Network,
    cache: Itineraries,
    scratch: Scratch,
    room: Room,
    rows: Unsigned,
) -> Signed:
    """Find the itineraries that rows begin with; return DONE, WRONG, or minus the table that must grow."""
    place_offsets, places = array_at(room.columns, PLACE, np.int32), array_at(room.columns, PLACE + 2, np.uint8)
    name_offsets, names = array_at(room.columns, NAME, np.int32), array_at(room.columns, NAME + 2, np.uint8)
    several, itineraries = place_offsets.size > 2, room.itineraries
    size, place_size = np.uint64(names.size), np.uint64(places.size)
    at = ZERO
    while at + EIGHT <= rows:
        last = at + EIGHT - ONE
        place_end = np.uint64(place_offsets[last if several else ZERO]) + EIGHT
        if np.uint64(name_offsets[last]) + EIGHT > size or place_end > place_size:
            break
        columns = several, place_offsets, places, name_offsets, names
        stations_of_eight(*columns, at, directory.table, directory.multiplier, itineraries)
        at += EIGHT
    itineraries[at:rows] = -1
    for row in range(rows):
        number = itineraries[row]
        if number >= 0:
            station = np.int64(directory.stations[np.uint64(number)])
        else:
            place = ends_within(place_offsets, places, row if several else ZERO)
            name = ends_within(name_offsets, names, row)
            station = np.int64(station_of(place, name, places, names, directory))
            if station < 0:
                return np.int64(WRONG)
        itinerary = np.int64(cache.begins[station])
        if itinerary == 0:
            itinerary = work_out(network, cache, scratch, np.int64(0), np.int64(0), station)
            if itinerary < 0:
                return itinerary
            cache.begins[station] = itinerary
        itineraries[row] = itinerary
    return np.int64(DONE)


@kernel
def pass_on(
    network: Network,
    cache: Itineraries,
    scratch: Scratch,
    room: Room,
    marks: Int32s,
    named: Signed,
    rows: Signed,
    set_ids: Int32s,
    set_offsets: Int32s,
    positions: Int32s,
    conditions: Int32s,
    memo: Int32s,
    first: Signed,
) -> Signed:
    """Take the rows that wait, from ``first`` on, one step further; arguments from ``set_ids`` on as for ``advance_rows``.

    ``set_ids`` may have more entries than rows wait. Returns DONE, WRONG, or minus the table that must grow: then it is called again
    with what the cache's counts have as NEXT.
    """
    given = set_ids, set_offsets, positions, conditions, memo, first
    waiting = room.rows[: room.counts[WAITING]]
    status = take_steps(network, cache, scratch, room.itineraries, waiting, *given)
    if status != DONE:
        return np.int64(status)
    offsets, data = array_at(room.columns, KEY, np.int32), array_at(room.columns, KEY + 2, np.uint8)
    # Where no row was at a station that is asked, none but these can wait.
    listed = room.counts[ASIDE] == 0
    count = np.uint64(waiting.size if listed else rows)
    return _what_comes_next(cache, room, marks, named, offsets, data, rows, count, listed)


@inlined
def _lies_within(offsets: Int32s, size: Unsigned) -> bool:
    """Tell whether offsets ascend and lead to no byte beyond ``size``."""
    descents = False
    for i in range(np.uint64(offsets.size - 1)):
        descents |= offsets[i + ONE] < offsets[i]
    return not descents and offsets[0] >= 0 and np.uint64(offsets[offsets.size - 1]) <= size


@inlined
def _what_comes_next(
    cache: Itineraries,
    room: Room,
    marks: Int32s,
    named: Signed,
    offsets: Int32s,
    data: Bytes,
    rows: Signed,
    count: Unsigned,
    listed: bool,
) -> Signed:
    """Find the rows that wait among all, or among the ``count`` ones that are ``listed`` as waiting, and write the keys of those that the
    automaton answers for; where none waits, put the answer together, unless it is ``named``.
    """
    waiting, aside, end = ZERO, ZERO, ZERO
    size = np.uint64(data.size)
    room.offsets[0] = 0
    for place in range(count):
        row = np.uint64(room.rows[place]) if listed else place
        at = cache.waits[np.uint64(room.itineraries[row])]
        if at < 0:
            continue
        station = np.uint64(at)
        if room.asked[station]:
            room.aside[aside] = row
            room.aside_at[aside] = at
            room.begun[row] = 0  # it goes by more than its key
            aside += ONE
            continue
        word = np.uint64(room.word_offsets[station])
        store64(room.data, end, load64(room.words, word))
        end += np.uint64(room.word_offsets[station + ONE]) - word
        begin, last = np.uint64(offsets[row]), np.uint64(offsets[row + ONE])
        if last > begin:
            room.data[end] = DOT
            end += ONE
            if last + WIDE <= size:
                copy_text(data, begin, last, room.data, end)
            else:  # near the end of the column, behind which nothing may be read
                for i in range(last - begin):
                    room.data[end + i] = data[begin + i]
            end += last - begin
        room.rows[waiting] = row
        waiting += ONE
        room.offsets[waiting] = end
    room.counts[WAITING], room.counts[ASIDE] = np.int64(waiting), np.int64(aside)
    if waiting + aside:
        return np.int64(DONE)
    if room.counts[LEARNS] and cache.messages.size:  # the table may have made way since
        keep_messages(cache, room, offsets, data)
    return np.int64(DONE) if named else _put_together(cache, room, marks, rows)


@inlined
def _put_together(cache: Itineraries, room: Room, marks: Int32s, rows: Signed) -> Signed:
    """Write the answer; ``marks`` has -1 for each itinerary, before and after."""
    answer, used = room.answer, room.rows
    routes = 0
    for row in range(rows):
        itinerary = room.itineraries[row]
        number = marks[itinerary]
        if number < 0:
            number = routes
            marks[itinerary] = number
            used[routes] = itinerary
            routes += 1
        answer[row] = number
    answer[rows] = 0
    begin = np.int64(rows + routes + 1)
    end = begin
    fits: Signed = True
    for i in range(routes):
        itinerary = np.int64(used[i])
        marks[itinerary] = -1
        first, last = np.int64(cache.ends[3 * itinerary - 1]), np.int64(cache.ends[3 * itinerary])
        fits = fits and end + last - first <= answer.size
        if fits:
            for member in range(first, last):
                answer[end] = cache.members[member]
                end += 1
        answer[rows + 1 + i] = end - begin
    room.counts[ROUTES], room.counts[OUTPUTS] = routes, end - begin
    return np.int64(DONE if fits else WRONG)
