"""The result: a CSV file of all figures, and a page with tables beside the published figures."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.seeds.rows import Row

__all__ = ["write"]

LIMITS = """\
What this comparison cannot show. The published figures are of other languages (Go, Erlang, C) on processors of another
decade, and of programs that we did not run. Here everything is Python in one interpreter, where a call costs as much as
a whole look-up there, so a figure mostly says how many calls a structure needs. Do not compare a figure with the
published one beside it: compare the *order* within a column, and the ratios. Three things distort even these. Structures
whose work is done in C (dictionaries, sets, roaring bitmaps) look better beside those that walk nodes in Python. The
interpreter's lock lets one thread run at a time, so more threads make nothing faster, and a structure without locks
cannot gain what it was made for; what shows is the cost of waiting for a lock. And these subscriptions are random and
mostly literal, as in the sources: patterns with many `#`, where the structures differ most, are in the benchmark of the
engine (`python -m benchmarks engine`)."""

SOURCES = """\
Published figures are in parentheses: Tyler Treat's from "Fast Topic Matching", in Go on a 2.6 GHz Core i7. Where there
is none, none was given, or it was only drawn. Figures of changes are medians, those of look-ups and messages the fastest
of many short batches, and those of several threads the median of three runs."""

LATENCY = """\
One thread; *cold* is without subscriptions, *hot* with 1,000 random ones of five words. An engine that is not dynamic is
built anew for a subscription."""

THROUGHPUT = """\
1,000 subscriptions of three digits, one in eight with a `*`; 1,000 keys, looked up in turn."""

MEMORY = """\
Bytes per subscription with 1,000 random ones of five words, of the Python objects, arrays and bitmaps that only the
engine holds; its topic space, where it needs one, is not counted. The states of generated code are functions, whose size
Python does not tell: for them it is what was allocated while they were built and is still held. Treat's chart of memory
has no figures but one: the optimised bitmap takes 4.5 times less than the plain one; there the topics grow with the
subscriptions."""

MIX = """\
Threads over 1,000 subscriptions, in milliseconds for the whole workload. At 50-50 half of the threads read and half
write; at 90-10 each thread does both. All but the CS-trie stand behind one lock. The word cache did a fiftieth
of the work, and its time is multiplied by 50: each write drops the cache, and the next read asks every subscription."""

INSERTS = """\
Threads that insert into an empty structure beside threads that look up, as in "Breaking and Entering"; in milliseconds.
The second line of each is the same work in one thread: without the interpreter's lock, the first line should be well
below it."""

PREDICATES = """\
Kevin Burns reports a factor of 20,000 over Mercure's boolean cache for "certain highly concurrent and highly selective
workloads". Here one thread asks."""

COLUMNS = ("table", "matcher", "measure", "condition", "value", "unit", "published", "note")


def write(rows: Iterable[Row], folder: Path, *, quick: bool, plots: bool = True) -> list[Path]:
    """Write ``seeds.csv``, ``seeds.md`` and the plots into a folder, which is made; return their paths.

    Raises :class:`EnvironmentLacksError` if plots are wanted and matplotlib is not installed.
    """
    rows = list(rows)
    folder.mkdir(parents=True, exist_ok=True)
    images: list[Path] = []
    if plots:
        from benchmarks.seeds.plots import draw

        images = draw(rows, folder)
    table, page = folder / "seeds.csv", folder / "seeds.md"
    with table.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for row in rows:
            out.writerow(["" if (value := getattr(row, name)) is None else value for name in COLUMNS])
    page.write_text(_page(rows, images, quick=quick), "utf-8")
    return [table, page, *images]


