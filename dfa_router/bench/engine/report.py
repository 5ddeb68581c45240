"""The result: a CSV of every figure, a page with a table per workload, and a plot of the ratios."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from pathlib import Path

from dfa_router.bench.engine.suite import Row
from dfa_router.bench.measure import machine
from dfa_router.bench.plotting import new_figure

__all__ = ["write"]

BIAS = """\
What the ratios favour. `index_in` builds its hash table of distinct keys at every call, and our warm walk builds nothing:
the cold rows compare like with like, and a service that runs for hours sees the warm ones. Whole-key look-ups do no
matching at all and need every key in advance. google-re2 runs with a memory limit of 4 GiB, as its default cannot compile
the larger sets; it and hyperscan are called once per key from Python, which costs them about a microsecond, and paho is
Python itself. The workloads are drawn from a seed, not recorded: real keys repeat more."""

NAMES = {
    "throughput": "Tyler Treat's throughput test: three-word patterns over the digits, under 1,000 distinct keys",
    "stock": "10,000 five-word bindings with skewed words, 60 % of the keys matching",
    "fleet": "`site.N.dev.N.metric`: hardly any key occurs twice",
    "hard": "64 patterns that need many states, keys of 12 to 40 words over four words",
    "rabbit2011": "RabbitMQ's contest of trie and automaton, of its size and shares of wildcards",
    "nservicebus": "NServiceBus's delayed delivery with all levels in one set: every key makes new states",
    "repeat": "stock's bindings, a few of its keys most of the time, dictionary-encoded",
}


def write(rows: Iterable[Row], folder: Path, *, command: str, plots: bool = True) -> list[Path]:
    """Write ``engine.csv``, ``engine.md`` and ``engine.svg`` into a folder, which is made; return their paths."""
    rows = list(rows)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "engine.csv", folder / "engine.md"]
    with paths[0].open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        out.writeheader()
        out.writerows(asdict(row) for row in rows)
    if plots:
        paths.append(_draw(rows, folder / "engine.svg"))
    paths[1].write_text(_page(rows, command, plots=plots), "utf-8")
    return paths


def _page(rows: Sequence[Row], command: str, *, plots: bool) -> str:
    parts = [
        "# The engine, measured",
        (
            f"Written by `{command}` on {machine()}; one thread, pinned to a core; medians of rounds in which all "
            "contestants take turns. Ratios are to `pyarrow.compute.index_in` of the same keys in the same rounds."
        ),
        *(["![ratios](engine.svg)"] if plots else []),
    ]
    for name, group in groupby(rows, key=lambda row: row.workload):
        parts += [f"## {name}", NAMES.get(name, ""), _table(list(group))]
    return "\n\n".join([*parts, "## Bias", BIAS]) + "\n"


def _table(rows: Sequence[Row]) -> str:
    lines = ["| contestant | ns/key | ratio | keys | build s | |", "|---|---:|---:|---:|---:|---|"]
    for row in rows:
        figures = (
            ["-"] * 3 if row.ns_per_key is None else [f"{row.ns_per_key:,.0f}", f"{row.ratio:.2f}", f"{row.keys:,}"]
        )
        build = "" if row.build_seconds is None else f"{row.build_seconds:.2f}"
        lines.append(f"| {' | '.join([row.contestant, *figures, build, row.note])} |")
    return "\n".join(lines)


def _draw(rows: Sequence[Row], path: Path) -> Path:
    """Draw a panel of horizontal bars per workload, on one logarithmic scale."""
    groups = [
        (name, [row for row in group if row.ratio]) for name, group in groupby(rows, key=lambda row: row.workload)
    ]
    figure = new_figure(8, 0.6 + sum(0.5 + 0.22 * len(some) for _, some in groups))
    panels = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=[1 + len(s) for _, s in groups])[
        :, 0
    ]
    for panel, (name, some) in zip(panels, groups, strict=True):
        ours = ["#0072b2" if row.contestant.startswith(("dfa", "nfa")) else "#999999" for row in some]
        panel.barh([row.contestant for row in some], [row.ratio for row in some], color=ours)
        panel.axvline(1.0, color="black", linewidth=0.8)
        panel.set_xscale("log")
        panel.set_title(name, loc="left", fontsize=9, fontweight="bold")
        panel.invert_yaxis()
    panels[-1].set_xlabel("time per key, as a ratio to pyarrow index_in (less is better)")
    figure.savefig(path, metadata={"Date": None})
    return path
