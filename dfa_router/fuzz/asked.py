"""What a campaign may be asked with, apart from its target: bounds, rounds of a corpus, a scope, and who is told of progress."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

from dfa_router.errors import OptionError
from dfa_router.fuzz.generating.rounds import check_size
from dfa_router.fuzz.patience import check_seconds
from dfa_router.fuzz.scope import Scope
from dfa_router.target import Round
from dfa_router.whole_numbers import whole_number

__all__ = ["check_campaign", "check_limit", "check_number", "rounds_of"]


def check_number(name: str, value: Any, least: int) -> int:
    """Return a whole number from ``least`` up, which is 0 or 1, as Python's; raises :class:`OptionError`."""
    return whole_number(name, value, least, "a whole number above 0" if least else "a whole number from 0 up")


def check_limit(name: str, value: Any) -> int | None:
    """Return how many rounds or cases a campaign may ask, None for as many as there is time for; raises :class:`OptionError`."""
    return None if value is None else check_number(name, value, 1)


def rounds_of(corpus: Iterable[tuple[str, Round]]) -> tuple[tuple[str, Round], ...]:
    """Return the rounds of a corpus, each with where it comes from; raises :class:`OptionError` for what is none.

    >>> rounds_of("folder")
    Traceback (most recent call last):
        ...
    dfa_router.errors.OptionError: corpus is 'folder': expected rounds, each with where it comes from: [('here', Round(...))]
    """
    listed = None if isinstance(corpus, str) or not isinstance(corpus, Iterable) else tuple(corpus)
    if listed is None or not all(map(_is_replay, listed)):
        raise OptionError(
            f"corpus is {corpus!r}: expected rounds, each with where it comes from: [('here', Round(...))]"
        )
    return listed


def _is_replay(one: Any) -> bool:
    return isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], Round)


def check_campaign(
    *,
    seconds: Any = None,
    since: Any = None,
    size: Any = None,
    validity: Any = None,
    scope: Any = None,
    progress: Any = None,
) -> None:
    """Raise :class:`OptionError`, which says what was expected, for what a campaign cannot use; each may be left out.

    >>> check_campaign(progress=5)
    Traceback (most recent call last):
        ...
    dfa_router.errors.OptionError: progress is 5: expected a callable f(tally, seconds)
    """
    if seconds is not None:
        check_seconds("seconds", seconds, "a number above 0")
    time = isinstance(since, Real) and not isinstance(since, bool)
    if since is not None and not (time and math.isfinite(since)):
        raise OptionError(f"since is {since!r}: expected a time of the monotonic clock, as time.monotonic() tells it")
    check_size(size)
    if validity is not None and not isinstance(validity, bool):
        raise OptionError(f"validity is {validity!r}: expected True, False or None")
    if scope is not None and not isinstance(scope, Scope):
        raise OptionError(f"scope is {scope!r}: expected a Scope, such as Scope(shared=False)")
    if progress is not None and not callable(progress):
        raise OptionError(f"progress is {progress!r}: expected a callable f(tally, seconds)")
