"""Findings and campaigns as reports: text for people, and JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from itertools import groupby
from typing import Any

from dfa_router.counted import counted
from dfa_router.engines.registry import engine_info, engines
from dfa_router.fuzz.findings import Finding, Kind
from dfa_router.fuzz.generating.classes import HISTORIES, MANY_WORDS, REFUSALS, classes_of
from dfa_router.fuzz.tally import Campaign
from dfa_router.fuzz.text.casefile import format_finding
from dfa_router.fuzz.text.explain import Explanation, explain
from dfa_router.fuzz.text.whereabouts import whereabouts, whereabouts_json
from dfa_router.fuzz.text.words import measured, shown
from dfa_router.fuzz.validity import invalid_pattern
from dfa_router.target import Bind, Step

__all__ = ["campaign_json", "finding_json", "finding_text", "headline", "summary_text"]

END = 20
"""Lines of each end of a long history that a report shows in front of the test case, which has all of it."""


def finding_text(finding: Finding) -> str:
    """Return the whole report of a finding: its case, the reason, all answers, and a test case."""
    origin = f", seed {finding.seed}, round {finding.number}" if finding.number is not None else ""
    origin += f", from {finding.place}" if finding.place is not None else ""
    lines = [f"{finding.accused} {_does(finding)} ({finding.dialect.name}{origin})", ""]
    separator = finding.dialect.separator.decode()
    history = []
    for earlier in finding.case.earlier:
        history += [*_chapter_lines(earlier.patterns, earlier.steps, separator), "  then another set:"]
    lines += _abbreviated([*history, *_chapter_lines(finding.case.patterns, finding.case.before, separator)])
    if finding.kind is not Kind.ACCEPTS:
        lines.append(f"  key        {measured(finding.case.key, separator)}")
    if finding.case.together:
        lines.append(f"  at the same time, by other threads: {', '.join(map(shown, finding.case.together))}")
    if finding.known:
        lines.append("\n  Known: the baseline has it.")
    lines += ["", *(f"  {line}" for line in explanation(finding)), "", *(f"  {line}" for line in _sides(finding))]
    if where := whereabouts(finding):
        lines += ["", f"  {where}"]
    lines += ["", "  As a test case:", "", *(f"    {line}" for line in format_finding(finding).splitlines())]
    return "\n".join(lines)


def _abbreviated(history: list[str]) -> list[str]:
    """Return the lines of a history; of one that was not made small, which may have thousands, its two ends."""
    left = len(history) - 2 * END  # fewer are not worth a look below
    if left <= END:
        return history
    return [
        *history[:END],
        f"  ... and {counted(left, 'line')} more, which the test case below has ...",
        *history[-END:],
    ]


def _chapter_lines(patterns: Sequence[str], steps: Sequence[Step], separator: str) -> list[str]:
    """Return a line for each pattern of a set, and for what it is told and asked then; a repeated key is one line."""
    lines = [f"  pattern {number}  {measured(pattern, separator)}" for number, pattern in enumerate(patterns)]
    if not lines and not any(isinstance(step, Bind) for step in steps):
        lines = ["  no patterns"]
    count = len(patterns)
    for step, group in groupby(steps):
        times = sum(1 for _ in group)
        if isinstance(step, str):
            lines.append(f"  asked      {measured(step, separator)}" + (f", {times} times" if times > 1 else ""))
            continue
        for _ in range(times):
            if isinstance(step, Bind):
                lines.append(f"  bind    {count}  {measured(step.pattern, separator)}")
                count += 1
            else:
                lines.append(f"  unbind  {step.position}")
    return lines


def headline(finding: Finding) -> str:
    """Return a finding as one line: who does what, at which case."""
    case = finding.case
    on = "" if finding.kind is Kind.ACCEPTS else f" on {shown(case.key)}"
    return f"{finding.accused} {_does(finding)}: {', '.join(map(shown, case.table[:4])) or 'no patterns'}{on}"


def _does(finding: Finding) -> str:
    does = {
        Kind.MISSES: "misses a match",
        Kind.MATCHES: "matches what it should not",
        Kind.REFUSES: "refuses what the dialect allows",
        Kind.ACCEPTS: "takes a pattern that the dialect refuses",
        Kind.FAILS: "fails",
        Kind.SLOW: "takes exponential time",
    }[finding.kind]
    if finding.case.together:
        does += " when threads ask at once"
    elif finding.case.stateful:
        does += " after what happened before"
    if finding.flaky:
        does += ", but not every time" if finding.complete else ", and there was no time to see it again"
    return does


def explanation(finding: Finding) -> list[str]:
    """Return lines that say in words what is right and why, and what the accused says."""
    case = finding.case
    lines = []
    if finding.kind is Kind.ACCEPTS:
        reason = invalid_pattern(case.patterns[0], finding.dialect)
        lines += [
            f"{finding.dialect.name} refuses {shown(case.patterns[0])}: {reason}.",
            f"The target does not: {finding.detail}.",
            "If patterns are checked before they reach it, --no-validity (validity=False) asks it none that are refused.",
        ]
    elif finding.kind is Kind.SLOW:
        lines.append("The smallest pattern for which an answer takes more than a second, twice in a row:")
        lines.append(f"    {finding.detail}")
    elif finding.kind in (Kind.REFUSES, Kind.FAILS):
        does = "refuses this" if finding.kind is Kind.REFUSES else "fails at this"
        said = finding.detail.expandtabs().strip().splitlines() or ["nothing"]
        lines += [
            f"The target {does}, and the dialect allows it. It says: {said[0]}",
            *(f"    {line}" for line in said[1:]),
        ]
    else:
        right, told = set(finding.expected or ()), set(finding.answered or ())
        table, gone = finding.case.table, finding.case.gone
        for position in sorted(right ^ told if finding.answered is not None else right):
            if position in gone:
                taken = f"position {position}, {shown(table[position])}"
                lines.append(f"It names {taken}, which was taken out before.")
            else:
                lines += _explained(finding, position, matches=position in right)
                if position in right and gone:
                    taken = ", ".join(map(str, sorted(gone)))
                    lines.append(f"Position {position} is still in the set; taken out before: {taken}.")
    if finding.flaky:
        if finding.complete:
            lines.append("The target does not answer this case alike every time: asked again, it may be right.")
        else:
            lines.append(
                "There was no time to see what it depends on: this is how it was met, and more --seconds may tell."
            )
        if finding.number is not None:
            again = f"--seed {finding.seed} --round {finding.number}"
            lines.append(
                f"What it was asked before may matter: {again} asks the round again, and all before it if need be."
            )
    if not finding.fresh:
        lines.append("It was asked in this process, which cannot be started anew: what was asked before may matter.")
    if not finding.complete and not finding.flaky:
        lines.append("Shrinking did not come to its end: a smaller case may exist, and more --seconds may find it.")
    return lines


def _explained(finding: Finding, position: int, *, matches: bool) -> list[str]:
    pattern, key = finding.case.table[position], finding.case.key
    told = explain(pattern, key, finding.dialect)
    if told.matches != matches:  # the specification decides; a test holds that this does not happen
        told = Explanation(matches, "by the specification")
    verb = "matches" if matches else "does not match"
    says = "does not" if matches else "does"
    joint = ", so " if matches else "; so "
    sentence = told.sentence[:1].upper() + told.sentence[1:]
    lines = [f"{sentence}{joint}{shown(pattern)} {verb} {shown(key)}: the target says it {says}."]
    width = max((len(shown(token)) for token, _ in told.alignment), default=0)
    for token, words in told.alignment:
        taken = " ".join(map(shown, words)) or "nothing"
        lines.append(f"    {shown(token):{width}}  takes  {taken}")
    return lines


def _sides(finding: Finding) -> list[str]:
    """Return a line for each answer and who gives it; engines that give the same share one."""
    right = "the dialect refuses it" if finding.expected is None else str(list(finding.expected))
    theirs = str(finding.kind) if finding.answered is None else str(list(finding.answered))
    if finding.kind is Kind.ACCEPTS:
        theirs = "takes it"
    sides = [("the specification", right), (finding.accused, theirs)]
    if finding.broker:
        sides.append(("the live broker", finding.broker))
    together: dict[str, list[str]] = {}
    for name, verdict in finding.verdicts:
        together.setdefault(verdict.partition("\n")[0], []).append(name)
    speaking = sum(engine_info(name).speaks(finding.dialect) for name in engines())
    for verdict, names in together.items():
        # Others may not have been asked, as engines whose kernels were not compiled yet: that is no disagreement.
        agreed = f"all {speaking} engines" if len(names) == speaking else f"the {counted(len(names), 'engine')} asked"
        sides.append((agreed if len(together) == 1 else ", ".join(names), verdict))
    width = max(len(name) for name, _ in sides)
    return [f"{name:{width}}  {verdict}" for name, verdict in sides]


def summary_text(campaign: Campaign) -> str:
    """Return the summary of a campaign: what was asked, what was left out, and what was found."""
    tally, seconds = campaign.tally, max(campaign.seconds, 1e-9)
    name = campaign.plan.dialect.name
    expected = [entry.name for entry in classes_of(campaign.plan.language)]
    reached = [entry for entry in expected if tally.classes[entry]]
    findings = campaign.findings
    if tally.given_up is not None and not tally.rounds and not findings:
        head = "it never answered a round"
    elif not tally.compared and not findings:
        head = "nothing was compared"
    elif (
        findings and not campaign.agrees and tally.given_up is not None and all(f.kind is Kind.FAILS for f in findings)
    ):
        head = "it fails, and never answered a round"
    elif findings:
        what = "disagreement" if len(findings) == 1 else "kinds of disagreement"
        head = f"{len(findings)} {what} with the specification"
        others = len(findings) - sum(finding.counts for finding in findings)
        if others:
            head += f", {others} of them known or not confirmed"
        if tally.disagreements > len(findings):
            head += f" (in {tally.disagreements:,} answers)"
    else:
        head = "no disagreement" if tally.given_up is None else "no disagreement until it was given up"
    asked = f"{counted(tally.cases, 'case')} (pattern and key) in {counted(tally.rounds, 'round')} with {counted(tally.keys, 'key')}"
    lines = [
        f"{campaign.target}, {name}: {head}",
        f"{asked}, {seconds:.1f} s, {tally.cases / seconds:,.0f} cases/s, seed {campaign.plan.seed}",
        f"classes: {len(reached)} of {len(expected)}"
        + ("" if findings and not campaign.plan.keep_going else _missing(expected, reached)),
    ]
    if tally.left_out:
        lines.append(f"{counted(tally.left_out, 'round')} more held nothing to ask of this target")
    if campaign.replayed:
        lines.append(f"cases replayed from the corpus: {campaign.replayed:,}")
    if campaign.manners.trouble:
        lines.append(
            f"asked something invalid, the target fails, and it was not asked again: {campaign.manners.trouble}"
        )
    elif not campaign.manners.patterns and campaign.plan.validity is None:
        lines.append(
            "the target refuses no pattern, so it was not asked what it ought to refuse "
            "(--validity asks it nevertheless)"
        )
    if campaign.manners.scope.shared is False and campaign.plan.dialect.shared is not None:
        shared = campaign.plan.dialect.shared.decode()
        lines.append(
            f"it was not asked about {shared}, which it does not know, or for which it has other rules (--shared asks it)"
        )
    if tally.declined:
        lines.append(f"keys that the target refuses, as it may, were left out: {'; '.join(sorted(tally.declined))}")
    if tally.aside:
        lines.append(f"it hung, and was not asked again: {'; '.join(sorted(tally.aside))}")
    if tally.classes[HISTORIES]:
        kind = "follow each other and change" if campaign.manners.changing else "follow each other"
        lines.append(f"rounds with sets that {kind}: {tally.classes[HISTORIES]:,}")
    if campaign.tally.given_up:
        lines.append(f"the target was given up: {campaign.tally.given_up}")
    if campaign.interrupted:
        lines.append("interrupted: what was asked until then is counted")
    return "\n".join(lines)


def _missing(expected: Sequence[str], reached: Sequence[str]) -> str:
    """Name the classes that were not reached, if others were: cases that are replayed are of none, and no sign of what is left out."""
    missing = [name for name in expected if name not in reached]
    return f"; not reached: {', '.join(missing)}" if missing and reached else ""


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as values that JSON has."""
    return {
        "accused": finding.accused,
        "kind": str(finding.kind),
        "dialect": finding.dialect.name,
        "patterns": list(finding.case.patterns),
        "key": finding.case.key,
        "before": list(map(_step_json, finding.case.before)),
        "earlier": [
            {"patterns": list(one.patterns), "steps": list(map(_step_json, one.steps))} for one in finding.case.earlier
        ],
        "together": list(finding.case.together),
        "expected": None if finding.expected is None else list(finding.expected),
        "answered": None if finding.answered is None else list(finding.answered),
        "detail": finding.detail,
        "flaky": finding.flaky,
        "fresh": finding.fresh,
        "broker": finding.broker,
        "known": finding.known,
        "counts": finding.counts,
        "complete": finding.complete,
        "explanation": explanation(finding),
        "engines": dict(finding.verdicts),
        **whereabouts_json(finding),
        "seed": finding.seed,
        "round": finding.number,
        "place": finding.place,
        "shape": finding.shape,
        "test_case": format_finding(finding),
    }


