"""The result: a CSV file of all times, and a page with the regret of each family, the worst and the median, and all times."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.regret.child import AUTOMATIC, CONTESTANTS, MEASURES, Contest

__all__ = ["WORST", "MEDIAN", "summary", "write"]

WORST, MEDIAN = 1.15, 1.03
"""The targets for the regret: of every family, and of the median one."""

METHOD = f"""\
*Regret* is the processor time of what decides by counting over that of the fastest of its own fixed choices, each of which
fixes one decision or two and leaves the others to counting. The first pass begins with an empty cache; warm is the fourth pass over
the same keys; then other keys come, and the first pass over these is *after the change*. The fastest of {len(CONTESTANTS) - 2} choices is
also the luckiest: *noise* is how far the same choice, measured twice, is from itself, and a regret that is not above it says
nothing. *Held out* is the regret where the fastest choice of a round is that of the other rounds: whoever was lucky in those counts as
it is without luck, so this errs to the other side."""


def summary(found: Sequence[Contest]) -> list[tuple[str, float, float, float, int]]:
    """Return for each measure the median and the worst regret, the median noise, and in how many families it is over WORST."""
    rows = []
    for measure in MEASURES:
        regrets = [one.regret(measure) for one in found]
        noise = statistics.median(one.noise(measure) for one in found)
        over = sum(regret > WORST for regret in regrets)
        rows.append((measure, statistics.median(regrets), max(regrets), noise, over))
    return rows


def write(found: Sequence[Contest], folder: Path, *, command: str) -> list[Path]:
    """Write ``regret.csv`` and ``regret.md`` into a folder, which is made; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "regret.csv", folder / "regret.md"]
    with paths[0].open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["family", "measure", *CONTESTANTS, "about"])
        for one in found:
            for measure in MEASURES:
                times = [f"{one.ns_per_key[measure][name]:.2f}" for name in CONTESTANTS]
                out.writerow([one.number + 1, measure, *times, one.about])
    paths[1].write_text(_page(found, command), "utf-8")
    return paths


def _page(found: Sequence[Contest], command: str) -> str:
    heads = "| | median regret | worst | median noise | families over the target | held out, median | held out, worst |"
    lines = [heads, "|---|" + "---:|" * 6]
    for measure, median, worst, noise, over in summary(found):
        held = [one.held_out(measure) for one in found]
        figures = f"{median:.2f} | {worst:.2f} | {noise:.2f} | {over} of {len(found)}"
        lines.append(f"| {measure} | {figures} | {statistics.median(held):.2f} | {max(held):.2f} |")
    parts = [
        "# Regret: deciding by counting, beside every fixed choice",
        (
            f"Written by `{command}` on {machine()}; one thread, pinned to a core; a process for each family, medians of rounds in "
            "which all contestants take turns and find the same pairs."
        ),
        METHOD,
        f"The targets are {MEDIAN:.2f} for the median family and {WORST:.2f} for each.",
        "\n".join(lines),
        "## Families",
        _families(found),
        "## What each choice would cost everywhere",
        "The median and the worst over all families of each choice's time over that of the fastest.",
        _choices(found),
        "## Times",
        *(part for measure in MEASURES for part in (f"Nanoseconds per key, {measure}:", _times(found, measure))),
        "## What the families are",
        "\n".join(f"{one.number + 1}. {one.about}" for one in found),
    ]
    return "\n\n".join(parts) + "\n"


def _families(found: Sequence[Contest]) -> str:
    heads = " | ".join(f"{measure} | the fastest choice | noise" for measure in MEASURES)
    lines = [f"| | {heads} |", "|---:|" + "---:|---|---:|" * len(MEASURES)]
    for one in found:
        cells = []
        for measure in MEASURES:
            regret = one.regret(measure)
            shown = f"**{regret:.2f}**" if regret > WORST else f"{regret:.2f}"
            cells += [shown, one.best(measure), f"{one.noise(measure):.2f}"]
        lines.append(f"| {' | '.join([str(one.number + 1), *cells])} |")
    return "\n".join(lines)


def _choices(found: Sequence[Contest]) -> str:
    lines = [
        f"| | {' | '.join(f'{measure}, median | worst' for measure in MEASURES)} |",
        "|---|" + "---:|---:|" * len(MEASURES),
    ]
    for name in CONTESTANTS:
        cells = []
        for measure in MEASURES:
            regrets = [one.regret(measure, name) for one in found]
            cells += [f"{statistics.median(regrets):.2f}", f"{max(regrets):.2f}"]
        shown = f"**{name}**" if name == AUTOMATIC else name
        lines.append(f"| {' | '.join([shown, *cells])} |")
    return "\n".join(lines)


def _times(found: Sequence[Contest], measure: str) -> str:
    lines = [f"| | {' | '.join(CONTESTANTS)} |", "|---:|" + "---:|" * len(CONTESTANTS)]
    for one in found:
        times = [f"{one.ns_per_key[measure][name]:,.0f}" for name in CONTESTANTS]
        lines.append(f"| {' | '.join([str(one.number + 1), *times])} |")
    return "\n".join(lines)
