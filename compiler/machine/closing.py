"""When a full cache is closed instead of cleared: it is kept as it is, and keys that need more than it knows are simulated.

What a full cache lacks may be a few transitions, for want of which all others would be thrown away and learnt anew. Of twelve fleets of
a million bindings, two were cleared so when they were nearly warm, again and again, and took 180 to 220 ns a key in place of 43 and 55. So
a cache that has paid is closed when it is full the first time. While it is, deferred keys are counted; where they are too many, it
is opened again, and cleared as soon as something is to be built, as if it had never been closed.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLOSED_FROM", "Closing"]

CLOSED_FROM = 1 << 18
"""The bytes of the smallest cache that is closed: a smaller one is learnt anew in an instant. (With 1 << 20, three of eighteen drawn families
within 1 MiB took 1.2 to 1.4 times as long.)"""
STRETCH = 1 << 14
"""Keys after which the deferred ones are judged."""
MOST_DEFERRED = 1 / 16
"""The share of them with which a cache is still worth keeping. Simulating one takes ten times as long as walking it."""
HOPELESS, RISEN = 0.5, 2
"""A cache that has a doorkeeper has kept what comes again, and would keep about the same once more: so it is opened only if more than the first
share of keys were deferred from the beginning, or so many times as many as then. One of twelve fleets, which does not fit, took 390 to 610 ns a
key when it was cleared each time, and takes 190."""


@dataclass(slots=True)
class Closing:
    """What was counted since the cache was cleared.

    >>> closing = Closing()
    >>> closing.spent, closing.held(keys=STRETCH, deferred=800)
    (False, True)
    >>> closing.held(keys=STRETCH, deferred=1100), closing.spent
    (False, True)
    >>> closing = Closing()
    >>> [closing.held(keys=STRETCH, deferred=deferred, guarded=True) for deferred in (4000, 6000, 9000)]
    [True, True, False]
    """

    spent: bool = False
    """Whether it was closed and opened again."""
    keys: int = 0
    deferred: int = 0
    """Keys since the last judgement, and those of them that were deferred."""
    most: float = 0.0
    """The share of deferred keys above which it is opened, or 0 before the first judgement."""

    def held(self, *, keys: int, deferred: int, guarded: bool = False) -> bool:
        """Take note of keys that a closed cache was asked; tell whether it may stay closed. It is ``guarded`` if it has a doorkeeper."""
        self.keys += keys
        self.deferred += deferred
        if self.keys < STRETCH:
            return True
        share = self.deferred / self.keys
        self.spent = share > (self.most or (HOPELESS if guarded else MOST_DEFERRED))
        self.most = self.most or (max(MOST_DEFERRED, RISEN * share) if guarded else MOST_DEFERRED)
        self.keys = self.deferred = 0
        return not self.spent
