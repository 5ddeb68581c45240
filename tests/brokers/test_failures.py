"""Brokers that are not there, are something else, hang or die."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from dfa_router.brokers import Broker, connect, mqtt_packets
from dfa_router.brokers.amqp_channel import publication
from dfa_router.brokers.mqtt_session import Session
from dfa_router.errors import EnvironmentLacksError, OptionError
from dfa_router.target import TargetFailure

pytestmark = pytest.mark.broker

PATTERNS = [f"{word}{number}" for word in "abcdefgh" for number in range(10)]
KEYS = PATTERNS * 5


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_nobody_listens(protocol: str) -> None:
    port = free_port()
    product = {"amqp": "rabbitmq-server", "mqtt": "mosquitto", "nats": "nats-server"}[protocol]
    with pytest.raises(EnvironmentLacksError, match=rf"127\.0\.0\.1:{port} .*refused.*: start .*{product}"):
        connect(f"{protocol}://127.0.0.1:{port}")


def test_a_listener_that_never_answers(protocol: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        begin = time.monotonic()
        with pytest.raises(EnvironmentLacksError, match=r"no answer within 0\.5 seconds.*start "):
            connect(f"{protocol}://127.0.0.1:{port}?timeout=0.5")
        assert time.monotonic() - begin < 30


@pytest.mark.parametrize("other", ["amqp", "mqtt", "nats"])
def test_a_broker_of_another_protocol(protocol: str, other: str, live: Callable[[str], Broker]) -> None:
    if protocol == other:
        return
    live(other)
    port = {"amqp": 5672, "mqtt": 1883, "nats": 4222}[other]
    with pytest.raises(EnvironmentLacksError, match=f"no {protocol} broker answers at "):
        connect(f"{protocol}://127.0.0.1:{port}", timeout=3)


@pytest.mark.parametrize("url", ["amqp://guest:secret@127.0.0.1", "amqp://guest:guest@127.0.0.1/no-such-vhost"])
def test_rabbitmq_does_not_let_us_in(url: str, live: Callable[[str], Broker]) -> None:
    live("amqp")
    with pytest.raises(OptionError, match="check user, password and vhost") as refused:
        connect(url)
    assert "secret" not in str(refused.value)


def test_a_broker_that_hangs_in_a_round(protocol: str, relay: Any) -> None:
    with connect(f"{protocol}://127.0.0.1:{relay.port}", timeout=3) as target:
        relay.remaining = 500
        with pytest.raises(TargetFailure, match="no answer within 3 seconds") as failed:
            target.answer(PATTERNS, KEYS)
        assert failed.value.kind == "hung"
        assert failed.value.patterns == tuple(PATTERNS)
        assert failed.value.keys == tuple(KEYS)
        with pytest.raises(TargetFailure):
            target.refusal("a")
        relay.remaining = None
        assert target.answer(["a"], ["a", "b"]) == [(0,), ()]
        relay.remaining = 0
        begin = time.monotonic()
        target.close()
        assert time.monotonic() - begin < 30


def test_a_connection_that_breaks_in_a_round(protocol: str, relay: Any) -> None:
    with connect(f"{protocol}://127.0.0.1:{relay.port}", timeout=30) as target:
        relay.then, relay.remaining = "broken", 500
        with pytest.raises(TargetFailure, match=r"closed|broke") as failed:
            target.answer(PATTERNS, KEYS)
        assert (failed.value.kind, failed.value.patterns) == ("died", tuple(PATTERNS))
        assert target.answer(["a"], ["a", "b"]) == [(0,), ()]


def test_a_broker_that_is_gone(protocol: str, relay: Any) -> None:
    with connect(f"{protocol}://127.0.0.1:{relay.port}", timeout=30) as target:
        relay.then, relay.remaining = "gone", 500
        for _ in range(2):
            with pytest.raises(TargetFailure) as failed:
                target.answer(PATTERNS, KEYS)
            assert (failed.value.kind, failed.value.patterns) == ("died", tuple(PATTERNS))
        with pytest.raises(TargetFailure):
            target.refusal("a")


def test_a_delivery_for_a_subscription_that_is_not_asked_about(
    protocol: str, live: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a broker that keeps what was unsubscribed: it was an IndexError, or the last pattern's."""
    target = live(protocol)
    assert target.answer(["a", "b"], ["a"]) == [(0,)]
    if protocol == "nats":
        target._stream.talk(b"SUB b 1\r\nPING\r\n", lambda data: b"PONG" in data)
    elif protocol == "amqp":
        bound = target._bound
        monkeypatch.setattr(
            target, "_bound", lambda queue, *other: bound(queue, *other) + bound(target._queue(1), other[0], "b")
        )
    else:
        subscribe = Session.subscribe

        def another(session: Session, filters: list[bytes]) -> None:
            subscribe(session, filters)
            session._unsent += mqtt_packets.subscribe(7, b"b", 3)
            session._filters = 7

        monkeypatch.setattr(Session, "subscribe", another)
    with pytest.raises(
        TargetFailure, match="key 'b' was delivered for a subscription of none of the patterns"
    ) as failed:
        target.answer(["a"], ["a", "b"])
    assert (failed.value.kind, failed.value.keys) == ("nonsense", ("a", "b"))


