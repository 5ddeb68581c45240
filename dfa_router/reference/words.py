"""What the matchers of this package share: words, wildcards, and the test of one pattern.

The specification in :mod:`~dfa_router.reference.naive` splits and tests by itself, so that a mistake here shows as a
disagreement. A wildcard is an object and no word: a key may have the word ``*``, and a table indexed by words must not take
that for the wildcard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from dfa_router.errors import BindingError
from dfa_router.language.dialects import Dialect

__all__ = [
    "END",
    "MANY",
    "ONE",
    "Token",
    "Wildcard",
    "check_free",
    "check_held",
    "fits",
    "routed",
    "tokens_of",
    "unseen_by_wildcards",
    "words_of",
]


@final
class Wildcard:
    """A token that is no word; compared by identity."""

    __slots__ = ("_name", "_text")

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def __reduce__(self) -> str:
        # Pickled by its name in this module, so that unpickling returns the same object.
        return self._name


ONE: Final = Wildcard("ONE", "*")
"""Exactly one word."""
MANY: Final = Wildcard("MANY", "#")
"""Zero or more words."""
END: Final = Wildcard("END", "end")
"""No word: structures that store subscriptions by word store those of the empty pattern under this token."""

Token = bytes | Wildcard


def words_of(text: bytes, dialect: Dialect) -> list[bytes]:
    """Split a key into words; the empty key has none.

    >>> from dfa_router.language.dialects import AMQP
    >>> words_of(b"a..b", AMQP), words_of(b"", AMQP)
    ([b'a', b'', b'b'], [])
    """
    return text.split(dialect.separator) if text else []


def tokens_of(pattern: bytes, dialect: Dialect) -> tuple[Token, ...]:
    """Split a pattern into literal words and wildcards.

    >>> from dfa_router.language.dialects import AMQP, NATS
    >>> tokens_of(b"a*.*.#", AMQP), tokens_of(b"a.>", NATS)
    ((b'a*', *, #), (b'a', *, #))
    """
    words = words_of(pattern, dialect)
    if dialect.shared is not None and len(words) > 1 and words[0] == dialect.shared:
        del words[:2]
    tokens: list[Token] = []
    for left, word in zip(range(len(words) - 1, -1, -1), words, strict=True):
        if word == dialect.one:
            tokens.append(ONE)
        elif word in (dialect.many, dialect.some) and (left == 0 or not dialect.tail_only):
            tokens += [MANY] if word == dialect.many else [ONE, MANY]
        else:
            tokens.append(word)
    return tuple(tokens)


def routed(key: bytes, dialect: Dialect) -> bool:
    """Tell whether a broker of the dialect routes such a key to anyone.

    >>> from dfa_router.language.dialects import AMQP, NATS
    >>> routed(b"a..b", AMQP), routed(b"a..b", NATS)
    (True, False)
    """
    if dialect.plain:
        return True
    if key == b"":
        return dialect.empty_text
    if dialect.unseen is not None and key.startswith(dialect.unseen):
        return False
    # A word is empty where two separators meet, or one meets an end of the key.
    fenced = dialect.separator + key + dialect.separator
    hole = not dialect.empty_words and 2 * dialect.separator in fenced
    return not hole and all(key.find(byte) < 0 for byte in dialect.dropped)


def unseen_by_wildcards(key: bytes, dialect: Dialect) -> bool:
    """Tell whether no pattern that begins with a wildcard can match this key, because of the key's first byte."""
    return dialect.reserved is not None and key[:1] == dialect.reserved


def fits(tokens: Sequence[Token], words: Sequence[bytes]) -> bool:
    """Tell whether one pattern matches one key, in O(len(tokens) * len(words)) steps and constant space.

    After a mismatch only the latest ``#`` is tried with one word more: whatever an earlier one could take in addition, the
    latest can take as well. Shells match ``*`` in file names in this way.

    >>> fits((b"a", MANY, b"c"), (b"a", b"b", b"c", b"c"))
    True
    """
    at_token = at_word = 0
    after_many, resume_word = -1, 0
    while at_word < len(words):
        token = tokens[at_token] if at_token < len(tokens) else None
        if token is MANY:
            at_token += 1
            after_many, resume_word = at_token, at_word
        elif token is ONE or (token is not None and token == words[at_word]):
            at_token += 1
            at_word += 1
        elif after_many >= 0:
            resume_word += 1
            at_token, at_word = after_many, resume_word
        else:
            return False
    return all(token is MANY for token in tokens[at_token:])


def check_free(taken: bool, position: int) -> None:
    """Raise :class:`BindingError` if the position is taken."""
    if taken:
        raise BindingError(
            f"position {position} already holds a binding: positions are never reused, take the next one"
        )


def check_held(held: bool, position: int, pattern: bytes) -> None:
    """Raise :class:`BindingError` if the binding that is to be removed is not held."""
    if not held:
        raise BindingError(
            f"there is no binding {pattern!r} at position {position} to remove: "
            "pass the pattern it was added with, and remove it once"
        )
