"""The run: one process after the other, a family in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.measure import child_json
from benchmarks.regret.child import Contest

__all__ = ["run"]


def run(
    families: int, *, seed: int, scale: float = 1.0, rounds: int = 3, progress: Callable[[str], None] = lambda _: None
) -> Iterator[Contest]:
    """Measure so many families; ``progress`` is told what is going on.

    Raises ``AssertionError`` if contestants disagree on what matches.
    """
    for number in range(families):
        progress(f"family {number + 1} of {families}")
        yield Contest(**child_json("benchmarks.regret.child", number, seed, scale, rounds))
