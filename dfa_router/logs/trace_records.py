r"""Records of RabbitMQ's trace log as columns, the same for both of its forms.

The plugin ``rabbitmq_tracing`` writes a record for each message that a client publishes and for each that a queue delivers, in
JSON, one object per line, or as text (:mod:`~dfa_router.logs.trace_text`). :data:`TRACE` has the columns. What to know of them:

- ``routing_keys`` holds the key and behind it those of CC and BCC; ``routing_key`` is the first one, ``cc`` the others.
- ``routed_queues`` is what the broker's routing found, before it looked for these queues: on the default exchange it names
  the queue of each key, whether or not there is one.
- ``headers`` is JSON, ``{}`` where a message had none, and no BCC: the broker removes it. In the JSON form a header without a value
  is the text ``undefined``, and one that is no UTF-8 says so in words; that is how the plugin writes them.
- ``payload`` is in base64, as the JSON form has it, and may be cut: the plugin has a limit, ``max_payload_bytes``.
- ``queue`` is that of a delivery, and null for a publication; ``routed_queues`` the other way around.

Most blocks of the JSON form are read by Arrow, and only ``properties``, whose content is anybody's, by Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from dfa_router.logs.blocks import BLANK, Block, Mark, is_utf8, java_text, with_line_feeds
from dfa_router.logs.json_lines import plain_json
from dfa_router.logs.marks import NO_CHARACTER, NO_RECORD, NO_UTF8
from dfa_router.strict_json import loads

__all__ = ["TRACE", "RecordError", "as_json", "count_json", "headers_json", "json_records", "records_table"]


class RecordError(ValueError):
    """A record is not as the plugin writes it; says why. Never leaves the package: it becomes a problem of the row."""


_TEXTS = ("timestamp", "type", "node", "connection", "vhost", "user", "exchange")

TRACE = pa.schema(
    [
        ("timestamp", pa.string()),
        ("type", pa.string()),
        ("node", pa.string()),
        ("connection", pa.string()),
        ("vhost", pa.string()),
        ("user", pa.string()),
        ("channel", pa.int64()),
        ("exchange", pa.string()),
        ("routing_key", pa.string()),
        ("routing_keys", pa.list_(pa.string())),
        ("cc", pa.list_(pa.string())),
        ("queue", pa.string()),
        ("routed_queues", pa.list_(pa.string())),
        ("headers", pa.string()),
        ("properties", pa.string()),
        ("payload", pa.string()),
        ("payload_bytes", pa.int64()),
    ]
)
"""The columns of a trace; ``type`` is ``published`` or ``received``, and null for a record that could not be read."""

_READ = pa.schema(
    [TRACE.field(name) for name in (*_TEXTS, "channel", "routing_keys", "queue", "routed_queues", "payload")]
)
"""What Arrow reads of a line by itself."""

_SHORTEST = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""Made once: ``json.dumps`` makes one for each value."""
_PROPERTIES = '"properties":'
_NONE = b'"routed_queues":"none"'
_NULL = b'"routed_queues":null'


def json_records(data: bytes) -> tuple[Block, pa.Table]:
    """Return the records of lines of the JSON form, one for each line that is not blank, and what was wrong with some of them."""
    block = plain_json(data)
    if block is not None:
        with suppress(pa.ArrowInvalid, ValueError, RecursionError):
            return block, _plain(block)
    rows: list[Mapping[str, Any] | None] = []
    marks: list[Mark] = []
    for raw in with_line_feeds(data).split(b"\n"):
        if not raw.strip(BLANK):
            continue
        row, problem = _read(raw)
        if problem is not None:
            marks.append(Mark(len(rows), problem, raw))
        rows.append(row)
    return Block(data, len(rows), tuple(marks)), records_table(rows)


def count_json(data: bytes) -> int:
    """Return how many records of lines are no deliveries."""
    block = plain_json(data)
    if block is not None:
        with suppress(pa.ArrowInvalid):
            types = _arrow(block.data, pa.schema([TRACE.field("type")]))["type"]
            if len(types) == block.rows:
                return block.rows - (pc.sum(pc.equal(types, "received")).as_py() or 0)
    block, table = json_records(data)
    return block.rows - (pc.sum(pc.equal(table["type"], "received")).as_py() or 0)


def records_table(rows: Sequence[Mapping[str, Any] | None]) -> pa.Table:
    """Return rows, whose keys are those of :data:`TRACE`, as columns; None is a row of nulls."""
    return pa.Table.from_pylist([row or {} for row in rows], schema=TRACE)


def as_json(value: object) -> str:
    """Return a value as JSON, as short as it can be."""
    return _SHORTEST.encode(value)


def headers_json(properties: Any) -> str:
    """Return the headers among the properties of a record; raises :class:`RecordError` for what no broker writes as such."""
    if properties == []:  # as older brokers write an empty table
        return "{}"
    if not isinstance(properties, dict):
        raise RecordError("properties are no object")
    headers = properties.get("headers")
    if not headers:
        return "{}"
    if not isinstance(headers, dict):
        raise RecordError("headers are no object")
    return as_json(headers)


