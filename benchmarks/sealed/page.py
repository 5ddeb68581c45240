"""The result: a CSV file of all figures, and a page with a table and the targets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import machine, verdict
from benchmarks.result_files import write_result
from benchmarks.sealed.figures import Figure

__all__ = ["write"]

TARGETS = {"stock": 0.12, "fleet": 0.18}
"""The most that sealed tables should take, over looking keys up."""
OVER_LAZY = 1.03
"""The most that they should take over the warm cache."""
SPEED_UP, LEAST_SHARE, MOST_OPENING = 1.8, 0.97, 0.3
"""Two threads over one; two threads over two routers apart; and seconds of opening beyond the file without sealed tables."""


def write(figures: Sequence[Figure], folder: Path, *, command: str) -> list[Path]:
    """Write ``sealed.csv`` and ``sealed.md`` into a folder, which is made; return their paths."""
    return write_result(folder, "sealed", Figure, figures, _page(figures, command), None)


def _page(figures: Sequence[Figure], command: str) -> str:
    parts = [
        "# Sealed tables",
        (
            f"Written by `{command}` on {machine()}. Nanoseconds for each key, by medians of rounds in which all take turns, with the "
            "default options. *index_in* looks each key up among the distinct ones and knows no pattern; *cache* is the warm lazy "
            "DFA, *sealed* the tables that `Router.seal` made of it; both in processor time. Sealed tables should take at most "
            f"{OVER_LAZY} times as long as the cache."
        ),
        _table(
            "| workload | bindings | index_in | cache | sealed | sealed / cache | sealed / index_in | of at most |",
            [
                f"| {one.workload} | {one.bindings:,} | {one.index_in:.1f} | {one.lazy:.1f} | {one.sealed:.1f} | "
                f"{one.over_lazy:.2f}, {verdict(one.over_lazy <= OVER_LAZY)} | {one.sealed / one.index_in:.2f} | {_over_index_in(one)} |"
                for one in figures
            ],
        ),
        (
            f"Two threads, in elapsed time. *Apart* are two routers, each with half of the keys: what the cores give. At least "
            f"{SPEED_UP} times one thread is the target, where two routers apart reach that (no verdict stands where they do not), and never "
            f"below {LEAST_SHARE} of these."
        ),
        _table(
            "| workload | one thread | two threads | apart | two over one | over apart |",
            [
                f"| {one.workload} | {one.one_wall:.1f} | {one.two_wall:.1f} | {one.apart_wall:.1f} | {_speed_up(one)} | "
                f"{one.share:.2f}, {verdict(one.share >= LEAST_SHARE)} |"
                for one in figures
            ],
        ),
        (
            f"Opening a file, in elapsed seconds on all cores, and the first batch, in nanoseconds of processor time a key: seconds to load, of which sealed tables should add at most "
            f"{MOST_OPENING}, and nanoseconds for each key of the first batch. *Shared* is what two processes that map the file have "
            "in common, of the file's sealed tables and automaton."
        ),
        _table(
            "| workload | load, empty cache | load, sealed | first batch, empty | first batch, sealed | tables, MB | shared, MB |",
            [
                f"| {one.workload} | {one.load_empty:.3f} | {one.load_sealed:.3f}, "
                f"{verdict(one.load_sealed - one.load_empty <= MOST_OPENING)} | {one.first_empty:.1f} | {one.first_sealed:.1f} | "
                f"{one.sealed_bytes / 1e6:.1f} | {one.shared_bytes / 1e6:.1f} |"
                for one in figures
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _over_index_in(one: Figure) -> str:
    most = TARGETS.get(one.workload)
    return "-" if most is None else f"{most}, {verdict(one.sealed / one.index_in <= most)}"


def _speed_up(one: Figure) -> str:
    """Say how two threads fare; where two routers apart do not reach the target, it is not asked of them."""
    asked = one.one_wall / one.apart_wall >= SPEED_UP
    return f"{one.speed_up:.2f}" + (f", {verdict(one.speed_up >= SPEED_UP)}" if asked else "")


def _table(heading: str, rows: list[str]) -> str:
    return "\n".join([heading, "|---" + "|---:" * (heading.count("|") - 2) + "|", *rows])
