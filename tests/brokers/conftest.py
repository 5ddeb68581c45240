"""What the tests of the live brokers share: the brokers on this machine, and a relay that can fail in front of one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from dfa_router.brokers import Broker, connect
from dfa_router.errors import EnvironmentLacksError

URLS = {
    "amqp": "amqp://guest:guest@127.0.0.1:5672/",
    "mqtt": "mqtt://127.0.0.1:1883",
    "nats": "nats://127.0.0.1:4222",
}


def reach(url: str) -> Broker:
    """Return the broker at the URL; skip if nobody listens there, and only then: a client of ours that is broken must fail."""
    try:
        return connect(url)
    except EnvironmentLacksError as error:
        if "Connection refused" in str(error) or "pip install" in str(error):
            pytest.skip(str(error))
        raise


@pytest.fixture(params=URLS)
def protocol(request: pytest.FixtureRequest) -> str:
    """Return each protocol's name in turn."""
    return str(request.param)


@pytest.fixture
def url(protocol: str) -> str:
    """Return where each broker of this machine answers, in turn; skip where it does not."""
    reach(URLS[protocol]).close()
    return URLS[protocol]


@pytest.fixture
def broker(protocol: str) -> Iterator[Broker]:
    """Return each broker of this machine in turn."""
    with reach(URLS[protocol]) as reached:
        yield reached


@pytest.fixture
def live() -> Iterator[Callable[[str], Broker]]:
    """Return a function: a protocol's name -> its broker on this machine."""
    opened: list[Broker] = []

    def opener(protocol: str) -> Broker:
        opened.append(reach(URLS[protocol]))
        return opened[-1]

    yield opener
    for target in opened:
        target.close()


class Relay:
    """A TCP relay to a real broker, which hands pieces on, and can go silent or break."""

    def __init__(self, port: int) -> None:
        """Listen on a port of its own, in front of a broker's port on this machine."""
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.piece = 65_536
        self.remaining: int | None = None
        """How many more bytes of the broker's pass, or None for all."""
        self.then = "silent"
        """What follows: ``silent``, ``broken`` (this connection), ``gone`` (and nobody listens any more)."""
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                broker = socket.create_connection(("127.0.0.1", self._to))
                broker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets += [client, broker]
                threading.Thread(target=self._pump, args=(client, broker, False), daemon=True).start()
                threading.Thread(target=self._pump, args=(broker, client, True), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(self.piece):
                if answers and self.remaining is not None:
                    data, self.remaining = data[: self.remaining], max(0, self.remaining - len(data))
                if data:
                    sink.sendall(data)
                if answers and self.remaining == 0 and self.then != "silent":
                    if self.then == "gone":
                        self._listener.shutdown(socket.SHUT_RDWR)
                        self._listener.close()
                    else:
                        self.remaining = None
                    break
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all connections."""
        for end in [self._listener, *self._sockets]:
            end.close()


@pytest.fixture
def relay(protocol: str) -> Iterator[Relay]:
    """Return a relay in front of each broker in turn."""
    reach(URLS[protocol]).close()
    made = Relay({"amqp": 5672, "mqtt": 1883, "nats": 4222}[protocol])
    yield made
    made.close()
