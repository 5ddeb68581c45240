"""What may be asked of a target, and what it may refuse: whether a target looks at validity at all.

A broker refuses what its dialect does not allow; a bare match function leaves that to others, and what it answers then
means nothing. A target is therefore asked a few invalid things before a campaign, and treated accordingly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dfa_router.fuzz.generating.language import Language, language_of
from dfa_router.fuzz.generating.rounds import invalid_key
from dfa_router.language.dialects import Dialect
from dfa_router.reference.naive import matches
from dfa_router.target import Refused, Target, TargetFailure

__all__ = ["Manners", "askable", "manners_of", "refusable", "refused_what", "skeleton"]


@dataclass(frozen=True, slots=True)
class Manners:
    """Whether a target looks at validity at all; a bare match function need not.

    A target that refuses nothing is not accused of taking what the dialect refuses, and is not asked keys that a
    broker would never hand it.
    """

    patterns: bool
    keys: bool
    trouble: str = ""
    """How the target failed when it was asked something invalid; it is then not asked such things again."""


def askable(key: str, dialect: Dialect) -> bool:
    """Tell whether a matcher that leaves validity to others can be asked a key: a valid one, but for empty words."""
    return invalid_key(key, dialect) is None or (
        bool(key) and not dialect.empty_words and invalid_key(key.replace(dialect.separator.decode(), "") or "a",
        dialect) is None and not set(key.split(dialect.separator.decode())) & set(language_of(dialect).wildcards)
    )  # fmt: skip


def refusable(key: str, dialect: Dialect) -> str | None:
    """Return why a target may refuse a key, in the same words for all keys of the sort, or None if it may not.

    A reserved first word is a broker's own business: MQTT 5.0 §4.7.2 asks servers to keep clients from using it.
    """
    problem = invalid_key(key, dialect)
    if problem is not None:
        return skeleton(problem)
    if dialect.reserved is not None and key.encode().startswith(dialect.reserved):
        return f"it begins with {key.split(dialect.separator.decode(), maxsplit=1)[0]!r}"
    return None


def manners_of(target: Target) -> Manners:
    """Ask the target what every broker of its dialect refuses, or answers alike."""
    dialect = target.dialect
    language = language_of(dialect)
    try:
        return _manners(target, language)
    except TargetFailure as failure:
        return Manners(patterns=False, keys=False, trouble=failure.reason)


def _manners(target: Target, language: Language) -> Manners:
    dialect = target.dialect
    patterns = any(_declines(target, [pattern], "a") for pattern in language.refused[:40])
    keys = [key for key in (*language.wildcards, "a\x00b") if key and not askable(key, dialect)]
    general = [word for word in (language.tail, language.one) if word is not None][:1]
    right = [tuple(i for i, p in enumerate(general) if matches(p.encode(), key.encode(), dialect)) for key in keys]
    return Manners(patterns, all(_declines(target, general, key, told) for key, told in zip(keys, right, strict=True)))


def _declines(target: Target, patterns: Sequence[str], key: str, right: tuple[int, ...] | None = None) -> bool:
    """Tell whether the target refuses, or answers right where that is defined."""
    try:
        return target.answer(patterns, [key]) == [right]
    except Refused:
        return True
    except TargetFailure as failure:
        if failure.kind != "raised":
            raise
        return True


def refused_what(refusal: Refused) -> str:
    """Return what a target minds: a pattern, a key, or it does not tell which."""
    return "pattern" if refusal.pattern is not None else "key" if refusal.key is not None else "case"


def skeleton(reason: str) -> str:
    """Return a reason without what it quotes and counts: the same for all patterns that one rule refuses."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|[0-9]+", "…", reason).partition(":")[0]
