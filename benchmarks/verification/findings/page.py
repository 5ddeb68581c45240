"""The result: a CSV file with a line for each finding, and a page that states those that the live broker confirms."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.verification.findings.survey import Examined, Judged
from dfa_router.fuzz.findings import Kind
from dfa_router.target import Bind, Chapter, Unbind

__all__ = ["COLUMNS", "write"]

COLUMNS = (
    "package", "registry", "version", "reason", "asked", "dialect", "cases", "small_cases", "small_wrong", "kind",
    "patterns", "key", "history", "expected", "answered", "broker", "verdict", "reproduced", "stated", "source", "suspects", "decided", "shape",
)  # fmt: skip

METHOD = """\
Each package is installed in an environment of its own, in the newest version that its registry gives, and asked by an
adapter that calls the package's own code and adds no rule (`benchmarks/verification/findings/adapters`), in a process of
its own. *Cases* are the (pattern, key) pairs of a campaign; *small cases* are all valid patterns of up to three words and all
keys of up to four words over very few words, the same in every run.

A finding is stated here where a live broker answers its minimal case as our specification does and the package otherwise,
and where a process that was started anew, and was asked nothing else, answers it wrong again. The most ordinary case comes
first. What a package does not claim is not asked: packages that claim the wildcards of MQTT and say nothing of topics that
begin with `$` are asked without that rule, none is asked about shared subscriptions that does not know them, and a limit
that a package documents is no finding. Findings are merged by cause as far as questions can tell: `dfa_router/fuzz/shrinking/causes.py`
says how. A package can still have two rows of one fault.

*Source* is the place in the package where what is asked begins. *In its source* is where the fault probably is, in one of these words,
the most exact first. *Suspect*: the case and up to three wrong cases beside it run these lines, and the fewest of up to six right
matches and six other right cases do; a place to look, no proof. *Raised the error*: the traceback's innermost line in the package.
*Builds or runs the regular expression*: right cases run the same lines, as the fault is in the text of an expression that the package
makes of the pattern; these lines make it or match by it. *Ran and decided*: right cases run the same lines, too, and in this function
they part from cases that rightly do not match; the fault is in it or in what it calls. Lines are followed by `sys.settrace` in
Python and by V8's counters of blocks in Node.js. Only a package that is compiled has none.

What it cannot show: a package without a finding has passed this many cases, no more. A broker's rule need not be a
package's promise: test doubles stand in for a broker, and users whose patterns they get right will never notice."""


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
        "registry": one.subject.registry,
        "version": one.version or "",
        "reason": one.reason,
        "asked": one.subject.asked,
        "dialect": one.subject.dialect.name,
        "cases": one.cases,
        "small_cases": one.small.cases if one.small else "",
        "small_wrong": one.small.wrong if one.small else "",
        "broker": one.broker or "",
        "source": one.place,
    }
    findings = [
        {
            **about,
            "kind": judged.finding.kind,
            "patterns": json.dumps(judged.finding.case.table, ensure_ascii=False),
            "key": json.dumps(judged.finding.case.key, ensure_ascii=False),
            "history": _history(judged),
            "expected": _said(judged.finding.expected),
            "answered": _answered(judged),
            "verdict": judged.finding.broker,
            "reproduced": judged.reproduced,
            "stated": judged.stated,
            "suspects": judged.suspects,
            "decided": judged.decided,
            "shape": judged.finding.shape,
        }
        for judged in one.judged
    ]
    return findings or [about]


def _page(found: Sequence[Examined], command: str) -> str:
    asked = [one for one in found if one.version is not None]
    parts = [
        "# What the fuzzer found in released packages",
        f"Written by `{command}` on {machine()}.",
        METHOD,
        "## Packages",
        f"{len(asked)} of {len(found)} were asked; {sum(any(j.stated for j in one.judged) for one in asked)} have a finding.",
        _packages(found),
        "## Findings",
        _findings(asked, stated=True),
    ]
    if any(not judged.stated for one in asked for judged in one.judged):
        parts += [
            "## Not confirmed",
            (
                "No broker was asked about these, or it does not answer as we do, or they did not come back in a fresh process. "
                "They are no claims about a package."
            ),
            _findings(asked, stated=False),
        ]
    ends = [f"* {one.subject.name}: {_last_line(one.given_up)}" for one in asked if one.given_up]
    if ends:
        parts += ["## Ended early", "\n".join(ends)]
    return "\n\n".join(parts) + "\n"


