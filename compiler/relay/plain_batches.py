"""Plain batches: the same steps as for any batch of a relay, without an array or an object for each of them.

A batch of 256 messages took 230 us, of which kernels took 50: the rest went into arrays that were made and cut, and into calls.
Here the columns are read where they lie, what is worked out lies in arrays that are there already, and the answer is one array
(:mod:`compiler.kernels.relay_batches`). What is out of the ordinary goes the general way, from its beginning.

Messages that recur are known whole (:mod:`compiler.kernels.relay_messages`), as long as that pays: it is decided as for the keys
of a machine (:mod:`compiler.machine.key_cache`), with a step of a message in place of a word of a key.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.kernels.relay_tables import (
    BEGIN,
    BLOCK_BYTES,
    DONE,
    GO_ON,
    KNOWN,
    LEFT,
    LISTED,
    LISTS_AT,
    LONGEST,
    ROOM_COUNTS,
    ROUTES,
    SIZE,
    WAITING,
    WALKED,
    WRONG,
    Directory,
    Room,
    Texts,
)
from compiler.kernels.tables import Bools, Bytes, Keys, frozen
from compiler.machine.key_cache import KeyCachePolicy
from compiler.relay.steps import FullError, Steps
from compiler.values import Int32s, KeyColumn, Lent, SetBatch

__all__ = ["ROWS", "ListsOfNames", "Machine", "PlainBatches"]

ROWS, KEY_BYTES, MOST_OUTPUTS = 1 << 15, 1 << 21, 1 << 16
"""The most rows of a plain batch, bytes of its keys behind words, and outputs of all its routes."""
LENT = 1 << 13
"""The most keys that are walked by tables that the machine lends. Messages of the demo in batches of 512, 2,048 and 4,096 take 0.6, 0.77 and
0.83 of the time that they take where the machine matches them, which costs 80 us a batch; but it can tell more often that keys are better
simulated."""
FEW_BYTES = 1 << 16
"""The most bytes of lists that are written to room that is there already."""
NOT_SENT, FULL = -1, -2
STEP = 30.0
"""The nanoseconds of a step that a message need not take where it is known, besides those of a key (`demo, keys recur` of
``python -m benchmarks topology``: 36 together in batches of 100,000)."""
_COLUMNS = struct.Struct("12Q")
_NOTHING = SetBatch(np.empty(0, np.int32), np.zeros(1, np.int32), np.empty(0, np.int32))
_NO_NULLS = frozen(np.empty(0, np.bool_))


class ListsOfNames(NamedTuple):
    """Two lists of names for each row, in one block: see :mod:`compiler.kernels.relay_names`."""

    rows: int
    block: Int32s
    places: list[int]
    """Where ends of lists, ends of names and names of the first sort begin, the same of the second, then bits; all in bytes."""
    counts: list[int]
    """How many names there are of the first sort, and how many bytes these have; and the same of the second. Its lists are only there
    if it has names."""


class Machine(NamedTuple):
    """The automaton, as plain batches use it."""

    match_batch: Callable[[list[KeyColumn]], SetBatch]
    lend: Callable[[Keys, Int32s, Callable[[Lent], tuple[int, int]]], SetBatch | bool] | None
    """See :meth:`compiler.machine.lazy.LazyDfa.lend`; None where it has no tables to lend."""


class PlainBatches:
    """Room for plain batches, one at a time. What is in it means nothing between two batches."""

    def __init__(self, asked: Bools, words: tuple[Int32s, Bytes], tags: Int32s) -> None:
        """Allocate 4 MB; pages that no batch needs never become resident."""
        word_offsets, texts = words
        self._tags = tags
        self._word = int(np.diff(word_offsets).max(initial=0))
        rows, at, aside, aside_at, begun, unknown = (np.zeros(ROWS, np.int32) for _ in range(6))
        self._room = Room(
            columns=np.zeros(12, np.uint64),
            counts=np.zeros(ROOM_COUNTS, np.int64),
            itineraries=at,
            begun=begun,
            unknown=unknown,
            slots=np.zeros(ROWS, np.uint64),
            rows=rows,
            offsets=np.zeros(ROWS + 1, np.int32),
            data=np.zeros(KEY_BYTES, np.uint8),
            ids=np.zeros(LENT, np.int32),
            aside=aside,
            aside_at=aside_at,
            asked=frozen(asked),
            word_offsets=frozen(word_offsets),
            words=frozen(texts),
            answer=np.zeros(2 * ROWS + 1 + MOST_OUTPUTS, np.int32),
            block=np.zeros(FEW_BYTES // 4, np.int32),
        )
        self._keys = Keys(_shown(self._room.offsets), _shown(self._room.data), _NO_NULLS)
        self._messages = KeyCachePolicy("auto")
        self._rows = self._known = self._size = 0
        """How many messages there were since that was decided, how many of them were known, and the bytes of their keys."""
        self.known = 0
        """How many messages were known whole, of all."""

    @property
    def itineraries(self) -> Int32s:
        """Where the rows of the last batch got to."""
        return self._room.itineraries

    def routes(self, rows: int) -> SetBatch:
        """Return where the ``rows`` rows of the last batch got to, if it was not to be named."""
        _, _, routes, outputs = self._room.counts[:KNOWN].tolist()
        answer = self._room.answer[: rows + routes + 1 + outputs].copy()
        return SetBatch(answer[:rows], answer[rows : rows + routes + 1], answer[rows + routes + 1 :])

    def lists(
        self, steps: Steps, itineraries: Int32s, texts: tuple[Texts, Texts], allocate: Callable[[int], Int32s]
    ) -> ListsOfNames | None:
        """Name the outputs of rows that got to these itineraries; ``texts`` are the names of two sorts of outputs.

        ``allocate`` returns an array of at least so many bytes. None for over 2^31 names. Raises
        :class:`compiler.relay.steps.FullError`.
        """
        counts, rows, few = self._room.counts, len(itineraries), self._room.block
        if not steps.name_rows(itineraries, rows, texts, counts, few, measured=False):
            return None
        *sizes, size = counts[LISTED : BLOCK_BYTES + 1].tolist()
        if size <= few.nbytes:
            block = few[: (size >> 2) + 1].copy()
        else:
            block = allocate(size)
            steps.name_rows(itineraries, rows, texts, counts, block, measured=True)
        return ListsOfNames(rows, block, sizes[LISTS_AT - LISTED :], sizes[:4])

    def send(
        self,
        steps: Steps,
        columns: Sequence[int],
        numbers: tuple[int, int],
        directory: Directory,
        machine: Machine,
        ask: Callable[[Int32s, Int32s, Int32s], None],
        *,
        named: bool,
    ) -> bool:
        """Send the rows of columns, whose places are as ``Room.columns`` has them, until none waits; False if they must go the general way.

        ``numbers`` are how many rows there are, and the most bytes of a key. ``machine`` is the automaton, and ``ask`` takes
        the rows of stations that are asked a step further, given all itineraries, the rows, and where they wait. Raises
        :class:`compiler.relay.steps.FullError`.
        """
        room, rows, tags = self._room, numbers[0], self._tags
        _COLUMNS.pack_into(room.columns.data, 0, *columns)
        learns = self._messages.wanted and numbers[1] <= LONGEST
        sizes = *numbers, self._word

        def lend(first: int) -> tuple[int, SetBatch | bool]:
            """Go on with tables of the machine; return how that ended, and the sets of the keys that wait, if it has told them."""
            status = NOT_SENT

            def use(lent: Lent) -> tuple[int, int]:
                nonlocal status
                where = lent, self._keys, directory, room, *sizes
                try:
                    status = steps.send(*where, first=first, named=named, learns=learns, conditions=tags)
                except FullError:  # this is no fault of the machine, which would begin with empty tables
                    status = FULL
                return int(room.counts[WALKED]), int(room.counts[WAITING]) if status == LEFT else 0

            found = False if machine.lend is None else machine.lend(self._keys, room.ids, use)
            return status, found

        status, found = lend(BEGIN) if rows <= LENT else (NOT_SENT, False)
        if status == NOT_SENT:
            status = steps.publish(directory, room, *sizes, named=named, learns=learns)
        waiting, aside, _, _, known, _, size = room.counts[: SIZE + 1].tolist()
        if status == DONE and 0 < waiting <= LENT < rows and not aside:
            status, found = lend(GO_ON)
            waiting, aside = room.counts[:ROUTES].tolist()
        if status == FULL:
            raise FullError
        if status == WRONG:
            return False
        self._note(rows, known, size)
        while waiting or aside:
            if aside:
                ask(room.itineraries, room.aside[:aside], room.aside_at[:aside])
            if not waiting:
                sets = _NOTHING
            elif isinstance(found, SetBatch):
                sets, found = found, False
            else:
                sets = machine.match_batch([KeyColumn(room.offsets[: waiting + 1], room.data, None)])
            if not steps.pass_on(room, rows, sets, tags, named=named):
                return False
            waiting, aside = room.counts[:ROUTES].tolist()
        return True

    def _note(self, rows: int, known: int, size: int) -> None:
        """Count messages, and decide at the end of a stretch of them whether to look them up whole further."""
        self._rows += rows
        self._known += known
        self.known += known
        self._size += size
        policy = self._messages
        policy.left -= rows
        if policy.left <= 0:
            policy.judge(keys=self._rows, hits=self._known, words=self._rows - self._known, size=self._size, word=STEP)
            self._rows = self._known = self._size = 0


def _shown(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view for kernels that only read; it shows what others write."""
    view = array.view()
    view.flags.writeable = False
    return view
