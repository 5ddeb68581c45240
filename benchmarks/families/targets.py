"""The targets: ratios, of which the median variant of a kind must meet the figure, and none may be over 1.5 times of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.families.child import PASSES, Measured

__all__ = ["RATIOS", "Target", "ratio", "targets"]

WORST = 1.5
"""No variant may be further from the figure than this many times."""

RATIOS = {
    "first pass": ("the first pass to index_in", "index_in"),
    "warm": ("warm to index_in", "index_in"),
    "three passes": ("three passes to the better of nfa and the compiled trie", "better"),
    "re2": ("google-re2 Set, called once per key from Python, to warm", "warm"),
}
"""The ratios by name: what they say."""

FIGURES: tuple[tuple[str, str, Literal["<=", ">="], float], ...] = (
    ("throughput", "warm", "<=", 1.0),
    ("stock", "warm", "<=", 0.20),
    ("stock", "first pass", "<=", 0.5),
    ("fleet", "warm", "<=", 0.25),
    ("fleet", "first pass", "<=", 0.9),
    ("fleet", "three passes", "<=", 1.15),
    ("hard", "re2", ">=", 15.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A figure, and what the variants of its kind say."""

    kind: str
    what: str
    sense: Literal["<=", ">="]
    bound: float
    median: float
    worst: float

    @property
    def met(self) -> bool:
        """Whether the median variant meets the figure, and none is further from it than allowed."""
        if self.sense == "<=":
            return self.median <= self.bound and self.worst <= WORST * self.bound
        return self.median >= self.bound and self.worst >= self.bound / WORST


def ratio(one: Measured, name: str) -> float | None:
    """Return a ratio of :data:`RATIOS`, of processor times; None where a contestant did not run."""
    cpu = one.cpu
    if name == "three passes":
        return sum(cpu[each] for each in PASSES) / (3 * min(cpu["nfa"], cpu["compiled trie"]))
    if name == "re2":
        return cpu["google-re2 Set"] / cpu["warm"] if "google-re2 Set" in cpu else None
    return cpu[name] / cpu["index_in"]


def targets(found: Sequence[Measured]) -> Iterator[Target]:
    """Yield the targets of the kinds that were measured."""
    for kind, name, sense, bound in FIGURES:
        ratios = [value for one in found if one.kind == kind and (value := ratio(one, name)) is not None]
        if ratios:
            yield Target(
                kind=kind,
                what=RATIOS[name][0],
                sense=sense,
                bound=bound,
                median=statistics.median(ratios),
                worst=max(ratios) if sense == "<=" else min(ratios),
            )
