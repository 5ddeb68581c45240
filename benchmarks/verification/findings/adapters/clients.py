"""Clients of MQTT and NATS, which find out for a message which of their subscriptions it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

__all__ = ["adafruit", "aiomqtt", "asyncio_mqtt", "cliffracer", "fastapi_mqtt", "paho", "paho_matcher"]


def aiomqtt(patterns: Sequence[str], key: str) -> list[int]:
    """Ask ``aiomqtt.Topic.matches``."""
    topic = import_module("aiomqtt").Topic(key)
    return [position for position, pattern in enumerate(patterns) if topic.matches(pattern)]


def asyncio_mqtt(patterns: Sequence[str], key: str) -> list[int]:
    """Ask ``asyncio_mqtt.Topic.matches``."""
    topic = import_module("asyncio_mqtt").Topic(key)
    return [position for position, pattern in enumerate(patterns) if topic.matches(pattern)]


def fastapi_mqtt(patterns: Sequence[str], key: str) -> list[int]:
    """Ask ``fastapi_mqtt.FastMQTT.match``."""
    match = import_module("fastapi_mqtt").FastMQTT.match
    return [position for position, pattern in enumerate(patterns) if match(key, pattern)]


def cliffracer(patterns: Sequence[str], key: str) -> list[int]:
    """Ask ``cliffracer.core.subjects.subject_matches``."""
    matches = import_module("cliffracer.core.subjects").subject_matches
    return [position for position, pattern in enumerate(patterns) if matches(pattern, key)]


def adafruit(patterns: Sequence[str], key: str) -> list[int]:
    """Ask the ``MQTTMatcher`` of adafruit_minimqtt, with all filters in one tree."""
    return [
        position
        for positions in _tree("adafruit_minimqtt.matcher", tuple(patterns)).iter_match(key)
        for position in positions
    ]


def paho(patterns: Sequence[str], key: str) -> list[int]:
    """Ask ``paho.mqtt.client.topic_matches_sub``."""
    topic_matches_sub = import_module("paho.mqtt.client").topic_matches_sub
    return [position for position, pattern in enumerate(patterns) if topic_matches_sub(pattern, key)]


def paho_matcher(patterns: Sequence[str], key: str) -> list[int]:
    """Ask paho's ``MQTTMatcher``, the tree behind ``message_callback_add``, with all filters in one tree."""
    return [
        position for positions in _tree("paho.mqtt.matcher", tuple(patterns)).iter_match(key) for position in positions
    ]


@lru_cache(maxsize=1)
def _tree(module: str, patterns: tuple[str, ...]) -> Any:
    tree = import_module(module).MQTTMatcher()
    positions: dict[str, list[int]] = {}
    for position, pattern in enumerate(patterns):
        positions.setdefault(pattern, []).append(position)
    for pattern, places in positions.items():
        tree[pattern] = places
    return tree
