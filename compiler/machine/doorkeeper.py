"""When the doorkeeper lets everybody in: a running count of what is asked for again.

A doorkeeper is there so that nothing is built which nobody asks for again (:mod:`compiler.kernels.doorkeeper`). Where what is asked for
once mostly is asked for again, it only delays what must be built anyway, and keys are simulated meanwhile. So requests are counted, first
ones and others, and while there are enough of the others the door is open. One transition in eight is let in only as before, to be
counted further: when keys that do not come again follow, the door is closed. The third pass over two million keys of a million bindings
takes half as long for it (200 ns a key), and the fourth is nearly warm; keys of drawn families that recur take 0.5 to 0.8 of the time.

A cache that was full once keeps its door closed: what comes again may be more than it can hold.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from compiler.kernels.tables import ASKED_AGAIN, ASKED_FIRST, DOOR_OPEN, SEEN, Cache

__all__ = ["tend_doorkeeper"]

WINDOW = 2048
"""Requests that are counted before it is decided again."""
OPENS, CLOSES = 1.75, 0.75
"""The door is opened at so many requests for transitions that were asked for before to one for another, and closed below so many.

Simulating the rest of a key, which a request costs, takes about half as long as building a transition; with p of those that are
asked for let in at last, and r further requests for each, building at once takes less time if 2 (1 - p) < 1 + r, that is from 0.7 on. But
it is only spared later: opened at 0.75, the first pass over two million keys of a million bindings took 1.8 times as long, and
three passes together the same."""


def tend_doorkeeper(cache: Cache, *, may_open: bool) -> None:
    """Open or close the door, and empty the doorkeeper when half of its counters are in use; what comes often will soon be counted again."""
    meta = cache.meta
    first, requests = int(meta[ASKED_FIRST]), int(meta[ASKED_FIRST] + meta[ASKED_AGAIN])
    if requests >= WINDOW:
        # A counter in use is taken for an earlier request, though it may be another transition's.
        free = 1 - int(meta[SEEN]) / max(32 * len(cache.doorkeeper), 1)
        again = requests * free / max(first, 1) - 1
        meta[DOOR_OPEN] = may_open and again > (CLOSES if meta[DOOR_OPEN] else OPENS)
        meta[ASKED_FIRST] = meta[ASKED_AGAIN] = 0
    if meta[SEEN] > 16 * len(cache.doorkeeper):
        cache.doorkeeper[:] = 0
        meta[SEEN] = 0
