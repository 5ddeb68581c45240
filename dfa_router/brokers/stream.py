"""A TCP connection that reads while it writes.

A round is written without waiting for answers, and brokers begin to answer before they have read all of it. A client that
writes everything first and reads afterwards can end in a deadlock: the buffers of both sides are full, and each waits for
the other to read. :meth:`Stream.talk` writes and reads in turn, in one thread.

Rejected: a thread that writes (its errors and Ctrl-C would have to be passed on), asyncio (there is only one thing to wait
for), the usual clients (they wait for answers many times a round, and nats-py refuses patterns about which the server
should be asked).
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from dfa_router.brokers.address import Address
from dfa_router.errors import RouterError

__all__ = ["LostError", "Stream"]

_CONNECT_SECONDS = 5.0
_GREETING_SECONDS = 10.0
_CHUNK = 1 << 18
_QUICKACK = getattr(socket, "TCP_QUICKACK", None)  # Linux only


class LostError(RouterError):
    """The connection cannot be used any more: the broker closed it, sent nothing for too long, or broke the protocol."""

    def __init__(self, kind: Literal["died", "hung", "nonsense"], reason: str) -> None:
        """Take how it was lost, as :class:`dfa_router.target.TargetFailure` names it, and the broker's reason or ours."""
        super().__init__(reason)
        self.kind, self.reason = kind, reason


class Stream:
    """A TCP connection to a broker."""

    def __init__(self, address: Address) -> None:
        """Connect; raises LostError where nothing listens."""
        self.patience = min(address.timeout, _GREETING_SECONDS)
        """Seconds without a byte after which the broker counts as hung. Few until the broker has greeted us; then the caller
        sets it to the timeout of the address."""
        try:
            self._socket = socket.create_connection(
                (address.host, address.port), min(address.timeout, _CONNECT_SECONDS)
            )
        except OSError as error:
            raise LostError("died", f"no connection: {error.strerror or error}") from None
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def talk(self, data: bytes, feed: Callable[[bytes], bool]) -> None:
        """Write ``data`` and hand what arrives to ``feed`` until it returns True and everything is written.

        Raises:
            LostError: the broker closed the connection, or no byte went in either direction for ``patience`` seconds.

        """
        waiting, done = memoryview(data), False
        poll = select.poll()
        poll.register(self._socket, select.POLLIN | (select.POLLOUT if waiting else 0))
        silent_at = time.monotonic() + self.patience
        while waiting or not done:
            events = poll.poll(max(0.0, silent_at - time.monotonic()) * 1000)
            if not events:
                if time.monotonic() < silent_at:
                    continue
                raise LostError("hung", f"no answer within {self.patience:g} seconds")
            silent_at = time.monotonic() + self.patience
            if events[0][1] & ~select.POLLOUT:
                done = feed(self._receive()) or done
            if waiting and events[0][1] & select.POLLOUT:
                waiting = self._send(waiting)
                if not waiting:
                    poll.modify(self._socket, select.POLLIN)

    def _receive(self) -> bytes:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise LostError("died", f"the connection broke: {error.strerror or error}") from None
        if not data:
            raise LostError("died", "the broker closed the connection")
        if _QUICKACK is not None:
            # The kernel resets the option by itself, so it is set after each read. Mosquitto leaves Nagle's algorithm on:
            # without a quick acknowledgement every portion waits 40 ms for the kernel's delayed one (a test shows this).
            with suppress(OSError):  # the connection has just ended, and the next read will say so
                self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
        return data

    def _send(self, waiting: memoryview) -> memoryview:
        try:
            return waiting[self._socket.send(waiting) :]
        except BlockingIOError:
            return waiting
        except OSError:
            # What the broker sent before it closed the connection may still be read. So the rest is dropped here, and
            # the next read tells the end, or the silence does.
            return waiting[len(waiting) :]

    def close(self) -> None:
        """Close the socket; may be called twice."""
        self._socket.close()
