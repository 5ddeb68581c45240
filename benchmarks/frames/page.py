"""The result: a CSV file of all figures, a page with a table and the targets, and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.frames.turns import Figure
from benchmarks.measure import machine
from benchmarks.plotting import new_figure
from benchmarks.result_files import write_result

__all__ = ["TARGETS", "write"]

TARGETS = (
    (("classic", "route"), ("classic", "constant Arrow UDF"), 1.15),
    (("classic", "route, keys alone"), ("classic", "constant mapInArrow"), 1.15),
    (("connect", "route"), ("classic", "route"), 1.3),
    (("connect", "route, keys alone"), ("classic", "route, keys alone"), 1.3),
)
"""Which figure is compared with which, and the highest ratio that meets the target."""


def write(figures: Sequence[Figure], folder: Path, *, command: str, plots: bool = True) -> list[Path]:
    """Write ``frames.csv``, ``frames.md`` and ``frames.svg`` into a folder, which is made; return their paths."""
    page = _page(figures, command, plots=plots)
    draw = partial(_draw, figures) if plots else None
    return write_result(folder, "frames", Figure, figures, page, draw)


def _page(figures: Sequence[Figure], command: str, *, plots: bool) -> str:
    cost = {(one.session, one.contestant): one.cpu_us for one in figures}
    rows = [f"| {one.session} | {one.contestant} | {one.cpu_us:.2f} | {one.wall_us:.2f} |" for one in figures]
    targets = []
    for (session, name), (other_session, other), most in TARGETS:
        ratio = cost[session, name] / cost[other_session, other]
        met = "met" if ratio <= most else "missed"
        targets.append(f"| {session}, {name} | {other_session}, {other} | {ratio:.2f} | {most:.2f} | {met} |")
    return (
        "\n\n".join(
            [
                "# Routing of DataFrames",
                (
                    f"Written by `{command}` on {machine()}, Spark {figures[0].spark} with `local[2]`. Messages of the demo are "
                    "read from Parquet and written to Parquet, with their queues. Processor time is that of Java and of the "
                    "Python workers together, per message; medians of rounds in which all take turns, after rounds that are "
                    "not counted. The constant functions return columns of the same types, with lists of the same lengths, and "
                    "route nothing."
                ),
                *(["![processor time per message](frames.svg)"] if plots else []),
                "\n".join(["| session | what | CPU us/message | elapsed us/message |", "|---|---|---:|---:|", *rows]),
                "## Targets",
                "\n".join(
                    ["| processor time of | over that of | ratio | at most | |", "|---|---|---:|---:|---|", *targets]
                ),
            ]
        )
        + "\n"
    )


def _draw(figures: Sequence[Figure], path: Path) -> Path:
    figure = new_figure(6.4, 0.4 * len(figures) + 0.8)
    panel = figure.subplots()
    names = [f"{one.contestant} ({one.session})" for one in figures]
    colors = ["#999999" if "constant" in one.contestant else "#0072b2" for one in figures]
    bars = panel.barh(names, [one.cpu_us for one in figures], color=colors)
    panel.bar_label(bars, fmt="%.1f", padding=2)
    panel.invert_yaxis()
    panel.margins(x=0.1)
    panel.set_xlabel("processor microseconds per message, Java and Python workers")
    figure.savefig(path, metadata={"Date": None})
    return path
