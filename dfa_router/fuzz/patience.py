"""How long a target is waited for: less than the timeout that it was given, where a campaign has little time.

A campaign of 8 s cannot wait 10 s to learn that an answer never comes. So a target that has answered before has a quarter of the
campaign's time for an answer, or three times as long as it was seen to take. What is asked when the time is over has a second
more; a target that says nothing then, and never took nearly as long, did not answer, which the campaign's result says.

A second is enough to tell that of a target whose answers take a third of it. A slower one is given its last set earlier, so that
three times its longest silence is left for each of the answers: what begins to hang in the last second is told, and nobody is
accused of being slow. That takes a quarter of the campaign's time at most; for a target that is slower still, nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

from dfa_router.errors import OptionError
from dfa_router.target import Target

__all__ = [
    "AT_LEAST",
    "GRACE",
    "TIMES",
    "after_a_hang",
    "briefly",
    "check_seconds",
    "last_begin",
    "overdue_after",
    "within",
]

AT_LEAST = 1.0
"""Seconds of silence below which nobody is said not to answer: on a busy machine an answer can be late."""
TIMES = 3.0
"""How many times as long as a target ever took it may take at any time."""
GRACE = AT_LEAST + 0.05
"""Seconds after the end of a campaign's time in which an answer that is due may still come: a hang is then one for certain."""
_PART = 0.25
"""The part of a campaign's time that an answer may take: a hang is then found, and there is time to shrink it."""


def check_seconds(name: str, seconds: Any, expected: str) -> None:
    """Raise :class:`OptionError`, which says what was ``expected``, for what is no number above 0.

    >>> check_seconds("the timeout", "2", "a number of seconds above 0")
    Traceback (most recent call last):
        ...
    dfa_router.errors.OptionError: the timeout is '2': expected a number of seconds above 0
    """
    number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not number or not seconds > 0:
        raise OptionError(f"{name} is {seconds!r}: expected {expected}")


def within(target: Target, seconds: float) -> None:
    """Bound a target's time for an answer by the seconds that a campaign has."""
    _bound(target, max(AT_LEAST, _PART * seconds))


def overdue_after(usual: float) -> float:
    """Return after how many seconds an answer is overdue of a target that usually takes ``usual`` seconds, at most.

    >>> overdue_after(0.01), overdue_after(2.0)
    (1.0, 6.0)
    """
    return max(AT_LEAST, TIMES * usual)


def last_begin(target: Target, now: float, ends: float) -> float:
    """Return when a target is given its last set, of a campaign that runs from ``now`` until it ``ends``.

    Times are of the monotonic clock. It is the end itself for a target whose answers take less than a third of a second, or
    that says nothing of its time (``leeway``).
    """
    leeway = getattr(target, "leeway", 0.0)
    return min(ends, max(ends - _PART * (ends - now), ends + GRACE - leeway)) if leeway else ends


def after_a_hang(target: Target) -> None:
    """Bound a target's time for an answer, now that it has hung."""
    _bound(target, AT_LEAST)


@contextmanager
def briefly(target: Target) -> Iterator[None]:
    """Bound a target's time while a case is shrunk at which it hangs, so that many can be tried."""
    before = getattr(target, "timeout", None)
    _bound(target, AT_LEAST / 2)
    try:
        yield
    finally:
        if before is not None:
            target.timeout = before  # type: ignore[attr-defined]


def _bound(target: Target, seconds: float) -> None:
    if hasattr(target, "timeout"):
        target.timeout = min(target.timeout, seconds)
