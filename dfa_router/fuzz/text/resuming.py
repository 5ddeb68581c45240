"""A run that ended, to go on from: what ``--json`` wrote of it, read again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from dfa_router.errors import OptionError
from dfa_router.fuzz.findings import Case, Finding, Kind
from dfa_router.fuzz.tally import Campaign, Tally
from dfa_router.fuzz.text.whereabouts import places_of
from dfa_router.language.dialects import Dialect
from dfa_router.target import Bind, Chapter, Step, Unbind

__all__ = ["Begun", "begun"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run that ended: whom it asked, where it goes on, and what came of it."""

    target: str
    seed: int
    next_round: int
    seconds: float
    tally: Tally

    def check(self, target: str) -> None:
        """Raise :class:`OptionError` where it asked another target, which its findings would accuse."""
        if target != self.target:
            raise OptionError(f"the result to go on from is of the target {self.target}, not {target}: begin a new run")

    def continued(self, campaign: Campaign) -> Campaign:
        """Return both runs as one."""
        campaign.tally.merge(self.tally)
        return replace(campaign, seconds=self.seconds + campaign.seconds)


def begun(told: dict[str, Any], dialect: Dialect) -> Begun:
    """Read a former result; raises :class:`OptionError` where it is of another dialect, or not whole."""
    if told.get("dialect") != dialect.name:
        raise OptionError(f"the result to go on from is of the dialect {told.get('dialect')!r}, not {dialect.name!r}")
    try:
        tally = Tally(
            rounds=told["rounds"],
            cases=told["cases"],
            keys=told["keys"],
            replayed=told["replayed"],
            left_out=told.get("rounds_left_out", 0),  # older versions did not count these two
            limited=told.get("limited_keys", 0),
            disagreements=told["disagreements"],
            classes=Counter({name: count for name, count in told["classes"].items() if count}),
            declined=set(told["declined_keys"]),
            aside=set(told["set_aside"]),
        )
        for one in told["findings"]:
            tally.add(_finding(one, dialect))
        return Begun(
            target=str(told["target"]),
            seed=int(told["seed"]),
            next_round=int(told["next_round"]),
            seconds=float(told["seconds"]),
            tally=tally,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise OptionError(
            f"cannot go on from this result: {reason}: expected all that dfa-router fuzz --json wrote"
        ) from None


def _finding(told: dict[str, Any], dialect: Dialect) -> Finding:
    def positions(value: Any) -> tuple[int, ...] | None:
        return None if value is None else tuple(value)

    def steps(values: list[Any]) -> tuple[Step, ...]:
        return tuple(map(_step, values))

    case = Case(
        patterns=tuple(told["patterns"]),
        key=told["key"],
        before=steps(told["before"]),
        earlier=tuple(Chapter(tuple(one["patterns"]), steps(one["steps"])) for one in told["earlier"]),
        together=tuple(told["together"]),
    )
    suspects, decided = places_of(told)
    return Finding(
        accused=told["accused"],
        kind=Kind(told["kind"]),
        case=case,
        dialect=dialect,
        expected=positions(told["expected"]),
        answered=positions(told["answered"]),
        detail=told["detail"],
        flaky=told["flaky"],
        fresh=told["fresh"],
        complete=told["complete"],
        broker=told["broker"],
        verdicts=tuple(told["engines"].items()),
        suspects=suspects,
        decided=decided,
        seed=told["seed"],
        number=told["round"],
        place=told["place"],
        shape=told["shape"],
    )


def _step(value: Any) -> Step:
    if isinstance(value, str):
        return value
    return Bind(value["bind"]) if "bind" in value else Unbind(value["unbind"])
