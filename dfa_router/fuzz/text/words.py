"""Words, patterns and keys as reports show them: none of them empty, broken over lines, or equal to another in looks."""

from __future__ import annotations

import unicodedata

from dfa_router.counted import counted

__all__ = ["measured", "shown"]

_COUNTABLE = 40
"""Characters that a reader might count."""


def shown(text: str) -> str:
    r"""Return a text between backticks, or as a Python string where it could be misread.

    Escapes stand for characters that Unicode takes for another way to write others: matchers that normalise are wrong about these.

    >>> shown("a.#"), shown(""), shown("a\n"), shown("\u00e9"), shown("e\u0301")
    ('`a.#`', "''", "'a\\n'", '`é`', "'e\\u0301'")
    """
    if not unicodedata.is_normalized("NFC", text):
        return ascii(text)
    if text and text.isprintable() and text == text.strip() and "`" not in text:
        return f"`{text}`"
    return repr(text)


def measured(text: str, separator: str) -> str:
    """Return a text as :func:`shown`, and of a long one its size: where keys are cut, one more byte is what matters.

    >>> measured("a.#", "."), measured("a." + "b" * 40, ".")
    ('`a.#`', '`a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb` (2 words, 42 bytes)')
    """
    if len(text) <= _COUNTABLE:
        return shown(text)
    size = len(text.encode("utf-8", "surrogatepass"))
    return f"{shown(text)} ({counted(text.count(separator) + 1, 'word')}, {counted(size, 'byte')})"
