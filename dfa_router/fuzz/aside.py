"""What a target hung at is set aside: patterns or keys like it are not asked again, so that the rest of the campaign has the time.

Like it are keys with the same words that are not of letters and digits, in the same order with any others between; or else
patterns with the same wildcards and such words; or else keys of as many words. A case that has none of these, or several
patterns, says nothing of what else will hang, and nothing is set aside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dfa_router.fuzz.findings import Case
from dfa_router.fuzz.generating.language import Language

__all__ = ["Aside", "aside_of"]

_LONG = 3
"""Words of a key that is set aside for its length."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A sort of patterns or keys that is not asked."""

    of: Literal["patterns", "keys"]
    words: tuple[str, ...] = ()
    """Words that they have in this order, with any others between."""
    length: int = 0
    """The fewest words that they have."""

    def has(self, text: str, language: Language) -> bool:
        """Tell whether a pattern or key is of this sort.

        >>> from dfa_router.fuzz.generating.language import language_of
        >>> from dfa_router.language.dialects import AMQP
        >>> twice = Aside("patterns", ("#", "#"))
        >>> twice.has("a.#.b.#", language_of(AMQP)), twice.has("#.a", language_of(AMQP))
        (True, False)
        """
        words = text.split(language.separator) if text else []
        rest = iter(words)
        return len(words) >= self.length and all(word in rest for word in self.words)

    def text(self) -> str:
        """Return it in words, for a report."""
        if self.words:
            return f"{self.of} with {' and then '.join(map(repr, self.words))}"
        return f"{self.of} of {self.length} words and more"


def aside_of(case: Case, language: Language) -> Aside | None:
    """Return the sort of patterns or keys to set aside after a case, or None if the case does not show one."""

    def odd(text: str) -> tuple[str, ...]:
        words = text.split(language.separator) if text else []
        return tuple(word for word in words if not (word.isascii() and word.isalnum()))

    if odd(case.key):
        return Aside("keys", odd(case.key))
    if len(case.table) != 1:  # which of them it is was not found out
        return None
    if words := odd(case.table[0]):
        return Aside("patterns", words)
    length = case.key.count(language.separator) + 1 if case.key else 0
    return Aside("keys", length=length) if length >= _LONG else None
