"""The steps of a relay's rows: the cache of itineraries with the kernels that read and fill it, for one caller at a time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from compiler.errors import CapacityError
from compiler.kernels.relay_tables import (
    DONE,
    EPOCH,
    FOUND,
    GROW_NAME_BYTES,
    GROW_NAMES,
    NAMES,
    NEXT,
    NO_TEXTS,
    PASSING,
    STATES,
    WRONG,
    Directory,
    Itineraries,
    Network,
    Room,
    Texts,
)
from compiler.kernels.tables import Bools, Int64s, Keys
from compiler.machine.key_cache import NO_KEY_TABLE, key_table, table_bytes
from compiler.relay.itineraries import empty_itineraries, grown, make_scratch, nbytes, nothing_named, with_names
from compiler.values import Int32s, Lent, SetBatch

__all__ = ["FullError", "Steps"]

MOST_EPOCHS = 1 << 30
MOST_VALUES = 2**31 - 1
MOST_MEMOS = 1 << 12
"""The sets of small batches of which is kept in mind where they led last, in 64 KB besides the cache."""


@cache
def _kernels() -> tuple[Any, Any, Any, Any, Any]:
    """Import as late as all kernels: to ask for a module's names at each batch would take 2 us."""
    from compiler.kernels.calling import direct
    from compiler.kernels.relay_batches import pass_on, publish
    from compiler.kernels.relay_names import name_rows
    from compiler.kernels.relay_walk import send

    return direct, publish, pass_on, name_rows, send


class FullError(Exception):
    """The cache would take more bytes than it may."""


