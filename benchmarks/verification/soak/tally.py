"""What a soak counts, and what it says of memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from compiler.values import CacheStats

__all__ = ["Tally"]

ROUNDS_TO_JUDGE = 60
"""Of fewer rounds, nothing is said about memory: a few large sets make all the difference."""
SLACK = 64 << 20
"""How many bytes more the least of the last third of the rounds may be than that of the second. What the rounds of thirty minutes
leave behind differs by 30 MiB: they are not the same, and an allocator returns whole pages only."""


@dataclass(slots=True)
class Tally:
    """What a soak has done so far."""

    first_seed: int
    seconds: float = 0.0
    rounds: int = 0
    bindings: int = 0
    keys: int = 0
    """Rows that were matched in batches."""
    pairs: int = 0
    single_keys: int = 0
    by_specification: int = 0
    """(pattern, key) pairs on which the reference trie itself was compared with the specification."""
    clears: int = 0
    fallbacks: int = 0
    interrupts: int = 0
    """Calls that a signal broke off."""
    forks: int = 0
    """Child processes that were asked."""
    refused_files: int = 0
    """Damaged files, each of which was refused."""
    memory: list[int] = field(default_factory=list)
    """Resident bytes of this process after each round, without what its allocators keep for later."""
    circumstances: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def count(self, stats: CacheStats) -> None:
        """Add the counters of a router that is given up."""
        self.clears += stats.clears
        self.fallbacks += stats.fallbacks

    def growth(self) -> str | None:
        """Return in words that memory grew from round to round, or None.

        Rounds leave different amounts behind; what a leak cannot do is to fall back. So the least of each third is compared, and
        the first third is left out, in which everything is loaded and compiled.
        """
        third = len(self.memory) // 3
        if len(self.memory) < ROUNDS_TO_JUDGE:
            return None
        before, after = min(self.memory[third : 2 * third]), min(self.memory[2 * third :])
        if after <= before + SLACK:
            return None
        return (
            f"memory grew: at least {before >> 20} MiB in the second third of the rounds, {after >> 20} MiB in the last"
        )
