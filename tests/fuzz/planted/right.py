"""Right matchers, which have no fault; those with one are made of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from tests.fuzz.planted.registry import Matcher

Words = Sequence[str]
RIGHT: dict[str, Matcher] = {}


def words(text: str, separator: str = ".") -> list[str]:
    return text.split(separator) if text else []


def fits(tokens: Words, key: Words, one: str = "*", many: str = "#") -> bool:
    """Row by row: which prefixes of the key the tokens so far can take."""
    row = [True] + [False] * len(key)
    for token in tokens:
        after = [False] * (len(key) + 1)
        for taken in range(len(key) + 1):
            if token == many:
                after[taken] = row[taken] or (taken > 0 and after[taken - 1])
            elif taken:
                after[taken] = row[taken - 1] and token in (one, key[taken - 1])
        row = after
    return row[-1]


def right_amqp(patterns: list[str], key: str) -> list[int]:
    return [i for i, pattern in enumerate(patterns) if fits(words(pattern), words(key))]


def fits_mqtt(pattern: str, key: str) -> bool:
    if key == "" or set(key) & set("+#\0"):
        return False
    tokens, levels = pattern.split("/"), key.split("/")
    if tokens[0] == "$share" and len(tokens) > 2:
        tokens = tokens[2:]
    if tokens[0] in ("+", "#") and key.startswith("$"):
        return False
    if tokens[-1] == "#":
        tokens = tokens[:-1]
        levels = levels[: len(tokens)]
    return len(tokens) == len(levels) and all(t in ("+", w) for t, w in zip(tokens, levels, strict=True))


def right_mqtt(patterns: list[str], key: str) -> list[int]:
    return [i for i, pattern in enumerate(patterns) if fits_mqtt(pattern, key)]


def fits_nats(pattern: str, key: str) -> bool:
    tokens, subject = pattern.split("."), key.split(".")
    if "" in subject:
        return False
    if tokens[-1] == ">":
        if len(subject) < len(tokens):
            return False
        tokens = tokens[:-1]
        subject = subject[: len(tokens)]
    return len(tokens) == len(subject) and all(t in ("*", w) for t, w in zip(tokens, subject, strict=True))


def right_nats(patterns: list[str], key: str) -> list[int]:
    return [i for i, pattern in enumerate(patterns) if fits_nats(pattern, key)]


def strict_mqtt(patterns: list[str], key: str) -> list[int]:
    """A right matcher that refuses what MQTT refuses."""
    for pattern in patterns:
        levels = pattern.split("/")
        bad = "\0" in pattern or any(0xFDD0 <= ord(c) <= 0xFDEF or ord(c) & 0xFFFE == 0xFFFE for c in pattern)
        bad = bad or any(unicodedata.category(c) == "Cc" for c in pattern) or pattern == ""
        if levels[0] == "$share":
            bad = bad or len(levels) < 3 or not levels[1] or "/".join(levels[2:]) == ""
            bad = bad or bool(set(levels[1]) & set("+#"))
            bad = bad or levels[2] == "$share"
            levels = levels[2:]
        if bad or "#" in levels[:-1] or any(level not in ("+", "#") and set(level) & set("+#") for level in levels):
            raise ValueError(f"not a topic filter: {pattern!r}")
    return right_mqtt(patterns, key)


RIGHT.update(amqp=right_amqp, mqtt=right_mqtt, nats=right_nats)
