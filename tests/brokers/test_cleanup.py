"""Nothing is left on the broker: after closing, after a refusal, after Ctrl-C, and when the process is killed."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from dfa_router.brokers import Broker, connect
from dfa_router.brokers.address import parse
from dfa_router.brokers.stream import Stream
from dfa_router.target import Refused

pytestmark = pytest.mark.broker

ROUNDS = """
import signal, sys
from dfa_router.brokers import connect
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have ignored it for all
with connect(sys.argv[1]) as broker:
    patterns, keys = [f"a{n % 30}" for n in range(60)], [f"a{n % 40}" for n in range(600)]
    broker.answer(patterns, keys)
    print(getattr(broker, "_prefix", "-"), flush=True)
    while True:
        broker.answer(patterns, keys)
"""


def left_on_rabbitmq(*prefixes: str) -> list[str]:
    """Return queues, exchanges and bindings whose names hold one of the prefixes, as the broker lists them."""
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl, to ask RabbitMQ what it holds")
    lines = []
    for what in (["list_queues", "name"], ["list_exchanges", "name"], ["list_bindings"]):
        asked = subprocess.run(["rabbitmqctl", "-q", *what], check=False, capture_output=True, text=True, timeout=60)
        if asked.returncode:
            pytest.skip(f"rabbitmqctl {what[0]} says: {asked.stderr.strip()[:200]}")
        found = [line for line in asked.stdout.splitlines() if any(prefix in line for prefix in prefixes)]
        lines += [f"{what[0]}: {line}" for line in found]
    return lines


def emptied(*prefixes: str) -> list[str]:
    """Wait until nothing is left; return what is left after a minute."""
    until = time.monotonic() + 60
    while (left := left_on_rabbitmq(*prefixes)) and time.monotonic() < until:
        time.sleep(0.2)
    return left


def test_closing_removes_everything_at_once(live: Callable[[str], Any]) -> None:
    target = live("amqp")
    prefix = target._prefix
    target.answer(["a", "#"], ["a"])
    assert left_on_rabbitmq(prefix)  # else the question would prove nothing
    target.close()
    assert left_on_rabbitmq(prefix) == []
    target.close()
    assert target.answer(["a"], ["a"]) == [(0,)]  # it opens again


def test_a_refusal_leaves_no_exchange(live: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    target = live("amqp")
    monkeypatch.setattr("dfa_router.brokers.amqp._short", lambda text, **_: text.encode())
    monkeypatch.setattr("dfa_router.brokers.amqp.commands.Queue.Bind.marshal", lambda _bind: b"\0\0\x01?")
    prefix = target._prefix
    assert target.refusal("a") is not None  # the broker minds a binding that it cannot read
    monkeypatch.undo()
    assert target.answer(["a"], ["a"]) == [(0,)]
    assert emptied(prefix) == []


def assert_no_more_than_bare_exchanges(left: list[str]) -> list[str]:
    """Return the exchanges that are left: killed in the moment between its declaration and its first binding, one stays."""
    assert all(line.startswith("list_exchanges: ") for line in left)
    return [line.removeprefix("list_exchanges: ") for line in left]


def forget(exchanges: list[str]) -> None:
    """Delete exchanges."""
    from pamqp import commands

    from dfa_router.brokers.amqp_channel import Channel, method

    channel = Channel(parse("amqp://127.0.0.1"), "dfa-router tests")
    for name in exchanges:
        channel.ask(method(commands.Exchange.Delete(exchange=name)), commands.Exchange.DeleteOk)
    channel.leave()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_a_process_that_ends_in_the_middle_of_a_round(protocol: str, url: str, number: signal.Signals) -> None:
    ended = []
    chance = random.Random(5)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", ROUNDS, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            prefix = process.stdout.readline().strip()
            assert prefix
            time.sleep(chance.uniform(0.01, 0.1))
            process.send_signal(number)
            _, complaint = process.communicate(timeout=60)
        finally:
            process.kill()  # else a process that does not end would ask the broker for ever
        assert process.returncode == -number
        if number == signal.SIGINT:
            assert complaint.rstrip().endswith("KeyboardInterrupt")
        ended.append(prefix)
    if protocol == "amqp" and number == signal.SIGINT:
        assert emptied(*ended) == []
    elif protocol == "amqp":
        forget(assert_no_more_than_bare_exchanges(emptied(*ended)))


# The signal may fall between the opening of a socket and the "try" that would close it; then the collector does.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupted_round_does_not_spoil_the_next(broker: Broker) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    patterns, keys = [f"a{at % 30}" for at in range(60)], [f"a{at % 40}" for at in range(400)]
    expected = [tuple(at for at, pattern in enumerate(patterns) if pattern == key) for key in keys]
    interrupted = 0
    chance = random.Random(3)
    try:
        for _ in range(12):
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.001, 0.03))
                while True:
                    broker.answer(keys[:40], patterns * 3)
            except KeyboardInterrupt:
                interrupted += 1
            assert broker.answer(patterns, keys) == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted == 12


def test_a_round_that_is_half_written_does_not_spoil_the_next(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(stream: Stream, waiting: memoryview) -> memoryview:
        stream._socket.send(waiting[: len(waiting) // 2])
        raise KeyboardInterrupt

    for ask in (broker.answer, broker.minds):
        assert broker.answer(["a", "b"], ["b"]) == [(1,)]
        with monkeypatch.context() as interrupted:
            interrupted.setattr(Stream, "_send", half)
            if broker.dialect.name == "amqp":  # its close would connect, and be interrupted again
                interrupted.setattr(broker, "close", lambda: None)
            with pytest.raises(KeyboardInterrupt):
                ask(["a", "b", "c"], ["a", "b", "c"])
        assert broker.answer(["a", "b"], ["b"]) == [(1,)]


def test_a_context_ends_with_the_connection_closed(url: str) -> None:
    with connect(url) as target, pytest.raises(Refused):
        target.answer(["\ud800"], ["a"])
    target.close()
