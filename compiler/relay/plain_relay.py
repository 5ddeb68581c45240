"""A relay for plain batches, too: with nothing out of the ordinary, they are read where they lie, and take their way in few kernels.

What is done with one is in :mod:`compiler.relay.plain_batches`. Large ones go in parts. Here is how parts are cut and put together,
and when large ones do not even try.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, ClassVar, TypeVar

import numpy as np

from compiler.kernels.relay_tables import Directory, Texts
from compiler.leases import Lease
from compiler.relay.plain_batches import ROWS, ListsOfNames, Machine, PlainBatches
from compiler.relay.relay import Ask, Relay
from compiler.relay.steps import FullError, Steps
from compiler.relay.unions import joined
from compiler.values import Int32s, SetBatch

__all__ = ["PlainRelay"]

T = TypeVar("T")

MOST_ROWS = 1 << 26
"""The most rows that go the way of plain batches: their routes have under 2^31 outputs."""
SKIPPED = 8
"""After a large batch that turned out not to be plain, so many times as many rows as that took do not try."""


class PlainRelay(Relay):
    """A relay that sends plain batches with little ado."""

    def __init__(self, *arguments: Any) -> None:
        """Take what :class:`compiler.relay.relay.Relay` does; a machine with ``lend`` lends its tables for few keys."""
        super().__init__(*arguments)
        self._lender = Machine(self._machine.match_batch, getattr(self._machine, "lend", None))
        self._plain: PlainBatches | None = None
        """Made for the first plain batch. Nothing in it outlives a batch but counts, so a call that was broken off leaves nothing wrong."""
        self._skip = 0
        """Rows of large batches that go the general way at once."""

    @property
    def known(self) -> int:
        """How many messages were known whole, so that their keys were not matched."""
        return 0 if self._plain is None else self._plain.known

    def run_plain(
        self, columns: Sequence[int], rows: int, longest: int, directory: Directory, ask: Ask
    ) -> SetBatch | None:
        """Send the rows of columns that lie somewhere, as :meth:`run` does; None if they must go that way, the general one.

        They must if nothing is found of a row's station, or a key has over ``longest`` bytes or one that is no ASCII, and for a while after
        many rows went this way for nothing. ``columns`` are twelve numbers: of the places, of the names there, and of the keys each the
        address of 32-bit offsets, how many these are, the address of the bytes, and how many there are. One place may be that of all
        rows. Nothing outside of these bytes is read, whatever the offsets are.
        """
        parts: list[SetBatch] = []

        def answer(plain: PlainBatches, _first: int, count: int) -> None:
            parts.append(plain.routes(count))

        return self._send(columns, rows, longest, directory, ask, answer, lambda _plain: joined(parts), named=False)

    def name_plain(
        self,
        columns: Sequence[int],
        rows: int,
        longest: int,
        directory: Directory,
        texts: tuple[Texts, Texts],
        allocate: Callable[[int], Int32s],
        ask: Ask,
    ) -> ListsOfNames | None:
        """Do the same, and return the names of what each row gets to; ``texts`` are those of two sorts of outputs.

        ``allocate`` returns an array of at least so many bytes.
        """
        itineraries = np.empty(rows if rows > ROWS else 0, np.int32)

        def answer(plain: PlainBatches, first: int, count: int) -> None:
            if rows > ROWS:
                itineraries[first : first + count] = plain.itineraries[:count]

        def whole(plain: PlainBatches) -> ListsOfNames | None:
            ended = itineraries if rows > ROWS else plain.itineraries[:rows]
            return plain.lists(self._steps, ended, texts, allocate)

        return self._send(columns, rows, longest, directory, ask, answer, whole, named=True)

    def _send(
        self,
        columns: Sequence[int],
        rows: int,
        longest: int,
        directory: Directory,
        ask: Ask,
        answer: Callable[[PlainBatches, int, int], None],
        whole: Callable[[PlainBatches], T | None],
        *,
        named: bool,
    ) -> T | None:
        """Send the rows in parts, have each part answered, and return what the ``whole`` is."""
        lease: Lease = {}
        if not 0 < rows <= MOST_ROWS or self._skips(rows) or self._leases.take(lease, (0,)) is None:
            return None
        try:
            plain, steps = self._begin_plain()
            sent, done = True, 0
            found: T | None = None
            try:
                while sent and done < rows:
                    first, count = done, min(ROWS, rows - done)
                    done += count
                    where = _part(columns, first, count, rows), (count, longest), directory
                    sent = plain.send(steps, *where, self._lender, self._asking(first, ask), named=named)
                    if sent:
                        answer(plain, first, count)
                found = whole(plain) if sent else None
            except FullError:
                found = None
            if found is None and rows > ROWS:
                self._skip = SKIPPED * done
            self._midway = False
            return found
        finally:
            self._leases.give_back(0)

    def _begin_plain(self) -> tuple[PlainBatches, Steps]:
        """Begin a call with plain batches."""
        steps = self._steps
        if self._midway:  # an exception has ended the call before
            steps.start_over()
        self._midway = True
        if self._plain is None:
            self._plain = PlainBatches(self._asked, self._words, self._tags)
        steps.limit = self._capacity
        return self._plain, steps

    def _asking(self, first: int, ask: Ask) -> Callable[[Int32s, Int32s, Int32s], None]:
        """Return what asks stations for the rows of a plain batch, which are those of ``ask`` from ``first`` on."""
        return lambda itineraries, rows, at: self._ask(itineraries, rows, at, first, ask)

    def _skips(self, rows: int) -> bool:
        """Tell whether so many rows do not even try whether they are plain, as others lately were not."""
        if rows <= ROWS or self._skip <= 0:
            return False
        self._skip -= rows
        return True

    LENDING: ClassVar[tuple[CodeType, ...]] = (*Relay.LENDING, _send.__code__)


def _part(columns: Sequence[int], first: int, count: int, rows: int) -> list[int]:
    """Return where ``count`` rows of columns lie, from ``first`` on, of ``rows`` in all."""
    part: list[int] = []
    for at in range(0, len(columns), 4):
        offsets, number, data, size = columns[at : at + 4]
        own = number == rows + 1  # else it is one place, that of all rows
        part += (offsets + 4 * first, count + 1, data, size) if own else (offsets, number, data, size)
    return part
