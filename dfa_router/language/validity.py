"""Which patterns and keys are not valid in a dialect, and why, as a sentence for users.

A router is not compiled from an invalid pattern. An invalid key is no error, since logs have many of them: it matches
what the broker would route it to, in most cases nothing.
"""

from __future__ import annotations

from dfa_router.errors import KeyTypeError, PatternError
from dfa_router.language.dialects import Dialect, dialect_named

__all__ = ["key_problem", "pattern_problem"]


def pattern_problem(pattern: str, dialect: str | Dialect) -> str | None:
    """Return why no broker of this dialect accepts the pattern and what to change, or None if the pattern is valid.

    Raises :class:`PatternError` for what is no text, and :class:`OptionError` for an unknown dialect.

    >>> pattern_problem("a/#/b", "mqtt")
    "'#' is not the last word: only there it stands for further words, so end the pattern with it"
    >>> pattern_problem("a.#.b", "amqp") is None
    True
    """
    dialect = dialect_named(dialect)
    if not isinstance(pattern, str):
        raise PatternError(f"the pattern is {pattern!r} ({type(pattern).__name__}): expected str")
    problem = _text_problem(pattern, dialect)
    if problem:
        return problem
    separator = dialect.separator.decode()
    words = pattern.split(separator) if pattern else []
    if dialect.shared is not None and words and words[0] == _text(dialect.shared):
        words = words[2:]
        problem = _share_problem(pattern.split(separator), dialect)
        if problem:
            return problem
    if not dialect.empty_words and "" in words:
        return f"it has an empty word: {dialect.name} has none, so remove the {separator!r} too many"
    one, many, some = _wildcards(dialect)
    if dialect.tail_only and dialect.stray_tail == "refused":
        for word in words[:-1]:
            if word in (many, some) and word is not None:
                return (
                    f"{word!r} is not the last word: only there it stands for further words, so end the pattern with it"
                )
    if dialect.max_many is not None and many is not None and words.count(many) > dialect.max_many:
        return (
            f"{many!r} occurs {words.count(many)} times, and the broker takes at most {dialect.max_many}: "
            f"neighbours among them can be merged, as {many + separator + many!r} means {many!r}"
        )
    for word in words:
        for wildcard in (one, many, some):
            if wildcard is None or wildcard not in word or word == wildcard:
                continue
            if dialect.inner_wildcards == "refused":
                return f"the word {word!r} has the wildcard {wildcard!r} in it: it must stand alone between separators"
            if dialect.inner_wildcards == "no prefix" and wildcard == one and word.endswith(wildcard):
                return (
                    f"the word {word!r} ends with {wildcard!r}, which matches within a level in {dialect.name}: "
                    f"only whole levels are supported, so write {wildcard!r} alone"
                )
    return None


def key_problem(key: str, dialect: str | Dialect) -> str | None:
    """Return why the key is not valid in this dialect, or None if it is.

    Raises :class:`KeyTypeError` for what is no text, and :class:`OptionError` for an unknown dialect.

    >>> key_problem("a..b", "nats")
    'it has an empty word: nats has none'
    """
    dialect = dialect_named(dialect)
    if not isinstance(key, str):
        raise KeyTypeError(f"the key is {key!r} ({type(key).__name__}): expected str")
    problem = _text_problem(key, dialect)
    if problem:
        return problem
    encoded = key.encode()
    for byte in dialect.dropped:
        if byte in encoded:
            return f"it has {chr(byte)!r}, which is for patterns only"
    words = encoded.split(dialect.separator) if encoded else []
    if not dialect.empty_words and b"" in words:
        return f"it has an empty word: {dialect.name} has none"
    if not dialect.wildcard_keys:
        for word in words:
            if word in (dialect.one, dialect.many, dialect.some):
                return f"its word {word.decode()!r} is a wildcard: publish to one key at a time"
    if dialect.unseen is not None and encoded.startswith(dialect.unseen):
        return f"it begins with {_text(dialect.unseen)!r}, which no subscription sees"
    return None


def _text_problem(text: str, dialect: Dialect) -> str | None:
    """Return what is wrong with the characters or the length of a pattern or key, or None."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return f"it has a lone surrogate at character {error.start}, which has no UTF-8 form: remove it"
    if not text and not dialect.empty_text:
        return f"it is empty: {dialect.name} needs at least one character"
    for character in dialect.forbidden:
        if character in text:
            return f"it has the character {character!r}, which {dialect.name} does not allow: remove it"
    if dialect.max_bytes is not None and size > dialect.max_bytes:
        return (
            f"it has {size} bytes, but {dialect.name} carries at most {dialect.max_bytes}: "
            "shorten it, no broker would accept it"
        )
    words = text.count(dialect.separator.decode()) + 1
    if dialect.max_words is not None and words > dialect.max_words:
        return f"it has {words} words, but {dialect.name} takes at most {dialect.max_words}: shorten it"
    return None


def _text(word: bytes) -> str:
    """Return a word as text; bytes that are not UTF-8 become lone surrogates, which no valid pattern has."""
    return word.decode(errors="surrogateescape")


def _wildcards(dialect: Dialect) -> list[str | None]:
    return [None if word is None else _text(word) for word in (dialect.one, dialect.many, dialect.some)]


def _share_problem(words: list[str], dialect: Dialect) -> str | None:
    """Return what is wrong with a shared subscription, which is given as its words, or None."""
    separator = dialect.separator.decode()
    shared, group, *rest = words if words[1:] else (*words, "")
    form = f"a shared subscription is {separator.join((shared, 'GROUP', 'FILTER'))}"
    if not group:
        return f"its group has no name: {form}"
    if not separator.join(rest):
        return f"it has no filter: {form}"
    if any(wildcard is not None and wildcard in group for wildcard in _wildcards(dialect)):
        return f"its group {group!r} has a wildcard in it: {form}, and a group is a plain name"
    if rest[0] == shared:
        return f"it is shared twice: {form}"
    return None