class Steps:
    """A cache, and room to work itineraries out. What an exception leaves behind is not used again: see :meth:`start_over`."""

    limit: int | None = None
    """The most bytes of the cache; None is no bound. A method that needs more raises :class:`FullError`."""

    def __init__(self, network: Network, outputs: int) -> None:
        """Begin with an empty cache; there are so many ``outputs``."""
        self._network, self._outputs = network, outputs
        self._cache: Itineraries
        self._marks: Int32s
        self._numbered: list[Int32s]
        self._memo: Int32s
        self._numbering: object
        """What the numbers of sets in the memo belong to."""
        self._texts = NO_TEXTS, NO_TEXTS
        """The names that were written last."""
        self.start_over()

    def start_over(self) -> None:
        """Make everything anew."""
        self._scratch = make_scratch(self._network, self._outputs)
        self._empty()

    def clear(self) -> None:
        """Forget all itineraries."""
        epoch = self._cache.counts[EPOCH]
        self._empty()
        self._cache.counts[EPOCH] = epoch  # the marks in the scratch space go on

    @property
    def nbytes(self) -> int:
        """The bytes of the cache."""
        return nbytes(self._cache)

    def begin(self, stations: Int32s, itineraries: Int32s, rows: Int32s, at: Int32s) -> int:
        """Write the itinerary of keys that begin at stations, the rows that wait, and where; return how many wait."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import begin_rows

        self._count_epochs()
        row = found = 0
        while True:
            where = stations, itineraries, rows, at, row, found
            status = int(direct(begin_rows, self._network, self._cache, self._scratch, *where))
            if status >= 0:
                return status
            self._grow(-status)
            row, found = int(self._cache.counts[NEXT]), int(self._cache.counts[FOUND])

    def publish(self, directory: Directory, room: Room, *numbers: int, named: bool, learns: bool) -> int:
        """Begin a plain batch, and have it end as routes unless what rows get to is to be ``named``.

        ``numbers`` are those of rows, the most bytes of a key, and those of a station's word. Returns DONE, or WRONG if the batch must go
        the general way. See :mod:`compiler.kernels.relay_batches`.
        """
        direct, publish, *_ = _kernels()
        self._count_epochs()
        learning = learns and self._has_messages()
        while True:
            self._lengthen_marks()
            known = directory, self._network, self._cache, self._scratch, room, self._marks, int(named)
            status = int(direct(publish, *known, *numbers, int(learning and len(self._cache.messages) > 0)))
            if status >= 0:
                return status
            self._grow(-status)

    def send(
        self,
        lent: Lent,
        keys: Keys,
        directory: Directory,
        room: Room,
        *numbers: int,
        first: int,
        named: bool,
        learns: bool,
        conditions: Int32s,
    ) -> int:
        """Send a plain batch as far as it goes, with what a machine has lent, from its beginning (BEGIN) or from where it is (GO_ON); the rest
        as for :meth:`publish`.

        Returns DONE, WRONG or LEFT as :func:`compiler.kernels.relay_walk.send` does.
        """
        direct, *_, send = _kernels()
        self._count_epochs()
        learning = learns and self._has_messages()
        while True:
            self._lengthen_marks()
            memo = self._memo_for(lent)
            known = directory, self._network, self._cache, self._scratch, room, self._marks, int(named)
            learn = int(learning and len(self._cache.messages) > 0)
            walks = *lent.tables, keys, room.ids, NO_KEY_TABLE
            status = int(direct(send, *walks, *known, *numbers, learn, conditions, memo, first))
            if status >= 0:
                return status
            self._grow(-status)
            first = int(self._cache.counts[NEXT]) if room.counts[PASSING] else first

    def pass_on(self, room: Room, rows: int, sets: SetBatch, conditions: Int32s, *, named: bool) -> bool:
        """Take the rows of a plain batch that wait one step further, given their accept sets; the rest as for :meth:`publish`."""
        direct, _, pass_on, *_ = _kernels()
        memo = _memo(len(sets.offsets) - 1)
        row = 0
        while True:
            self._lengthen_marks()
            known = self._network, self._cache, self._scratch, room, self._marks, int(named), rows
            status = int(direct(pass_on, *known, *sets, conditions, memo, row))
            if status >= 0:
                return status != WRONG
            self._grow(-status)
            row = int(self._cache.counts[NEXT])

    def name_rows(
        self,
        itineraries: Int32s,
        rows: int,
        texts: tuple[Texts, Texts],
        counts: Int64s,
        block: Int32s,
        *,
        measured: bool,
    ) -> bool:
        """Write the lists of rows if ``block`` has room for them; see :func:`compiler.kernels.relay_names.name_rows`.

        ``texts`` are the names of two sorts of outputs. False if there are over 2^31 names.
        """
        direct, *_, name_rows, _ = _kernels()
        if texts[0] is not self._texts[0] or texts[1] is not self._texts[1]:
            self._cache, self._texts = nothing_named(self._cache), texts
        data, others = block.view(np.uint8), int(self._cache.counts[NAMES])
        while True:
            self._have_names()
            status = int(direct(name_rows, self._cache, texts, itineraries, rows, counts, int(measured), block, data))
            if status >= 0:
                return status != WRONG
            try:
                self._grow(-status)
            except FullError:
                if not others:
                    raise
                self._forget_names()  # those of other batches
                others = 0

    def advance(self, itineraries: Int32s, rows: Int32s, sets: SetBatch, conditions: Int32s) -> None:
        """Take rows one step further, given the accept set of each and the condition that each accept tag stands for."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import advance_rows

        memo = _memo(len(sets.offsets) - 1)
        row = 0
        while True:
            where = itineraries, rows, *sets, conditions, memo, row
            status = int(direct(advance_rows, self._network, self._cache, self._scratch, *where))
            if status == DONE:
                return
            self._grow(-status)
            row = int(self._cache.counts[NEXT])

    def set_aside(self, asked: Bools, rows: Int32s, at: Int32s) -> tuple[Int32s, Int32s, Int32s, Int32s]:
        """Return the rows that wait at stations that are not ``asked``, and where; and the same of the others."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import set_aside

        size = len(rows)
        parts = np.empty(4 * size, np.int32)
        kept = int(direct(set_aside, asked, rows, at, parts))
        aside, where = parts[2 * size :], parts[3 * size :]
        return parts[:kept], parts[size : size + kept], aside[: size - kept], where[: size - kept]

    def still_waiting(self, itineraries: Int32s, rows: Int32s, at: Int32s) -> int:
        """Keep the rows that wait, in place, write where to ``at``, and return how many they are."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import still_waiting

        return int(direct(still_waiting, self._cache, itineraries, rows, at))

    def conclude(self, itineraries: Int32s, route_ids: Int32s, base: int) -> Int32s:
        """Number the itineraries of rows, new ones from ``base`` on; return these, in the order of their numbers."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import conclude_rows

        self._lengthen_marks()
        used = np.empty(min(len(itineraries), int(self._cache.counts[STATES])), np.int32)
        count = int(direct(conclude_rows, itineraries, self._marks, route_ids, used, base))
        self._numbered.append(used[:count])
        return used[:count]

    def outputs(self, used: Int32s, begin: int) -> tuple[Int32s, Int32s]:
        """Return the outputs of itineraries, and where those of each end, from ``begin`` on."""
        from compiler.kernels.calling import direct
        from compiler.kernels.relay import copy_outputs, measure_outputs

        ends = np.empty(len(used) + 1, np.int32)
        ends[0] = begin
        total = int(direct(measure_outputs, self._cache, used, ends))
        if total > MOST_VALUES:
            raise CapacityError("the routes of this batch have over 2^31 entries in all: route it in smaller batches")
        values = np.empty(total - begin, np.int32)
        direct(copy_outputs, self._cache, used, ends - np.int32(begin), values)
        return ends[1:], values

    def forget_numbers(self) -> None:
        """Forget what :meth:`conclude` has numbered."""
        for used in self._numbered:
            self._marks[used] = -1
        self._numbered = []

    def _count_epochs(self) -> None:
        """Begin to count epochs anew before their numbers are used up."""
        if self._cache.counts[EPOCH] > MOST_EPOCHS:
            self._cache.counts[EPOCH] = 0
            self._scratch = make_scratch(self._network, self._outputs)

    def _lengthen_marks(self) -> None:
        """Have a mark for each itinerary that the cache has room for."""
        if len(self._marks) < len(self._cache.waits):
            more = np.full(len(self._cache.waits) - len(self._marks), -1, np.int32)
            self._marks = np.concatenate((self._marks, more))

    def _has_messages(self) -> bool:
        """Have a table of whole messages, if there is room for it; tell whether there is one."""
        if not len(self._cache.messages):
            size = table_bytes(self.limit or 0)
            if size and self.nbytes + size <= (self.limit or 0):
                self._cache = self._cache._replace(messages=key_table(self.limit or 0))
        return len(self._cache.messages) > 0

    def _memo_for(self, lent: Lent) -> Int32s:
        """Return where sets have led: what is known already, if the machine has not begun to number anew."""
        if lent.numbering is not self._numbering or min(lent.sets, MOST_MEMOS) > len(self._memo) >> 2:
            self._memo, self._numbering = _memo(min(2 * lent.sets, MOST_MEMOS)), lent.numbering
        return self._memo

    def _empty(self) -> None:
        self._cache = empty_itineraries(self._network)
        self._memo, self._numbering = _memo(0), None
        self._marks = np.full(len(self._cache.waits), -1, np.int32)
        self._numbered = []

    def _have_names(self) -> None:
        """Have room to note where the names of each itinerary are."""
        larger = with_names(self._cache, self.limit)
        if larger is None:
            self._forget_messages()
            larger = with_names(self._cache, self.limit)
        if larger is None:
            raise FullError
        self._cache = larger

    def _grow(self, table: int) -> None:
        """Have more room in a table; what whole messages and names take is room for itineraries first."""
        larger = grown(self._cache, table, self.limit)
        if larger is None:
            self._forget_messages()
            larger = grown(self._cache, table, self.limit)
        if larger is None and table not in (GROW_NAMES, GROW_NAME_BYTES):
            self._forget_names()
            larger = grown(self._cache, table, self.limit)
        if larger is None:
            raise FullError
        self._cache = larger

    def _forget_messages(self) -> None:
        self._cache = self._cache._replace(messages=NO_KEY_TABLE)

    def _forget_names(self) -> None:
        self._cache = nothing_named(self._cache)


def _memo(count: int) -> Int32s:
    """Return empty fours for at least ``count`` sets; see :func:`compiler.kernels.relay.advance_rows`."""
    return np.zeros(4 << max(count - 1, 0).bit_length(), np.int32)
