"""The result: a CSV file with a line for each broker, and a page that also shows refusals and deviations."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.verification.brokers.comparison import Compared
from dfa_router.fuzz.judging.manners import skeleton

__all__ = ["COLUMNS", "write"]

COLUMNS = (
    "broker", "product", "dialect", "cases", "distinct_about", "matches", "keys", "patterns", "rounds", "disagreements", "findings",
    "seconds", "cases_per_second", "asked_alone", "both_take", "both_refuse", "not_carried", "only_broker_refuses",
    "only_broker_unexplained", "only_we_refuse", "ended",
)  # fmt: skip

METHOD = """\
A broker gets a binding set, keys are published, and who received what is read back. The `dfa` engine says what is right. The
recursive specification, which shares no code with it, checks the engine in every round on 32 cases spread over the round, and
decides every case on which broker and engine differ. *Cases* are (pattern, key) pairs that the broker answered; *matches* are
those that it delivered. Rounds depend on the seed alone, so a run repeats. Words are few on purpose, so cases recur in other
rounds: *distinct* is an estimate of how many were different, from a sample of one in 64; *patterns* are counted once each.
Every 32nd round is one pattern that must be refused. Seconds are those of the whole campaign: making rounds, both answers,
and comparing them.

What it cannot show: other versions, settings that change the rules, plugins, clusters."""

REFUSALS = """\
Patterns asked one by one: valid ones, valid ones changed in one place, and the fuzzer's invalid ones. Brokers say little
about their reasons. So the last columns count patterns that differ in one place from one that both sides take: both refuse
that place, and our reason names it. *Not sent* means that the protocol cannot carry the pattern, so the broker never sees
it."""

SHARED = """\
The comparison above is without shared subscriptions (`$share/GROUP/FILTER`), which only MQTT has; these cases were asked in
the same run. *Specification* is what MQTT 5.0 says in the named section, and what this project answers."""

_LISTED = 200
"""The most patterns of one reason that are listed; of the others the page gives the number."""
_SHOWN = 48
"""The length of the longest pattern that is shown whole."""


def write(
    compared: Sequence[Compared], folder: Path, *, command: str, missing: Mapping[str, str] | None = None
) -> list[Path]:
    """Write ``brokers.csv`` and ``brokers.md`` into a folder, which is made; return their paths.

    ``missing`` has the reasons why brokers were not asked, by scheme.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "brokers.csv", folder / "brokers.md"]
    with paths[0].open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(map(_row, compared))
        out.writerows({"broker": url, "ended": f"not asked: {why}"} for url, why in (missing or {}).items())
    paths[1].write_text(_page(compared, missing or {}, command), "utf-8")
    return paths


def _row(one: Compared) -> dict[str, object]:
    return {
        "broker": one.broker,
        "product": one.product,
        "dialect": one.dialect,
        "cases": one.cases,
        "distinct_about": one.distinct,
        "matches": one.matches,
        "keys": one.keys,
        "patterns": one.patterns,
        "rounds": one.rounds,
        "disagreements": one.disagreements,
        "findings": len(one.findings),
        "seconds": f"{one.seconds:.2f}",
        "cases_per_second": round(_rate(one)),
        "asked_alone": one.refusals.asked,
        "both_take": one.refusals.both_take,
        "both_refuse": one.refusals.both_refuse,
        "not_carried": one.refusals.not_carried,
        "only_broker_refuses": len(one.refusals.only_broker),
        "only_broker_unexplained": len(one.refusals.unexplained),
        "only_we_refuse": len(one.refusals.only_we),
        "ended": one.ended or "",
    }


def _page(compared: Sequence[Compared], missing: Mapping[str, str], command: str) -> str:
    parts = [
        "# The dfa engine compared with live brokers",
        f"Written by `{command}` on {machine()}.",
        METHOD,
        "## Cases",
        _cases(compared),
    ]
    parts += [f"**Not asked**: {url} ({why})." for url, why in missing.items()]
    parts += [f"**Ended early**: {one.product}: {one.ended}." for one in compared if one.ended is not None]
    declined = [
        f"* {one.product} does not take these kinds of keys, as it may, and was not asked them again: "
        f"{'; '.join(one.declined)}."
        for one in compared
        if one.declined
    ]
    if declined:
        parts.append("\n".join(declined))
    parts += ["## Disagreements", _disagreements(compared), "## What is refused", REFUSALS, _counts(compared)]
    parts += ["### Reasons", _reasons(compared), "### One side alone", _mismatches(compared)]
    if any(one.shared for one in compared):
        parts += ["## Shared subscriptions", SHARED, _shared(compared)]
    return "\n\n".join(parts) + "\n"


