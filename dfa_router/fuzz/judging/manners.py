"""Which invalid patterns and keys a target may be asked, and which keys it may refuse: its manners.

A broker refuses what its dialect does not allow. A bare match function leaves that to others, and what it answers to
something invalid means nothing. So before a campaign a target is asked a few invalid patterns and keys, and the campaign
asks it others only if it refused these.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dfa_router.errors import OptionError
from dfa_router.fuzz.generating.language import Language, language_of
from dfa_router.fuzz.scope import Scope, ScopeError
from dfa_router.fuzz.validity import invalid_key
from dfa_router.reference.naive import matches
from dfa_router.target import Refused, Target, TargetFailure

__all__ = ["Manners", "askable", "manners_of", "refusable", "refused_what", "skeleton"]


@dataclass(frozen=True, slots=True)
class Manners:
    """Whether a target checks that patterns and keys are valid.

    A target that does not is never accused of taking an invalid pattern, and is not asked keys that a broker would never
    hand it.
    """

    patterns: bool
    keys: bool
    trouble: str = ""
    """How the target failed when it was asked something invalid; it is then not asked such things again."""
    scope: Scope = field(default_factory=Scope, compare=False)
    """What it may be asked at all."""
    changing: bool = field(default=False, compare=False)
    """Whether its sets can change."""


def askable(key: str, language: Language) -> bool:
    """Tell whether a target that does not check keys may be asked this one.

    It may be asked valid keys, and also keys whose only fault is an empty word, as long as no word is a wildcard.
    """
    if invalid_key(key, language.dialect) is None:
        return True
    if not key or language.dialect.empty_words:
        return False
    without_empty_words = key.replace(language.separator, "") or "a"
    return invalid_key(without_empty_words, language.dialect) is None and not (
        set(key.split(language.separator)) & set(language.wildcards)
    )


def refusable(key: str, language: Language) -> str | None:
    """Return why a target may refuse a key, in the same words for all keys of that sort, or None if it may not.

    Keys that begin with a reserved word may be refused: MQTT 5.0 §4.7.2 asks servers to keep clients from using them.
    """
    problem = invalid_key(key, language.dialect)
    if problem is not None:
        return skeleton(problem)
    reserved = language.dialect.reserved
    if reserved is not None and key.encode().startswith(reserved):
        return f"it begins with {key.split(language.separator, maxsplit=1)[0]!r}"
    return None


def manners_of(target: Target, scope: Scope | None = None, *, insists: bool | None = None) -> Manners:
    """Find out a target's manners by asking it what every broker of its dialect refuses, or answers in one way only.

    ``scope`` is what it may be asked, apart from what the target itself states. ``insists`` says that it must refuse what
    the dialect refuses, or need not; None finds out.

    Raises :class:`OptionError` where what the target states of its scope cannot be read.
    """
    language = language_of(target.dialect)
    scope = Scope() if scope is None else scope
    patterns = keys = bool(insists)
    trouble, stated = "", False
    try:
        # First, so that nothing outside of it is asked to find out the rest.
        scope = scope.within(_stated(target, language))
        stated = True
        if insists is None:
            patterns, keys = _checks(target, language, scope)
        if language.dialect.shared is not None and scope.shared is None:
            scope = scope.within(Scope(shared=_knows_shared(target, language, scope)))
    except TargetFailure as failure:
        patterns = keys = bool(insists)
        trouble = failure.reason if stated else ""  # at a plain set it fails in the first round as well, which tells it
        scope = scope.within(Scope(shared=False if language.dialect.shared is not None else None))
    changing = scope.changes and getattr(target, "changing", False)
    return Manners(patterns=patterns, keys=keys, trouble=trouble, scope=scope, changing=changing)


def _stated(target: Target, language: Language) -> Scope:
    """Return what the target states of its scope: a program says it when it is given its first set."""
    try:
        target.answer((), ())
    except Refused:
        _given(target, language.plain[:1])
    except TargetFailure as failure:
        if failure.kind not in ("raised", "died"):
            raise
        _given(target, language.plain[:1])
    try:
        return Scope.stated(getattr(target, "scope", None) or {})
    except ScopeError as error:
        raise OptionError(f"the target {target.name} cannot be asked: {error}") from None


def _given(target: Target, patterns: Sequence[str]) -> None:
    """Give a target a set that every scope has, as it did not take the empty one; a round shows whether that is held against it."""
    with contextlib.suppress(Refused):
        target.answer(patterns, ())


def _knows_shared(target: Target, language: Language, scope: Scope) -> bool | None:
    """Tell whether the target takes a shared subscription for the filter that it means; None where none may be asked."""
    shared = language.separator.join(((language.dialect.shared or b"").decode(), "g", "a"))
    if not scope.takes_pattern(shared, language):
        return None
    try:
        return target.answer([shared], ["a"]) == [(0,)]
    except Refused:
        return False
    except TargetFailure as failure:
        if failure.kind != "raised":
            raise
        return False


def _checks(target: Target, language: Language, scope: Scope) -> tuple[bool, bool]:
    """Tell whether the target is seen to check patterns, and keys, by what its scope lets us ask."""
    dialect = target.dialect
    refused = [pattern for pattern in language.refused[:40] if scope.takes_pattern(pattern, language)]
    patterns = any(_refuses(target, [pattern], "a") for pattern in refused)
    invalid = [key for key in (*language.wildcards, "a\x00b", "") if not askable(key, language)]
    keys = [key for key in invalid if scope.takes(key, language)]
    general = [word for word in (language.tail, language.one) if word is not None][:1]
    right = [tuple(i for i, p in enumerate(general) if matches(p.encode(), key.encode(), dialect)) for key in keys]
    checked = all(_refuses(target, general, key, told) for key, told in zip(keys, right, strict=True))
    return patterns, checked and (bool(keys) or not invalid)


def _refuses(target: Target, patterns: Sequence[str], key: str, right: tuple[int, ...] | None = None) -> bool:
    """Tell whether the target refuses, or gives the answer ``right`` where there is one; an error of it is neither."""
    try:
        return target.answer(patterns, [key]) == [right]
    except Refused:
        return True
    except TargetFailure as failure:
        if failure.kind != "raised":
            raise
        return False


def refused_what(refusal: Refused) -> str:
    """Return what a target refused: ``pattern``, ``key``, or ``case`` where it does not tell which of them."""
    return "pattern" if refusal.pattern is not None else "key" if refusal.key is not None else "case"


def skeleton(reason: str) -> str:
    """Return a reason without what it quotes and counts, so that it is the same for all texts that one rule refuses.

    >>> skeleton("it has 300 bytes: AMQP carries keys of up to 255")
    'it has … bytes'
    """
    return re.sub(r"'[^']*'|\"[^\"]*\"|[0-9]+", "…", reason).partition(":")[0]
