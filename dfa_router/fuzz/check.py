"""The fuzz tester as one line of a test suite: :func:`assert_agrees`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Protocol, cast

from dfa_router.errors import OptionError
from dfa_router.fuzz.campaign import run
from dfa_router.fuzz.generating.rounds import Size
from dfa_router.fuzz.tally import Campaign
from dfa_router.fuzz.text.report import finding_text, summary_text
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Answers, Refused, Target, TargetFailure

__all__ = ["CallableTarget", "DisagreementError", "MatchFunction", "assert_agrees"]


class MatchFunction(Protocol):
    """A function that tells which of some patterns match a key."""

    def __call__(self, patterns: list[str], key: str, /) -> Iterable[int]:
        """Return the positions of the patterns that match, in any order."""


class DisagreementError(AssertionError):
    """A matcher and the specification disagree; the text is the report, and ``campaign`` the whole result."""

    def __init__(self, text: str, campaign: Campaign) -> None:
        super().__init__(text)
        self.campaign = campaign


def assert_agrees(
    matcher: MatchFunction | Target,
    dialect: str | Dialect = "amqp",
    *,
    cases: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    size: str | None = None,
    validity: bool | None = None,
) -> Campaign:
    """Fail with the minimal case if a matcher disagrees with the specification; else return the campaign.

    Args:
        matcher: a callable ``f(patterns, key)`` that returns the positions of the patterns that match, or a
            :class:`~dfa_router.fuzz.Target`. If it raises ``ValueError``, that is a refusal, and wrong if the dialect
            allows what was asked; any other exception fails the check.
        dialect: a dialect, or the name of one.
        cases: how many (pattern, key) pairs to ask; 50,000 if neither this nor ``seconds`` is given.
        seconds: how long to ask.
        seed: the same seed asks the same cases.
        size: ``PATTERNSxKEYS`` of a round, such as ``100x500``; small rounds are mixed with larger ones if left out.
        validity: whether the matcher must refuse what the dialect refuses; None means that it must if it refuses
            anything.

    Raises :class:`DisagreementError`, an ``AssertionError``.

    >>> def equal_texts(patterns, key):
    ...     return [position for position, pattern in enumerate(patterns) if pattern == key]
    >>> assert_agrees(equal_texts, "exact").agrees
    True
    >>> assert_agrees(equal_texts, "amqp")
    Traceback (most recent call last):
    ...
    dfa_router.fuzz.check.DisagreementError: equal_texts misses a match (amqp, seed 0, ...
    """
    language = dialect_named(dialect)
    if cases is None and seconds is None:
        cases = 50_000
    target = cast("Target", matcher) if hasattr(matcher, "answer") else CallableTarget(_function(matcher), language)
    campaign = run(
        target,
        language,
        seconds=seconds,
        cases=cases,
        seed=seed,
        size=None if size is None else Size.parse(size),
        validity=validity,
    )
    if campaign.interrupted:
        raise KeyboardInterrupt
    if not campaign.agrees:
        texts = [finding_text(finding) for finding in campaign.findings]
        raise DisagreementError("\n\n".join([*texts, summary_text(campaign)]), campaign)
    return campaign


def _function(matcher: object) -> Callable[[list[str], str], Iterable[int]]:
    if not callable(matcher):
        raise OptionError(f"the matcher is {matcher!r}: expected a callable f(patterns, key), or a Target")
    return matcher


class CallableTarget:
    """A callable in this process as a target; nothing stops one that loops forever."""

    def __init__(self, function: Callable[[list[str], str], Iterable[int]], dialect: Dialect) -> None:
        self._function, self.dialect = function, dialect
        self.name = getattr(function, "__qualname__", None) or type(function).__qualname__

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; ``ValueError`` becomes :class:`Refused`, other errors :class:`TargetFailure`."""
        answers: Answers = []
        for number, key in enumerate(keys):
            try:
                answers.append(tuple(sorted(set(self._function(list(patterns), key)))))
            except ValueError as error:
                raise Refused(f"{type(error).__name__}: {error}") from error
            except Exception as error:
                raise TargetFailure(
                    "raised", f"{type(error).__name__}: {error}", patterns, keys[: number + 1]
                ) from error
            if not all(isinstance(position, Integral) and 0 <= position < len(patterns) for position in answers[-1]):
                reason = f"it answered {answers[-1]!r}: expected positions from 0 to {len(patterns) - 1}"
                raise TargetFailure("nonsense", reason, patterns, keys[: number + 1])
        return answers

    def close(self) -> None:
        """Do nothing: there is nothing outside of this process."""