def _step_json(step: Step) -> Any:
    if isinstance(step, Bind):
        return {"bind": step.pattern}
    return step if isinstance(step, str) else {"unbind": step.position}


def campaign_json(campaign: Campaign) -> dict[str, Any]:
    """Return a campaign as values that JSON has."""
    tally = campaign.tally
    names = [*(entry.name for entry in classes_of(campaign.plan.language)), HISTORIES, MANY_WORDS, REFUSALS]
    return {
        "version": version("dfa-router"),
        "target": campaign.target,
        "dialect": campaign.plan.dialect.name,
        "seed": campaign.plan.seed,
        "next_round": campaign.next_round,
        "agrees": campaign.agrees,
        "rounds": tally.rounds,
        "cases": tally.cases,
        "keys": tally.keys,
        "rounds_left_out": tally.left_out,
        "limited_keys": tally.limited,
        "disagreements": tally.disagreements,
        "seconds": round(campaign.seconds, 3),
        "cases_per_second": round(tally.cases / max(campaign.seconds, 1e-9)),
        "classes": {name: tally.classes[name] for name in names},
        "replayed": campaign.replayed,
        "interrupted": campaign.interrupted,
        "declined_keys": sorted(tally.declined),
        "set_aside": sorted(tally.aside),
        "given_up": tally.given_up,
        "validity_compared": campaign.manners.patterns,
        "trouble_with_the_invalid": campaign.manners.trouble,
        "findings": [finding_json(finding) for finding in campaign.findings],
    }
