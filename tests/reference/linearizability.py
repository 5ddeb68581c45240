"""A checker of recorded histories, and a scheduler that interleaves threads at every access to a cell.

A history is linearizable if its operations can be put in an order in which each gives the result that it gave, and in
which no operation comes before one that had ended when it began (Herlihy and Wing 1990). :func:`linearizable` searches
for such an order, with a memory of (operations placed, state) as in Lowe's improvement of Wing and Gong's algorithm;
the histories are small, and there are many of them.

Threads that run freely are seldom interleaved inside the few instructions that matter. :class:`Scheduler` lets one thread
run at a time and, before each access to a cell, may switch to another one, drawn at random from a seed: any interleaving of
cell accesses can occur, and its seed repeats it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dfa_router.reference.naive import matches

__all__ = ["Operation", "PlainCell", "ScheduledCell", "Scheduler", "linearizable"]

T = TypeVar("T")
State = frozenset[tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Operation:
    """What was called, what it returned, and when: by a clock that ticks at every event."""

    name: str
    """add, remove, positions, any, or snapshot."""
    argument: Any
    result: Any
    invoked: int
    returned: int

    def applied(self, state: State) -> State | None:
        """Return the state after the operation, or None if its result is not the one for this state."""
        if self.name == "add":
            return state | {self.argument}
        if self.name == "remove":
            return state - {self.argument} if self.argument in state else None
        if self.name == "snapshot":
            return state if self.result == state else None
        found = tuple(sorted(position for position, pattern in state if matches(pattern, self.argument)))
        return state if self.result == (bool(found) if self.name == "any" else found) else None


def linearizable(history: Sequence[Operation], start: State = frozenset()) -> bool:
    """Tell whether some order explains every result."""
    everything = (1 << len(history)) - 1
    failed: set[tuple[int, State]] = set()

    def search(placed: int, state: State) -> bool:
        if placed == everything:
            return True
        if (placed, state) in failed:
            return False
        left = [number for number in range(len(history)) if not placed >> number & 1]
        first_return = min(history[number].returned for number in left)
        for number in left:
            if history[number].invoked < first_return:
                after = history[number].applied(state)
                if after is not None and search(placed | 1 << number, after):
                    return True
        failed.add((placed, state))
        return False

    return search(0, start)


class Scheduler:
    """Runs functions in threads, one thread at a time; an access to a cell may switch to another thread."""

    def __init__(self, seed: int, switches: float = 0.5) -> None:
        self._chance = random.Random(seed)
        self._switches = switches
        self._turns: dict[int, threading.Semaphore] = {}
        self._ticks = 0
        self._mine = threading.local()
        self._errors: list[BaseException] = []

    def tick(self) -> int:
        """Advance the clock."""
        self._ticks += 1
        return self._ticks

    def pause(self) -> None:
        """Switch to another thread, or go on, by chance."""
        me = getattr(self._mine, "number", None)
        if me is None or len(self._turns) < 2 or self._chance.random() >= self._switches:
            return
        other = self._chance.choice(list(self._turns))
        if other != me:
            turn = self._turns[me]
            self._turns[other].release()
            turn.acquire()

    def run(self, functions: Sequence[Callable[[], None]]) -> None:
        """Run all to their ends; raises the first error of any."""
        self._turns = {number: threading.Semaphore(0) for number in range(len(functions))}
        threads = [
            threading.Thread(target=self._work, args=(number, function), daemon=True)
            for number, function in enumerate(functions)
        ]
        for thread in threads:
            thread.start()
        self._turns[0].release()
        for thread in threads:
            thread.join()
        if self._errors:
            raise self._errors[0]

    def _work(self, number: int, function: Callable[[], None]) -> None:
        self._mine.number = number
        self._turns[number].acquire()
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - it is raised again by run(), in the test's own thread
            self._errors.append(error)
        del self._turns[number]
        if self._turns:
            self._turns[self._chance.choice(list(self._turns))].release()


class ScheduledCell(Generic[T]):
    """A cell that lets the scheduler switch threads before each access."""

    __slots__ = ("_scheduler", "_value")

    def __init__(self, scheduler: Scheduler, value: T) -> None:
        self._scheduler = scheduler
        self._value = value

    def get(self) -> T:
        self._scheduler.pause()
        return self._value

    def compare_and_set(self, expected: T, new: T, /) -> bool:
        self._scheduler.pause()
        if self._value is not expected:
            return False
        self._value = new
        return True


class PlainCell(ScheduledCell[T]):
    """Broken on purpose: assignment in place of compare-and-set."""

    def compare_and_set(self, expected: T, new: T, /) -> bool:
        self._scheduler.pause()
        self._value = new
        return True