def test_a_broker_that_gives_everything_to_everybody(
    live: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All subscriptions, and the one to our own last topic, are made ones to everything."""

    def subscribed(session: Session, filters: list[bytes]) -> None:
        session._filters = len(filters)
        everything = (b"#", b"+/#", b"+/+/#")
        for at, one in enumerate(everything[: len(filters) + 1], 1):
            session._unsent += mqtt_packets.subscribe(at, one, at)

    target = live("mqtt")
    monkeypatch.setattr(Session, "subscribe", subscribed)
    with pytest.raises(
        TargetFailure, match=r"every key was delivered for every subscription.* everything to everybody"
    ):
        target.answer(["a"], ["a", "b"])
    with pytest.raises(TargetFailure, match="key 'c/d' was delivered for a subscription of none of the patterns"):
        target.answer(["a", "b"], ["a", "c/d"])  # the third of these does not get 'a'


def test_a_message_of_an_earlier_round(live: Callable[[str], Any]) -> None:
    """It was an IndexError, or in NATS the match of another key."""
    nats, amqp = live("nats"), live("amqp")
    assert nats.answer(["a"], ["a"]) == amqp.answer(["a"], ["a"]) == [(0,)]
    late = b"SUB c 0\r\nPUB c 16\r\n%b00000000\r\n" % nats._token
    talk, bound = nats._talk, amqp._bound
    nats._talk = lambda stream, lines, deliver: talk(stream, late + lines, deliver)
    amqp._bound = lambda queue, *other: bound(queue, *other) + publication(b"")(queue.encode(), struct.pack(">I", 7))
    for target in (nats, amqp):
        with pytest.raises(TargetFailure, match="a message of an earlier round") as failed:
            target.answer(["a"], ["b"])
        assert failed.value.kind == "nonsense"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1", "no broker's address"),
        ("amqp:127.0.0.1", "no broker's address"),
        ("amqps://u:secret@127.0.0.1", "only unencrypted"),
        ("nats://127.0.0.1:99999", "port must be"),
        ("nats://127.0.0.1:port", "port must be"),
        ("mqtt://127.0.0.1:0", "port must be"),
        ("amqp://u:secret@[::1:5672", "IPv6 in brackets"),
        ("amqp://u:secret@[abc]/", "IPv6 in brackets"),
        ("amqp://u:secret\u2100@127.0.0.1", "the host cannot be read"),
        ("nats://a..b", "parts have 1 to 63 characters"),
        (f"mqtt://{'a' * 64}.example", "parts have 1 to 63 characters"),
        ("nats://\ud83d", "the host cannot be read"),
        ("mqtt://127.0.0.1/topic", "only amqp:// has a path"),
        ("amqp://u:s@t:/secret@127.0.0.1", "as %40 %2F"),
        ("amqp://u:1#secret@127.0.0.1", "as %40 %2F"),
        ("amqp://u:secret@127.0.0.1/" + 128 * "é", "more than 255 bytes"),
        ("nats://u:secret@127.0.0.1?timeout=no", "timeout must be"),
        ("nats://127.0.0.1?timeout=0", "timeout must be"),
        ("nats://127.0.0.1?tiemout=3", "unknown parameter 'tiemout'"),
    ],
)
def test_addresses_that_cannot_be_read(url: str, says: str) -> None:
    with pytest.raises(OptionError, match=re.escape(says)) as wrong:
        connect(url)
    assert "secret" not in str(wrong.value)