def _plain(block: Block) -> pa.Table:
    """Return the records of a block; raises ``ArrowInvalid`` and ``ValueError`` where a line is not as the plugin writes it."""
    table = _arrow(block.data.replace(_NONE, _NULL), _READ)
    if len(table) != block.rows:
        raise pa.ArrowInvalid("a line holds several objects")
    columns = {name: _flat(table[name]) for name in table.schema.names}
    needed = (*_TEXTS, "routing_keys", "payload")
    if any(columns[name].null_count for name in needed) or not _are_types(columns["type"]):
        raise RecordError("a record lacks a field")
    keys, routed = columns["routing_keys"], columns["routed_queues"]
    if keys.values.null_count or routed.values.null_count:
        raise RecordError("a list of names lacks one")
    published = pc.equal(columns["type"], "published")
    if pc.if_else(published, "", columns["queue"]).null_count:
        raise RecordError("a delivery lacks its queue")
    properties, headers = _properties(block.data.decode())
    channel = columns["channel"]
    columns |= {
        "channel": pc.if_else(pc.and_(pc.greater_equal(channel, 0), pc.less(channel, 2**31)), channel, None),
        "queue": pc.if_else(published, None, columns["queue"]),
        "routed_queues": pc.if_else(published, routed, None),
        "routing_key": pc.list_element(keys, 0),  # raises where a record has none
        "cc": pc.list_slice(keys, 1),
        "properties": pa.array(properties, pa.string()),
        "headers": pa.array(headers, pa.string()),
        "payload_bytes": _sizes(columns["payload"]),
    }
    return pa.table([columns[name] for name in TRACE.names], schema=TRACE)


def _arrow(data: bytes, schema: pa.Schema) -> pa.Table:
    return arrow_json.read_json(
        pa.BufferReader(data),
        arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    ).combine_chunks()


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _are_types(column: pa.Array) -> bool:
    return bool(pc.all(pc.is_in(column, pa.array(["published", "received"]))).as_py())


def _properties(text: str) -> tuple[list[str], list[str]]:
    """Return the properties of each line, as they stand there, and the headers among them."""
    properties, headers = [], []
    scan = json.JSONDecoder().raw_decode
    for line in text.split("\n")[:-1]:
        # In a value a quotation mark is escaped, and those of other objects stand within this one.
        place = line.index(_PROPERTIES) + len(_PROPERTIES)
        while line[place] == " ":
            place += 1
        value, end = scan(line, place)
        properties.append(line[place:end] if value else "{}")
        headers.append(headers_json(value))
    return properties, headers


def _sizes(payload: pa.Array) -> pa.Array:
    """Return how many bytes texts in base64 stand for."""
    padding = pc.add(pc.cast(pc.ends_with(payload, "="), pa.int64()), pc.cast(pc.ends_with(payload, "=="), pa.int64()))
    return pc.subtract(pc.multiply(pc.divide(pc.cast(pc.binary_length(payload), pa.int64()), 4), 3), padding)


def _read(raw: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """Return the record of a line, or None, and what was wrong with it, or None."""
    text = java_text(raw)
    problem = None if is_utf8(raw) else NO_UTF8
    try:
        row = _record(loads(text))
    except (ValueError, RecursionError) as error:
        return {"type": "received"} if _is_delivery(text) else None, NO_RECORD + _reason(error)
    if any(isinstance(value, str) and not _is_text(value) for value in _texts_of(row)):
        return {name: _mended(value) for name, value in row.items()}, NO_CHARACTER
    return row, problem


def _is_delivery(text: str) -> bool:
    """Tell whether a line that is no record says at least that a queue delivered it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("type") == "received"


def _reason(error: Exception) -> str:
    return ": it nests too deeply" if isinstance(error, RecursionError) else f": {str(error)[:200]}"


def _record(found: Any) -> dict[str, Any]:
    """Return the columns of an object; raises :class:`RecordError`."""
    if not isinstance(found, dict):
        raise RecordError("it is no object")
    row: dict[str, Any] = {}
    for name in (*_TEXTS, "payload"):
        if not isinstance(found.get(name), str):
            raise RecordError(f"{name!r} is missing, or no text")
        row[name] = found[name]
    if row["type"] not in {"published", "received"}:
        raise RecordError(f"its type is {row['type'][:40]!r}")
    row["routing_keys"] = _names(found, "routing_keys")
    if not row["routing_keys"]:
        raise RecordError("it has no routing key")
    row["routing_key"], *row["cc"] = row["routing_keys"]
    if row["type"] == "published":
        if found.get("routed_queues") is not None and found["routed_queues"] != "none":
            row["routed_queues"] = _names(found, "routed_queues")
    elif not isinstance(found.get("queue"), str):
        raise RecordError("'queue' is missing, or no text")
    else:
        row["queue"] = found["queue"]
    channel = found.get("channel")
    row["channel"] = channel if type(channel) is int and 0 <= channel < 2**31 else None
    properties = found.get("properties", {})
    row["headers"] = headers_json(properties)
    row["properties"] = as_json(properties or {})
    row["payload_bytes"] = len(row["payload"]) // 4 * 3 - row["payload"][-2:].count("=")
    return row


def _names(found: Mapping[str, Any], name: str) -> list[str]:
    names = found.get(name)
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise RecordError(f"{name!r} is missing, or no list of names")
    return names


def _texts_of(row: Mapping[str, Any]) -> list[Any]:
    return [*row.values(), *row["routing_keys"], *(row.get("routed_queues") or ())]


def _is_text(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)


def _mended(value: Any) -> Any:
    if isinstance(value, list):
        return [_mended(one) for one in value]
    return value.encode(errors="surrogatepass").decode(errors="replace") if isinstance(value, str) else value
