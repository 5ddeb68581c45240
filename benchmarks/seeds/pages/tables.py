"""The tables of the page, in Markdown, of the rows of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.seeds.memory import BY_SUBSCRIPTIONS, LITERAL, OVER_TOPICS, WILDCARDS
from benchmarks.seeds.predicates import BOOLEAN, SKIP
from benchmarks.seeds.rows import Row

__all__ = [
    "by_condition",
    "growth",
    "inserts",
    "latency",
    "markdown",
    "memory",
    "number",
    "predicates",
    "splitting",
    "throughput",
]


def latency(rows: Sequence[Row], condition: str) -> str:
    """Return what each operation takes, with the published figure beside it."""
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
    return markdown([condition, *measures], lines) + "\n\n\\* built anew"


def splitting(rows: Sequence[Row]) -> str:
    """Return a sentence about splitting keys once."""
    lookups = {r.matcher: r.value for r in rows if (r.table, r.measure, r.condition) == ("latency", "lookup", "hot")}
    factor = lookups["scan, split every time"] / lookups["scan"]
    return (
        f"Splitting the key once per message and each pattern once for all makes the scan {factor:.1f} times as fast; "
        "RabbitMQ's article reports three times."
    )


def throughput(rows: Sequence[Row]) -> str:
    """Return messages a second, and how many times as many as the naive map's."""
    found = [r for r in rows if r.table == "throughput"]
    naive = next(r for r in found if r.published is not None and r.matcher.startswith("scan"))
    assert naive.published is not None
    lines = [
        [
            r.matcher,
            number(r.value),
            f"{r.value / naive.value:,.1f}",
            "-" if r.published is None else number(r.published),
            "-" if r.published is None else f"{r.published / naive.published:,.1f}",
        ]
        for r in found
    ]
    return markdown(["matcher", "messages/s", "to naive", "published messages/s", "published to naive"], lines)


def memory(rows: Sequence[Row]) -> list[str]:
    """Return the tables of memory: literal subscriptions, wildcards, topic spaces, subscriptions over one."""
    found = {(r.measure, r.matcher, r.condition): r.value for r in rows if r.table == "memory"}

    def cells(measure: str, matcher: str, conditions: Iterable[str]) -> list[str]:
        return [number(found[key]) if (key := (measure, matcher, one)) in found else "-" for one in conditions]

    parts = []
    for measure, unit in ((LITERAL, "bytes each"), (WILDCARDS, "KB"), (OVER_TOPICS, "KB"), (BY_SUBSCRIPTIONS, "KB")):
        conditions = _in_order(condition for of, _, condition in found if of == measure)
        matchers = _in_order(matcher for of, matcher, _ in found if of == measure)
        lines = [[matcher, *cells(measure, matcher, conditions)] for matcher in matchers]
        if measure in (OVER_TOPICS, BY_SUBSCRIPTIONS):
            ratios = (found[measure, "inverted", one] / found[measure, "inverted_opt", one] for one in conditions)
            lines.append(["plain to optimised", *(f"{ratio:.1f}" for ratio in ratios)])
        parts.append(markdown([f"{measure}, {unit}", *conditions], lines))
    return parts


def growth(rows: Sequence[Row]) -> str:
    """Return every figure of growth, a line each."""
    lines = [[r.matcher, r.measure, r.condition, f"{number(r.value)} {r.unit}"] for r in rows if r.table == "growth"]
    return markdown(["matcher", "what", "where", "value"], lines)


def by_condition(rows: Sequence[Row], table: str, measure: str) -> str:
    """Return a line for each matcher and a column for each condition."""
    found = {(r.matcher, r.condition): r.value for r in rows if r.table == table and r.measure == measure}
    conditions = _in_order(condition for _, condition in found)
    matchers = _in_order(matcher for matcher, _ in found)
    lines = [[matcher, *(number(found[matcher, condition]) for condition in conditions)] for matcher in matchers]
    return markdown([measure, *conditions], lines)


def inserts(rows: Sequence[Row], table: str, measure: str) -> str:
    """Return two lines for each matcher: several threads, and the same work in one."""
    found = [r for r in rows if r.table == table and r.measure == measure]
    together = [r for r in found if not r.condition.startswith("1 thread")]
    conditions = _in_order(r.condition for r in together)
    alone = {
        (r.matcher, r.condition.removeprefix("1 thread, the work of ")): r.value for r in found if r not in together
    }
    at_once = {(r.matcher, r.condition): r.value for r in together}
    lines = []
    for matcher in _in_order(r.matcher for r in together):
        lines.append([matcher, *(number(at_once[matcher, condition]) for condition in conditions)])
        lines.append([f"{matcher}, in one thread", *(number(alone[matcher, condition]) for condition in conditions)])
    return markdown([measure, *conditions], lines)


def predicates(rows: Sequence[Row], measure: str) -> str:
    """Return messages a second of each way by the number of subscribers, and the skipfilter's factor."""
    found = {r.condition: r.value for r in rows if (r.table, r.matcher, r.measure) == ("predicates", BOOLEAN, measure)}
    skip = {r.condition: r.value for r in rows if (r.table, r.matcher, r.measure) == ("predicates", SKIP, measure)}
    factors = ["skipfilter to boolean cache", *(f"{skip[one] / found[one]:,.1f}" for one in found)]
    return by_condition(rows, "predicates", measure) + "\n" + _line(factors)


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    """Return a table; all columns but the first hold numbers, or none do."""
    rule = ["---", *["---:" if numbers else "---"] * (len(head) - 1)]
    return "\n".join(map(_line, (head, rule, *lines)))


def number(value: float) -> str:
    """Return a figure with as many digits as it deserves."""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _time(nanoseconds: float) -> str:
    size, unit = next(((size, unit) for size, unit in ((1e6, "ms"), (1e3, "µs")) if nanoseconds >= size), (1, "ns"))
    return f"{number(nanoseconds / size)} {unit}"
