r"""A block of JSON lines as Arrow can read it: one object per line, with what was wrong with the others told apart.

Most blocks are plain: nothing but objects, one per line, which is seen by counting a few patterns of bytes. Any other block, and
one that Arrow refuses, is looked at line by line. A line that is no object becomes an empty one, and is marked; halves of
characters (``\ud800``) and bytes that are no UTF-8 become U+FFFD; of a key that stands twice the last value is kept.

The judge of what is JSON is Spark's parser, which takes more than the standard does: ``'text'``, ``NaN``, and whatever follows
the first object of a line. Lines where the two might differ are left to it, by :class:`OtherWayError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from dfa_router.logs.marks import NO_CHARACTER, NO_JSON, NO_UTF8, TWICE
from dfa_router.logs.partitions import OtherWayError

__all__ = ["Block", "Mark", "line_by_line", "plain_block"]

_BLANK = b" \t\n\x0b\f\r"
"""What a blank line consists of, as Java's regular expressions have it."""

_RISKY = "'NI+-"
"""Where a value, or a name, should begin and one of these stands, Spark may read on: ``'text'``, NaN, INF, +INF."""

_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""Escapes; half of a character by itself is the group."""

_SURROGATES = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Half of a character in bytes: bad ones are replaced alike by Java and Python, but these are a single one to Java."""


class Mark(NamedTuple):
    """What is to be said of a row."""

    row: int
    problem: str
    line: bytes | None
    """The line, where it could not be read in full."""


class Block(NamedTuple):
    """Lines that are objects, each with its end."""

    data: bytes
    rows: int
    marks: tuple[Mark, ...] = ()


def plain_block(data: bytes) -> Block | None:
    r"""Return a block if its lines seem to be nothing but objects, one in each.

    >>> plain_block(b'{"a": 1}\r\n{"a": 2}')
    Block(data=b'{"a": 1}\n{"a": 2}\n', rows=2, marks=())
    >>> plain_block(b'{"a": 1} {"a": 2}\n{"a": 3\n}') is None
    True
    """
    lines = _with_line_feeds(data).strip(_BLANK) + b"\n"
    rows = lines.count(b"\n")
    # Between two objects, and nowhere within one, stands a brace before a line feed and one behind it.
    plain = lines[:1] == b"{" and lines.endswith(b"}\n") and lines.count(b"}\n{") == rows - 1
    if not plain or b"\0" in lines or b"\\ud" in lines or b"\\uD" in lines or not _is_utf8(lines):
        return None
    return Block(lines, rows)


def line_by_line(data: bytes) -> Block:
    r"""Return a block with a row for each line that is not blank; raises :class:`OtherWayError`.

    >>> block = line_by_line(b'{"a": 1}\n\n{"a": \n')
    >>> block.data, block.marks
    (b'{"a": 1}\n{}\n', (Mark(row=1, problem='the line is no JSON object', line=b'{"a": '),))
    """
    lines: list[bytes] = []
    marks: list[Mark] = []
    for raw in _with_line_feeds(data).split(b"\n"):
        if raw.strip(_BLANK):
            text, problems, kept = _read(raw)
            if problems:
                marks.append(Mark(len(lines), "; ".join(problems), raw if kept else None))
            lines.append(text.encode())
    return Block(b"".join(line + b"\n" for line in lines), len(lines), tuple(marks))


def _read(raw: bytes) -> tuple[str, list[str], bool]:
    """Return a line as Arrow can read it, what was wrong with it, and whether the line is to be kept."""
    line = _SURROGATES.sub("\ufffd".encode(), raw).decode(errors="replace")
    text = _ESCAPES.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], line)
    found: list[list[tuple[str, Any]]] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(items)
        if len(held) < len(items):
            found.append(items)
        return held

    value = _parsed(text, pairs)
    if value is None:
        return "{}", [NO_JSON], True
    problems = [] if _is_utf8(raw) else [NO_UTF8]
    if found:
        _check_twice(found, value)
        problems.append(TWICE)
    whole = json.dumps(value) if found else text
    return whole, problems + [NO_CHARACTER] * (text != line), bool(found)


def _parsed(text: str, pairs: Any) -> dict[str, Any] | None:
    """Return the object of a line, or None where Spark would find none either."""
    head = text.lstrip(" \t\r\n")
    if head[:1] not in "{[":
        if head.startswith(("null", '""', "''")):
            raise OtherWayError(f"it has a line that is nothing but {head[:4].strip()}")
        return None
    try:
        value = json.loads(head, object_pairs_hook=pairs, parse_constant=_constant)
    except json.JSONDecodeError as error:
        at = head[error.pos : error.pos + 1]
        risky = error.msg.startswith(("Expecting value", "Expecting property")) and at and at in _RISKY
        if error.msg == "Extra data" or risky:
            raise OtherWayError("it has lines that are no strict JSON") from error
        return None
    except (ValueError, RecursionError) as error:
        raise OtherWayError("it has lines with very long numbers, or very deep objects") from error
    if not isinstance(value, dict):
        raise OtherWayError("it has lines that are arrays")
    return value


def _check_twice(found: Iterable[list[tuple[str, Any]]], value: dict[str, Any]) -> None:
    """Refuse what of equal keys Spark makes text, or columns of several types."""
    for items in found:
        often = [name for name in value if sum(name == other for other, _ in items) > 1]
        kinds = {type(one) for name, one in items if name in often}
        if dict(items) != value or not often or kinds - {str}:
            raise OtherWayError("it has lines in which a key stands twice, with values that are no text")


def _constant(name: str) -> Any:
    raise OtherWayError(f"it has the number {name}")


def _with_line_feeds(data: bytes) -> bytes:
    """Return lines with one sort of end: Spark ends a line at a carriage return, too."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeDecodeError:
        return False
