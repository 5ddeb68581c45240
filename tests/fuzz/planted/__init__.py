"""Matchers with one fault each, of the kinds that brokers and libraries have had; and right ones, which have none.

Each is a callable ``f(patterns, key)`` as the fuzzer takes it, written in the manner in which its fault came about:
regular expressions, tries, loops. They share nothing with the engines of this project.
"""

from __future__ import annotations

from tests.fuzz.planted import amqp_sets, amqp_wildcards, amqp_words, mqtt, nats
from tests.fuzz.planted.registry import BY_MODULE, Matcher, Planted
from tests.fuzz.planted.right import RIGHT, fits, right_amqp, right_mqtt, right_nats, strict_mqtt, words

__all__ = [
    "PLANTED",
    "RIGHT",
    "Matcher",
    "Planted",
    "fits",
    "right_amqp",
    "right_mqtt",
    "right_nats",
    "strict_mqtt",
    "words",
]

PLANTED = [one for module in (amqp_wildcards, amqp_words, amqp_sets, mqtt, nats) for one in BY_MODULE[module.__name__]]
