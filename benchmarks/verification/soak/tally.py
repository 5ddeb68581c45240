"""What a soak counts, and what it says of memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from benchmarks.resident import Memory
from compiler.values import CacheStats

__all__ = ["Tally"]

ROUNDS_TO_JUDGE = 60
"""Of fewer rounds, nothing is said about memory: a few large sets make all the difference."""
MOST = Memory(resident=128 << 20, native=16 << 20, objects=20_000)
"""How much more the least of the last third of the rounds may be than that of the second."""
FACTOR = 1.5
"""And for pages, by this factor: Python's allocator keeps a page in which one small object is left, so that they grow from 280 to
360 MiB in sixty rounds, and to 650 in 900, while nothing more is in use."""


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
    memory: list[Memory] = field(default_factory=list)
    """What this process holds after each round."""
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
        if len(self.memory) < ROUNDS_TO_JUDGE:
            return None
        before, after = self.least()
        allowed = Memory(
            int(FACTOR * before.resident) + MOST.resident, before.native + MOST.native, before.objects + MOST.objects
        )
        grown = [
            f"{name} {was:,} in the second third of the rounds, {now:,} in the last"
            for name, was, now, most in zip(Memory._fields, before, after, allowed, strict=True)
            if now > most
        ]
        return f"memory grew: at least {'; '.join(grown)}" if grown else None

    def least(self) -> tuple[Memory, Memory]:
        """Return the least of each number in the second and in the last third of the rounds."""
        third = len(self.memory) // 3
        before, after = self.memory[third : 2 * third] or self.memory, self.memory[2 * third :]
        return Memory(*map(min, zip(*before, strict=True))), Memory(*map(min, zip(*after, strict=True)))
