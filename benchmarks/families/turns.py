"""The run: one process after the other, a variant in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.families.child import Measured
from benchmarks.measure import child_json

__all__ = ["run"]


def run(
    kinds: Sequence[str],
    *,
    seed: int,
    variants: int = 12,
    scale: float = 1.0,
    rounds: int = 5,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Measured]:
    """Measure variants of these kinds; ``progress`` is told what is going on.

    Raises ``AssertionError`` with what a process has said before it died, as it does if contestants disagree.
    """
    for kind in kinds:
        for variant in range(variants):
            progress(f"{kind} {variant + 1} of {variants}")
            found = child_json("benchmarks.families.child", kind, variant, seed, scale, rounds)
            yield Measured(**found)
