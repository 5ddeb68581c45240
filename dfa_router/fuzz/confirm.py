"""A live broker as the last judge: nobody is accused of what the broker does as well."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from dfa_router.fuzz.findings import Finding, Kind
from dfa_router.fuzz.tally import Campaign
from dfa_router.target import Refused, Target, TargetFailure

__all__ = ["CONFIRMS", "Verdict", "confirmed", "verdict_on"]

CONFIRMS = "confirms"


class Verdict(Target, Protocol):
    """A broker that can also say whether it takes a pattern."""

    def refusal(self, pattern: str) -> str | None:
        """Return why the broker refuses a pattern, or None if it takes it."""


def confirmed(campaign: Campaign, broker: Verdict) -> Campaign:
    """Return the campaign with the broker's word on every finding; those that it does not confirm count no more."""
    tally = campaign.tally
    for name, finding in tally.findings.items():
        if finding.accused == campaign.target:
            tally.findings[name] = replace(finding, broker=verdict_on(finding, broker))
    return campaign


def verdict_on(finding: Finding, broker: Verdict) -> str:
    """Return ``confirms``, or what the broker does instead.

    It is asked the set as it is when the key is asked: a broker has no history that would matter to its answer. Of a
    target that fails or takes too long, it confirms that there is a right answer.
    """
    case = finding.case
    if finding.kind is Kind.ACCEPTS:
        refused = broker.refusal(case.patterns[0])
        return CONFIRMS if refused is not None else "takes the pattern, too"
    live = [place for place in range(len(case.table)) if place not in case.gone]
    try:
        if not live:
            told: tuple[int, ...] = ()
        else:
            told = tuple(live[place] for place in broker.answer([case.table[place] for place in live], [case.key])[0])
    except Refused as refusal:
        return f"refuses it: {refusal.reason}"
    except TargetFailure as failure:
        return f"{failure.kind}: {failure.reason}"
    return CONFIRMS if told == finding.expected else f"answers {list(told)}"
