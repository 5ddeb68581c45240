"""One MQTT connection: it subscribes and publishes, and assigns each delivery to its topic as it arrives."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence

from dfa_router.brokers import mqtt_packets as mqtt
from dfa_router.brokers.address import Address
from dfa_router.brokers.stream import LostError, Stream
from dfa_router.errors import RouterError

__all__ = ["NotTakenError", "Session"]

_LAST = 0x80000000
"""Added to the number of a portion, this is the payload of the message that ends it."""
_LAST_PACKET = 0xFFFF
_RETAINED = 1


class NotTakenError(RouterError):
    """The broker answered a SUBSCRIBE or PUBLISH with a refusal; ``filter`` or ``topic`` is its number in the round."""

    def __init__(self, reason: str, *, filter_: int | None = None, topic: int | None = None) -> None:
        """Take the broker's reason, and the number of the filter (from 1) or topic."""
        super().__init__(reason)
        self.reason, self.filter, self.topic = reason, filter_, topic


class Session:
    """A connection with a clean start, which the broker forgets when it closes."""

    def __init__(self, address: Address) -> None:
        """Open the socket; CONNECT is sent with the first packets."""
        # A new token for each session, as the broker may still be handling messages of a round that was interrupted.
        self._token = secrets.token_bytes(6)
        name = f"dfa-router/{self._token.hex()}"
        self._sentinel = name.encode()  # the topic of the message to ourselves that ends a portion
        self._unsent = mqtt.connect(name, address.user, address.password)
        self._filters = 0
        self._first = 0
        self._stream = Stream(address)
        self._patience = address.timeout
        self._rest = b""
        self._unacknowledged = 0
        self._portion = 0
        self._ended = False
        self._deliveries: list[list[int]] = []
        self.receive_maximum = 0xFFFF
        self.retained: list[bytes] = []
        """The payloads of retained messages."""

    def subscribe(self, filters: Sequence[bytes], retain_handling: int = 2) -> None:
        """Subscribe to the filters, numbered from 1, and to the topic of our own last message.

        Nothing is sent until the next :meth:`publish`.
        """
        lines = [mqtt.subscribe(at, text, at, retain_handling) for at, text in enumerate(filters, 1)]
        self._filters = len(filters)
        at = len(filters) + 1
        self._unsent += b"".join(lines) + mqtt.subscribe(at, self._sentinel, at)

    def publish(self, topics: Sequence[bytes], first: int, deliveries: list[list[int]]) -> None:
        """Publish to the topics, numbered from ``first``, and return when all deliveries have come.

        ``deliveries[number of a topic]`` gets the numbers of the filters that it was delivered for.

        Raises:
            NotTakenError: the broker refuses a filter or a topic and stays connected.
            LostError: the connection broke, nothing came for too long, or a delivery does not tell its subscription. Some
                brokers refuse by closing the connection.

        """
        self._deliveries, self._unacknowledged, self._ended = deliveries, len(topics) + 1, False
        self._first, self._portion = first, self._portion + 1
        token, pack = self._token, struct.Struct(">I").pack
        lines = [mqtt.publish(topic, token + pack(at), at % 0xFFFE + 1) for at, topic in enumerate(topics, first)]
        lines.append(mqtt.publish(self._sentinel, token + pack(_LAST + self._portion), _LAST_PACKET))
        unsent, self._unsent = self._unsent + b"".join(lines), b""
        self._stream.talk(unsent, self._feed)

    def leave(self) -> None:
        """Send DISCONNECT and wait until the broker has closed the connection.

        The side that closes first keeps its port reserved for a minute. If that were ours, a thousand rounds a second
        would use up all ports.
        """
        try:
            self._stream.talk(mqtt.BYE, lambda _data: False)
        except LostError:
            self._stream.close()

    def close(self) -> None:
        """Close the socket at once."""
        self._stream.close()

    def _feed(self, data: bytes) -> bool:
        try:
            return self._read(data)
        except (ValueError, IndexError) as error:
            raise LostError("nonsense", f"it sends no MQTT 5 packets: {error}") from None

    def _read(self, data: bytes) -> bool:
        data, read = self._rest + data, 0
        token, deliveries = self._token, self._deliveries
        for kind, flags, begin, end in mqtt.packets(data):
            read = end
            if kind != mqtt.PUBLISH:
                self._other(kind, data, begin, end)
                continue
            if data[end - 10 : end - 4] != token:
                self._foreign(data, flags, begin, end)
                continue
            at = int.from_bytes(data[end - 4 : end])
            if at >= _LAST:
                # A wildcard may match the last message too, so it can come several times, also after its portion has ended.
                self._ended = self._ended or at == _LAST + self._portion
                continue
            found = begin + 2 + (data[begin] << 8 | data[begin + 1])
            if data[found] == 2 and data[found + 1] == mqtt.SUBSCRIPTION_IDENTIFIER:
                deliveries[at].append(data[found + 2])  # one identifier below 128: most deliveries
                continue
            told, _ = mqtt.properties(data, found)
            identifiers = [value for name, value in told if name == mqtt.SUBSCRIPTION_IDENTIFIER]
            if not identifiers:
                topic = data[begin + 2 : found].decode(errors="replace")
                raise LostError("nonsense", f"a delivery on {topic!r} does not tell which subscription it is for")
            deliveries[at].extend(value for value in identifiers if isinstance(value, int))
        self._rest = data[read:]
        return self._ended and not self._unacknowledged

    def _foreign(self, data: bytes, flags: int, begin: int, end: int) -> None:
        if flags & _RETAINED:
            found = begin + 2 + (data[begin] << 8 | data[begin + 1]) + (2 if flags & 6 else 0)
            self.retained.append(data[mqtt.properties(data, found)[1] : end])

    def _other(self, kind: int, data: bytes, begin: int, end: int) -> None:
        if kind == mqtt.CONNACK:
            self._welcomed(data[begin:end])
        elif kind in (mqtt.SUBACK, mqtt.PUBACK):
            number = data[begin] << 8 | data[begin + 1]
            if kind == mqtt.PUBACK:
                self._unacknowledged -= 1
                code, told = (data[begin + 2] if end - begin > 2 else 0), begin + 3
            else:
                code, told = data[end - 1], begin + 2
            if code >= 0x80:
                found = mqtt.properties(data, told)[0] if told < end else []
                if number == _LAST_PACKET if kind == mqtt.PUBACK else number > self._filters:
                    raise LostError(
                        "died", f"the broker refuses the topic that ends a round: {mqtt.reason(code, found)}"
                    )
                if kind == mqtt.SUBACK:
                    raise NotTakenError(mqtt.reason(code, found), filter_=number)
                first = self._first
                raise NotTakenError(mqtt.reason(code, found), topic=first + (number - 1 - first) % 0xFFFE)
        elif kind == mqtt.DISCONNECT:
            code = data[begin] if end > begin else 0
            found = mqtt.properties(data, begin + 1)[0] if end - begin > 1 else []
            raise LostError("died", f"the broker disconnects: {mqtt.reason(code, found)}")

    def _welcomed(self, body: bytes) -> None:
        code = body[1]
        # A broker that knows only MQTT 3.1.1 answers in its own form: no properties, and 1 for an unknown version.
        found = mqtt.properties(body, 2)[0] if len(body) > 2 else []
        told = dict(found)
        if code:
            reason = "0x01 unacceptable protocol version" if code == 1 else mqtt.reason(code, found)
            raise LostError("died", f"the broker refuses the connection: {reason}")
        if told.get(mqtt.IDENTIFIERS_AVAILABLE, 1) == 0:
            raise LostError("died", "the broker offers no subscription identifiers, which tell who matches")
        self.receive_maximum = int(told.get(mqtt.RECEIVE_MAXIMUM, 0xFFFF))
        self._stream.patience = self._patience
