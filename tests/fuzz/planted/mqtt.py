"""Faults of MQTT."""

from __future__ import annotations

import re

from tests.fuzz.planted.registry import pair, planted
from tests.fuzz.planted.right import fits_mqtt, right_mqtt


@pair("mqtt", "falsely matches")
def dollar_topics_are_like_others(pattern: str, key: str) -> bool:
    return fits_mqtt(pattern, key) or (key[:1] == "$" and pattern[:1] in ("+", "#") and fits_mqtt(pattern, "x" + key))


@pair("mqtt", "misses")
def hash_leaves_the_parent_out(pattern: str, key: str) -> bool:
    return fits_mqtt(pattern, key) and not (pattern.endswith("/#") and key.count("/") < pattern.count("/"))


@pair("mqtt", "misses")
def hash_behind_plus_leaves_the_parent_out(pattern: str, key: str) -> bool:
    return fits_mqtt(pattern, key) and not (pattern.endswith("+/#") and key.count("/") < pattern.count("/"))


@pair("mqtt", "misses")
def plus_takes_no_empty_level(pattern: str, key: str) -> bool:
    pairs = zip(pattern.split("/"), key.split("/"), strict=False)
    return fits_mqtt(pattern, key) and ("+", "") not in list(pairs)


@pair("mqtt", "falsely matches")
def empty_levels_collapse(pattern: str, key: str) -> bool:
    collapsed = re.sub("/+", "/", key)
    return fits_mqtt(pattern, key) or fits_mqtt(pattern, collapsed)


@pair("mqtt", "misses")
def dollar_anywhere_is_reserved(pattern: str, key: str) -> bool:
    pairs = zip(pattern.split("/"), key.split("/"), strict=False)
    return fits_mqtt(pattern, key) and not any(t == "+" and w.startswith("$") for t, w in pairs)


@pair("mqtt", "misses")
def shared_subscriptions_are_not_understood(pattern: str, key: str) -> bool:
    return fits_mqtt("x" + pattern if pattern.startswith("$share/") else pattern, key)


@planted("mqtt", "falsely matches")
def a_literal_takes_what_its_hash_takes(patterns: list[str], key: str) -> list[int]:
    """``a`` matches ``a/b`` when ``a/#`` is there too."""
    found = right_mqtt(patterns, key)
    more = [i for i, pattern in enumerate(patterns) if pattern + "/#" in patterns and fits_mqtt(pattern + "/#", key)]
    return sorted({*found, *more})


@planted("mqtt", "misses")
def a_topic_hides_its_own_hash(patterns: list[str], key: str) -> list[int]:
    """``a/b`` and ``a/b/#`` are both there, and ``a/b`` is given to the first alone."""
    found = right_mqtt(patterns, key)
    return [i for i in found if not (patterns[i].endswith("/#") and patterns[i][:-2] in patterns and key in patterns)]


@planted("mqtt", "misses")
def hash_hides_the_dollar_hash(patterns: list[str], key: str) -> list[int]:
    """With ``#`` and ``$SYS/#`` both there, ``$SYS/x`` is not delivered at all."""
    return [] if key.startswith("$") and "#" in patterns else right_mqtt(patterns, key)
