"""The frames of AMQP 0-9-1 by which topologies are declared and published to, without waiting for answers.

pamqp packs tables and short strings; its methods refuse names beyond ASCII, which a broker takes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from pamqp import encode

from dfa_router.rabbitmq import Binding, Exchange, Queue

__all__ = ["bind", "consume", "declare_exchange", "declare_queue", "delete_exchange", "delete_queue", "publish"]

METHOD, HEADER, BODY, END = 1, 2, 3, b"\xce"
INTERNAL, NOWAIT = 8, 16
"""Bits of Exchange.Declare; of Queue.Declare the second is the same."""
HAS_HEADERS = 1 << 13


def declare_exchange(one: Exchange) -> bytes:
    """Return Exchange.Declare."""
    bits = NOWAIT | (INTERNAL if one.internal else 0)
    return _method(40, 10, _texts(one.name, one.type or ""), bytes([bits]), _table(one.arguments))


def delete_exchange(name: str, *, nowait: bool) -> bytes:
    """Return Exchange.Delete."""
    return _method(40, 20, _texts(name), bytes([2 if nowait else 0]))


def declare_queue(one: Queue) -> bytes:
    """Return Queue.Declare."""
    return _method(50, 10, _texts(one.name), bytes([NOWAIT]), _table(one.arguments))


def delete_queue(name: str) -> bytes:
    """Return Queue.Delete."""
    return _method(50, 40, _texts(name), bytes([4]))


def bind(one: Binding) -> bytes:
    """Return Queue.Bind, or Exchange.Bind."""
    method = (50, 20) if one.destination_type == "queue" else (40, 30)
    return _method(*method, _texts(one.destination, one.source, one.routing_key), bytes([1]), _table(one.arguments))


def consume(queue: str) -> bytes:
    """Return Basic.Consume without acknowledgements; the consumer's tag is the queue's name."""
    return _method(60, 20, _texts(queue, queue), bytes([2 | 8]), _table({}))


def publish(exchange: str, key: str, text: bytes, headers: Mapping[str, Any] | None = None) -> bytes:
    """Return the frames of a message."""
    properties = struct.pack(">H", HAS_HEADERS if headers else 0) + (_table(headers) if headers else b"")
    content = struct.pack(">HHQ", 60, 0, len(text)) + properties
    return _method(60, 40, _texts(exchange, key), b"\0") + _frame(HEADER, content) + _frame(BODY, text)


def _method(kind: int, number: int, texts: bytes, bits: bytes, table: bytes = b"") -> bytes:
    return _frame(METHOD, struct.pack(">HHH", kind, number, 0) + texts + bits + table)


def _frame(kind: int, payload: bytes) -> bytes:
    return struct.pack(">BHI", kind, 1, len(payload)) + payload + END


def _texts(*texts: str) -> bytes:
    encoded = [text.encode() for text in texts]
    return b"".join(bytes([len(text)]) + text for text in encoded)


def _table(values: Mapping[str, Any]) -> bytes:
    return encode.field_table({name: _value(value) for name, value in values.items()})


def _value(value: Any) -> Any:
    return bytearray(value) if isinstance(value, bytes) else value
