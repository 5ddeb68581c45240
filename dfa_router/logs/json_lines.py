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
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from dfa_router.logs.blocks import BLANK, Block, Mark, is_utf8, java_text, with_line_feeds
from dfa_router.logs.marks import NO_CHARACTER, NO_JSON, NO_UTF8, TWICE
from dfa_router.logs.partitions import OtherWayError

__all__ = ["json_columns", "json_line_by_line", "plain_json"]

DEEP = "it has lines with very long numbers, or very deep objects"
DEEPEST = 1000
"""Levels of lists and objects of which Arrow is asked to find the types. It calls itself for each: 5,000 are found, and 20,000 end the process."""

_RISKY = "'NI+-"
"""Where a value, or a name, should begin and one of these stands, Spark may read on: ``'text'``, NaN, INF, +INF."""

_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""Escapes; half of a character by itself is the group."""


_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}\n"))
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def plain_json(data: bytes) -> Block | None:
    r"""Return a block if its lines seem to be nothing but objects, one in each.

    >>> plain_json(b'{"a": 1}\r\n{"a": 2}')
    Block(data=b'{"a": 1}\n{"a": 2}\n', rows=2, marks=())
    >>> plain_json(b'{"a": 1} {"a": 2}\n{"a": 3\n}') is None
    True
    """
    lines = with_line_feeds(data).strip(b" \t\n") + b"\n"  # other blanks in front of an object are no JSON
    rows = lines.count(b"\n")
    # Between two objects, and nowhere within one, stands a brace before a line feed and one behind it.
    plain = lines[:1] == b"{" and lines.endswith(b"}\n") and lines.count(b"}\n{") == rows - 1
    if not plain or b"\0" in lines or b"\\ud" in lines or b"\\uD" in lines or not is_utf8(lines):
        return None
    return Block(lines, rows)


def json_line_by_line(data: bytes) -> Block:
    r"""Return a block with a row for each line that is not blank; raises :class:`OtherWayError`.

    >>> block = json_line_by_line(b'{"a": 1}\n\n{"a": \n')
    >>> block.data, block.marks
    (b'{"a": 1}\n{}\n', (Mark(row=1, problem='the line is no JSON object', line=b'{"a": '),))
    """
    lines: list[bytes] = []
    marks: list[Mark] = []
    for raw in with_line_feeds(data).split(b"\n"):
        if raw.strip(BLANK):
            text, problems, kept = _read(raw)
            if problems:
                marks.append(Mark(len(lines), "; ".join(problems), raw if kept else None))
            lines.append(text.encode())
    return Block(b"".join(line + b"\n" for line in lines), len(lines), tuple(marks))


def _read(raw: bytes) -> tuple[str, list[str], bool]:
    """Return a line as Arrow can read it, what was wrong with it, and whether the line is to be kept."""
    line = java_text(raw)
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
    problems = [] if is_utf8(raw) else [NO_UTF8]
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
        raise OtherWayError(DEEP) from error
    if not isinstance(value, dict):
        raise OtherWayError("it has lines that are arrays")
    return value


def _check_twice(found: Iterable[list[tuple[str, Any]]], value: dict[str, Any]) -> None:
    """Refuse what of equal keys Spark makes text, or columns of several types."""
    for items in found:
        often = {name for name, count in Counter(name for name, _ in items).items() if count > 1}
        kinds = {type(one) for name, one in items if name in often}
        if dict(items) != value or kinds - {str}:
            raise OtherWayError("it has lines in which a key stands twice, with values that are no text")


def _constant(name: str) -> Any:
    raise OtherWayError(f"it has the number {name}")


def json_columns(block: Block, schema: pa.Schema | None) -> pa.Table:
    """Return a block's columns: those of a schema, or those that Arrow finds; raises ``ArrowInvalid``, and :class:`OtherWayError` for what is too deep."""
    if not block.rows:
        return pa.schema([]).empty_table() if schema is None else schema.empty_table()
    if schema is None and _is_deep(block.data):
        raise OtherWayError(DEEP)
    table = arrow_json.read_json(
        pa.BufferReader(block.data),
        arrow_json.ReadOptions(use_threads=False, block_size=len(block.data) + 1),
        arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "error"
        ),
    )
    if len(table) != block.rows:
        raise pa.ArrowInvalid(f"{block.rows} lines were read as {len(table)} rows")
    return table


def _is_deep(lines: bytes) -> bool:
    """Tell whether a line has over DEEPEST lists and objects within each other; it takes a nanosecond a byte."""
    brackets = lines.translate(None, _NO_BRACKETS).split(b"\n")
    if max(map(len, brackets)) <= DEEPEST:
        return False
    many = (line for line, among in zip(lines.split(b"\n"), brackets, strict=True) if len(among) > DEEPEST)
    return any(_depth(line) > DEEPEST for line in many)


def _depth(line: bytes) -> int:
    brackets = np.frombuffer(_STRING.sub(b"", line).translate(None, _NO_BRACKETS), np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))
