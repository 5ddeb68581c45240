"""What blocks of lines have in common, whatever their format: a row for each line, and what was wrong with some of them."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["BLANK", "Block", "Mark", "is_utf8", "java_text", "with_line_feeds"]

BLANK = b" \t\n\x0b\f\r"
"""What a blank line consists of, as Java's regular expressions have it."""

_SURROGATES = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


class Mark(NamedTuple):
    """What is to be said of a row."""

    row: int
    problem: str
    line: bytes | None
    """The line, where it could not be read in full."""


class Block(NamedTuple):
    """Lines that Arrow can read, each with its end."""

    data: bytes
    rows: int
    marks: tuple[Mark, ...] = ()


def with_line_feeds(data: bytes) -> bytes:
    """Return lines with one sort of end: Spark ends a line at a carriage return, too."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def is_utf8(data: bytes) -> bool:
    """Tell whether bytes are text."""
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeDecodeError:
        return False


def java_text(line: bytes) -> str:
    r"""Return a line with U+FFFD for each bad byte, as Java does it: half of a character in bytes is a single one.

    >>> ascii(java_text(b"a\xff\xed\xa0\x80"))
    "'a\\ufffd\\ufffd'"
    """
    return _SURROGATES.sub("\ufffd".encode(), line).decode(errors="replace")
