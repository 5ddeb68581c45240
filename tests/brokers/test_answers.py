"""The judge: what the running brokers deliver, held against the specification."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from dfa_router.brokers import Broker, amqp, connect, mqtt
from dfa_router.brokers import mqtt_packets as packets
from dfa_router.brokers.mqtt_session import Session
from dfa_router.brokers.stream import Stream
from dfa_router.fuzz import Scope, run
from dfa_router.fuzz.text.report import summary_text
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import key_problem, pattern_problem
from dfa_router.reference.naive import matches

pytestmark = pytest.mark.broker

WORDS = ["a", "b", "ab", "ü", "日本", "0", "-", "$x", "a*", "##", "%s", "\\r", "A"]


def specified(patterns: list[str], keys: list[str], dialect: Dialect) -> list[tuple[int, ...]]:
    """Return the specification's answer."""
    return [
        tuple(at for at, pattern in enumerate(patterns) if matches(pattern.encode(), key.encode(), dialect))
        for key in keys
    ]


def random_round(chance: random.Random, dialect: Dialect) -> tuple[list[str], list[str]]:
    """Return a few patterns and keys that the dialect calls valid, with repetitions and empty words among them."""
    separator = dialect.separator.decode()
    wildcards = [word.decode() for word in (dialect.one, dialect.many, dialect.some) if word is not None]

    def text(words: list[str], valid: Callable[[str, Dialect], str | None]) -> str:
        while True:
            made = separator.join(chance.choice(words) for _ in range(chance.randint(0, 4)))
            if valid(made, dialect) is None:
                return made

    few = [*chance.sample(WORDS, 3), ""]
    patterns = [text(few + wildcards * 2, pattern_problem) for _ in range(chance.randint(1, 12))]
    keys = [text(few, key_problem) for _ in range(chance.randint(1, 20))]
    return patterns + patterns[:1], keys + patterns_as_keys(patterns, dialect) + keys[:1]


def patterns_as_keys(patterns: list[str], dialect: Dialect) -> list[str]:
    """Return the patterns that are valid keys too."""
    return [pattern for pattern in patterns if key_problem(pattern, dialect) is None]


def test_hundreds_of_random_rounds_agree(broker: Broker) -> None:
    cases = 0
    for seed in range(300 if broker.dialect.name != "amqp" else 150):
        patterns, keys = random_round(random.Random(seed), broker.dialect)
        assert broker.answer(patterns, keys) == specified(patterns, keys, broker.dialect), (seed, patterns, keys)
        cases += len(patterns) * len(keys)
    assert cases > 10_000


def test_a_large_round_agrees(broker: Broker) -> None:
    chance = random.Random(7)
    separator, one = broker.dialect.separator.decode(), (broker.dialect.one or b"").decode()
    patterns = [separator.join(chance.choice(["a", "b", "c", one]) for _ in range(3)) for _ in range(150)]
    keys = [separator.join(chance.choice("abc") for _ in range(3)) for _ in range(700)]
    answers = broker.answer(patterns, keys)
    assert answers == specified(patterns, keys, broker.dialect)
    assert sum(map(len, answers)) > 10_000  # deliveries have to come in many pieces


def test_nothing_is_asked_of_nobody(broker: Broker) -> None:
    assert broker.answer([], ["a", "b"]) == [(), ()]
    assert broker.answer(["a"], []) == []
    assert broker.answer(["a"], ["a"]) == [(0,)]


def test_the_same_pattern_and_the_same_key_several_times(broker: Broker) -> None:
    assert broker.answer(["a", "b", "a", "a"], ["a", "b", "a", "c"]) == [(0, 2, 3), (1,), (0, 2, 3), ()]


@pytest.mark.parametrize(("protocol", "longest"), [("amqp", 255), ("mqtt", 65_535), ("nats", 4_000)])
def test_the_longest_keys(live: Callable[[str], Broker], protocol: str, longest: int) -> None:
    target = live(protocol)
    separator, one = target.dialect.separator.decode(), (target.dialect.one or b"").decode()
    key = "x" * (longest - 4) + separator + "é" + "y"
    assert len(key.encode()) == longest
    assert target.answer([key, one + separator + one, one], [key, key[:-1]]) == [(0, 1), (1,)]


