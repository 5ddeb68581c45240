"""What the rules of a dialect do to matching: here a dialect becomes what the compiler understands.

The compiler knows words, two wildcards, a second root and a screen; it knows no broker. Each rule about what matches
takes effect in one of three places:

==========================================  ==================  ======================================================
rule                                        effect on           how
==========================================  ==================  ======================================================
``some``, ``tail_only``, ``shared``         tokens              :func:`tokens`: ``>`` of NATS is ``*.#``; a stray ``#`` is
                                                                a literal word; ``$share/group/`` is left out
``reserved``                                where keys start    :func:`compile_nfa`: the NFA gets a second root
``empty_text``, ``empty_words``,            keys that are not   :func:`screen_of`: a separate pass finds them, and they
``dropped``, ``unseen``                     routed              match nothing
==========================================  ==================  ======================================================

Rules that say only which patterns and keys are valid are in :mod:`dfa_router.language.validity`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.automata.keyspace import KeySpace
from compiler.machine.screen import Screen
from dfa_router.language.dialects import Dialect

__all__ = ["compile_nfa", "key_space", "screen_of", "spelling", "tokens", "without_group"]


def tokens(pattern: bytes, dialect: Dialect) -> list[Token]:
    """Return a pattern as the compiler's tokens.

    >>> from dfa_router.language.dialects import AMQP, NATS
    >>> tokens(b"stock.*.#", AMQP), tokens(b"stock.>", NATS)
    ([b'stock', *, #], [b'stock', *, #])
    """
    words = pattern.split(dialect.separator) if pattern else []
    if dialect.plain:
        wildcards = {dialect.one: Wildcard.ONE, dialect.many: Wildcard.MANY}
        return [wildcards.get(word, word) for word in words]
    _, words = without_group(words, dialect)
    spelt: list[Token] = []
    for i, word in enumerate(words):
        stray = dialect.tail_only and i < len(words) - 1
        if word == dialect.one:
            spelt.append(Wildcard.ONE)
        elif word == dialect.many and not stray:
            spelt.append(Wildcard.MANY)
        elif word == dialect.some and not stray:
            spelt += Wildcard.ONE, Wildcard.MANY
        else:
            spelt.append(word)
    return spelt


def without_group(words: list[bytes], dialect: Dialect) -> tuple[bytes | None, list[bytes]]:
    """Return the group of a shared subscription, or None, and the words of the pattern that it shares.

    >>> from dfa_router.language.dialects import MQTT
    >>> without_group([b"$share", b"workers", b"a", b"#"], MQTT), without_group([b"a"], MQTT)
    ((b'workers', [b'a', b'#']), (None, [b'a']))
    """
    if dialect.shared is not None and len(words) > 1 and words[0] == dialect.shared:
        return words[1], words[2:]
    return None, words


def compile_nfa(patterns: Iterable[bytes], dialect: Dialect) -> Nfa:
    """Build the NFA of a binding set; accept tags are binding positions."""
    spelt = _plain(patterns, dialect) if dialect.plain else (tokens(pattern, dialect) for pattern in patterns)
    return build_nfa(spelt, reserved=dialect.reserved or b"")


def _plain(patterns: Iterable[bytes], dialect: Dialect) -> Iterator[Sequence[Token]]:
    """Yield what :func:`tokens` returns, in a third of the time: patterns without wildcards are only split."""
    wildcards = [re.escape(token) for token in (dialect.one, dialect.many) if token is not None]
    may_be_wild, separator = re.compile(b"|".join(wildcards) or b"(?!)").search, dialect.separator
    for pattern in patterns:
        if may_be_wild(pattern):
            yield tokens(pattern, dialect)
        else:
            yield pattern.split(separator) if pattern else []


def screen_of(dialect: Dialect) -> Screen | None:
    """Return the screen that finds the keys which the dialect does not route, or None if it routes every key."""
    screen = Screen(
        separator=dialect.separator,
        empty_text=dialect.empty_text,
        empty_words=dialect.empty_words,
        wrong=dialect.dropped,
        prefix=dialect.unseen or b"",
    )
    return None if screen == Screen(separator=dialect.separator) else screen


def key_space(dialect: Dialect) -> KeySpace:
    """Return the same rules about keys for proofs, which ask what keys there are at all: word by word, not byte by byte.

    >>> from dfa_router.language.dialects import NATS
    >>> key_space(NATS).is_key([b"a", b""])
    False
    """
    return KeySpace(
        empty_text=dialect.empty_text,
        empty_words=dialect.empty_words,
        dropped=dialect.dropped,
        reserved=dialect.reserved or b"",
        unseen=tuple(dialect.unseen.split(dialect.separator)) if dialect.unseen else (),
    )


def spelling(dialect: Dialect) -> tuple[bytes | None, bytes | None, list[bytes]]:
    """Return how ``ONE`` and ``MANY`` are written, and the other words that are not always literal.

    A pattern without words of the third kind has a token for each word, so that it can be compared with an automaton
    byte by byte.

    >>> from dfa_router.language.dialects import AMQP, NATS
    >>> spelling(AMQP), spelling(NATS)
    ((b'*', b'#', []), (b'*', None, [b'>']))
    """
    many = None if dialect.tail_only else dialect.many
    special = [word for word in (dialect.many, dialect.some, dialect.shared) if word is not None and word != many]
    return dialect.one, many, special
