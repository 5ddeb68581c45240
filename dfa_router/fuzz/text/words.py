"""Words, patterns and keys as reports show them: none of them empty, broken over lines, or equal to another in looks."""

from __future__ import annotations

import unicodedata

__all__ = ["shown"]


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
