"""NATS: a subscription per pattern, a message per key, and a PING whose PONG says that nothing more will come.

The protocol consists of lines of text, so no library is needed. The whole round is one write: the lines ``SUB``, ``PUB``,
``PING`` and then ``UNSUB``. The server handles a client's lines in order and sends its own in order, so all deliveries come
before the ``PONG``.

``pedantic`` is off: with it the server refuses messages to subjects that it otherwise routes to no subscription, and the
question here is where messages go. A subject with white space cannot be sent, as white space ends a subject on its line:
it is refused here, before anything is sent.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Sequence

from dfa_router.brokers.address import Address
from dfa_router.brokers.broker import Asking, encoded, failure, gathered, unwelcome, words
from dfa_router.brokers.stream import LostError, Stream
from dfa_router.language.dialects import dialect_named
from dfa_router.target import Answers, Refused

__all__ = ["NatsBroker"]

_START_IT = "start a NATS server (nats-server -a 127.0.0.1) or give the address of one"
_IDLE_SECONDS = 60.0
_NUMBERS = 10**8
"""How many numbers messages have; after so many they begin again."""
_ENDS_A_SUBJECT = re.compile(rb"[ \t\r\n]")


class NatsBroker(Asking):
    """A running NATS server as a target."""

    def __init__(self, address: Address) -> None:
        """Connect; see :func:`dfa_router.brokers.connect`."""
        self.dialect = dialect_named("nats")
        self._address = address
        self._stream: Stream | None = None
        self._token, self._own = b"", re.compile(rb"")
        self._used_at = 0.0
        self._published = 0
        """Messages of all rounds: each has its own number, so that none is taken for one of a later round."""
        self._pongs = b""
        """Answers to the server's own PINGs. They are sent with the next round: it comes soon, or has a new connection."""
        self._information: dict[str, object] = {}
        try:
            self._connected()
        except LostError as lost:
            raise unwelcome(address, lost, _START_IT) from None
        self.name = f"{address} ({self.describe()})"

    def describe(self) -> str:
        """Return product and version, as the server reports them."""
        return f"NATS {self._information.get('version', 'of unknown version')}"

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; see :class:`dfa_router.target.Target`."""
        subjects = [_subject(pattern, pattern=at) for at, pattern in enumerate(patterns)]
        topics = [_subject(key, key=at) for at, key in enumerate(keys)]
        deliveries: list[list[int]] = [[] for _ in keys]
        first = self._published
        self._published += len(keys)

        def deliver(subscription: int, number: int) -> None:
            at = (number - first) % _NUMBERS
            if at >= len(keys):
                raise LostError("nonsense", "it delivers a message of an earlier round, after that round had its PONG")
            deliveries[at].append(subscription)

        try:
            stream = self._connected()  # before the lines are made, as a new connection has a new token
            lines = [b"SUB %b %d\r\n" % (subject, at) for at, subject in enumerate(subjects)]
            lines += [
                b"PUB %b 16\r\n%b%08d\r\n" % (topic, self._token, at % _NUMBERS)
                for at, topic in enumerate(topics, first)
            ]
            lines.append(b"PING\r\n")
            lines += [b"UNSUB %d\r\n" % at for at in range(len(subjects))]
            self._talk(stream, b"".join(lines), deliver)
        except LostError as lost:
            self.close()
            raise failure(self, lost, patterns, keys) from None
        except BaseException:  # Ctrl-C: a later round must not read what the server still sends
            self.close()
            raise
        return gathered(deliveries, self, patterns, keys)

    def minds(self, patterns: Sequence[str], keys: Sequence[str]) -> str | None:
        """Offer the server all of these at once; return its words if it refuses any, else None."""
        lines = [b"SUB %b %d\r\n" % (_subject(text, pattern=at), at) for at, text in enumerate(patterns)]
        lines += [b"UNSUB %d\r\n" % at for at in range(len(patterns))]
        lines += [b"PUB %b 0\r\n\r\n" % _subject(text, key=at) for at, text in enumerate(keys)]
        lines.append(b"PING\r\n")
        try:
            self._talk(self._connected(), b"".join(lines), lambda _subscription, _at: None)
        except LostError as lost:
            self.close()
            return words(self, lost, self._connected)
        except BaseException:
            self.close()
            raise
        return None

    def close(self) -> None:
        """Close the connection; subscriptions end with it."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _connected(self) -> Stream:
        """Return the connection, a new one if there is none or if the server may have closed it as idle."""
        if self._stream is not None and time.monotonic() - self._used_at > _IDLE_SECONDS:
            self.close()
        if self._stream is None:
            self._stream = self._open()
        return self._stream

    def _open(self) -> Stream:
        stream = Stream(self._address)
        # Messages of other clients may match our patterns, and so may messages of an interrupted round, which the server
        # may still be handling. The token of this connection marks those of the present round.
        token = secrets.token_hex(4)
        self._pongs = b""
        self._token = token.encode()
        self._own = re.compile(rb"MSG [^ \r\n]+ (\d+) 16\r\n%b(\d{8})\r\n" % self._token)
        about = {"verbose": False, "pedantic": False, "lang": "python", "version": "0", "protocol": 0, "echo": True}
        about["name"] = f"dfa-router-{token}"
        if self._address.password is not None:
            about |= {"user": self._address.user or "", "pass": self._address.password}
        elif self._address.user is not None:
            about["auth_token"] = self._address.user
        try:
            self._greeted(stream)
            self._talk(stream, b"CONNECT %b\r\nPING\r\n" % json.dumps(about).encode(), lambda _subscription, _at: None)
        except BaseException:
            stream.close()
            raise
        stream.patience = self._address.timeout
        return stream

    def _greeted(self, stream: Stream) -> None:
        greeting = b""

        def feed(data: bytes) -> bool:
            nonlocal greeting
            greeting += data
            return b"\r\n" in greeting

        stream.talk(b"", feed)
        if not greeting.startswith(b"INFO {"):
            raise LostError("nonsense", f"it greets with {greeting[:40]!r}")
        try:
            self._information = json.loads(greeting.partition(b"\r\n")[0].removeprefix(b"INFO "))
        except ValueError:
            raise LostError("nonsense", f"it greets with {greeting[:40]!r}") from None

    def _talk(self, stream: Stream, lines: bytes, deliver: Callable[[int, int], None]) -> None:
        """Send the lines, and pass (subscription number, number of the message) of each delivery to ``deliver``, until the PONG."""
        rest, pongs = b"", 0

        def feed(data: bytes) -> bool:
            nonlocal rest, pongs
            data, at, ended = rest + data, 0, False
            while True:
                while own := self._own.match(data, at):
                    deliver(int(own[1]), int(own[2]))
                    at = own.end()
                end = data.find(b"\r\n", at)
                if end < 0:
                    break
                line = data[at:end]
                at, begin = end + 2, at
                if line.startswith(b"MSG "):
                    size = line.rpartition(b" ")[2]
                    if not size.isdigit():
                        raise LostError("nonsense", f"it sends {line[:40]!r}, which tells no size")
                    at += int(size) + 2
                    if at > len(data):
                        at = begin
                        break
                elif line == b"PONG":
                    ended = True
                elif line == b"PING":
                    pongs += 1
                elif line.startswith(b"-ERR"):
                    raise LostError("died", line.decode(errors="replace"))
                elif not line.startswith((b"INFO ", b"+OK")):
                    raise LostError("nonsense", f"it sends {line[:40]!r}, which is none of the protocol's lines")
            rest = data[at:]
            return ended

        stream.talk(self._pongs + lines, feed)
        self._pongs = b"PONG\r\n" * pongs
        self._used_at = time.monotonic()


def _subject(text: str, *, pattern: int | None = None, key: int | None = None) -> bytes:
    """Return the text as the bytes of a subject; raises Refused for a text that the protocol cannot carry."""
    subject = encoded(text)
    if subject is None:
        reason = f"{text!r} holds a lone surrogate, which UTF-8 cannot carry"
    elif not subject:
        reason = "the empty subject cannot be said on a line of the protocol"
    elif _ENDS_A_SUBJECT.search(subject):
        reason = f"{text!r} holds white space, which ends a subject on a line of the protocol"
    else:
        return subject
    raise Refused(reason, pattern=pattern, key=key)
