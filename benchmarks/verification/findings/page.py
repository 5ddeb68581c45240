"""The result: a CSV file with a line for each finding, and a page that states those that the live broker confirms."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.verification.findings.survey import Examined, Judged

__all__ = ["COLUMNS", "write"]

COLUMNS = (
    "package", "version", "asked", "dialect", "cases", "small_cases", "small_wrong", "scope", "kind", "patterns", "key",
    "expected", "answered", "broker", "verdict", "stated", "cause",
)  # fmt: skip

METHOD = """\
Each package is asked by an adapter that calls the package's own code and adds none
(`benchmarks/verification/findings/adapters`), in a process of its own. *Cases* are the (pattern, key) pairs of the
campaigns; *small cases* are all valid patterns of up to three words and all keys of up to four words over very few words, the
same in every run. A campaign shrinks what it finds to the simplest case of its kind, so a mistake that shows in a simple case
hides others. Therefore there are four passes: everything valid; no empty words; words of letters and digits only; and of
these, keys that have more words than the pattern.

A live broker is asked every minimal case. The case is stated here only where the broker answers as our specification does
and the package otherwise. The broker is asked all small cases, too.

What it cannot show: a package without a finding has passed this many cases, no more. A broker's rule need not be a
package's promise: kombu's own transports and FastStream's test broker stand in for RabbitMQ, and users whose patterns they
get right will never notice. What a dialect refuses is not asked. paho and amqtt claim nothing about shared subscriptions
(`$share`), and are not asked about them."""


def write(examined: Iterable[Examined], folder: Path, *, command: str) -> list[Path]:
    """Write ``findings.csv`` and ``findings.md`` into a folder, which is made; return their paths."""
    found = list(examined)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "findings.csv", folder / "findings.md"]
    with paths[0].open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        for one in found:
            out.writerows(_rows(one))
    paths[1].write_text(_page(found, command), "utf-8")
    return paths


def _rows(one: Examined) -> list[dict[str, object]]:
    """Return a row for each finding, or one that says there is none."""
    about: dict[str, object] = {
        "package": one.subject.name,
        "version": one.version or "not installed",
        "asked": one.subject.asked,
        "dialect": one.subject.dialect.name,
        "cases": one.cases,
        "small_cases": one.small.cases if one.small else "",
        "small_wrong": one.small.wrong if one.small else "",
        "broker": one.broker or "",
    }
    findings = [
        {
            **about,
            "scope": judged.scope,
            "kind": judged.finding.kind,
            "patterns": json.dumps(judged.finding.case.patterns, ensure_ascii=False),
            "key": json.dumps(judged.finding.case.key, ensure_ascii=False),
            "expected": _said(judged.finding.expected),
            "answered": _answered(judged),
            "verdict": _verdict(judged),
            "stated": judged.stated,
            "cause": judged.cause or "",
        }
        for judged in one.judged
    ]
    return findings or [about]


def _page(found: Sequence[Examined], command: str) -> str:
    installed = [one for one in found if one.version is not None]
    missing = [one.subject.name for one in found if one.version is None]
    parts = [
        "# What the fuzzer found in released packages",
        f"Written by `{command}` on {machine()}.",
        METHOD,
        "## Packages",
        _packages(installed),
    ]
    if missing:
        parts.append(f"Not installed, and not asked: {', '.join(missing)} (`pip install 'dfa-router[findings]'`).")
    parts += ["## Findings", _findings(installed, stated=True)]
    if any(not judged.stated for one in installed for judged in one.judged):
        parts += [
            "## Not confirmed",
            "No broker was asked about these, or it does not answer as we do. They are no claims about a package.",
            _findings(installed, stated=False),
        ]
    ends = [f"* {one.subject.name}: {reason}" for one in installed for reason in one.given_up]
    if ends:
        parts += ["## Ended early", "\n".join(ends)]
    return "\n\n".join(parts) + "\n"


def _packages(found: Sequence[Examined]) -> str:
    lines = [
        "| package | what is asked | dialect | cases tried | small cases wrong | findings | broker, and small cases it answers otherwise |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    for one in found:
        small = one.small
        share = f"{small.wrong:,} of {small.cases:,} ({small.wrong / small.cases:.1%})" if small else ""
        broker = "not asked" if one.broker is None or small is None else f"{one.broker}: {small.broker_differs:,}"
        stated = sum(judged.stated for judged in one.judged)
        cells = [
            f"{one.subject.package} {one.version}",
            one.subject.asked,
            one.subject.dialect.name,
            f"{one.cases:,}",
            share,
        ]
        lines.append(_line([*cells, str(stated) if stated else "none", broker]))
    return "\n".join(lines)


def _findings(found: Sequence[Examined], *, stated: bool) -> str:
    lines = ["| package | pattern | key | expected | answered | live broker | cause |", "|---|---|---|---|---|---|---|"]
    for one in found:
        for judged in one.judged:
            if judged.stated is not stated:
                continue
            case = judged.finding.case
            cells = [f"{one.subject.name} {one.version}", ", ".join(map(_code, case.patterns)), _code(case.key)]
            cells += [_in_words(judged.finding.expected, len(case.patterns)), _answered(judged, len(case.patterns))]
            lines.append(_line([*cells, _verdict(judged, len(case.patterns)), judged.cause or "not known"]))
    return "\n".join(lines) if len(lines) > 2 else "None."


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _code(text: str) -> str:
    shown = json.dumps(text, ensure_ascii=False)
    return f"``{shown}``" if "`" in shown else f"`{shown}`"


def _said(positions: tuple[int, ...] | None) -> str:
    return "refused" if positions is None else json.dumps(positions)


def _in_words(positions: tuple[int, ...] | None, patterns: int | None) -> str:
    if positions is None or patterns != 1:
        return _said(positions)
    return "matches" if positions else "no match"


def _answered(judged: Judged, patterns: int | None = None) -> str:
    finding = judged.finding
    if finding.answered is None:
        return f"{finding.kind}: {_last_line(finding.detail)}"
    return _in_words(finding.answered, patterns)


def _verdict(judged: Judged, patterns: int | None = None) -> str:
    if judged.verdict is None:
        return "not asked"
    return judged.verdict if isinstance(judged.verdict, str) else _in_words(judged.verdict, patterns)


def _last_line(text: str) -> str:
    """Return the line of a traceback that names the error."""
    return text.strip().rpartition("\n")[2]