def _cases(compared: Sequence[Compared]) -> str:
    rows = [
        (
            one.product, one.dialect, f"{one.cases:,}", f"{one.distinct / 1000:,.0f},000", f"{one.matches:,}", f"{one.keys:,}", f"{one.patterns:,}",
            f"{one.rounds:,}", f"{one.disagreements:,}", f"{one.seconds:.1f}", f"{_rate(one):,.0f}",
        )
        for one in compared
    ]  # fmt: skip
    head = "broker | dialect | cases | distinct, about | matches | keys | patterns | rounds | disagreements | seconds | cases/s"
    return _table(head, "--" + "r" * 9, rows)


def _disagreements(compared: Sequence[Compared]) -> str:
    rows = [
        (
            one.product,
            finding.accused,
            str(finding.kind),
            ", ".join(map(_code, finding.case.patterns)),
            _code(finding.case.key),
            _positions(finding.expected),
            _positions(finding.answered),
        )
        for one in compared
        for finding in one.findings
    ]
    return (
        _table("broker | accused | kind | patterns | key | expected | answered", "-------", rows) if rows else "None."
    )


def _counts(compared: Sequence[Compared]) -> str:
    rows = []
    for one in compared:
        told = one.refusals
        alone = f"{len(told.only_broker):,}"
        if told.only_broker:
            alone += f" ({len(told.unexplained):,} of them unexplained)"
        refuse = f"{told.both_refuse:,}" + (f" ({told.not_carried:,} not sent)" if told.not_carried else "")
        rows.append((one.product, f"{told.asked:,}", f"{told.both_take:,}", refuse, alone, f"{len(told.only_we):,}"))
    head = "broker | patterns | both take | both refuse | broker refuses, we take | we refuse, broker takes"
    return _table(head, "-rrrrr", rows)


def _reasons(compared: Sequence[Compared]) -> str:
    rows = [
        (
            one.product,
            reason.theirs,
            reason.ours,
            f"{reason.count:,}",
            _code(reason.example),
            f"{reason.changed:,}",
            "" if reason.made_from is None else _code(reason.made_from),
        )
        for one in compared
        for reason in one.refusals.reasons
    ]
    head = "broker | it says | we say | patterns | example | changed in one place | example before that"
    return _table(head, "---r-r-", rows) if rows else "None."


def _mismatches(compared: Sequence[Compared]) -> str:
    """Return a table of all patterns that only one side refuses, with a row for each reason."""
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for one in compared:
        for mismatch in one.refusals.only_broker:
            why = mismatch.limit or "**unexplained**"
            alike.setdefault((one.product, "the broker", mismatch.reason, why), []).append(mismatch.pattern)
        for mismatch in one.refusals.only_we:
            row = (one.product, "we", skeleton(mismatch.reason), "the broker takes what its protocol forbids")
            alike.setdefault(row, []).append(mismatch.pattern)
    rows = [(*row, f"{len(patterns):,}", _listed(patterns)) for row, patterns in alike.items()]
    head = "broker | refused by | with the words | why | number | patterns"
    return _table(head, "----r-", rows) if rows else "None."


def _listed(patterns: Sequence[str]) -> str:
    shown = ", ".join(map(_code, sorted(patterns, key=lambda pattern: (len(pattern), pattern))[:_LISTED]))
    return shown + (f" and {len(patterns) - _LISTED:,} more" if len(patterns) > _LISTED else "")


def _shared(compared: Sequence[Compared]) -> str:
    rows = [
        (
            one.product,
            _code(answer.case.filter),
            _code(answer.case.topic),
            f"{answer.case.right} ({answer.case.section})",
            answer.told + (f": {answer.words}" if answer.words else ""),
            "**deviates**" if answer.deviates else "",
        )
        for one in compared
        for answer in one.shared
    ]
    return _table("broker | filter | topic | specification | broker's answer |  ", "------", rows)


def _table(head: str, align: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a table; ``align`` has a character for each column, ``r`` for numbers."""
    lines = [f"| {head} |", "|" + "|".join("---:" if side == "r" else "---" for side in align) + "|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _code(text: str) -> str:
    """Return a text as Markdown code: quoted, in ASCII, and cut if it is long."""
    quoted = json.dumps(text if len(text) <= _SHOWN else text[: _SHOWN // 2])
    fence = "``" if "`" in quoted else "`"
    return f"{fence}{quoted}{fence}" + (f" ... ({len(text):,} characters)" if len(text) > _SHOWN else "")


def _positions(positions: tuple[int, ...] | None) -> str:
    return "refused" if positions is None else json.dumps(positions)


def _rate(one: Compared) -> float:
    return one.cases / one.seconds if one.seconds else 0.0
