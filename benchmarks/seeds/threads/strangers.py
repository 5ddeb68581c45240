"""Shows that a cell of cereggii may return what was never put into it:  ``PYTHON strangers.py``, a free-threaded one that has it.

One thread replaces the value of a cell, and others read it. Between two instructions of a read the value may be freed, and its
memory be used for another object, which stands in other cells. The more threads wait for a core, the more often that
happens; on a busy machine it takes some ten million reads, or a hundred. The program ends with the first.
"""

from __future__ import annotations

import sys
import threading
from importlib.metadata import version

READERS, ROUNDS, OTHERS = 12, 100_000, 50
MOST = 500_000_000
"""Reads after which the program gives up: some minutes."""


class Value:
    """What is put into the cell."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Stranger:
    """What is put into other cells, and has the same size."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def strangers(rounds: int = ROUNDS) -> tuple[int, int]:
    """Return how many reads returned a stranger, and of how many."""
    from cereggii import AtomicRef

    cell, others = AtomicRef(Value(0)), [AtomicRef(None) for _ in range(OTHERS)]
    ended = threading.Event()

    def write() -> None:
        for number in range(rounds):
            for _ in range(10):
                cell.set(Value(number))
            others[number % OTHERS].set(Stranger(number))
        ended.set()

    told: list[tuple[int, int]] = []

    def read() -> None:
        wrong = done = 0
        while not (done and ended.is_set()):
            wrong += sum(type(cell.get()) is not Value for _ in range(1_000))
            done += 1_000
        told.append((wrong, done))

    threads = [threading.Thread(target=write), *(threading.Thread(target=read) for _ in range(READERS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(wrong for wrong, _ in told), sum(done for _, done in told)


if __name__ == "__main__":
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    wrong = reads = 0
    while not wrong and reads < MOST:
        more, done = strangers()
        wrong, reads = wrong + more, reads + done
    print(
        f"cereggii {version('cereggii')}, Python {sys.version.split()[0]} with{'' if locked else 'out'} the interpreter's lock: "
        f"{wrong} of {reads:,} reads returned what was never put into the cell"
    )
