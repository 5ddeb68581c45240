"""When to ask sealed tables: a running count of the keys that are lost in them.

A key that is lost was walked for nothing and is matched from its beginning by the cache behind the tables. Where most keys are, the
tables cost more than they save: keys of `hard`, which are simulated as their states never end, took 1.6 times as long with
sealed tables in front. So after each stretch of keys that was asked, the lost ones are counted. Where they are too many, the tables
are left out for a pause, in which the cache gets all keys, and learns what the tables know of them; then they are tried again. Each trial that is
lost doubles the next pause, so that what trying costs stays about one in a hundred at most.

As in :mod:`compiler.machine.pace`, counting instead of timing makes the choice the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SealedPace"]

STRETCH, LONGEST = 1024, 1 << 20
"""Keys of a trial; each stretch that the tables win doubles the next, after which it is judged again."""
PAUSE, LONGEST_PAUSE = 32, 1024
"""The pause behind the first trial that is lost, in stretches of that length, and the longest: each is twice the one before."""
MOST_LOST = 0.125
"""The tables are left out if more of the keys are lost."""


@dataclass(slots=True)
class SealedPace:
    """The state of the count; it goes on from batch to batch.

    >>> pace = SealedPace()
    >>> pace.note(answered=24, lost=1000)
    >>> pace.pause
    32768
    >>> pace.skip(32768)
    >>> pace.note(answered=24 + 1021, lost=3)
    >>> pace.pause, pace.left
    (0, 2048)
    """

    pause: int = 0
    """Keys still to be matched without asking the tables."""
    left: int = STRETCH
    """Keys to be asked before the lost ones are judged."""
    stretch: int = STRETCH
    patience: int = PAUSE
    """The next pause, in shortest stretches."""
    keys: int = 0
    lost: int = 0
    """Keys that were asked and lost since the last judgement."""
    answered: int = 0
    """Keys that the tables had answered when they were noted last."""

    def note(self, *, answered: int, lost: int) -> None:
        """Take note of keys that the tables were asked: of all that they have ever answered, and of those that are lost now."""
        keys = answered - self.answered + lost
        self.answered = answered
        self.keys += keys
        self.lost += lost
        self.left -= keys
        certain = (
            self.keys >= STRETCH and self.lost > MOST_LOST * self.stretch
        )  # whatever comes in the rest of the stretch
        if self.left > 0 and not certain:
            return
        if self.lost > MOST_LOST * self.keys:
            self.pause = self.patience * STRETCH
            self.patience = min(2 * self.patience, LONGEST_PAUSE)
            self.stretch = STRETCH
        else:
            self.patience = PAUSE
            self.stretch = min(2 * self.stretch, LONGEST)
        self.keys = self.lost = 0
        self.left = self.stretch

    def skip(self, keys: int) -> None:
        """Take note of keys that were matched without asking the tables."""
        self.pause = max(self.pause - keys, 0)
