"""Which invalid patterns and keys a target may be asked, and which keys it may refuse: its manners.

A broker refuses what its dialect does not allow. A bare match function leaves that to others, and what it answers to
something invalid means nothing. So before a campaign a target is asked a few invalid patterns and keys, and the campaign
asks it others only if it refused these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dfa_router.fuzz.generating.language import Language, language_of
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


def manners_of(target: Target) -> Manners:
    """Find out a target's manners by asking it what every broker of its dialect refuses, or answers in one way only."""
    language = language_of(target.dialect)
    try:
        return _manners(target, language)
    except TargetFailure as failure:
        return Manners(patterns=False, keys=False, trouble=failure.reason)


def _manners(target: Target, language: Language) -> Manners:
    dialect = target.dialect
    patterns = any(_declines(target, [pattern], "a") for pattern in language.refused[:40])
    keys = [key for key in (*language.wildcards, "a\x00b") if key and not askable(key, language)]
    general = [word for word in (language.tail, language.one) if word is not None][:1]
    right = [tuple(i for i, p in enumerate(general) if matches(p.encode(), key.encode(), dialect)) for key in keys]
    return Manners(patterns, all(_declines(target, general, key, told) for key, told in zip(keys, right, strict=True)))


def _declines(target: Target, patterns: Sequence[str], key: str, right: tuple[int, ...] | None = None) -> bool:
    """Tell whether the target refuses, raises an error, or gives the answer ``right`` where there is one."""
    try:
        return target.answer(patterns, [key]) == [right]
    except Refused:
        return True
    except TargetFailure as failure:
        if failure.kind != "raised":
            raise
        return True


def refused_what(refusal: Refused) -> str:
    """Return what a target refused: ``pattern``, ``key``, or ``case`` where it does not tell which of them."""
    return "pattern" if refusal.pattern is not None else "key" if refusal.key is not None else "case"


def skeleton(reason: str) -> str:
    """Return a reason without what it quotes and counts, so that it is the same for all texts that one rule refuses.

    >>> skeleton("it has 300 bytes: AMQP carries keys of up to 255")
    'it has … bytes'
    """
    return re.sub(r"'[^']*'|\"[^\"]*\"|[0-9]+", "…", reason).partition(":")[0]
