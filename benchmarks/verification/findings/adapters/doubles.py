"""Brokers inside a Python process: stand-ins for real ones in tests, and a small broker of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

__all__ = ["amqtt", "faststream", "hbmqtt", "kombu", "mqttools"]


def kombu(patterns: Sequence[str], key: str) -> list[int]:
    """Ask the topic exchange of kombu's memory transport: a queue for each pattern, bound, and looked up for the key."""
    # This is what the channel does for a published message before it puts it into queues. Left out is what follows if
    # no queue is found, the default queue and a warning.
    channel = _kombu_channel(tuple(patterns))
    found = channel.typeof("e").lookup(channel.get_table("e"), "e", key, None)
    return [int(queue) for queue in found]


@lru_cache(maxsize=1)
def _kombu_channel(patterns: tuple[str, ...]) -> Any:
    channel: Any = import_module("kombu").Connection("memory://").channel()
    if "e" in channel.state.exchanges:  # the process shares the transport's state: it is there from the patterns before
        for queue in [queue for _, _, queue in channel.get_table("e")]:
            channel.queue_delete(queue)
        channel.exchange_delete("e")
    channel.exchange_declare("e", type="topic")
    for position, pattern in enumerate(patterns):
        channel.queue_declare(str(position))
        channel.queue_bind(str(position), "e", pattern)
    return channel


def faststream(patterns: Sequence[str], key: str) -> list[int]:
    """Ask what FastStream's ``TestRabbitBroker`` asks for a subscriber on a topic exchange."""
    apply_pattern = import_module("faststream.rabbit.testing").apply_pattern
    return [position for position, pattern in enumerate(patterns) if apply_pattern(pattern, key)]


def amqtt(patterns: Sequence[str], key: str) -> list[int]:
    """Subscribe at amqtt's broker and ask it about each filter, as it does for a message; it opens no listener."""
    matches = _amqtt_matches(tuple(patterns))
    return [position for position, pattern in enumerate(patterns) if matches(key, pattern)]


@lru_cache(maxsize=1)
def _amqtt_matches(patterns: tuple[str, ...]) -> Callable[[str, str], bool]:
    async def subscribed() -> Any:
        broker = import_module("amqtt.broker").Broker(
            {"listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:0"}}, "plugins": {}}
        )
        session = import_module("amqtt.session").Session()
        session.client_id = "fuzz"
        for pattern in patterns:
            if await broker.add_subscription((pattern, 0), session) == 0x80:
                raise ValueError(f"the broker refuses the filter {pattern!r}")
        return broker

    return asyncio.run(subscribed())._matches  # type: ignore[no-any-return]


def hbmqtt(patterns: Sequence[str], key: str) -> list[int]:
    """Ask hbmqtt's broker about each filter, as its broadcast does, with its rule for topics that begin with ``$``."""
    broker: Any = import_module("hbmqtt.broker").Broker
    matches = broker.matches
    return [
        position
        for position, pattern in enumerate(patterns)
        if not (key.startswith("$") and pattern.startswith(("+", "#"))) and matches(None, key, pattern)
    ]


def mqttools(patterns: Sequence[str], key: str) -> list[int]:
    """Subscribe a session for each filter at mqttools' broker, and ask which of them it would send the message to."""
    return [session.position for session in _mqttools_broker(tuple(patterns)).iter_subscribers(key)]


@lru_cache(maxsize=1)
def _mqttools_broker(patterns: tuple[str, ...]) -> Any:
    module: Any = import_module("mqttools.broker")
    broker = module.Broker("localhost")
    for position, pattern in enumerate(patterns):
        session = module.Session(str(position))
        session.position, session.client = position, object()
        if module.is_wildcards_in_topic(pattern):
            broker.add_wildcard_subscriber(pattern, session)
        else:
            broker.add_subscriber(pattern, session)
    return broker
