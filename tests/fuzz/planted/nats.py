"""Faults of NATS."""

from __future__ import annotations

import re

from tests.fuzz.planted.registry import pair, planted
from tests.fuzz.planted.right import fits_nats, right_nats


@pair("nats", "falsely matches")
def the_tail_takes_zero_tokens(pattern: str, key: str) -> bool:
    return fits_nats(pattern, key) or (pattern.endswith(".>") and fits_nats(pattern[:-2], key))


@pair("nats", "falsely matches")
def star_and_tail_take_one_token(pattern: str, key: str) -> bool:
    return fits_nats(pattern, key) or (pattern == "*.>" and fits_nats("*", key))


@pair("nats", "falsely matches")
def empty_tokens_are_delivered(pattern: str, key: str) -> bool:
    filled = re.sub(r"(?<=\.)(?=\.)|^(?=\.)|(?<=\.)$", "x", key)  # what no literal of a pattern is equal to
    return fits_nats(pattern, key) or (bool(key) and filled != key and fits_nats(pattern, filled))


@pair("nats", "falsely matches")
def a_token_that_begins_with_a_star_is_one(pattern: str, key: str) -> bool:
    tokens = ["*" if token.startswith("*") else token for token in pattern.split(".")]
    return fits_nats(".".join(tokens), key)


@pair("nats", "falsely matches")
def a_shorter_subscription_is_enough(pattern: str, key: str) -> bool:
    if "*" in pattern or ">" in pattern:
        return fits_nats(pattern, key)
    return fits_nats(pattern, ".".join(key.split(".")[: pattern.count(".") + 1])) and "" not in key.split(".")


@planted("nats", "misses")
def interest_ends_at_a_literal(patterns: list[str], key: str) -> list[int]:
    """``stream.*`` is not seen for ``stream.A`` when ``stream.A.child`` is there."""
    deeper = any(pattern.startswith(key + ".") for pattern in patterns)
    return [i for i in right_nats(patterns, key) if not (deeper and patterns[i].endswith(".*"))]