def _page(rows: Sequence[Row], images: Sequence[Path], *, quick: bool) -> str:
    def image(name: str) -> str:
        return next((f"![{name}]({path.name})" for path in images if path.stem == f"seeds-{name}"), "")

    def measures(table: str) -> list[str]:
        return _in_order(row.measure for row in rows if row.table == table)

    memory = [[row.matcher, _number(row.value)] for row in rows if row.table == "memory"]
    predicates = next(row.note for row in rows if row.table == "predicates")
    parts = [
        "# The tables of published articles, measured again",
        f"Written by `python -m benchmarks seeds{' --quick' * quick}` on {machine()}, {_cells()}, {_lock()}.",
        SOURCES,
        LIMITS,
        "## Latency",
        LATENCY,
        *(_latency(rows, condition) for condition in ("cold", "hot")),
        image("latency"),
        _splitting(rows),
        "## Throughput",
        THROUGHPUT,
        _throughput(rows),
        image("throughput"),
        "## Memory",
        MEMORY,
        _table(["matcher", "bytes per subscription"], memory),
        image("memory"),
        "## Reads and writes at once",
        MIX,
        *(_by_threads(rows, "mix", measure) for measure in measures("mix")),
        image("mix"),
        "## Inserts against look-ups",
        INSERTS,
        *(_inserts(rows, measure) for measure in measures("inserts")),
        image("inserts"),
        "## Arbitrary predicates",
        f"{predicates}.",
        PREDICATES,
        _predicates(rows),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _latency(rows: Sequence[Row], condition: str) -> str:
    found = {(r.matcher, r.measure): r for r in rows if r.table == "latency" and r.condition == condition}
    measures = ("subscribe", "unsubscribe", "lookup", "any")

    def cell(matcher: str, measure: str) -> str:
        row = found.get((matcher, measure))
        if row is None:
            return "-"
        published = "" if row.published is None else f" ({_time(row.published)})"
        return f"{_time(row.value)}{'*' * bool(row.note)}{published}"

    matchers = _in_order(matcher for matcher, _ in found)
    lines = [[matcher, *(cell(matcher, measure) for measure in measures)] for matcher in matchers]
    return _table([condition, *measures], lines) + "\n\n\\* built anew"


def _throughput(rows: Sequence[Row]) -> str:
    found = [r for r in rows if r.table == "throughput"]
    scan = next(r for r in found if r.matcher == "scan")
    lines = [
        [
            r.matcher,
            _number(r.value),
            f"{r.value / scan.value:,.1f}",
            "-" if r.published is None else _number(r.published),
            "-" if r.published is None or scan.published is None else f"{r.published / scan.published:,.1f}",
        ]
        for r in found
    ]
    return _table(["matcher", "messages/s", "to scan", "published messages/s", "published to scan"], lines)


def _by_threads(rows: Sequence[Row], table: str, measure: str) -> str:
    found = {(r.matcher, r.condition): r.value for r in rows if r.table == table and r.measure == measure}
    conditions = _in_order(condition for _, condition in found)
    matchers = _in_order(matcher for matcher, _ in found)
    lines = [[matcher, *(_number(found[matcher, condition]) for condition in conditions)] for matcher in matchers]
    return _table([measure, *conditions], lines)


def _inserts(rows: Sequence[Row], measure: str) -> str:
    found = [r for r in rows if r.table == "inserts" and r.measure == measure]
    together = [r for r in found if not r.condition.startswith("1 thread")]
    conditions = _in_order(r.condition for r in together)
    alone = {
        (r.matcher, r.condition.removeprefix("1 thread, the work of ")): r.value for r in found if r not in together
    }
    at_once = {(r.matcher, r.condition): r.value for r in together}
    lines = []
    for matcher in _in_order(r.matcher for r in together):
        lines.append([matcher, *(_number(at_once[matcher, condition]) for condition in conditions)])
        lines.append([f"{matcher}, in one thread", *(_number(alone[matcher, condition]) for condition in conditions)])
    return _table([measure, *conditions], lines)


def _predicates(rows: Sequence[Row]) -> str:
    found = [r for r in rows if r.table == "predicates"]
    cache = {r.condition: r.value for r in found if r.matcher == "boolean cache"}
    lines = [[r.condition, r.matcher, _number(r.value), f"{r.value / cache[r.condition]:,.1f}"] for r in found]
    left = {r.condition: r.value / cache[r.condition] for r in found if r.matcher == "skipfilter"}
    sentence = "Of the 20,000 times, " + " and ".join(
        f"{factor:,.1f} are left for {name}" for name, factor in left.items()
    )
    return _table(["topics", "way", "messages/s", "to the boolean cache"], lines) + f"\n\n{sentence}."


def _splitting(rows: Sequence[Row]) -> str:
    lookups = {r.matcher: r.value for r in rows if (r.table, r.measure, r.condition) == ("latency", "lookup", "hot")}
    factor = lookups["scan, split every time"] / lookups["scan"]
    return (
        f"Splitting the key once per message and each pattern once for all makes the scan {factor:.1f} times as fast; "
        "RabbitMQ's articles of 2011 report three times."
    )


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def _time(nanoseconds: float) -> str:
    size, unit = next(((size, unit) for size, unit in ((1e6, "ms"), (1e3, "µs")) if nanoseconds >= size), (1, "ns"))
    return f"{_number(nanoseconds / size)} {unit}"


def _cells() -> str:
    try:
        return f"the CS-trie's cells by cereggii {version('cereggii')}"
    except PackageNotFoundError:
        return "the CS-trie's cells with locks (cereggii is not installed)"


def _lock() -> str:
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    return "with the interpreter's lock" if enabled else "without an interpreter's lock"
