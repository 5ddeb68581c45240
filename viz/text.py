"""Words as they can be shown: every character visible, and no word that looks like something else.

A routing key may hold anything: quotes, markup, a newline, characters that change the direction of writing, or nothing
at all. Every picture, page and table writes words through :func:`shown`; the page's script has the same function.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = [
    "cells",
    "counted",
    "cut",
    "elided",
    "folded",
    "isolated",
    "left_to_right",
    "listed",
    "markup",
    "shown",
    "visible",
]

_RESERVED = frozenset({"", "*", "#", "ε", "other", "any word"})
"""Words that look like a label of a picture."""
_FROM_THE_RIGHT = re.compile(
    r"[^\s./,]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff][^\s./,]*"
)
"""A word with a letter of a script that is written from right to left, between separators or in a list."""
_MARKS = 30
"""So many marks on one letter are looked at, as Unicode's stream-safe texts have no more: a key may have thousands."""


def visible(text: str) -> str:
    r"""Return the text with a visible sign for each invisible character.

    Control characters become Unicode's pictures of them, other invisible characters their numbers. The zero-width
    joiner inside an emoji is left as it is, because there it joins several signs into one. Characters that Unicode takes for
    another way to write others become numbers too, as an accent behind its letter: brokers compare bytes, and tell them apart.

    >>> visible("a\nb\u202ec"), visible("\u00e9"), visible("e\u0301")
    ('a␊b‹U+202E›c', 'é', 'e‹U+0301›')
    """
    twofold = frozenset[int]() if unicodedata.is_normalized("NFC", text) else _twofold(text)
    return "".join(
        _number(character) if i in twofold else _sign(character, text[i - 1 : i]) for i, character in enumerate(text)
    )


def cells(text: str) -> int:
    r"""Count the cells that a text takes in a terminal or a monospace font: two for a wide character, none for a mark on another.

    >>> cells("日本"), cells("e\u0301"), cells("กั้น")
    (4, 1, 2)
    """
    return sum(
        0
        if unicodedata.category(character) in {"Mn", "Me", "Cf"}
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def cut(text: str, width: int) -> str:
    """Return the text in at most ``width`` cells; an ellipsis stands for what was cut off."""
    if cells(text) <= width:
        return text
    return _fitting(text, width - 1) + "…"


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of at most ``width`` cells, each but the first behind ``indent``, where that is narrower.

    A line ends at a space, or where it is full if it has none; it has one character at least.

    >>> folded("the state is final", 9, "  "), folded("internationalisation", 9)
    (['the state', '  is', '  final'], ['internati', 'onalisati', 'on'])
    """
    lines, lead = [], ""
    indent = indent if cells(indent) < width else ""
    while len(text) > 1 and cells(lead + text) > width:
        end = max(1, len(_fitting(text, width - cells(lead))))
        space = text.rfind(" ", 0, end + 1)
        if text[: max(space, 0)].strip():
            end = space
        lines.append(lead + text[:end].rstrip())
        text, lead = text[end:].lstrip(), indent
    return [*lines, lead + text]


def elided(text: str, limit: int) -> str:
    """Return the text in at most ``limit`` characters; of a longer one, both ends with an ellipsis between them.

    >>> elided("internationalisation", 9)
    'inte…tion'
    """
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[len(text) - (limit - head - 1) :]}"


def shown(word: str, limit: int | None = 24) -> str:
    """Return a word as a label: quoted where it could be mistaken for another label, and elided in the middle.

    >>> shown("stock"), shown(""), shown("*"), shown("a, b")
    ('stock', '""', '"*"', '"a, b"')
    """
    text = visible(word)
    if limit is not None:
        text = elided(text, limit)
    if word in _RESERVED or word != word.strip(" ") or set(word) & set('",'):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text


def isolated(text: str) -> str:
    r"""Return the text of a label with each word isolated that is written from right to left.

    Else two such words with a dot between them change places, and what stands before them, such as a sign, goes behind them.

    >>> isolated("\u2713 \u05d0.#.\u05d1") == "\u2713 \u2068\u05d0\u2069.#.\u2068\u05d1\u2069", isolated("\u2713 a.b")
    (True, '\u2713 a.b')
    """
    return _FROM_THE_RIGHT.sub("\u2068\\g<0>\u2069", text)


def left_to_right(text: str) -> str:
    r"""Return the text of a label for what takes a line's direction from its first letter, as Pango does: the line goes from left to right.

    >>> left_to_right("\u2713 \u05d0.#") == "\u200e\u2713 \u2068\u05d0\u2069.#", left_to_right("\u2713 a.b")
    (True, '\u2713 a.b')
    """
    signed = isolated(text)
    return text if signed == text else f"\u200e{signed}"


def listed(items: Iterable[object], limit: int) -> str:
    """Join at most ``limit`` items by commas, and add how many more there are.

    >>> listed([1, 2, 3, 4, 5], 3)
    '1, 2, 3 and 2 more'
    """
    texts = [str(item) for item in items]
    if len(texts) <= limit:
        return ", ".join(texts)
    return f"{', '.join(texts[:limit])} and {len(texts) - limit} more"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "state"), counted(2000, "state")
    ('1 state', '2,000 states')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def markup(text: str) -> str:
    """Escape text for HTML, attribute values included."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(character, entity)
    return text


def _fitting(text: str, width: int) -> str:
    """Return as much of the beginning of a text as ``width`` cells hold."""
    kept = ""
    for character in text:
        if cells(kept + character) > width:
            break
        kept += character
    return kept


def _twofold(text: str) -> frozenset[int]:
    """Return the places of characters that normalisation to NFC changes, by themselves or with what is before them."""
    found, start = set(), 0
    for place, character in enumerate(text):
        before = text[max(start, place - _MARKS) : place]
        if unicodedata.normalize("NFC", before + character) != unicodedata.normalize("NFC", before) + character:
            found.add(place)
        if not unicodedata.category(character).startswith("M"):
            start = place
    return frozenset(found)


def _sign(character: str, before: str) -> str:
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return "␡" if code == 0x7F else chr(0x2400 + code)
    category = unicodedata.category(character)
    if character == "\u200d" and before and unicodedata.category(before) in {"So", "Sk", "Mn"}:
        return character
    # Unicode's noncharacters are valid UTF-8, and XML has no place for the last two of the first plane.
    nonsense = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    if nonsense or category in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} or (category == "Zs" and character != " "):
        return _number(character)
    return character


def _number(character: str) -> str:
    return f"‹U+{ord(character):04X}›"
