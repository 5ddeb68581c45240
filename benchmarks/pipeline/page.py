"""The result: a CSV file of all runs, a page with their medians, and a plot of processor time a message."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.pipeline.runs import BEFORE, CONTESTANTS, Run
from benchmarks.plotting import new_figure
from benchmarks.result_files import write_result

__all__ = ["ratio", "write"]

WHAT = {
    "route": "`dfa-router route`, with counts",
    "loop": "the plain loop",
    "start": "`dfa-router route` of a few messages: starting Java, Spark and workers",
    "before": "`dfa-router route` of another checkout, without counts, once",
    "before start": "the same of a few messages",
}
METHOD = """\
Parquet to Parquet, with the same columns, codec, row groups and number of files. The loop reads and writes, and adds lists that
it has already; it routes and counts nothing, and has one process. Processor time is that of all processes, Java's and the
workers' too, until the last has ended; the largest process is the peak of its resident memory. Medians of rounds in which all
take turns."""


def write(
    runs: Sequence[Run], folder: Path, *, command: str, recounted: int | None, before: str = "", plots: bool = True
) -> list[Path]:
    """Write ``pipeline.csv``, ``pipeline.md`` and ``pipeline.svg`` into a folder, which is made; return their paths.

    ``before`` names the other checkout, if one took part.
    """
    page = _page(runs, command, recounted, before, plots=plots)
    draw = partial(_draw, runs) if plots else None
    return write_result(folder, "pipeline", Run, runs, page, draw)


def ratio(runs: Sequence[Run]) -> float:
    """Return the processor time of the command, without starting, over that of the loop."""
    return (_median(runs, "route", "cpu") - _median(runs, "start", "cpu")) / _median(runs, "loop", "cpu")


def _median(runs: Sequence[Run], contestant: str, what: str) -> float:
    return float(statistics.median(getattr(one, what) for one in runs if one.contestant == contestant))


def _page(runs: Sequence[Run], command: str, recounted: int | None, before: str, *, plots: bool) -> str:
    messages = max(one.messages for one in runs)
    lines = ["| | seconds | processor seconds | largest process |", "|---|---:|---:|---:|"]
    also = BEFORE if any(one.contestant in BEFORE for one in runs) else ()
    for name in (*CONTESTANTS, *also):
        seconds, cpu, largest = (_median(runs, name, what) for what in ("seconds", "cpu", "largest"))
        lines.append(f"| {WHAT[name]} | {seconds:.1f} | {cpu:.1f} | {largest / 2**20:,.0f} MiB |")
    starting, loop = _median(runs, "start", "cpu"), _median(runs, "loop", "cpu")
    own = _median(runs, "route", "cpu") - starting
    last = [one for one in runs if one.contestant == "route"][-1]
    parts = [
        f"# A log of {messages:,} messages",
        f"Written by `{command}` on {machine()}.",
        METHOD,
        *(["![processor time a message](pipeline.svg)"] if plots else []),
        "\n".join(lines),
        (
            f"Without starting, `route` takes {own / messages * 1e6:.2f} us of processors a message, the loop "
            f"{loop / messages * 1e6:.2f}: {ratio(runs):.2f} times as much. The stages of the last run, in seconds: "
            f"{last.stages}."
        ),
        *([_beside(runs, own, messages, before)] if also else []),
        *([f"DuckDB counted the last result once more: all {recounted:,} counts are equal."] if recounted else []),
    ]
    return "\n\n".join(parts) + "\n"


def _beside(runs: Sequence[Run], own: float, messages: int, before: str) -> str:
    """Say what the other checkout takes."""
    other = _median(runs, "before", "cpu") - _median(runs, "before start", "cpu")
    named = f" ({before})" if before else ""
    return (
        f"The other checkout{named} takes {other / messages * 1e6:.1f} us a message without starting: {other / own:.0f} "
        "times as much."
    )


def _draw(runs: Sequence[Run], path: Path) -> Path:
    messages = max(one.messages for one in runs)
    figure = new_figure(5.0, 1.8)
    panel = figure.subplots()
    starting = _median(runs, "start", "cpu") / messages * 1e6
    own = _median(runs, "route", "cpu") / messages * 1e6 - starting
    loop = _median(runs, "loop", "cpu") / messages * 1e6
    panel.barh(["plain loop", "route"], [loop, own], color="#0072b2")
    panel.barh(["route"], [starting], left=[own], color="#56b4e9", label="starting Spark")
    panel.set_xlabel("us of processors a message")
    panel.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
    return path
