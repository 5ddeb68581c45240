"""What a walker decides by counting, or is told: so that a benchmark can hold what it decides against each fixed choice.

Users have no such options, but for the key cache and the bound in bytes: no fixed choice is right for all keys, and what is
decided by counting costs little more than the best of them (``python -m benchmarks regret``).
"""

from __future__ import annotations

from dataclasses import dataclass

from compiler.machine.dense_rows import DENSE_BYTES
from compiler.machine.key_cache import SHARE, KeyCacheMode
from compiler.machine.pace import LONGEST, Pace

__all__ = ["AUTO", "Policy"]

FEW_POSITIONS, LONG_KEY = 1 << 10, 40
"""An automaton of fewer positions is never divided; another one is where the keys that would be looked up have so many bytes on average, as walking
these takes longer than looking them up; and so is ..."""
MANY_POSITIONS, SHORT_KEY, ROOMY = 1 << 14, 20, 640
"""... one of so many positions, unless these keys have fewer bytes and its cache has more for each position. On 109 drawn families that can be
divided (``python -m benchmarks regret``, three seeds), what these numbers choose took 1.03 times as long as the better choice in the geometric mean,
and over 1.12 times as long in 18 of 327 passes; 1.06 and 37 of 327 where 4,096 positions and 640 bytes for each alone decided. The first pass over
three stocks took 0.73 to 0.79 of the time without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The choices; None stands for what counting says.

    >>> Policy(simulate=False).doorkeeper is None
    True
    """

    key_cache: KeyCacheMode = "off"
    """Whether whole keys are looked up before their words are read."""
    key_cache_share: int = SHARE
    """At most one part in so many of the cache's capacity goes to their table."""
    exact: bool | None = None
    """Whether the keys of patterns without wildcards are looked up whole, where most patterns are such; else the automaton's size, the
    cache's and that of the keys decide."""
    key_store: bool | None = None
    """Whether keys are stored by the hundred thousand, where the key cache's mode is not "off"."""
    doorkeeper: bool | None = None
    """Whether only transitions that are asked for several times are built; else the automaton's size decides, and whether the cache
    was full."""
    close: bool | None = None
    """Whether a full cache is closed, and stays so, or is always cleared."""
    simulate: bool | None = None
    """Whether keys are simulated always or, but for one that alone outgrows the cache, never."""
    row_bytes: int = DENSE_BYTES
    """The most bytes of a cache that is written out as rows; 0 for never."""

    def divides(self, positions: int, size: float, capacity: int) -> bool:
        """Tell whether to look up whole what patterns without wildcards match, which are keys of ``size`` bytes on average.

        >>> AUTO.divides(20_000, 30.0, 64 << 20), AUTO.divides(20_000, 15.0, 64 << 20), AUTO.divides(20_000, 15.0, 4 << 20)
        (True, False, True)
        """
        if self.exact is None:
            large = positions >= MANY_POSITIONS and (size >= SHORT_KEY or capacity <= ROOMY * positions)
            return large or (positions >= FEW_POSITIONS and size >= LONG_KEY)
        return self.exact

    def pace(self, lanes: int | None) -> Pace:
        """Return the pace of a walker; where it is fixed, it is never judged, and stretches are long from the first one on."""
        return Pace(lanes=lanes) if self.simulate is None else Pace(lanes=lanes, stretch=LONGEST)

    @property
    def stores_keys(self) -> bool | None:
        """The same, with the mode of the key cache minded: users who fix that want no other keys to be kept."""
        return self.key_store if self.key_cache == "auto" else False

    def keeps_door(self, *, far: bool) -> bool:
        """Tell whether to have a doorkeeper, for an automaton that is ``far`` from the processor, or a cache that was full, or neither."""
        return far if self.doorkeeper is None else self.doorkeeper


AUTO = Policy()
"""Everything but the key cache, which is an option of users, is decided by counting."""
