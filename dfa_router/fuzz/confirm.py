"""A live broker as the last judge: nobody is accused of what the broker does as well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from dfa_router.errors import RouterError
from dfa_router.fuzz.findings import CONFIRMS, UNASKED, Finding, Kind
from dfa_router.fuzz.tally import Campaign
from dfa_router.target import Refused, Target

__all__ = ["Verdict", "confirmed", "unconfirmed", "verdict_on"]


class Verdict(Target, Protocol):
    """A broker that can also say whether it takes a pattern."""

    def refusal(self, pattern: str) -> str | None:
        """Return why the broker refuses a pattern, or None if it takes it."""


def confirmed(campaign: Campaign, broker: Verdict) -> Campaign:
    """Return the campaign with the broker's word on every finding; those that it answers otherwise count no more."""
    return _with_word(campaign, lambda finding: verdict_on(finding, broker))


def unconfirmed(campaign: Campaign, error: RouterError) -> Campaign:
    """Return the campaign with the reason why no broker could be asked about its findings, which count as before."""
    return _with_word(campaign, lambda _: f"{UNASKED}: {error}")


def _with_word(campaign: Campaign, word: Callable[[Finding], str]) -> Campaign:
    tally = campaign.tally
    for name, finding in tally.findings.items():
        if finding.accused == campaign.target:
            tally.findings[name] = replace(finding, broker=word(finding))
    return campaign


def verdict_on(finding: Finding, broker: Verdict) -> str:
    """Return ``confirms``, what the broker does instead, or why it cannot be asked: one that fails acquits nobody.

    It is asked the set as it is when the key is asked: a broker has no history that would matter to its answer. Of a
    target that fails or takes too long, it confirms that there is a right answer.
    """
    case = finding.case
    live = [place for place in range(len(case.table)) if place not in case.gone]
    try:
        if finding.kind is Kind.ACCEPTS:
            return "takes the pattern, too" if broker.refusal(case.patterns[0]) is None else CONFIRMS
        if not live:
            told: tuple[int, ...] = ()
        else:
            told = tuple(live[place] for place in broker.answer([case.table[place] for place in live], [case.key])[0])
    except Refused as refusal:
        return f"refuses it: {refusal.reason}"
    except RouterError as failure:
        return f"{UNASKED}: {failure}"
    return CONFIRMS if told == finding.expected else f"answers {list(told)}"