def _packages(found: Sequence[Examined]) -> str:
    lines = [
        "| package | what is asked | dialect | cases tried | small cases wrong | findings | judged by | source |",
        "|---|---|---|---:|---:|---:|---|---|",
    ]
    for one in found:
        if one.version is None:
            cells = [one.subject.name, one.subject.asked, one.subject.dialect.name, f"not asked: {one.reason}"]
            lines.append(_line([*cells, "", "", "", ""]))
            continue
        small = one.small
        share = f"{small.wrong:,} of {small.cases:,} ({small.wrong / max(1, small.cases):.1%})" if small else ""
        stated = sum(judged.stated for judged in one.judged)
        cells = [
            f"{one.subject.name} {one.version} ({one.subject.registry})",
            one.subject.asked,
            one.subject.dialect.name,
        ]
        cells += [f"{one.cases:,}", share, str(stated) if stated else "none", one.broker or "nobody"]
        lines.append(_line([*cells, f"`{one.place}`" if one.place else "compiled"]))
    return "\n".join(lines)


def _findings(found: Sequence[Examined], *, stated: bool) -> str:
    head = [
        "| package | pattern | key | expected | answered | live broker | in its source |",
        "|---|---|---|---|---|---|---|",
    ]
    lines = []
    for one in found:
        for judged in one.judged:
            if judged.stated is not stated:
                continue
            case, many = judged.finding.case, len(judged.finding.case.table)
            pattern = ", ".join(map(_code, case.table[:6])) + (f" and {many - 6} more" if many > 6 else "")
            history = _history(judged)
            key = _code(case.key) + (f" after {history}" if history else "")
            cells = [f"{one.subject.name} {one.version}", pattern, key, _in_words(judged.finding.expected, many)]
            verdict = judged.finding.broker or "not asked"
            if not judged.reproduced:
                verdict += "; it did not come back"
            lines.append(_line([*cells, _answered(judged, many), verdict, _at_fault(one, judged)]))
    return "\n".join(head + lines) if lines else "None."


def _at_fault(one: Examined, judged: Judged) -> str:
    """Return where in its source a package is probably wrong, and how exactly that is known."""
    if judged.suspects:
        return f"suspect: {judged.suspects}"
    if judged.decided:
        return judged.decided
    return "not located" if one.place else "compiled: its source is not in the package"


def _history(judged: Judged) -> str:
    """Return in a few words what happened before the key is asked."""
    case = judged.finding.case

    def told(chapter: Chapter) -> str:
        words = []
        for step in chapter.steps:
            if isinstance(step, Bind):
                words.append(f"bind {_code(step.pattern)}")
            elif isinstance(step, Unbind):
                words.append(f"unbind {step.position}")
            else:
                words.append(f"asked {_code(step)}")
        return ", ".join(words[:8]) + (" ..." if len(words) > 8 else "")

    sets = [f"{', '.join(map(_code, one.patterns))}: {told(one)}" for one in case.earlier]
    return "; ".join([*sets, *([told(Chapter(case.patterns, case.before))] if case.before else [])])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _code(text: str) -> str:
    shown = json.dumps(text if len(text) < 60 else f"{text[:25]}...{text[-25:]}", ensure_ascii=not text.isprintable())
    return f"``{shown}``" if "`" in shown else f"`{shown}`"


def _said(positions: tuple[int, ...] | None) -> str:
    return "refused" if positions is None else json.dumps(positions)


def _in_words(positions: tuple[int, ...] | None, patterns: int | None) -> str:
    if positions is None or patterns != 1:
        return _said(positions)
    return "matches" if positions else "no match"


def _answered(judged: Judged, patterns: int | None = None) -> str:
    finding = judged.finding
    if finding.kind is Kind.SLOW:
        return f"takes too long; {finding.detail}"
    if finding.answered is None:
        return f"{finding.kind}: {_error(finding.detail.replace(finding.accused, 'it'))}"
    return _in_words(finding.answered, patterns)


def _error(text: str) -> str:
    """Return the line of a traceback that names the error: the last one in Python, the first such one in Node.js."""
    lines = [line.strip() for line in text.strip().splitlines()] or [""]
    named = [line for line in lines if not line.startswith(("at ", "File ", "(")) and "rror" in line.partition(":")[0]]
    return (named or lines)[-1][:160]


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
