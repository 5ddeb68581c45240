"""The few MQTT 5 packets that a round needs, as bytes.

PUBLISH, of which a round sends and receives thousands, is written for speed, and the rest to be read. Source: MQTT Version
5.0, OASIS Standard, chapters 2 and 3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = [
    "BYE",
    "CONNACK",
    "DISCONNECT",
    "PUBACK",
    "PUBLISH",
    "SUBACK",
    "IDENTIFIERS_AVAILABLE",
    "RECEIVE_MAXIMUM",
    "SUBSCRIPTION_IDENTIFIER",
    "connect",
    "packets",
    "properties",
    "publish",
    "reason",
    "subscribe",
    "varint",
]

CONNACK, PUBLISH, PUBACK, SUBACK, DISCONNECT = 2, 3, 4, 9, 14
BYE = b"\xe0\x00"
"""DISCONNECT without a reason."""

REASON_STRING, SUBSCRIPTION_IDENTIFIER, RECEIVE_MAXIMUM, IDENTIFIERS_AVAILABLE = 0x1F, 0x0B, 0x21, 0x29
_BYTE, _TWO, _FOUR, _VARINT, _TEXT, _PAIR = "byte", "two", "four", "varint", "text", "pair"
_PROPERTIES = {
    **dict.fromkeys((0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A), _BYTE),
    **dict.fromkeys((0x13, 0x21, 0x22, 0x23), _TWO),
    **dict.fromkeys((0x02, 0x11, 0x18, 0x27), _FOUR),
    **dict.fromkeys((0x0B,), _VARINT),
    **dict.fromkeys((0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F), _TEXT),
    **dict.fromkeys((0x26,), _PAIR),
}
_REASONS = {
    0x80: "unspecified error",
    0x81: "malformed packet",
    0x82: "protocol error",
    0x83: "implementation specific error",
    0x84: "unsupported protocol version",
    0x85: "client identifier not valid",
    0x86: "bad user name or password",
    0x87: "not authorized",
    0x88: "server unavailable",
    0x89: "server busy",
    0x8A: "banned",
    0x8B: "server shutting down",
    0x8D: "keep alive timeout",
    0x8E: "session taken over",
    0x8F: "topic filter invalid",
    0x90: "topic name invalid",
    0x93: "receive maximum exceeded",
    0x95: "packet too large",
    0x96: "message rate too high",
    0x97: "quota exceeded",
    0x98: "administrative action",
    0x99: "payload format invalid",
    0x9E: "shared subscriptions not supported",
    0x9F: "connection rate exceeded",
    0xA1: "subscription identifiers not supported",
    0xA2: "wildcard subscriptions not supported",
}


def varint(number: int) -> bytes:
    r"""Return a variable byte integer: seven bits a byte, the lowest first.

    >>> varint(5), varint(200)
    (b'\x05', b'\xc8\x01')
    """
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _text(value: bytes) -> bytes:
    return struct.pack(">H", len(value)) + value


def connect(client: str, user: str | None, password: str | None) -> bytes:
    """Return CONNECT: MQTT 5, a clean start, a session that ends with the connection, and no keep-alive."""
    flags = 0x02 | (0x80 if user is not None else 0) | (0x40 if password is not None else 0)
    body = _text(b"MQTT") + bytes((5, flags, 0, 0, 0)) + _text(client.encode())
    body += b"".join(_text(part.encode()) for part in (user, password) if part is not None)
    return b"\x10" + varint(len(body)) + body


def subscribe(packet: int, filter_: bytes, identifier: int, retain_handling: int = 2) -> bytes:
    """Return SUBSCRIBE to one filter at QoS 0; retained messages are not sent with ``retain_handling`` 2."""
    named = b"\x0b" + varint(identifier)
    body = struct.pack(">H", packet) + varint(len(named)) + named + _text(filter_) + bytes((retain_handling << 4,))
    return b"\x82" + varint(len(body)) + body


def publish(topic: bytes, payload: bytes, packet: int | None = None) -> bytes:
    """Return PUBLISH, at QoS 1 if a packet identifier is given and else at QoS 0."""
    size = len(topic) + len(payload) + (3 if packet is None else 5)
    if packet is None:
        return b"\x30%b%b%b\0%b" % (varint(size), struct.pack(">H", len(topic)), topic, payload)
    identifier = struct.pack(">H", packet)
    return b"\x32%b%b%b%b\0%b" % (varint(size), struct.pack(">H", len(topic)), topic, identifier, payload)


def packets(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield (kind, flags, begin of the body, end of the body) of each packet that is complete.

    Bytes after the last end belong to a packet of which the rest has not come yet.
    """
    at, size = 0, len(data)
    while at + 1 < size:
        head, length, begin = data[at], data[at + 1], at + 2
        if length > 127:
            length, shift = length & 127, 7
            while True:
                if begin >= size:
                    return
                byte = data[begin]
                begin += 1
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128 or shift > 21:
                    break
        at = begin + length
        if at > size:
            return
        yield head >> 4, head & 15, begin, at


def properties(data: bytes, at: int) -> tuple[list[tuple[int, bytes | int]], int]:
    """Return the properties that begin at ``at``, as (identifier, value), and where they end."""
    length, at = _number(data, at)
    end, found = at + length, []
    while at < end:
        kind = data[at]
        at += 1
        value: bytes | int
        match _PROPERTIES.get(kind):
            case "byte":
                value, at = data[at], at + 1
            case "two":
                value, at = int.from_bytes(data[at : at + 2]), at + 2
            case "four":
                value, at = int.from_bytes(data[at : at + 4]), at + 4
            case "varint":
                value, at = _number(data, at)
            case "text" | "pair" as form:
                begin = at
                at += 2 + int.from_bytes(data[at : at + 2])
                value = data[begin + 2 : at]
                if form == "pair":
                    at += 2 + int.from_bytes(data[at : at + 2])
            case _:
                raise ValueError(f"unknown property {kind:#x}")
        found.append((kind, value))
    return found, end


def _number(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def reason(code: int, found: list[tuple[int, bytes | int]]) -> str:
    """Return a reason code in the standard's words, followed by the broker's own words if there are any.

    >>> reason(0x82, [])
    '0x82 protocol error'
    """
    words = next((value for kind, value in found if kind == REASON_STRING), b"")
    own = words.decode(errors="replace") if isinstance(words, bytes) else ""
    text = f"{code:#04x} {_REASONS.get(code, 'of no reason in the standard')}"
    return f"{text}: {own}" if own else text
