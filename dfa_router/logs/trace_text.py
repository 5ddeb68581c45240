"""RabbitMQ's trace log in its text form: records that begin with a line of eighty ``=``.

A payload stands there as it was sent, so it may look like the beginning of a record: in principle the form is ambiguous. What is
taken for a beginning is the whole of it, with the time, the type and the line of the node. A file is divided at any byte; a record
belongs to the range in which it begins.

Everything is found by looking for the next label, never back, so a hostile file takes as long as any other of its size.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dfa_router.logs.blocks import BLANK, Block, Mark, is_utf8
from dfa_router.logs.erlang_terms import Atom, TermError, read_term
from dfa_router.logs.lines import BLOCK_BYTES, open_piece
from dfa_router.logs.marks import NO_RECORD, NO_UTF8
from dfa_router.logs.parts import TextPiece
from dfa_router.logs.trace_records import RecordError, as_json, headers_json, records_table

__all__ = ["count_text", "last_beginning", "record_blocks", "text_records"]

BEGINNING = re.compile(rb"\n={80}\n[^\n]{1,64}: Message (?:published|received)\n\nNode:         ")
LONGEST_BEGINNING = 220
"""Bytes that a beginning takes at most: so many may stand at the end of what was read without being found."""
NO_END = "the record does not end as one should: its payload may be cut"

_LABELS = (
    ("node", b"Node:         "), ("connection", b"\nConnection:   "), ("vhost", b"\nVirtual host: "), ("user", b"\nUser:         "),
    ("channel", b"\nChannel:      "), ("exchange", b"\nExchange:     "),
)  # fmt: skip
_LABELLED = tuple(name for name, _ in _LABELS)
_KEYS = b"\nRouting keys: "
_PLAIN_NAMES = re.compile(rb"([^\n]*+)".join([b"", *(re.escape(label) for _, label in _LABELS[1:]), re.escape(_KEYS)]))
"""What stands behind the first label, where no name has a line feed in it."""


def record_blocks(store: Any, piece: TextPiece) -> Iterator[bytes]:
    """Yield the records that begin within a piece, some at a time; what stands before a file's first one is a block by itself.

    Raises ``OSError`` and Arrow's errors. Holds one record and :data:`~dfa_router.logs.lines.BLOCK_BYTES` more.
    """
    with open_piece(store, piece) as file:
        if piece.start:
            file.seek(piece.start)
        held, place, searched = bytearray(), piece.start, 0
        begun = False
        while True:
            chunk = file.read(BLOCK_BYTES)
            held += chunk
            starts = [found.start() for found in BEGINNING.finditer(held, searched)]
            if not begun:
                unsure = 0 if not chunk else LONGEST_BEGINNING
                first = starts[0] if starts else max(0, len(held) - unsure)
                if not piece.start and held[:first].strip(BLANK):
                    yield bytes(held[:first])
                del held[:first]
                place += first
                if not starts and chunk and (piece.end is None or place < piece.end):
                    continue
                if not starts or (piece.end is not None and place >= piece.end):
                    return
                begun = True
                starts = [start - first for start in starts[1:]]
            following = next((start for start in starts if piece.end is not None and place + start >= piece.end), None)
            if following is not None or not chunk:
                yield bytes(held[:following])
                return
            if starts:
                yield bytes(held[: starts[-1]])
                del held[: starts[-1]]
                place += starts[-1]
            searched = max(1, len(held) - LONGEST_BEGINNING)  # the held record's own beginning stands at 0


def last_beginning(data: bytes) -> int | None:
    """Return where the last record begins, or None where none does."""
    starts = [found.start() for found in BEGINNING.finditer(data)]
    return starts[-1] if starts else None


def count_text(data: bytes) -> int:
    """Return how many records of a block of :func:`record_blocks` are no deliveries."""
    headless = BEGINNING.match(data) is None
    return headless + sum(b"published" in found[0][82:] for found in BEGINNING.finditer(data))


def text_records(data: bytes) -> tuple[Block, pa.Table]:
    """Return the records of a block of :func:`record_blocks`, and what was wrong with some of them."""
    starts = [found.start() for found in BEGINNING.finditer(data)]
    if not starts or starts[0]:
        starts = [0, *starts]
    rows: list[dict[str, Any] | None] = []
    marks: list[Mark] = []
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        raw = data[start:end]
        try:
            row, problem = _record(raw)
        except (TermError, RecordError) as error:
            kind = "received" if (BEGINNING.match(raw) and b"published" not in raw[82:150].split(b"\n")[0]) else None
            row, problem = {"type": kind}, f"{NO_RECORD}: {str(error)[:200]}"
        if problem is not None:
            marks.append(Mark(len(rows), problem, raw))
        rows.append(row)
    return Block(data, len(rows), tuple(marks)), records_table(rows)


def _record(raw: bytes) -> tuple[dict[str, Any], str | None]:
    """Return the columns of a record, and what was wrong with it; raises :class:`RecordError` and :class:`TermError`."""
    opening = BEGINNING.match(raw)
    if opening is None:
        raise RecordError("it has no beginning")
    time, _, kind = raw[82 : raw.index(b"\n", 82)].partition(b": Message ")
    names, place = _names(raw, opening.end())
    found: dict[str, bytes] = {"timestamp": time, "type": kind, **names}
    keys, place = read_term(raw, place)
    row: dict[str, Any] = {"routing_keys": _texts(keys)}
    if not keys:
        raise RecordError("it has no routing key")
    if raw.startswith(b"\nQueue:        ", place):
        end = raw.find(b"\nProperties:   ", place)
        found["queue"], place = raw[place + 15 : end], end
    elif raw.startswith(b"\nRouted queues: ", place):
        queues, place = read_term(raw, place + 16)
        row["routed_queues"] = _texts(queues)
    if place < 0 or not raw.startswith(b"\nProperties:   ", place):
        raise RecordError("it ends before Properties:")
    properties, place = read_term(raw, place + 15)
    if not raw.startswith(b"\nPayload: \n", place):
        raise RecordError("it ends before Payload:")
    whole = raw.endswith(b"\n") and len(raw) > place + 11
    payload = raw[place + 11 : len(raw) - whole]
    held = _value(Atom("table"), properties)
    damaged = not all(map(is_utf8, (*found.values(), *keys)))
    row |= {name: text.decode(errors="replace") for name, text in found.items()}
    row["channel"] = int(found["channel"]) if found["channel"].isdigit() and len(found["channel"]) < 10 else None
    row |= {
        "routing_key": row["routing_keys"][0],
        "cc": row["routing_keys"][1:] or (),
        "headers": headers_json(held),
        "properties": as_json(held),
        "payload": b64encode(payload).decode(),
        "payload_bytes": len(payload),
    }
    return row, NO_END if not whole else NO_UTF8 if damaged else None


def _names(raw: bytes, place: int) -> tuple[dict[str, bytes], int]:
    """Return what stands behind each label, of which the first ends at a place, and where the routing keys begin."""
    plain = _PLAIN_NAMES.match(raw, place)
    if plain is not None:
        return dict(zip(_LABELLED, plain.groups(), strict=True)), plain.end()
    found: dict[str, bytes] = {}
    for (name, _), following in zip(_LABELS, [*(label for _, label in _LABELS[1:]), _KEYS], strict=True):
        end = raw.find(following, place)
        if end < 0:
            raise RecordError(f"it ends before {following.decode().strip()}")
        found[name], place = raw[place:end], end + len(following)
    return found, place


def _texts(term: Any) -> list[str]:
    if not isinstance(term, list) or not all(isinstance(one, bytes) for one in term):
        raise TermError("expected a list of names")
    return [one.decode(errors="replace") for one in term]


def _value(kind: Any, value: Any) -> Any:
    """Return a value of AMQP as the plugin's JSON form has it."""
    if kind == "table" and isinstance(value, list):
        return {name.decode(errors="replace"): _value(one, held) for name, one, held in map(_field, value)}
    if kind == "array" and isinstance(value, list):
        return [_value(*_pair(one)) for one in value]
    if kind == "decimal":
        scale, digits = _pair(value)
        if not (isinstance(scale, int) and 0 <= scale < 2**8 and isinstance(digits, int) and abs(digits) < 2**32):
            raise TermError("a decimal is not of 8 bits for its places and 32 for its digits, as AMQP has it")
        return digits / 10**scale
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return f"Not UTF-8, base64 is: {b64encode(value).decode()}"
    if isinstance(value, Atom):
        return {"true": True, "false": False}.get(value, str(value))
    if isinstance(value, int | float):
        return value
    raise TermError(f"a value of type {str(kind)[:20]!r} is not as brokers write it")


def _field(term: Any) -> tuple[bytes, Any, Any]:
    if not isinstance(term, tuple) or len(term) != 3 or not isinstance(term[0], bytes):
        raise TermError("a table has an entry that is no (name, type, value)")
    return term[0], term[1], term[2]


def _pair(term: Any) -> tuple[Any, Any]:
    if not isinstance(term, tuple) or len(term) != 2:
        raise TermError("expected a pair")
    return term[0], term[1]
