"""How words, patterns and keys are made: keys that a pattern matches, and keys that it nearly matches.

Patterns and keys are lists of words here; :func:`text` joins them. An empty list is the empty text, which has zero words.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfa_router.fuzz.generating.choices import Choices
from dfa_router.fuzz.generating.language import Language

__all__ = ["LONGEST_KEY", "Maker", "Sketch", "Words", "text"]

Words = list[str]

Sketch = tuple[list[Words], list[Words]]
"""Patterns, and keys that are aimed at them."""

LONGEST_KEY = 20
"""The most words of a key: matchers that backtrack, RabbitMQ among them, take exponential time for many ``#``."""


def text(words: Sequence[str], language: Language) -> str:
    """Join words as the dialect does.

    >>> from dfa_router.language.dialects import AMQP
    >>> from dfa_router.fuzz.generating.language import language_of
    >>> text(["a", "#"], language_of(AMQP))
    'a.#'
    """
    return language.separator.join(words)


class Maker:
    """Makes patterns and keys of a dialect from a source of choices."""

    __slots__ = ("below", "choices", "language", "once_in", "pick")

    def __init__(self, choices: Choices, language: Language) -> None:
        self.choices, self.language = choices, language
        self.below, self.pick, self.once_in = choices.below, choices.pick, choices.once_in

    def word(self) -> str:
        """Return a word: mostly one of very few, so that patterns and keys often have words in common."""
        kind = self.below(20)
        language = self.language
        if kind < 14:
            return language.plain[kind % 3]
        if kind < 17:
            return self.pick(language.longer)
        pools = (
            language.special,
            language.non_ascii,
            language.cased,
            language.prefixed,
            language.reserved,
            language.plain,
        )
        return self.pick(self.pick([pool for pool in pools if pool]))

    def plain(self) -> str:
        """Return one of a few plain words."""
        return self.language.plain[self.below(3)]

    def words(self, fewest: int, most: int) -> Words:
        """Return from ``fewest`` to ``most`` plain words."""
        return [self.plain() for _ in range(fewest + self.below(most - fewest + 1))]

    def pattern(self, most: int = 5) -> Words:
        """Return a pattern of at most ``most`` words and a tail wildcard, with wildcards wherever the dialect allows them."""
        language = self.language
        tokens = [self._token() for _ in range(1 + self.below(most))]
        tail = language.tail
        if tail is not None and self.once_in(3):
            if language.anywhere:
                tokens[self.below(len(tokens))] = tail
            else:
                tokens.append(tail)
        return self.allowed(tokens)

    def _token(self) -> str:
        kind = self.below(12)
        language = self.language
        if kind < 7:
            return self.word()
        if kind < 10:
            return self.plain() if language.one is None else language.one
        if kind == 10 and language.anywhere and language.tail is not None:
            return language.tail
        if kind == 11 and language.dialect.empty_words:
            return ""
        return self.plain()

    def allowed(self, tokens: Words) -> Words:
        """Replace each ``many`` beyond the number that the dialect allows by a plain word; changes ``tokens``."""
        most, many = self.language.most_many, self.language.many
        if many is not None and tokens.count(many) > most:
            seen = 0
            for place, token in enumerate(tokens):
                seen += token == many
                if token == many and seen > most:
                    tokens[place] = "a"
        return tokens

    def matching(self, pattern: Sequence[str]) -> Words:
        """Return a key that the pattern matches, rules about keys aside, such as those for reserved words."""
        language = self.language
        key: Words = []
        if language.dialect.shared is not None and len(pattern) > 2 and pattern[0] == language.dialect.shared.decode():
            pattern = pattern[2:]
        for token in pattern:
            if token == language.one:
                key.append(self._filler(pattern))
            elif token in (language.many, language.some):
                fewest = 0 if token == language.many else 1
                for _ in range(fewest + (self.below(3) if self.below(8) else self.below(9))):
                    key.append(self._filler(pattern))
            else:
                key.append(token)
        return key[:LONGEST_KEY]

    def _filler(self, pattern: Sequence[str]) -> str:
        """Return a word for a wildcard: often one of the pattern, at which a faulty matcher may stop too early."""
        kind = self.below(8)
        if kind < 4:
            return self.plain()
        if kind < 6:
            word = self.pick(pattern)
            return word if word not in self.language.wildcards else "a"
        if kind == 6 and self.language.dialect.empty_words:
            return ""
        return self.word()

    def key(self) -> Words:
        """Return a key that is made from no pattern, though of the same words."""
        return [self.word() for _ in range(1 + self.below(4))]

    def changed(self, key: Sequence[str]) -> Words:
        """Return the key with one change: a near miss."""
        words = list(key)
        if not words:
            return [self.pick(("", "a"))]
        place = self.below(len(words))
        kind = self.below(14)
        if kind == 0:
            del words[place]
        elif kind == 1:
            words.append(self.plain())
        elif kind == 2:
            words.insert(0, self.plain())
        elif kind == 3:
            words.insert(place, self.plain())
        elif kind == 4:
            words.insert(place, words[place])
        elif kind == 5:
            words[place] = self.word()
        elif kind == 6:
            words.append("")
        elif kind == 7:
            words.insert(self.below(2) * place, "")
        elif kind == 8:
            words[place] = self.bent(words[place])
        elif kind == 9:
            words.pop()
        elif kind == 10 and len(words) > 1:
            last = words.pop()
            words[-1] += last if self.below(2) else "a" + last
        elif kind == 11:
            words.reverse()
        elif kind == 12 and self.language.wildcards:
            words[place] = self.pick(self.language.wildcards)
        else:
            words[place] = ""
        return words[:LONGEST_KEY]

    def bent(self, word: str) -> str:
        """Return a similar word, which a careless comparison takes for this one."""
        kind = self.below(6)
        if kind == 0:
            return word + "a"
        if kind == 1:
            return "a" + word
        if kind == 2:
            return word[:-1]
        if kind == 3:
            return word[1:]
        if kind == 4:
            return word.swapcase()
        return word[:-1] + "a" if word else "a"
