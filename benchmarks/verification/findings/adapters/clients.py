"""MQTT clients, which find out for a message which of their subscriptions it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

__all__ = ["aiomqtt", "paho", "paho_matcher"]


def aiomqtt(patterns: Sequence[str], key: str) -> list[int]:
    """Ask ``aiomqtt.Topic.matches``."""
    topic = import_module("aiomqtt").Topic(key)
    return [position for position, pattern in enumerate(patterns) if topic.matches(pattern)]


def paho(patterns: Sequence[str], key: str) -> list[int]:
    """Ask ``paho.mqtt.client.topic_matches_sub``."""
    topic_matches_sub = import_module("paho.mqtt.client").topic_matches_sub
    return [position for position, pattern in enumerate(patterns) if topic_matches_sub(pattern, key)]


def paho_matcher(patterns: Sequence[str], key: str) -> list[int]:
    """Ask paho's ``MQTTMatcher``, the tree behind ``message_callback_add``, with all filters in one tree."""
    return [position for positions in _paho_tree(tuple(patterns)).iter_match(key) for position in positions]


@lru_cache(maxsize=1)
def _paho_tree(patterns: tuple[str, ...]) -> Any:
    tree = import_module("paho.mqtt.matcher").MQTTMatcher()
    positions: dict[str, list[int]] = {}
    for position, pattern in enumerate(patterns):
        positions.setdefault(pattern, []).append(position)
    for pattern, places in positions.items():
        tree[pattern] = places
    return tree
