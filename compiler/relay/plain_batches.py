"""Plain batches: the same steps as for any batch of a relay, without an array or an object for each of them.

A batch of 256 messages took 230 us, of which kernels took 50: the rest went into arrays that were made and cut, and into calls.
Here the columns are read where they lie, what is worked out lies in arrays that are there already, and the answer is one array
(:mod:`compiler.kernels.relay_batches`). What is out of the ordinary goes the general way, from its beginning.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import numpy as np

from compiler.kernels.relay_tables import Directory, Room
from compiler.kernels.tables import Bools, Bytes, frozen
from compiler.relay.steps import Steps
from compiler.values import Int32s, KeyColumn, SetBatch

__all__ = ["ROWS", "PlainBatches"]

ROWS, KEY_BYTES, MOST_OUTPUTS = 1 << 13, 1 << 19, 1 << 16
"""The most rows of a plain batch, bytes of its keys behind words, and outputs of all its routes."""
_COLUMNS = struct.Struct("12Q")
_NOTHING = SetBatch(np.empty(0, np.int32), np.zeros(1, np.int32), np.empty(0, np.int32))


class PlainBatches:
    """Room for plain batches, one at a time. What is in it means nothing between two batches."""

    def __init__(self, asked: Bools, words: tuple[Int32s, Bytes], tags: Int32s) -> None:
        """Allocate 1 MB; pages that no batch needs never become resident."""
        word_offsets, texts = words
        self._tags = tags
        self._word = int(np.diff(word_offsets).max(initial=0))
        rows, at, aside, aside_at = (np.zeros(ROWS, np.int32) for _ in range(4))
        self._room = Room(
            columns=np.zeros(12, np.uint64),
            counts=np.zeros(4, np.int64),
            itineraries=at,
            rows=rows,
            offsets=np.zeros(ROWS + 1, np.int32),
            data=np.zeros(KEY_BYTES, np.uint8),
            aside=aside,
            aside_at=aside_at,
            asked=frozen(asked),
            word_offsets=frozen(word_offsets),
            words=frozen(texts),
            answer=np.zeros(2 * ROWS + 1 + MOST_OUTPUTS, np.int32),
        )

    def run(
        self,
        steps: Steps,
        columns: Sequence[int],
        rows: int,
        longest: int,
        directory: Directory,
        match: Callable[[KeyColumn], SetBatch],
        ask: Callable[[Int32s, Int32s, Int32s], None],
    ) -> SetBatch | None:
        """Send the rows of columns, whose places are as ``Room.columns`` has them; None if they must go the general way.

        ``match`` returns the accept sets of keys, and ``ask`` takes the rows of stations that are asked a step further, given all
        itineraries, the rows, and where they wait. Raises :class:`compiler.relay.steps.FullError`.
        """
        room = self._room
        _COLUMNS.pack_into(room.columns.data, 0, *columns)
        if not steps.publish(directory, room, rows, longest, self._word):
            return None
        counts = room.counts
        while True:
            waiting, aside, routes, outputs = counts.tolist()
            if not waiting and not aside:
                break
            if aside:
                ask(room.itineraries, room.aside[:aside], room.aside_at[:aside])
            found = match(KeyColumn(room.offsets[: waiting + 1], room.data, None)) if waiting else _NOTHING
            if not steps.pass_on(room, rows, found, self._tags):
                return None
        answer = room.answer[: rows + routes + 1 + outputs].copy()
        return SetBatch(answer[:rows], answer[rows : rows + routes + 1], answer[rows + routes + 1 :])
