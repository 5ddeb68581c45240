"""What a target may be asked: a value that its author states, by options or in the protocol, and never an accusation.

A matcher is wrong where it breaks what it promises. What it does not promise (shared subscriptions, empty words, keys of a
thousand words) is left out of what it is asked, and of what a case is shrunk to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dfa_router.fuzz.aside import Aside
from dfa_router.fuzz.generating.classes import HISTORIES
from dfa_router.fuzz.generating.language import Language
from dfa_router.target import Bind, Chapter, Round, Step, Unbind

__all__ = ["Scope", "ScopeError"]


class ScopeError(ValueError):
    """What a target says of its scope cannot be read; the text names the member and what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a target may be asked. The default is all that its dialect allows."""

    shared: bool | None = None
    """Whether shared subscriptions (``$share/group/...``) are asked; None asks those that are seen to know them."""
    empty_words: bool = True
    """Whether patterns and keys may have empty words, and be empty."""
    plain_words: bool = False
    """Whether words are of letters, digits and ``_`` only."""
    max_words: int | None = None
    """The most words of a pattern or key."""
    max_wildcards: int | None = None
    """The most wildcards for several words in a pattern."""
    max_bindings: int | None = None
    """The most patterns of a set."""
    changes: bool = True
    """Whether sets change (``bind`` and ``unbind``), for targets that offer it."""
    growth: bool = False
    """Whether a target is accused of time that grows exponentially with a pattern, which few matchers promise not to."""
    threads: int = 1
    """How many threads ask a Python target at once."""
    aside: tuple[Aside, ...] = ()
    """What is not asked again, as the target hung at it; a campaign adds this, and nobody states it."""

    @classmethod
    def stated(cls, told: Mapping[str, Any]) -> Scope:
        """Read what a target says of itself; members that are unknown are ignored. Raises :class:`ScopeError`.

        >>> Scope.stated({"shared": False, "max_words": 100}).max_words
        100
        """
        known: dict[str, Any] = {}
        for one in fields(cls):
            if one.name not in told or one.name == "aside":
                continue
            value = told[one.name]
            number = one.name.startswith("max_") or one.name == "threads"
            if (type(value) is not int or value < 1) if number else type(value) is not bool:
                expected = "a number above 0" if number else "true or false"
                raise ScopeError(f"its scope has {one.name} {value!r}: expected {expected}")
            known[one.name] = value
        return cls(**known)

    def within(self, other: Scope) -> Scope:
        """Return what both allow; where one of them says nothing, the other decides."""

        def least(one: int | None, two: int | None) -> int | None:
            return min((number for number in (one, two) if number is not None), default=None)

        return Scope(
            shared=other.shared if self.shared is None else self.shared,
            empty_words=self.empty_words and other.empty_words,
            plain_words=self.plain_words or other.plain_words,
            max_words=least(self.max_words, other.max_words),
            max_wildcards=least(self.max_wildcards, other.max_wildcards),
            max_bindings=least(self.max_bindings, other.max_bindings),
            changes=self.changes and other.changes,
            growth=self.growth or other.growth,
            threads=max(self.threads, other.threads),
            aside=(*self.aside, *other.aside),
        )

    def ordinary(self) -> Scope:
        """Return the part of it that is asked every day: letters and digits, no empty words."""
        return replace(self, empty_words=False, plain_words=True)

    def takes(self, text: str, language: Language) -> bool:
        """Tell whether a key may be asked."""
        return self._takes(text, language) and not self._is_aside("keys", text, language)

    def _is_aside(self, of: str, text: str, language: Language) -> bool:
        return any(one.of == of and one.has(text, language) for one in self.aside)

    def _takes(self, text: str, language: Language) -> bool:
        if not self.empty_words and (not text or "" in text.split(language.separator)):
            return False
        if self.plain_words and not _plain(text, language):
            return False
        return self.max_words is None or not text or text.count(language.separator) < self.max_words

    def takes_pattern(self, pattern: str, language: Language) -> bool:
        """Tell whether a pattern may be in a set."""
        if self.shared is False and language.dialect.shared is not None:
            shared = language.dialect.shared.decode()
            if pattern == shared or pattern.startswith(shared + language.separator):
                return False
        if self.max_wildcards is not None:
            words = pattern.split(language.separator)
            if sum(word in (language.many, language.some) for word in words) > self.max_wildcards:
                return False
        return self._takes(pattern, language) and not self._is_aside("patterns", pattern, language)

    def narrowed(self, asked: Round, language: Language, *, changing: bool) -> Round | None:
        """Return what of a round may be asked, or None if nothing is left.

        ``changing`` says whether the target's sets can change.
        """
        chapters = [self._chapter(chapter, language) for chapter in asked.chapters]
        if not (changing and self.changes):
            chapters = [chapter for chapter in chapters if not chapter.changes]
        chapters = [chapter for chapter in chapters if any(isinstance(step, str) for step in chapter.steps)]
        if not chapters:
            return None
        first, *then = chapters
        if first.changes:  # a round begins with a set that does not change
            first, then = Chapter(first.patterns, tuple(_keys(first.steps))), [first, *then]
        keys, lost = tuple(_keys(first.steps)), set() if then else {HISTORIES}
        if (first.patterns, keys) != (asked.patterns, asked.keys):
            shown = {one.name for one in asked.sketched if one.shows_in(first.patterns, keys)}
            lost |= {one.name for one in asked.sketched} - shown
        return Round(patterns=first.patterns, keys=keys, classes=asked.classes - lost, then=tuple(then))

    def _chapter(self, chapter: Chapter, language: Language) -> Chapter:
        """Return what is left of a chapter; positions that are taken out follow the patterns that are left."""
        places: dict[int, int] = {}
        total = 0

        def enters(pattern: str) -> bool:
            nonlocal total
            total += 1
            fits = self.max_bindings is None or len(places) < self.max_bindings
            if not fits or not self.takes_pattern(pattern, language):
                return False
            places[total - 1] = len(places)
            return True

        patterns = [pattern for pattern in chapter.patterns if enters(pattern)]
        steps: list[Step] = []
        for step in chapter.steps:
            if isinstance(step, Bind):
                if enters(step.pattern):
                    steps.append(step)
            elif isinstance(step, Unbind):
                if step.position in places:
                    steps.append(Unbind(places[step.position]))
            elif self.takes(step, language):
                steps.append(step)
        return Chapter(tuple(patterns), tuple(steps))


def _keys(steps: tuple[Step, ...]) -> list[str]:
    return [step for step in steps if isinstance(step, str)]  # one that is asked again is part of a history


def _plain(text: str, language: Language) -> bool:
    wild = set(language.wildcards)
    return all(
        not word or word in wild or (word.isascii() and word.replace("_", "a").isalnum())
        for word in text.split(language.separator)
    )
