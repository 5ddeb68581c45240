"""The result: two CSV files, of figures and of targets, a page with their tables, and a plot of the ratios."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.engine.rows import TRIE, Claim, Row
from benchmarks.measure import machine, verdict
from benchmarks.plotting import new_figure
from benchmarks.result_files import write_csv

__all__ = ["write"]

BIAS = """\
What the ratios favour. `index_in` builds its hash table of distinct keys at every call, and our warm walk builds nothing:
the cold rows compare like with like, while a service that runs for hours has the warm ones. Look-ups of whole keys do no
matching at all and need every key in advance; DuckDB's join counts and sums instead of keeping its result.

A cache is warm when a pass over the keys builds nothing more, or 16 passes were tried; the row says after how many passes, or
that it is not warm after these: then some of what the keys need is still being built while the warm rows are timed. They are two
where everything is built at the first request, the second one to find that nothing is left. Where a doorkeeper stands before the
cache, as on fleet, they are eight or more; those between the first and the last are in no row, and take up to twice the time of
the first.

The compiled trie is the fair opponent: compiled by numba as well, with interned words, flat arrays, a block of keys walked
level by level with prefetching, and none of our matching code. It answers with lists of positions in no order, where we
answer with a set number for each key; it keeps nothing from key to key; and it was tuned by the authors of what it is
measured against.

google-re2 runs with `max_mem` = 4 GiB, as its default of 8 MB cannot compile the larger sets. Its DFA has seen the keys
before it is timed, and a cold one is far slower than the figure. google-re2 and hyperscan are called once per key from
Python, which costs them about a microsecond, and paho is Python itself. These three match a sample of the keys, the fastest
of three passes, and do not take part in the others' rounds.

In the tables of the workloads and of threads the key cache is off except where a row names it, and keys are not stored, which goes
by the same option. Start-up, single keys, memory and adversarial sets have the default options, but for bounds on the cache. The
workloads are drawn from a seed, not recorded: real keys repeat more. Memory is what the
system counts for a process of its own, in pages; answers belong to the caller."""

ABOUT = {
    "throughput": "Tyler Treat's throughput test: three-word patterns over the digits, under 1,000 distinct keys",
    "stock": "10,000 five-word bindings with skewed words, 60 % of the keys matching",
    "fleet": "`site.N.dev.N.metric`: hardly any key occurs twice",
    "hard": "64 patterns that need many states, keys of 12 to 40 words over four words",
    "rabbit2011": "RabbitMQ's contest of trie and automaton, of its size and shares of wildcards",
    "nservicebus": "NServiceBus's delayed delivery with all levels in one set: every key makes new states",
    "repeat": "stock's bindings, a few of its keys most of the time, dictionary-encoded",
    "threads": "stock's keys on one thread and on two, not pinned",
    "single": "`router.match(key)`, a key at a time",
    "adversarial": "binding sets whose DFA has exponentially many states; every answer is checked",
}
"""What each part is about."""


def write(found: Iterable[Row | Claim], folder: Path, *, command: str, plots: bool = True) -> list[Path]:
    """Write ``engine.csv``, ``engine-targets.csv``, ``engine.md`` and ``engine.svg`` into a folder, which is made.

    Return their paths. Files of an earlier run are replaced; there is no plot where no row has a ratio.
    """
    found = list(found)
    rows = [one for one in found if isinstance(one, Row)]
    targets = [one for one in found if isinstance(one, Claim)]
    plots = plots and any(row.ratio for row in rows)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "engine.csv", folder / "engine-targets.csv", folder / "engine.md"]
    write_csv(paths[0], Row, rows)
    write_csv(paths[1], Claim, targets)
    paths[2].write_text(_page(rows, targets, command, plots=plots), "utf-8")
    if plots:
        paths.append(_draw(rows, folder / "engine.svg"))
    return paths


def _page(rows: Sequence[Row], targets: Sequence[Claim], command: str, *, plots: bool) -> str:
    parts = [
        "# The engine, measured",
        (
            f"Written by `{command}` on {machine()}; one thread, pinned to a core, unless something else is said; medians "
            "of rounds in which all contestants take turns. Ratios are to `pyarrow.compute.index_in` for the same keys in "
            "the same rounds. All contestants of a workload have found the same pairs: their number and the sum of the "
            "bindings' positions are compared, cold and warm."
        ),
        *(["![ratios](engine.svg)"] if plots else []),
    ]
    if targets:
        parts += ["## Targets", _targets(targets)]
    for name, group in groupby(rows, key=lambda row: row.workload):
        parts += [f"## {name}", ABOUT.get(name, ""), _table(list(group))]
    return "\n\n".join([*parts, "## Bias", BIAS]) + "\n"


def _targets(targets: Sequence[Claim]) -> str:
    lines = ["| | target | measured | target | | |", "|---|---|---:|---:|---|---|"]
    for one in targets:
        measured = "-" if one.measured is None else f"{one.measured:,.2f} {one.unit}"
        met = "not measured" if one.met is None else verdict(one.met)
        bound = f"{'≤' if one.sense == '<=' else '≥'} {one.bound:,.2f} {one.unit}"
        cells = [one.workload, one.what, measured, bound, met, one.note]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _table(rows: Sequence[Row]) -> str:
    lines = ["| contestant | ns/key | ratio | keys | build s | |", "|---|---:|---:|---:|---:|---|"]
    for row in rows:
        time = "-" if row.ns_per_key is None else f"{row.ns_per_key:,.0f}"
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        build = "" if row.build_seconds is None else f"{row.build_seconds:.2f}"
        lines.append(f"| {' | '.join([row.contestant, time, ratio, f'{row.keys:,}', build, row.note])} |")
    return "\n".join(lines)


def _draw(rows: Sequence[Row], path: Path) -> Path:
    """Draw a panel of horizontal bars for each workload, all on one logarithmic scale."""
    timed = [row for row in rows if row.ratio]
    groups = [(name, list(group)) for name, group in groupby(timed, key=lambda row: row.workload)]
    figure = new_figure(8, 0.6 + sum(0.5 + 0.22 * len(some) for _, some in groups))
    panels = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=[1 + len(s) for _, s in groups])[
        :, 0
    ]
    for panel, (name, some) in zip(panels, groups, strict=True):
        colors = [_color(row.contestant) for row in some]
        panel.barh([row.contestant for row in some], [row.ratio for row in some], color=colors)
        panel.axvline(1.0, color="black", linewidth=0.8)
        panel.set_xscale("log")
        panel.set_title(name, loc="left", fontsize=9, fontweight="bold")
        panel.invert_yaxis()
    panels[-1].set_xlabel("time per key, as a ratio to pyarrow index_in (less is better)")
    figure.savefig(path, metadata={"Date": None})
    return path


def _color(contestant: str) -> str:
    """Return blue for ours, vermilion for the fair opponent, grey for the others."""
    if contestant.startswith(("dfa", "nfa")):
        return "#0072b2"
    return "#d55e00" if contestant == TRIE else "#999999"
