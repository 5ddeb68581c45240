"""Logs of odd JSON lines, and whether Arrow's way of reading them gives the columns and rows that Spark gives.

A log has objects of a few names with a type each, and a few kinds of oddities in some of its lines: with all kinds at once,
nearly every log would be left to Spark.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dfa_router.logs.marks import READ_PROBLEM, UNREADABLE
from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.stores import place_of
from dfa_router.logs.text_planning import text_parts, text_plan
from dfa_router.logs.text_reading import SeeText

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["difference", "odd_log", "shrunk"]

Line = bytes
Chance = random.Random
TEXTS = [
    "",
    "a.b",
    "x",
    "ä.\U0001f600",
    'say "b"\\',
    "\x00\x1f\x7f",
    "\u2028\u0085",
    "}",
    "{",
    "2024-01-01T00:00:00Z",
    "null",
]
TEXTS += [
    "2024-01-01 00:00:00",
    "2024-01-01",
    "12:30",
    "1",
    "-0",
    "NaN",
    "true",
    "k" * 300,
    "\ud7ff\ue000\uffff",
    "//",
    "'",
]
NUMBERS = [b"0", b"1", b"-1", b"9223372036854775807", b"-9223372036854775808", b"1234567890"]
DOUBLES = [b"0.5", b"1e5", b"1E-7", b"0.1", b"-2.50", b"1e300", b"5e-324", b"0.0", b"12345678901234567.5", b"1.0"]
ODD_VALUES = [
    b"-0",
    b"-0.0",
    b"01",
    b"1.",
    b".5",
    b"1e400",
    b"1e-400",
    b"123456789012345678901",
    b"0x1F",
    b"+1",
    b"NaN",
    b"INF",
]
ODD_VALUES += [
    b"-Infinity",
    b"'t'",
    b"t",
    b"tru",
    b"True",
    b"[1",
    b"[1,]",
    b"{",
    b'{"k":}',
    b"[]",
    b"{}",
    b'"\\x"',
    b'"\\u12"',
]
ODD_VALUES += [
    b"9223372036854775808",
    b"1e18",
    b"1e19",
    b"[[],[null]]",
    b"[{}]",
    b'"\t"',
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
]
BYTES = b"\"{}[]\\:,'#/*+-.eEnNtI01 \t\n\r\x00\x0b\x0c\x1f\x7f\xff\xc3\xa4\xed\xa0\x80\xef\xbb\xbf\xf0\x9f"
SPACES = [b" ", b"\t", b"\x0b", b"\x0c", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x00", b"\x1c", b"  \t"]
WHOLE = [
    b"",
    b" ",
    b"\t",
    b"{}",
    b"{ }",
    b"[]",
    b"null",
    b"true",
    b"1",
    b'"a"',
    b"not json",
    b"[1, 2]",
    b"{{}}",
    b"}",
    b"{",
    b"\x00",
]
WHOLE += [
    b'[{"exchange": "x", "routing_key": "a"}]',
    b"# a",
    b"// a",
    b"/* a */ {}",
    b"2024-01-01 [INFO] a",
    b"\xff",
    b"\xed\xa0\x80",
]


def odd_log(seed: int) -> bytes:
    """Return a log of a few dozen lines."""
    chance = random.Random(seed)
    kinds = {name: _kind(chance, 2) for name in chance.sample(["n", "a", "B", 'k"\\', "Ä\U0001f600", "at", "_"], 3)}
    kinds |= dict.fromkeys(["exchange", "routing_key"], _text)
    lines = [_object(chance, kinds) for _ in range(chance.randrange(1, 40))]
    for oddity in chance.sample(ODDITIES, chance.choice([0, 1, 1, 1, 2, 3])):
        for _ in range(chance.choice([1, 1, 3])):
            place = chance.randrange(len(lines))
            lines[place] = oddity(chance, lines[place])
    end = chance.choice([b"\n", b"\n", b"\n", b"\r\n", b"\r"])
    mark = b"\xef\xbb\xbf" * (chance.random() < 0.1)
    return mark + end.join(lines) + end * chance.randrange(3)


Kind = Callable[[Chance], bytes]


def _text(chance: Chance) -> bytes:
    text = json.dumps(chance.choice(TEXTS), ensure_ascii=chance.random() < 0.3)
    return text.encode(errors="surrogatepass")


def _kind(chance: Chance, depth: int) -> Kind:
    """Return what makes values of a type."""
    plain: list[Kind] = [
        _text,
        lambda chance: chance.choice(NUMBERS),
        lambda chance: chance.choice(DOUBLES),
        lambda chance: chance.choice([b"true", b"false"]),
        lambda chance: chance.choice([b"1", b"0.5", b"-3"]),
        lambda _: b"null",
    ]
    which = chance.randrange(8 if depth else 6)
    if which < 6:
        return plain[which]
    inner = _kind(chance, depth - 1)
    if which == 6:
        return lambda chance: b"[" + b", ".join(inner(chance) for _ in range(chance.randrange(3))) + b"]"
    return lambda chance: _object(chance, {"z": inner, "y": _text}, missing=0.3)


def _object(chance: Chance, kinds: dict[str, Kind], missing: float = 0.1) -> bytes:
    names = [name for name in kinds if chance.random() > missing]
    chance.shuffle(names)
    pairs = [
        json.dumps(name, ensure_ascii=chance.random() < 0.2).encode()
        + chance.choice([b":", b": ", b" :\t"])
        + (b"null" if chance.random() < 0.1 else kinds[name](chance))
        for name in names
    ]
    return b"{" + chance.choice([b",", b", "]).join(pairs) + b"}"


def _pair(chance: Chance, line: Line, pair: bytes) -> Line:
    """Put a pair into an object, in front or at the end."""
    if not (line.startswith(b"{") and line.endswith(b"}")) or line == b"{}":
        return b"{" + pair + b"}"
    return b"{" + pair + b", " + line[1:] if chance.random() < 0.5 else line[:-1] + b", " + pair + b"}"


def _changed_byte(chance: Chance, line: Line) -> Line:
    place = chance.randrange(len(line) + 1)
    new = bytes([chance.choice(BYTES)]) * chance.randrange(2)
    return line[:place] + new + line[place + chance.randrange(2) :]


def _name(chance: Chance) -> bytes:
    return chance.choice([b'"n"', b'"a"', b'"exchange"', b'"routing_key"', b'"new"', b'"vhost"'])


ODDITIES: list[Callable[[Chance, Line], Line]] = [
    lambda chance, line: chance.choice(SPACES) + line,
    lambda chance, line: line + chance.choice(SPACES),
    lambda chance, line: line[: chance.randrange(len(line) + 1)],
    _changed_byte,
    _changed_byte,
    lambda chance, line: _changed_byte(chance, _changed_byte(chance, line)),
    lambda chance, line: _pair(chance, line, _name(chance) + b": " + chance.choice(ODD_VALUES)),
    lambda chance, line: _pair(chance, line, _name(chance) + b": " + _text(chance)),
    lambda chance, line: _pair(chance, line, b'"exchange": ' + _text(chance)),
    lambda chance, line: _pair(
        chance, line, chance.choice([b'"Exchange"', b'"N"', b'""', b"n", b"'n'", b'"\\u006e"']) + b":1"
    ),
    lambda chance, line: line + chance.choice([b"", b" ", b","]) + line,
    lambda chance, line: b"[" + line + b"]",
    lambda chance, _: chance.choice(WHOLE),
    lambda chance, _: chance.choice(WHOLE),
    lambda chance, line: line.replace(b", ", chance.choice([b",\n", b",\r", b",,", b" /**/, "]), 1),
    lambda chance, line: line.replace(b'"', b"'"),
    lambda chance, line: line[:-1] + b',"deep":' + b"[" * chance.choice([3, 600]) + b"]" * 3 + b"}",
]


def difference(session: SparkSession, folder: Path, log: bytes) -> str | None:
    """Return how the two readings of a log differ, or an empty text if they do not; None for a log that is left to Spark."""
    from pyspark.sql import functions as sf
    from pyspark.sql.pandas.types import from_arrow_type

    from dfa_router.errors import MessagesError
    from dfa_router.spark.logs import read_messages

    path = folder / "log.jsonl"
    path.write_bytes(log)
    place = place_of(str(path))
    assert place is not None
    try:
        divided = text_parts(place, "jsonl", pattern=False, cores=2)
        plan = text_plan(place, "jsonl", divided, [SeeText(place.store, "jsonl")(part) for part in divided])
    except OtherWayError:
        return None
    try:
        read = read_messages(session, str(path), "jsonl")
    except MessagesError as error:
        return f"Spark refuses it ({error}), and Arrow reads {plan.schema}"
    columns = [(field.name, from_arrow_type(field.type).simpleString()) for field in plan.schema]
    here = pa.concat_tables([table for part in plan.parts for table in plan.read(part, 7)])
    asked = read.messages
    if UNREADABLE in asked.columns:
        asked = asked.withColumn(UNREADABLE, sf.col(UNREADABLE).cast("binary"))
    if UNREADABLE in here.column_names:
        number = here.column_names.index(UNREADABLE)
        here = here.set_column(number, UNREADABLE, here[UNREADABLE].cast(pa.binary()))
    types = [(name, kind) for name, kind in read.messages.dtypes if name != READ_PROBLEM]
    if columns != types:
        return f"the columns are {columns} to Arrow and {types} to Spark"
    there = [row.asDict(recursive=True) for row in asked.collect()]
    rows = here.to_pylist()
    if not len(rows) == len(there) == plan.rows == read.rows:
        return f"{len(rows)} rows of {plan.rows} to Arrow, {len(there)} of {read.rows} to Spark"
    shown = ([{name: _shown(row[name]) for name in row} for row in some] for some in (rows, there))
    for number, (one, other) in enumerate(zip(*shown, strict=True)):
        if one != other:
            names = [name for name in one if one[name] != other[name]]
            return f"row {number}: " + ", ".join(
                f"{name!r} is {one[name]} to Arrow and {other[name]} to Spark" for name in names
            )
    return ""


def _shown(value: Any) -> str:
    """Return a value as text that tells -0.0 from 0.0, and True from 1."""
    return ascii(bytes(value) if isinstance(value, bytearray) else value)


def shrunk(log: bytes, differs: Callable[[bytes], bool]) -> bytes:
    """Return as few of a log's lines as still differ."""
    lines = log.splitlines(keepends=True)
    step = len(lines)
    while step:
        for first in range(0, len(lines), step):
            fewer = lines[:first] + lines[first + step :]
            if fewer and differs(b"".join(fewer)):
                lines = fewer
                break
        else:
            step //= 2
    return b"".join(lines)
