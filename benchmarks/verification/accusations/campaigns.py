"""Campaigns against right matchers: all dialects and ways in turn, each time with the next seed, until the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from dfa_router.fuzz import Scope
from dfa_router.fuzz import run as run_campaign
from dfa_router.fuzz.generating.classes import HISTORIES
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.specs import TIMEOUT
from dfa_router.fuzz.text.report import finding_text, summary_text
from dfa_router.language.dialects import DIALECTS, Dialect

__all__ = ["WAYS", "Accusation", "Asked", "Result", "Way", "run"]

_ROOT = Path(__file__).parents[3]
_START = 120.0
"""Seconds in which a matcher has to be imported: a busy machine has taken more than ten. For answers it has the usual time."""
_MATCHERS = "benchmarks.verification.accusations.matchers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A matcher, and what it is asked apart from keys."""

    name: str
    target: str
    scope: Scope = field(default_factory=Scope)
    rounds: int
    """Of a campaign: some seconds, so that a minute has all dialects and ways."""


WAYS = (
    Way(name="a function that checks nothing", target=f"{_MATCHERS}:lenient", rounds=150),
    Way(name="a function that refuses", target=f"{_MATCHERS}:strict", rounds=60),
    Way(name="a class whose set changes", target=f"{_MATCHERS}:Changing", rounds=60),
    Way(name="several threads", target=f"{_MATCHERS}:Changing", scope=Scope(threads=3), rounds=40),
    Way(name="the automaton, with its growth", target="dfa", scope=Scope(growth=True), rounds=80),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accusation:
    """What a right matcher was accused of, and the campaign that did it."""

    dialect: str
    way: str
    seed: int
    text: str


@dataclass(slots=True)
class Asked:
    """What was asked in one dialect and way."""

    campaigns: int = 0
    rounds: int = 0
    cases: int = 0
    histories: int = 0


@dataclass(slots=True, kw_only=True)
class Result:
    """What came of all campaigns."""

    first_seed: int
    next_seed: int
    seconds: float = 0.0
    asked: dict[tuple[str, str], Asked] = field(default_factory=dict)
    """By dialect and way."""
    accusations: list[Accusation] = field(default_factory=list)

    @property
    def total(self) -> Asked:
        """The sums over all dialects and ways."""
        every = self.asked.values()
        names = ("campaigns", "rounds", "cases", "histories")
        return Asked(*(sum(getattr(one, name) for one in every) for name in names))


def run(
    *,
    minutes: float | None = None,
    seeds: int | None = None,
    seed: int = 0,
    dialects: Sequence[Dialect] = tuple(DIALECTS.values()),
    ways: Sequence[Way] = WAYS,
    progress: Callable[[Result], None] | None = None,
) -> Result:
    """Ask right matchers for so many minutes, or with so many seeds.

    Every seed is asked in each dialect and way. An accusation does not end it, and so does Ctrl-C: what there is until then is
    returned.
    """
    result, began = Result(first_seed=seed, next_seed=seed), time.monotonic()
    try:
        with chdir(_ROOT):  # where the matchers are imported from
            for number, dialect, way in _turns(seed, seeds, dialects, ways):
                if minutes is not None and result.seconds >= 60 * minutes:
                    break
                _ask(result, number, dialect, way)
                result.seconds = time.monotonic() - began
                if progress is not None:
                    progress(result)
    except KeyboardInterrupt:
        result.seconds = time.monotonic() - began
    return result


def _turns(
    first: int, seeds: int | None, dialects: Sequence[Dialect], ways: Sequence[Way]
) -> Iterator[tuple[int, Dialect, Way]]:
    for seed in count(first) if seeds is None else range(first, first + seeds):
        for dialect in dialects:
            for way in ways:
                yield seed, dialect, way


def _ask(result: Result, seed: int, dialect: Dialect, way: Way) -> None:
    target = open_target(way.target, dialect, timeout=_START)
    if hasattr(target, "timeout"):
        target.timeout = TIMEOUT
    try:
        campaign = run_campaign(target, dialect, rounds=way.rounds, seed=seed, scope=way.scope, keep_going=True)
    finally:
        target.close()
    if campaign.interrupted:
        raise KeyboardInterrupt
    asked, tally = result.asked.setdefault((dialect.name, way.name), Asked()), campaign.tally
    asked.campaigns += 1
    asked.rounds += tally.rounds
    asked.cases += tally.cases
    asked.histories += tally.classes[HISTORIES]
    result.next_seed = seed + 1
    if not campaign.agrees:
        texts = [finding_text(finding) for finding in campaign.findings] + [summary_text(campaign)]
        accusation = Accusation(dialect=dialect.name, way=way.name, seed=seed, text="\n\n".join(texts))
        result.accusations.append(accusation)
