"""Why a pattern matches a key, or why not, in words: which token takes which words, or the first word that none takes.

The explanation is found by a search of its own over (token, word) positions. It shares the dialect's rules with the
engines and no code, and a test compares it with the specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dfa_router.fuzz.text.words import shown
from dfa_router.fuzz.validity import invalid_key
from dfa_router.language.dialects import Dialect

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pattern matches a key, or why it does not."""

    matches: bool
    sentence: str
    """The reason, as the first half of a sentence that can go on with ", so it matches"."""
    alignment: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(token, words that it takes) from the left; only the first tokens of a pattern that does not match."""


def explain(pattern: str, key: str, dialect: Dialect) -> Explanation:
    """Explain a valid pattern and a key.

    >>> from dfa_router.language.dialects import AMQP
    >>> explain("a.#", "a", AMQP)
    Explanation(matches=True, sentence='`#` stands for zero or more words', alignment=(('a', ('a',)), ('#', ())))
    >>> explain("a.*", "a.b.c", AMQP).sentence
    'nothing takes the word `c`: `*` stands for exactly one word, and the pattern ends there'
    """
    separator = dialect.separator.decode()
    tokens = pattern.split(separator) if pattern else []
    words = key.split(separator) if key else []
    if dialect.shared is not None and len(tokens) > 1 and tokens[0] == dialect.shared.decode():
        whole = explain(separator.join(tokens[2:]), key, dialect)
        group = separator.join(tokens[:2])
        told = f"{shown(group)} names a group that shares what {shown(separator.join(tokens[2:]))} takes, and {whole.sentence}"
        return Explanation(whole.matches, told, whole.alignment)
    wild = _Wild(dialect)
    forbidden = _unrouted(key, words, dialect)
    if forbidden is not None:
        return Explanation(False, forbidden)
    if tokens and wild.is_wild(tokens[0], last=len(tokens) == 1) and dialect.reserved is not None:
        reserved = dialect.reserved.decode()
        if key.startswith(reserved):
            return Explanation(
                False,
                f"a wildcard at the beginning matches no key that begins with `{reserved}`, as {shown(words[0])} does",
            )
    path = _path(tokens, words, wild)
    if path[-1] == (len(tokens), len(words)):
        return Explanation(True, _why(tokens, words, path, wild), _aligned(tokens, words, path))
    return Explanation(False, _why_not(tokens, words, path, wild, separator), _aligned(tokens, words, path))


class _Wild:
    """The wildcards of a dialect, and what each token of a pattern stands for."""

    def __init__(self, dialect: Dialect) -> None:
        self.one, self.many, self.some = (
            None if word is None else word.decode() for word in (dialect.one, dialect.many, dialect.some)
        )
        self.tail_only = dialect.tail_only

    def is_wild(self, token: str, *, last: bool) -> bool:
        return token == self.one or self.takes_several(token, last=last)

    def takes_several(self, token: str, *, last: bool) -> bool:
        return token in (self.many, self.some) and (last or not self.tail_only)

    def meaning(self, token: str, *, last: bool) -> str:
        if token == self.one:
            return f"{shown(token)} stands for exactly one word"
        if self.takes_several(token, last=last):
            return f"{shown(token)} stands for {'zero' if token == self.many else 'one'} or more words"
        inside = [word for word in (self.one, self.many, self.some) if word is not None and word in token]
        if inside:
            where = "as the last word" if token in inside else "by itself"
            return f"{shown(token)} is a word like any other, as `{inside[0]}` is a wildcard only {where}"
        if not token:
            return "the empty word is a word, and takes an empty word only"
        return f"{shown(token)} takes the equal word only"


def _unrouted(key: str, words: Sequence[str], dialect: Dialect) -> str | None:
    """Return why a key matches nothing at all, if it is such a key."""
    if not key and not dialect.empty_text:
        return f"{dialect.name} has no empty key, so nothing matches it"
    if not dialect.empty_words and "" in words:
        return f"the key has an empty word, which {dialect.name} does not have, so nothing matches it"
    encoded = key.encode()
    if any(byte in encoded for byte in dialect.dropped) or (
        dialect.unseen is not None and encoded.startswith(dialect.unseen)
    ):
        return f"no pattern matches the key: {invalid_key(key, dialect)}"
    return None


def _path(tokens: Sequence[str], words: Sequence[str], wild: _Wild) -> list[tuple[int, int]]:
    """Return the (tokens, words) positions of an alignment, from (0, 0) on.

    It is complete if there is a complete one; else it is one that takes the most words, and of these the most tokens.
    """
    came: dict[tuple[int, int], tuple[int, int] | None] = {(0, 0): None}
    waiting = [(0, 0)]
    for place in waiting:
        token, word = place
        if token == len(tokens):
            continue
        several = wild.takes_several(tokens[token], last=token == len(tokens) - 1)
        steps = []
        if several:
            fewest = 0 if tokens[token] == wild.many else 1
            steps = [(token + 1, word + taken) for taken in range(fewest, len(words) - word + 1)]
        elif word < len(words) and (tokens[token] == wild.one or tokens[token] == words[word]):
            steps = [(token + 1, word + 1)]
        for step in steps:
            if step not in came:
                came[step] = place
                waiting.append(step)
    end = (len(tokens), len(words))
    furthest: tuple[int, int] | None = end if end in came else max(came, key=lambda place: (place[1], place[0]))
    path = []
    while furthest is not None:
        path.append(furthest)
        furthest = came[furthest]
    return path[::-1]


def _aligned(
    tokens: Sequence[str], words: Sequence[str], path: Sequence[tuple[int, int]]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((tokens[before[0]], tuple(words[before[1] : after[1]])) for before, after in pairwise(path))


def _why(tokens: Sequence[str], words: Sequence[str], path: Sequence[tuple[int, int]], wild: _Wild) -> str:
    """Return the rule that a matcher has most likely got wrong, of those that the alignment uses."""
    told: list[tuple[int, str]] = []
    for place, (token, taken) in enumerate(_aligned(tokens, words, path), 1):
        last = place == len(tokens)
        several = wild.takes_several(token, last=last)
        meaning = wild.meaning(token, last=last)
        if several and not taken:
            told.append((0, meaning))
        elif token == wild.one and taken == ("",):
            told.append((1, f"{meaning}, and the empty word is one"))
        elif several and "" in taken:
            told.append((2, f"{meaning}, and empty words are words"))
        elif several or token == wild.one:
            told.append((3, meaning))
        elif "is a word like any other" in meaning:
            told.append((2, meaning))
    if not told:
        return (
            "a pattern without wildcards matches the equal key" if tokens else "the empty pattern matches the empty key"
        )
    return min(told)[1]


def _why_not(
    tokens: Sequence[str], words: Sequence[str], path: Sequence[tuple[int, int]], wild: _Wild, separator: str
) -> str:
    token, word = path[-1]
    rest = shown(separator.join(tokens[token:]))
    if token < len(tokens):
        meaning = wild.meaning(tokens[token], last=token == len(tokens) - 1)
        if word < len(words):
            return f"nothing takes the word {shown(words[word])}: {meaning}"
        ended = "the key has no words" if not words else f"the key ends after {shown(words[-1])}"
        return f"{ended}, and {rest} of the pattern is left over: {meaning}"
    if not tokens:
        return (
            f"nothing takes the word {shown(words[word])}: the empty pattern has no words, and the key has {len(words)}"
        )
    before = wild.meaning(tokens[-1], last=True)
    return f"nothing takes the word {shown(words[word])}: {before}, and the pattern ends there"
