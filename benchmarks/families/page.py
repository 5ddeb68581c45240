"""The result: a CSV file with a row for each variant, a page with the targets and all variants, and a plot of the ratios."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.families.child import Measured
from benchmarks.families.targets import RATIOS, WORST, ratio, targets
from benchmarks.measure import MOST_PASSES, machine, verdict
from benchmarks.plotting import new_figure

__all__ = ["write"]

BIAS = """\
What the ratios favour. `index_in` finds whole keys among the distinct ones, builds its hash table at every call, and does no
matching: the first pass compares like with like. Routers have the options that users get who give none. *Warm* has matched
the keys until a pass built nothing more, or 16 passes were tried (*over 16*). The three passes are those of a new router, beside three passes of the
simulation and of the compiled trie, whichever takes less; what is built before the first key is in none of them.

google-re2 is called once per key from Python, which costs it about a microsecond. Words at different places of a key are drawn
independently of each other, which real ones are not. Ratios are of processor time; the CSV file has the clock's, too.

Memory. *Automaton* is what compiling the bindings has added to the process as the system counts it, and *resident* what the first
pass has added after it, in batches of 16,384 keys whose answers were dropped. It has scratch space and the allocator's slack in
it; *counted* is what the router says of its cache."""


def write(found: Sequence[Measured], folder: Path, *, command: str, plots: bool = True) -> list[Path]:
    """Write ``families.csv``, ``families.md`` and ``families.svg`` into a folder, which is made; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "families.csv", folder / "families.md"]
    rows = [_flat(one) for one in found]
    with paths[0].open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    paths[1].write_text(_page(found, command, plots=plots), "utf-8")
    if plots:
        paths.append(_draw(found, folder / "families.svg"))
    return paths


def _flat(one: Measured) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(one, name) for name in one.__slots__ if name not in ("cpu", "wall")}
    for clock in ("cpu", "wall"):
        row |= {f"{name}, {clock} ns/key": round(value, 2) for name, value in getattr(one, clock).items()}
    return row


def _page(found: Sequence[Measured], command: str, *, plots: bool) -> str:
    kinds = list(dict.fromkeys(one.kind for one in found))
    parts = [
        "# Families: workloads drawn anew",
        (
            f"Written by `{command}` on {machine()}; one thread, pinned to a core, each variant in a process of its own; "
            "medians of rounds in which all contestants take turns. All contestants of a variant have found the same pairs."
        ),
        *(["![ratios](families.svg)"] if plots else []),
        "## Targets",
        f"The median variant meets the figure, and none is further from it than {WORST:g} times.",
        _targets(found),
    ]
    for kind in kinds:
        some = [one for one in found if one.kind == kind]
        parts += [f"## {kind}", _times(some), _held(some)]
        parts.append("\n".join(f"{one.variant + 1}. {one.about}" for one in some))
    return "\n\n".join([*parts, "## Bias", BIAS]) + "\n"


def _targets(found: Sequence[Measured]) -> str:
    lines = ["| | target | figure | median | worst | |", "|---|---|---:|---:|---:|---|"]
    for one in targets(found):
        sense = "≤" if one.sense == "<=" else "≥"
        met = verdict(one.met)
        cells = [one.kind, one.what, f"{sense} {one.bound:.2f}", f"{one.median:.2f}", f"{one.worst:.2f}", met]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _times(some: Sequence[Measured]) -> str:
    names = list(dict.fromkeys(name for one in some for name in one.cpu))
    ratios = [name for name in RATIOS if any(ratio(one, name) is not None for one in some)]
    lines = [
        f"| | {' | '.join(f'{name}, ns/key' for name in names)} | {' | '.join(RATIOS[name][0] for name in ratios)} |",
        "|---:|" + "---:|" * (len(names) + len(ratios)),
    ]
    for one in some:
        times = [f"{one.cpu[name]:,.0f}" if name in one.cpu else "-" for name in names]
        shares = ["-" if (value := ratio(one, name)) is None else f"{value:.2f}" for name in ratios]
        lines.append(f"| {' | '.join([str(one.variant + 1), *times, *shares])} |")
    return "\n".join(lines)


def _held(some: Sequence[Measured]) -> str:
    columns = ["automaton, MB", "resident, MB", "counted, MB", "bound, MB", "states", "transitions", "clears"]
    columns += ["keys simulated in the first pass", "pairs a key", "passes until warm"]
    lines = [f"| | {' | '.join(columns)} |", "|---:|" + "---:|" * len(columns)]
    for one in some:
        sizes = (one.automaton_bytes, one.resident_bytes, one.counted_bytes, one.capacity)
        counts = [f"{one.states:,}", f"{one.transitions:,}", f"{one.clears:,}", f"{one.fallbacks:,}"]
        last = [f"{one.pairs / one.keys:.1f}", str(one.passes) if one.passes <= MOST_PASSES else f"over {MOST_PASSES}"]
        lines.append(
            f"| {' | '.join([str(one.variant + 1), *(f'{size / 1e6:,.1f}' for size in sizes), *counts, *last])} |"
        )
    return "\n".join(lines)


def _draw(found: Sequence[Measured], path: Path) -> Path:
    """Draw a panel for each kind: a mark for each variant and ratio."""
    kinds = list(dict.fromkeys(one.kind for one in found))
    figure = new_figure(7, 0.8 + 1.2 * len(kinds))
    panels = figure.subplots(len(kinds), 1, squeeze=False)[:, 0]
    for panel, kind in zip(panels, kinds, strict=True):
        some = [one for one in found if one.kind == kind]
        for row, (name, color) in enumerate(
            (("warm", "#0072b2"), ("first pass", "#56b4e9"), ("three passes", "#d55e00"))
        ):
            values = [value for one in some if (value := ratio(one, name)) is not None]
            panel.plot(values, [row] * len(values), "o", color=color, markersize=4, alpha=0.7)
        panel.set_yticks(range(3), ["warm", "first pass", "three passes"])
        panel.invert_yaxis()
        panel.set_xscale("log")
        panel.axvline(1.0, color="black", linewidth=0.8)
        panel.set_title(kind, loc="left", fontsize=9, fontweight="bold")
    panels[-1].set_xlabel("ratio to index_in; three passes: to the better of nfa and the compiled trie")
    figure.savefig(path, metadata={"Date": None})
    return path
