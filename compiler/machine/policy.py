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

MANY_POSITIONS, ROOMY = 1 << 12, 640
"""An automaton of fewer positions is never divided; another one is where its cache has at most so many bytes for each position. Of 40 drawn
families, the 12 of that kind took 0.26 to 1.05 of the time, once 1.13, and 0.77 in the median; the others 0.54 to 5.12, and 1.06
(``python -m benchmarks regret``)."""


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
    """Whether the keys of patterns without wildcards are looked up whole, where most patterns are such; else the automaton's size and
    the cache's decide."""
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

    def divides(self, positions: int, capacity: int) -> bool:
        """Tell whether to look up whole what patterns without wildcards match, as an automaton of all would be large for its cache."""
        if self.exact is None:
            return positions >= MANY_POSITIONS and capacity <= ROOMY * positions
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