def test_bytes_that_no_printer_shows(live: Callable[[str], Broker]) -> None:
    awkward = ["\0", "\x01\x7f", "\x0b\x0c", "\u2028", "\U0010ffff", "e\u0301", "\xe9", "'\"\\{}"]
    target = live("nats")
    assert target.answer(awkward, awkward) == [(at,) for at in range(len(awkward))]
    awkward += [" ", "\r\n", "MSG a 1 16\r\n", "PING\r\n", "\t"]
    target = live("amqp")
    assert target.answer(awkward, awkward) == [(at,) for at in range(len(awkward))]


def test_more_patterns_than_queues_are_asked_in_parts(
    live: Callable[[str], Broker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(amqp, "QUEUES", 7)
    monkeypatch.setattr(mqtt, "_FILTERS", 7)
    for protocol in ("amqp", "mqtt"):
        target = live(protocol)
        patterns = [f"k{at // 2}" for at in range(31)]
        keys = [f"k{at}" for at in range(17)]
        assert target.answer(patterns, keys) == specified(patterns, keys, target.dialect)


def test_two_rounds_at_once_do_not_disturb_each_other(protocol: str, live: Callable[[str], Broker]) -> None:
    ours, other = live(protocol), live(protocol)
    one = (ours.dialect.one or b"").decode()
    failures: list[object] = []
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            if other.answer(["a", "b", one], ["a", "b", "c"]) != [(0, 2), (1, 2), (2,)]:
                failures.append("the other round was disturbed")

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(25):
            assert ours.answer([one, "a", "a", "c"], ["a", "b", "c", "a"]) == [(0, 1, 2), (0,), (0, 3), (0, 1, 2)]
    finally:
        stop.set()
        thread.join()
    assert not failures


def test_answers_in_small_pieces(protocol: str, relay: Any) -> None:
    relay.piece = 3
    with connect(f"{protocol}://127.0.0.1:{relay.port}") as target:
        one = (target.dialect.one or b"").decode()
        patterns, keys = ["a", one, "b", "ü"] * 10, ["a", "b", "ü", "c"] * 5
        assert target.answer(patterns, keys) == specified(patterns, keys, target.dialect)


def test_mqtt_shared_subscriptions_and_dollar_topics(live: Callable[[str], Broker]) -> None:
    target = live("mqtt")
    patterns = ["$share/g/a/+", "$share/h/a/+", "a/+", "$share/g/#", "#", "+/x", "$x/#", "$x/+"]
    keys = ["a/b", "$x/x", "$x", "b/x"]
    assert target.answer(patterns, keys) == [(0, 1, 2, 3, 4), (6, 7), (6,), (3, 4, 5)]


def test_mosquitto_is_asked_about_shared_subscriptions_on_demand_only(live: Callable[[str], Broker]) -> None:
    """Its rules for them are known to be others: see benchmarks/results/brokers.md."""
    target = live("mqtt")
    if "mosquitto" not in target.name:
        pytest.skip("the MQTT broker is another one")
    campaign = run(target, "mqtt", rounds=150, seed=1, keep_going=True)
    assert campaign.agrees
    assert "it was not asked about $share" in summary_text(campaign)
    asked = run(target, "mqtt", rounds=150, seed=1, keep_going=True, scope=Scope(shared=True))
    assert {finding.case.patterns[0].partition("/")[0] for finding in asked.findings} == {"$share"}


def test_mqtt_retained_messages_are_not_ours(live: Callable[[str], Any]) -> None:
    target = live("mqtt")
    retained = b"\x31" + packets.publish(b"kept/topic", b"old")[1:]
    forget = b"\x31" + packets.publish(b"kept/topic", b"")[1:]

    def say(message: bytes) -> None:
        session = Session(target._address)
        session.subscribe([])
        session._unsent += message
        session.publish([], 0, [])
        session.close()

    say(retained)
    try:
        session = Session(target._address)
        session.subscribe([b"kept/topic"], retain_handling=0)
        session.publish([], 0, [])
        session.close()
        assert session.retained == [b"old"]  # it is there
        assert target.answer(["kept/+", "$SYS/#"], ["kept/topic", "a"]) == [(0,), ()]
    finally:
        say(forget)


def test_mqtt_reads_one_delivery_with_several_identifiers(live: Callable[[str], Any]) -> None:
    session = Session(live("mqtt")._address)
    session.close()
    token = session._token
    gathered: list[list[int]] = [[], []]
    session._deliveries = gathered
    for at, told in enumerate([b"\x0b\x05\x0b\xc8\x01", b"\x01\x01\x26\0\x01k\0\x01v\x0b\x07"]):
        body = b"\0\x01a" + bytes((len(told),)) + told + token + at.to_bytes(4)
        session._feed(b"\x30" + bytes((len(body),)) + body)
    assert gathered == [[5, 200], [7]]


def test_mqtt_late_copies_of_a_portions_end_do_not_end_the_next(live: Callable[[str], Any]) -> None:
    session = Session(live("mqtt")._address)
    session.close()
    session._portion = 7

    def ended_by(portion: int) -> bool:
        body = b"\0\x01a\x02\x0b\x05" + session._token + (0x80000000 + portion).to_bytes(4)
        return bool(session._feed(b"\x30" + bytes((len(body),)) + body))

    assert [ended_by(portion) for portion in (6, 7, 6)] == [False, True, True]


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="needs Linux")
def test_mqtt_does_not_wait_for_delayed_acknowledgements(
    live: Callable[[str], Broker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the option, every portion of 19 keys waits 40 ms for an acknowledgement that the kernel delays."""
    target = live("mqtt")
    patterns, keys = ["+", *(f"a{at}" for at in range(99))], [f"a{at % 100}" for at in range(200)]

    receive, at_once = Stream._receive, list[bool]()

    def watched(stream: Stream) -> bytes:
        data = receive(stream)
        at_once.append(bool(stream._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK)))
        return data

    monkeypatch.setattr(Stream, "_receive", watched)
    target.answer(patterns, keys)
    assert len(at_once) > 10
    assert all(at_once)
    at_once.clear()
    monkeypatch.setattr("dfa_router.brokers.stream._QUICKACK", None)
    target.answer(patterns, keys)
    assert not all(at_once)


def test_nats_answers_after_the_server_has_given_an_idle_connection_up(live: Callable[[str], Any]) -> None:
    target = live("nats")
    before = target._stream
    target._used_at -= 3600
    assert target.answer(["a"], ["a"]) == [(0,)]
    assert isinstance(before, Stream)
    assert target._stream is not before


def test_nats_asks_whether_we_are_alive(live: Callable[[str], Any]) -> None:
    target = live("nats")
    stream, seen = target._stream, []
    stream.patience, receive = 30, stream._receive

    def spied() -> bytes:
        seen.append(receive())
        return bytes(seen[-1])

    stream._receive = spied
    until = time.monotonic() + 60
    while b"PING\r\n" not in b"".join(seen) and time.monotonic() < until:
        time.sleep(0.2)  # the server sends its first one two seconds after the connection
        assert target.answer(["a"], ["a"]) == [(0,)]
    assert b"PING\r\n" in b"".join(seen)
    for _ in range(3):
        assert target.answer(["a"], ["a", "b"]) == [(0,), ()]
        assert target._pongs == b""
    assert target._stream is stream


def test_brokers_tell_what_they_are(broker: Broker, protocol: str) -> None:
    product = {"amqp": "RabbitMQ", "mqtt": "mosquitto", "nats": "NATS"}[protocol]
    assert product in broker.describe()
    assert any(character.isdigit() for character in broker.describe())
    assert broker.describe() in broker.name
    assert "guest:guest" not in broker.name
