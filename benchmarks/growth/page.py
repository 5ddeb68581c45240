"""The result: a CSV file of all points, a page with a table for each axis, and a plot of time and bytes along each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.growth.points import AXES, Point
from benchmarks.measure import machine
from benchmarks.plotting import new_figure
from benchmarks.result_files import write_result

__all__ = ["write"]

STYLES = {
    "dfa, warm": ("#0072b2", "o", "-"),
    "dfa, cold": ("#56b4e9", "s", "-"),
    "nfa": ("#009e73", "^", "--"),
    "compiled trie": ("#d55e00", "D", "-"),
    "pyarrow index_in": ("#666666", "x", ":"),
}
"""Colour, mark and line of each contestant: Okabe and Ito's palette, which colour-blind readers tell apart."""


def write(points: Iterable[Point], folder: Path, *, command: str, plots: bool = True) -> list[Path]:
    """Write ``growth.csv``, ``growth.md`` and ``growth.svg`` into a folder, which is made; return their paths."""
    points = list(points)
    page = _page(points, command, plots=plots)
    draw = partial(_draw, points) if plots else None
    return write_result(folder, "growth", Point, points, page, draw)


def _page(points: Sequence[Point], command: str, *, plots: bool) -> str:
    parts = [
        "# How cost grows",
        (
            f"Written by `{command}` on {machine()}; one thread, pinned to a core; medians of rounds in which all "
            "contestants take turns. *Cold* begins with an empty cache: the time to build states and transitions is "
            "divided among the keys of the column. Bytes are those of the automaton's arrays and of the cache, or of the "
            "trie's tables."
        ),
        *(["![time and bytes](growth.svg)"] if plots else []),
    ]
    for axis, (_, what) in AXES.items():
        some = [point for point in points if point.axis == axis]
        if some:
            parts += [f"## {what[0].upper()}{what[1:]}", _table(some)]
    return "\n\n".join(parts) + "\n"


def _table(points: Sequence[Point]) -> str:
    names = [name for name in STYLES if any(point.contestant == name for point in points)]
    lines = [
        f"| | {' | '.join(f'{name}, ns/key' for name in names)} | automaton and warm cache | trie |",
        "|---:|" + "---:|" * (len(names) + 2),
    ]
    for x in dict.fromkeys(point.x for point in points):
        found = {point.contestant: point for point in points if point.x == x}
        times = [f"{found[name].ns_per_key:,.0f}" if name in found else "-" for name in names]
        sizes = [_size(found[name].bytes if name in found else None) for name in ("dfa, warm", "compiled trie")]
        lines.append(f"| {' | '.join([f'{x:,g}', *times, *sizes])} |")
    return "\n".join(lines)


def _size(size: int | None) -> str:
    return "-" if size is None else f"{size / 2**20:,.2f} MiB"


def _draw(points: Sequence[Point], path: Path) -> Path:
    """Draw a column of panels for each axis: time above, bytes below."""
    axes = [axis for axis in AXES if any(point.axis == axis for point in points)]
    figure = new_figure(4.2 * len(axes), 6.4)
    panels = figure.subplots(2, len(axes), squeeze=False, sharex="col")
    for column, axis in enumerate(axes):
        for name, (color, mark, line) in STYLES.items():
            some = [point for point in points if point.axis == axis and point.contestant == name]
            look = {"color": color, "marker": mark, "linestyle": line, "markersize": 4, "label": name}
            panels[0, column].plot([point.x for point in some], [point.ns_per_key for point in some], **look)
            sized = [(point.x, point.bytes) for point in some if point.bytes is not None]
            if sized and name != "dfa, cold":  # it has the bytes of the warm one
                panels[1, column].plot([x for x, _ in sized], [size for _, size in sized], **look)
        for row, what in enumerate(("ns per key", "bytes")):
            panel = panels[row, column]
            panel.set_yscale("log")
            panel.grid(visible=True, linewidth=0.3)
            if column == 0:
                panel.set_ylabel(what)
        if axis == "bindings":
            panels[1, column].set_xscale("log")
        elif axis == "words":
            panels[1, column].set_xscale("log", base=2)
        panels[1, column].set_xlabel(AXES[axis][1])
    panels[0, 0].legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
    return path
