"""A dialect as generators see it: its wildcards as text, and pools of words that its patterns and keys may have.

The pools hold words on which matchers have failed: regular expressions, words that begin with ``$``, that differ only in
case or in Unicode form, that share long prefixes. A word is in a pool only if the dialect takes it as a pattern by itself,
so what generators build of such words is nearly always valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import pattern_problem

__all__ = ["Language", "language_of"]

PLAIN = ("a", "b", "c", "d")
LONGER = ("aa", "ab", "ba", "foo", "bar", "stock", "x1", "0", "00", "test")
SPECIAL = (
    "a-b", "-", "my-word", "a?", "a+", "(a)", "[a]", "[ab]", "^a", "a|b", "\\a", "a\\", "{2}", "a{2}", "\\w", "\\b",
    "%a", "a_b", "_", "a,b", "'a'", '"a"', "~", "@a", "a:b", "a=b", "a;b", "<a", "&a", "!a", "`a", "a b", " a", "a.b",
    "a/b", ".", "?", "%", "%2e", "\x00", "a\tb", "null", "None", "-1", "1e3", "__proto__", "constructor",
)  # fmt: skip
NON_ASCII = (
    "é", "e\u0301", "ß", "ss", "É",
    "\u012e", "\u012f",  # the low bytes of these are the separators of AMQP and MQTT
    "日本", "😀", "😁", "\uf600", "\U00010061", "\U00020061", "İ", "ı", "\u212a", "k", "\u00a0", "\u2028", "Ａ", "a\u200b",
)  # fmt: skip
LINE_ENDS = ("\n", "a\n", "\na", "a\nb", "a\r", "a\r\n", "a\u2028", "a\x85")
CASED = ("a", "A", "b", "B", "Ab", "aB", "AB", "ab", "Stock", "stock")
RESERVED = ("$SYS", "$a", "$", "a$", "$$")
_STEM = "abcdefgh"
PREFIXED = (_STEM[:7], *(_STEM * times + tail for times in (1, 2, 4) for tail in ("", "a", "b", "ab")))
"""Words that share their first 7, 8, 16 and 32 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What generators need to know of a dialect."""

    dialect: Dialect
    separator: str
    one: str | None
    many: str | None
    some: str | None
    anywhere: bool
    """Whether ``many`` and ``some`` are wildcards at every place of a pattern, and not only at its end."""
    most_many: int
    """How many times ``many`` may stand in a pattern."""
    plain: tuple[str, ...]
    longer: tuple[str, ...]
    special: tuple[str, ...]
    non_ascii: tuple[str, ...]
    line_ends: tuple[str, ...]
    cased: tuple[str, ...]
    reserved: tuple[str, ...]
    prefixed: tuple[str, ...]
    inner: tuple[str, ...]
    """Words that contain a wildcard's characters and are literals."""
    refused: tuple[str, ...]
    """Patterns that the dialect refuses."""

    @property
    def wildcards(self) -> tuple[str, ...]:
        """The wildcards that the dialect has."""
        return tuple(word for word in (self.one, self.many, self.some) if word is not None)

    @property
    def tail(self) -> str | None:
        """The wildcard for several words: ``many``, or ``some`` in a dialect without it."""
        return self.many if self.many is not None else self.some


@lru_cache(maxsize=64)
def language_of(dialect: Dialect) -> Language:
    """Return a dialect as generators see it; equal dialects give one object.

    >>> from dfa_router.language.dialects import AMQP
    >>> language_of(AMQP).wildcards
    ('*', '#')
    """

    def text(word: bytes | None) -> str | None:
        return None if word is None else word.decode()

    def valid(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(w for w in words if separator not in w and w not in wild and pattern_problem(w, dialect) is None)

    separator = dialect.separator.decode()
    one, many, some = text(dialect.one), text(dialect.many), text(dialect.some)
    wild = tuple(word for word in (one, many, some) if word is not None)
    inner = tuple(
        w for wildcard in wild or ("*", "#") for w in (f"a{wildcard}", f"{wildcard}a", wildcard * 2, f"a{wildcard}b")
    )
    return Language(
        dialect=dialect,
        separator=separator,
        one=one,
        many=many,
        some=some,
        anywhere=not dialect.tail_only,
        most_many=99 if dialect.max_many is None else dialect.max_many,
        plain=PLAIN,
        longer=LONGER,
        special=valid(SPECIAL),
        non_ascii=valid(NON_ASCII),
        line_ends=valid(LINE_ENDS),
        cased=CASED,
        reserved=valid(RESERVED),
        prefixed=PREFIXED,
        inner=valid(inner),
        refused=tuple(p for p in _doubtful(separator, wild, dialect) if pattern_problem(p, dialect) is not None),
    )


def _doubtful(separator: str, wild: tuple[str, ...], dialect: Dialect) -> list[str]:
    """Return patterns that some dialects refuse, this one perhaps."""
    join = separator.join
    doubtful = [
        "",
        separator,
        join(("", "a")),
        join(("a", "")),
        join(("a", "", "b")),
        "a\x00b",
        "a b",
        "a\tb",
        "a\x01",
        "a\ufffe",
    ]
    for word in wild:
        doubtful += [join((word, "a")), join(("a", word, "b")), join((word, word)), join(("a", word, word))]
        doubtful += [
            word + "a",
            "a" + word,
            join(("a", "b" + word)),
            join((word + "b", "a")),
            word * 2,
            join((word,) * 3),
        ]
    if dialect.shared is not None:
        shared = dialect.shared.decode()
        doubtful += [
            join(parts) for parts in ((shared, "g"), (shared, "", "a"), (shared, "g", ""), (shared, shared, "g", "a"))
        ]  # wildcards for the group are left out: the standard forbids them, and Mosquitto takes them
    for limit, word in ((dialect.max_bytes, "a" * 40), (dialect.max_words, "a")):
        if limit is not None and limit <= 4096:
            fitting = join([word] * (limit // (len(word) + 1) + 2 if word != "a" else limit + 1))
            doubtful.append(fitting)
    return list(dict.fromkeys(doubtful))
