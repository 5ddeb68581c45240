"""The page: a table with a row for each choice, and a column for each measure."""

from __future__ import annotations

from pathlib import Path

from benchmarks.ablations.turns import Measured
from benchmarks.measure import machine
from benchmarks.result_files import write_page
from compiler.kernels._lanes import permutes_bytes

__all__ = ["write"]

METHOD = """\
Time of the engine without the choice over that of the engine as it is, by the thread's processor time: one thread, the key
cache off, each engine in a process of its own, medians of rounds in which all engines take turns. Where a choice cannot
matter, a figure shows the noise: the doorkeeper on `stock` and `hard`, dense rows on `fleet`."""


def write(measured: Measured, folder: Path, *, command: str) -> Path:
    """Write ``ablations.md`` into a folder, which is made, and return its path."""
    return write_page(folder, "ablations", _page(measured, command))


def _page(measured: Measured, command: str) -> str:
    parts = [
        "# What each choice of the layout is worth",
        (
            f"Written by `{command}` on {machine()}; this processor {'permutes' if permutes_bytes() else 'cannot permute'} "
            f"the bytes of a vector. Rounds: {measured.rounds}."
        ),
        METHOD,
        _table(measured),
    ]
    return "\n\n".join(parts) + "\n"


def _table(measured: Measured) -> str:
    columns = list(measured.whole)
    lines = [
        f"| choice | {' | '.join(columns)} |",
        "|---|" + "---:|" * len(columns),
        f"| the engine as it is, ns a key | {' | '.join(f'{measured.whole[column]:.0f}' for column in columns)} |",
    ]
    for choice, figures in measured.without.items():
        ratios = [f"{figures[column] / measured.whole[column]:.2f}" for column in columns]
        lines.append(f"| {choice} | {' | '.join(ratios)} |")
    return "\n".join(lines)
