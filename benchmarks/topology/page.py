"""The result: a CSV file of all figures, a page with a table and the targets, and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.measure import machine, verdict
from benchmarks.plotting import new_figure
from benchmarks.result_files import write_result
from benchmarks.topology.figures import BATCHES, TARGETS, Figure

__all__ = ["write"]

HEADERS = "1,000 headers bindings"
"""The family whose target is the time of another one, as headers are no keys to be matched."""
MOST_HEADERS = 3
"""The most times that a headers exchange may cost of what a topic exchange does."""
MOST_RATIO = 2.5
"""The most that a message may cost, over matching its key."""


def write(figures: Sequence[Figure], folder: Path, *, command: str, plots: bool = True) -> list[Path]:
    """Write ``topology.csv``, ``topology.md`` and ``topology.svg`` into a folder, which is made; return their paths."""
    page = _page(figures, command, plots=plots)
    draw = partial(_draw, figures) if plots else None
    return write_result(folder, "topology", Figure, figures, page, draw)


def _page(figures: Sequence[Figure], command: str, *, plots: bool) -> str:
    rows = []
    for one in figures:
        most = "-"
        if one.family.startswith("demo"):
            bound = TARGETS[one.batch]
            most = f"{one.columns / 1000:.2f} of {bound:.2f}, {verdict(one.columns / 1000 <= bound)}"
        ratio = one.columns / one.matching
        told = "" if one.family == HEADERS else f", {verdict(ratio <= MOST_RATIO)}"
        rows.append(
            f"| {one.family} | {one.queues:.1f} | {one.batch:,} | {one.columns:,.0f} | {one.routes:,.0f} | "
            f"{one.matching:,.0f} | {ratio:.2f}{told} | {most} |"
        )
    heading = "| messages | queues each | batch | columns, ns | routes, ns | matching, ns | columns / matching | us, of at most |"
    parts = [
        "# From exchange to queues",
        (
            f"Written by `{command}` on {machine()}. Nanoseconds of processor time of one thread for each message, by medians of "
            "rounds in which all take turns, each with a router of its own and in each round with messages that it has not seen; two rounds "
            "come before. *Columns* is `route_columns`, with lists of the names of queues; "
            "*routes* is `route_batch`, a route number for each message; *matching* is `match_batch` of the same keys against "
            f"one router that has all patterns of all exchanges, and {MOST_RATIO} times that is the target of columns, but for headers, "
            "whose target stands below. A sample of each family is held to the reference trie, exchange by exchange."
        ),
        *(["![cost of a message](topology.svg)"] if plots else []),
        "\n".join([heading, "|---|---:|---:|---:|---:|---:|---:|---:|", *rows]),
        _headers(figures),
        (
            "One router is asked less than a topology: no vhost and no exchange is looked up, and no name is copied. Batches are "
            "slices of one column."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _headers(figures: Sequence[Figure]) -> str:
    """Say what headers cost beside the same demands on keys."""
    costs = {(one.family, one.batch): one.columns for one in figures}
    ratios = {batch: costs[HEADERS, batch] / costs["the same as a topic", batch] for batch in BATCHES}
    told = ", ".join(f"{ratio:.2f} in batches of {batch:,}" for batch, ratio in ratios.items())
    return (
        f"A headers exchange with 1,000 bindings of four pairs, for messages whose headers are a `map` column, costs {told} times "
        f"what a topic exchange costs whose bindings ask the same of the words of keys; at most {MOST_HEADERS} is the target in the "
        f"largest batches: {verdict(ratios[max(BATCHES)] <= MOST_HEADERS)}. Hardly any combination of headers recurs here, which is the worst case."
    )


def _draw(figures: Sequence[Figure], path: Path) -> Path:
    figure = new_figure(2.4 * len(BATCHES), 3.2)
    panels = figure.subplots(1, len(BATCHES))
    for panel, batch in zip(panels, BATCHES, strict=True):
        some = [one for one in figures if one.batch == batch]
        places = range(len(some))
        for shift, what, color in (
            (-0.27, "columns", "#0072b2"),
            (0, "routes", "#56b4e9"),
            (0.27, "matching", "#999999"),
        ):
            panel.bar(
                [place + shift for place in places], [getattr(one, what) for one in some], 0.27, label=what, color=color
            )
        panel.set_xticks(list(places), [one.family for one in some], rotation=35, ha="right", fontsize=7)
        panel.set_title(f"batches of {batch:,}", fontsize=8)
        panel.grid(visible=True, axis="y", linewidth=0.3)
    panels[0].set_ylabel("ns per message")
    panels[0].legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
    return path
