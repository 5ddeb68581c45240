"""RabbitMQ, or another broker of AMQP 0-9-1: a queue per pattern, so that the consumer's tag tells which pattern matched.

A queue gets one copy of a message however many of its bindings match, so patterns cannot share one. Queues and their
consumers are kept from round to round, as many as the largest round needed; each round has a topic exchange of its own,
whose deletion removes all its bindings at once. The round is one write: the exchange and the bindings, declared without
waiting for an answer, a message for each key, and a last message to each queue, sent to it by name through the default
exchange. A queue keeps the order of one channel's messages, so when every queue has delivered its last message the round
is over.

Nothing remains after the connection has ended, with one exception. Queues are exclusive, so the broker deletes them; the
exchange is declared ``auto_delete``, so it goes with its last binding. But an exchange that has no binding yet when the
connection ends stays. After a refusal and after Ctrl-C a second connection deletes it. A process that is killed at that
moment, a small part of a millisecond of each round, leaves it, without bindings, until the broker restarts.

Rejected: publisher confirms (they come before the consumer has the message), ``basic.get`` (a round trip each), the trace
exchange (fewer deliveries, but only an administrator can switch it on), a fanout exchange for the last messages (it would
send them to all queues, not only to those of the round).
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence
from contextlib import suppress

from pamqp import commands

from dfa_router.brokers.address import Address
from dfa_router.brokers.amqp_channel import Channel, method, publication
from dfa_router.brokers.broker import Asking, encoded, failure, gathered, unwelcome, words
from dfa_router.brokers.stream import LostError
from dfa_router.language.dialects import dialect_named
from dfa_router.short_strings import MAX_BYTES
from dfa_router.target import Answers, Refused

__all__ = ["QUEUES", "AmqpBroker"]

QUEUES = 1024
"""The most queues that are declared; the patterns of a larger round are asked in several parts."""

_BODY = struct.Struct(">I")
_LAST = 0xFFFFFFFF
_START_IT = "start RabbitMQ (rabbitmq-server) or give the address of one"


class AmqpBroker(Asking):
    """A running RabbitMQ as a target."""

    def __init__(self, address: Address) -> None:
        """Connect; see :func:`dfa_router.brokers.connect`."""
        self.dialect = dialect_named("amqp")
        self._address = address
        self._prefix = f"dfa-router.{secrets.token_hex(6)}"
        self._channel: Channel | None = None
        self._queues = 0
        self._rounds = 0
        self._last = ""
        self._left: str | None = None
        self._product = ""
        self.name = str(address)
        try:
            self._connected()
        except LostError as lost:
            raise unwelcome(address, lost, _START_IT) from None
        self.name = f"{address} ({self.describe()})"

    def describe(self) -> str:
        """Return product and version, as the broker reports them."""
        return self._product

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; see :class:`dfa_router.target.Target`."""
        for at, pattern in enumerate(patterns):
            _short(pattern, pattern=at)
        short_keys = [_short(key, key=at) for at, key in enumerate(keys)]
        deliveries: list[list[int]] = [[] for _ in keys]
        try:
            for begin in range(0, len(patterns), QUEUES):
                self._round(patterns[begin : begin + QUEUES], short_keys, begin, deliveries)
        except LostError as lost:
            self._drop()
            raise failure(self, lost, patterns, keys) from None
        except BaseException:  # Ctrl-C
            self._drop()
            self.close()
            raise
        return gathered(deliveries, self, patterns, keys)

    def minds(self, patterns: Sequence[str], keys: Sequence[str]) -> str | None:
        """Offer the broker all of these at once; return its words if it refuses any, else None."""
        for at, pattern in enumerate(patterns):
            _short(pattern, pattern=at)
        short_keys = [_short(key, key=at) for at, key in enumerate(keys)]
        try:
            channel = self._connected()
            exchange, queue = self._exchange(), f"{self._prefix}.asked"
            publish = publication(exchange.encode())
            frames = [self._declared(exchange)]
            frames.append(method(commands.Queue.Declare(queue=queue, exclusive=True, nowait=True)))
            frames += [self._bound(queue, exchange, pattern) for pattern in patterns]
            frames.append(method(commands.Queue.Delete(queue=queue, nowait=True)))
            frames += [publish(key, b"?") for key in short_keys]
            frames.append(method(commands.Exchange.Delete(exchange=exchange)))
            channel.ask(b"".join(frames), commands.Exchange.DeleteOk)
        except LostError as lost:
            self._drop()
            return words(self, lost, self._connected)
        except BaseException:
            self._drop()
            self.close()
            raise
        return None

    def close(self) -> None:
        """Close the connection, and wait until the broker has removed queues and exchange."""
        if self._left is not None:
            with suppress(LostError):  # a broker that cannot be reached can be asked to remove nothing
                self._connected()
        if self._channel is not None:
            channel, self._channel = self._channel, None
            channel.leave()

    def _round(self, patterns: Sequence[str], keys: Sequence[bytes], first: int, deliveries: list[list[int]]) -> None:
        channel = self._connected()
        exchange = self._exchange()
        frames = [self._grown(len(patterns)), self._declared(exchange)]
        frames += [self._bound(self._queue(at), exchange, pattern) for at, pattern in enumerate(patterns)]
        publish, to_queue, pack = publication(exchange.encode()), publication(b""), _BODY.pack
        frames += [publish(key, pack(at)) for at, key in enumerate(keys)]
        frames += [to_queue(self._queue(at).encode(), pack(_LAST)) for at in range(len(patterns))]
        frames.append(method(commands.Exchange.Delete(exchange=exchange, nowait=True)))
        unfinished, unpack = len(patterns), _BODY.unpack

        def deliver(tag: bytes, body: bytes) -> bool:
            nonlocal unfinished
            (at,) = unpack(body)
            if at == _LAST:
                unfinished -= 1
            elif at >= len(keys):
                raise LostError(
                    "nonsense", "it delivers a message of an earlier round, after the last one of that round"
                )
            else:
                deliveries[at].append(first + int(tag))
            return not unfinished

        channel.deliveries(b"".join(frames), deliver)

    def _bound(self, queue: str, exchange: str, pattern: str) -> bytes:
        return method(commands.Queue.Bind(queue=queue, exchange=exchange, routing_key=pattern, nowait=True))

    def _grown(self, queues: int) -> bytes:
        """Return the frames that declare queues and consumers until there are ``queues`` of them."""
        added = range(self._queues, queues)
        self._queues = max(self._queues, queues)
        return b"".join(
            method(commands.Queue.Declare(queue=self._queue(at), exclusive=True, nowait=True))
            + method(commands.Basic.Consume(queue=self._queue(at), consumer_tag=str(at), no_ack=True, nowait=True))
            for at in added
        )

    def _declared(self, exchange: str) -> bytes:
        return method(
            commands.Exchange.Declare(exchange=exchange, exchange_type="topic", auto_delete=True, nowait=True)
        )

    def _exchange(self) -> str:
        self._rounds += 1
        self._last = f"{self._prefix}.x{self._rounds}"
        return self._last

    def _queue(self, at: int) -> str:
        return f"{self._prefix}.q{at}"

    def _drop(self) -> None:
        """Close the connection; remember the last exchange, which stays in the broker if it has no binding yet."""
        if self._channel is not None:
            self._channel.close()
            self._channel, self._left = None, self._last or None

    def _connected(self) -> Channel:
        """Return the channel, a new one if the last was lost; raises LostError where none can be opened."""
        if self._channel is None:
            self._queues = 0
            self._prefix = f"dfa-router.{secrets.token_hex(6)}"
            channel = Channel(self._address, self._prefix)
            try:
                if self._left is not None:
                    channel.ask(method(commands.Exchange.Delete(exchange=self._left)), commands.Exchange.DeleteOk)
            except BaseException:
                channel.close()
                raise
            self._channel, self._left, self._product = channel, None, channel.product
        return self._channel


def _short(text: str, *, pattern: int | None = None, key: int | None = None) -> bytes:
    """Return the text as the bytes of an AMQP key; raises Refused for a text that AMQP cannot carry."""
    string = encoded(text)
    if string is None:
        raise Refused(f"{text!r} holds a lone surrogate, which UTF-8 cannot carry", pattern=pattern, key=key)
    if len(string) > MAX_BYTES:
        raise Refused(f"it has {len(string)} bytes: AMQP carries keys of up to {MAX_BYTES}", pattern=pattern, key=key)
    return string
