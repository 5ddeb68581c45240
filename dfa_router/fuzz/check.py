"""The fuzz tester as one line of a test suite: :func:`assert_agrees`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from traceback import TracebackException
from typing import Any, Protocol, cast

from dfa_router.errors import OptionError
from dfa_router.fuzz.campaign import run
from dfa_router.fuzz.generating.rounds import Size
from dfa_router.fuzz.scope import Scope
from dfa_router.fuzz.tally import Campaign
from dfa_router.fuzz.text.report import finding_text, summary_text
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Answers, Bind, Refused, Step, Target, TargetFailure, Unbind, expected_positions

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
    matcher: MatchFunction | type | Target,
    dialect: str | Dialect | None = None,
    *,
    cases: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    size: str | None = None,
    validity: bool | None = None,
    scope: Scope | None = None,
) -> Campaign:
    """Fail with the minimal case if a matcher disagrees with the specification; else return the campaign.

    Args:
        matcher: a callable ``f(patterns, key)`` that returns the positions of the patterns that match; a class whose
            instances hold a set, with ``match(key)``, and ``bind(pattern)`` and ``unbind(position)`` if the set can
            change; or a :class:`~dfa_router.fuzz.Target`. If it raises ``ValueError``, that is a refusal, and wrong if the dialect
            allows what was asked; any other exception fails the check.
        dialect: a dialect, or the name of one; if it is left out, the target's own, and for a callable or class ``amqp``.
        cases: how many (pattern, key) pairs to ask; 50,000 if neither this nor ``seconds`` is given.
        seconds: how long to ask.
        seed: the same seed asks the same cases.
        size: ``PATTERNSxKEYS`` of a round, such as ``100x500``; small rounds are mixed with larger ones if left out.
        validity: whether the matcher must refuse what the dialect refuses; None means that it must if it refuses
            anything.
        scope: what the matcher may be asked: leave out what it does not promise, such as shared subscriptions.

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
    __tracebackhide__ = True  # pytest shows the finding, and not the source of this function
    if cases is None and seconds is None:
        cases = 50_000
    if hasattr(matcher, "answer"):
        target = cast("Target", matcher)
    else:
        target = CallableTarget(_function(matcher), dialect_named("amqp" if dialect is None else dialect))
    campaign = run(
        target,
        dialect,
        seconds=seconds,
        cases=cases,
        seed=seed,
        size=None if size is None else Size.parse(size),
        validity=validity,
        scope=scope,
    )
    if campaign.interrupted:
        raise KeyboardInterrupt
    if not campaign.agrees:
        texts = [finding_text(finding) for finding in campaign.findings]
        raise DisagreementError("\n\n".join([*texts, summary_text(campaign)]), campaign) from None
    return campaign


def _function(matcher: object) -> Callable[..., Any]:
    if not callable(matcher):
        raise OptionError(f"the matcher is {matcher!r}: expected a callable f(patterns, key), or a Target")
    return matcher


class CallableTarget:
    """A callable, or a class whose instances hold a set, in this process; nothing stops one that loops forever."""

    def __init__(self, function: Callable[..., Any], dialect: Dialect) -> None:
        self._function, self.dialect = function, dialect
        self.name = getattr(function, "__qualname__", None) or type(function).__qualname__
        self._holds = isinstance(function, type) and hasattr(function, "match")
        self.changing = self._holds and all(hasattr(function, name) for name in ("bind", "unbind"))
        self.scope: Any = getattr(function, "scope", None)

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; ``ValueError`` becomes :class:`Refused`, other errors :class:`TargetFailure`."""
        return self.replay(patterns, keys)

    def replay(self, patterns: Sequence[str], steps: Sequence[Step]) -> Answers:
        """Return who matches each key among the steps, as :meth:`answer` does."""
        answers: Answers = []
        asked: list[str] = []
        try:
            matcher: Any = self._function(list(patterns)) if self._holds else None
            count = len(patterns)
            for step in steps:
                if isinstance(step, Bind):
                    matcher.bind(step.pattern)
                    count += 1
                elif isinstance(step, Unbind):
                    matcher.unbind(step.position)
                else:
                    asked.append(step)
                    told = matcher.match(step) if self._holds else self._function(list(patterns), step)
                    answers.append(self._positions(told, count, patterns, asked))
        except ValueError as error:
            raise Refused(f"{type(error).__name__}: {error}", limit=bool(getattr(error, "limit", False))) from error
        except TargetFailure:
            raise
        except Exception as error:
            frames = TracebackException.from_exception(error)
            frames.stack[:] = [frame for frame in frames.stack if frame.filename != __file__]
            raise TargetFailure("raised", "".join(frames.format()).rstrip(), patterns, asked) from error
        return answers

    def _positions(self, told: Any, count: int, patterns: Sequence[str], asked: Sequence[str]) -> tuple[int, ...]:
        # Going through a text or a dictionary would take what it is made of for positions.
        rows = not isinstance(told, str | bytes | dict) and hasattr(told, "__iter__")
        positions = tuple(told) if rows else told
        # A mask is no list of positions, though bools pass for numbers.
        if not rows or not all(
            isinstance(position, Integral) and not isinstance(position, bool) and 0 <= int(position) < count
            for position in positions
        ):
            reason = f"it answered {positions!r}: {expected_positions(count)}"
            raise TargetFailure("nonsense", reason, patterns, asked)
        return tuple(sorted({int(position) for position in positions}))

    def close(self) -> None:
        """Do nothing: there is nothing outside of this process."""
