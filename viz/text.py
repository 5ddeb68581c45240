"""Words as they can be shown: every character visible, nothing that could be mistaken for something else.

A routing key may hold anything: quotes, markup, a newline, marks that turn the direction of writing, or nothing at all.
Each picture, page and table writes words through :func:`shown`, and the page's script holds the same function.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["elided", "listed", "markup", "shown", "visible"]

_RESERVED = frozenset({"", "*", "#", "ε", "other", "any word"})
"""Words that would read like a label of ours."""


def visible(text: str) -> str:
    r"""Return the text with a visible sign for each character that has none of its own.

    Control characters become their pictures, other invisible characters their numbers. The joiner is left alone inside
    an emoji, where it is what makes several signs one.

    >>> visible("a\nb\u202ec")
    'a␊b‹U+202E›c'
    """
    return "".join(_sign(character, text[i - 1 : i]) for i, character in enumerate(text))


def elided(text: str, limit: int) -> str:
    """Return the text, or its two ends and an ellipsis, in at most ``limit`` characters.

    >>> elided("internationalisation", 9)
    'inte…tion'
    """
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[len(text) - (limit - head - 1) :]}"


def shown(word: str, limit: int | None = 24) -> str:
    """Return a word as text that can be told apart: quoted where it could be mistaken, and elided in the middle.

    >>> shown("stock"), shown(""), shown("*"), shown("a, b")
    ('stock', '""', '"*"', '"a, b"')
    """
    text = visible(word)
    if limit is not None:
        text = elided(text, limit)
    if word in _RESERVED or word != word.strip(" ") or set(word) & set('",'):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text


def listed(items: Iterable[object], limit: int) -> str:
    """Join items by commas; what goes beyond ``limit`` items is counted.

    >>> listed([1, 2, 3, 4, 5], 3)
    '1, 2, 3 and 2 more'
    """
    texts = [str(item) for item in items]
    if len(texts) <= limit:
        return ", ".join(texts)
    return f"{', '.join(texts[:limit])} and {len(texts) - limit} more"


def markup(text: str) -> str:
    """Escape text for HTML, SVG and Graphviz's HTML-like labels, attribute values included."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(character, entity)
    return text


def _sign(character: str, before: str) -> str:
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return "␡" if code == 0x7F else chr(0x2400 + code)
    category = unicodedata.category(character)
    if character == "\u200d" and before and unicodedata.category(before) in {"So", "Sk", "Mn"}:
        return character
    if category in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} or (category == "Zs" and character != " "):
        return f"‹U+{code:04X}›"
    return character
