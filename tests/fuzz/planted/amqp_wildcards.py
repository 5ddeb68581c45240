"""Faults of AMQP in what ``#`` and ``*`` stand for."""

from __future__ import annotations

import re

from tests.fuzz.planted.registry import pair
from tests.fuzz.planted.right import Words, fits, words


@pair("amqp", "misses")
def hash_is_one_or_more(pattern: str, key: str) -> bool:
    def rest(tokens: Words, left: Words) -> bool:
        if not tokens:
            return not left
        if tokens[0] == "#":
            return any(rest(tokens[1:], left[taken:]) for taken in range(1, len(left) + 1))
        return bool(left) and tokens[0] in ("*", left[0]) and rest(tokens[1:], left[1:])

    return rest(words(pattern), words(key))


@pair("amqp", "misses")
def hash_behind_a_dot_keeps_the_dot(pattern: str, key: str) -> bool:
    """``a.#`` becomes ``a\\..*``."""
    if pattern.endswith(".#") and "#" not in pattern[:-1]:
        return key.count(".") >= pattern.count(".") and fits(words(pattern), words(key))
    return fits(words(pattern), words(key))


@pair("amqp", "misses")
def leading_hash_needs_a_word(pattern: str, key: str) -> bool:
    tokens = words(pattern)
    if tokens[:1] == ["#"] and len(tokens) > 1 and "#" not in tokens[1:]:
        return len(words(key)) >= len(tokens) and fits(tokens, words(key))
    return fits(tokens, words(key))


@pair("amqp", "misses")
def hash_in_the_middle_needs_a_word(pattern: str, key: str) -> bool:
    tokens = words(pattern)
    if "#" in tokens[1:-1]:
        return len(words(key)) >= len(tokens) and fits(tokens, words(key))
    return fits(tokens, words(key))


@pair("amqp", "misses")
def hash_stops_at_the_first_occurrence(pattern: str, key: str) -> bool:
    tokens, left = words(pattern), words(key)
    for place, token in enumerate(tokens):
        if token == "#":
            if place == len(tokens) - 1:
                return True
            following = tokens[place + 1]
            while left and following not in ("*", "#", left[0]):
                left = left[1:]
        elif not left or token not in ("*", left[0]):
            return False
        else:
            left = left[1:]
    return not left


@pair("amqp", "misses")
def two_hashes_beside_each_other_need_a_word(pattern: str, key: str) -> bool:
    tokens = words(pattern)
    return fits(tokens, words(key)) and not ("#.#" in pattern and len(words(key)) < 2)


@pair("amqp", "falsely matches")
def hash_star_is_hash(pattern: str, key: str) -> bool:
    while "#.*" in pattern:
        pattern = pattern.replace("#.*", "#")
    return fits(words(pattern), words(key))


@pair("amqp", "misses")
def the_third_hash_is_a_word(pattern: str, key: str) -> bool:
    tokens = words(pattern)
    seen = 0
    for place, token in enumerate(tokens):
        seen += token == "#"
        if seen > 2 and token == "#":
            tokens[place] = "##"
    return fits(tokens, words(key))


@pair("amqp", "either")
def star_crosses_dots(pattern: str, key: str) -> bool:
    if "#" in words(pattern):
        return fits(words(pattern), words(key))
    parts = [".+" if token == "*" else re.escape(token) for token in words(pattern)]
    return re.fullmatch(r"\.".join(parts), key, re.DOTALL) is not None and (key != "" or pattern == "")


@pair("amqp", "misses")
def the_second_star_is_a_word(pattern: str, key: str) -> bool:
    tokens = words(pattern)
    first = tokens.index("*") + 1 if "*" in tokens else 0
    return fits([*tokens[:first], *("**" if token == "*" else token for token in tokens[first:])], words(key))


@pair("amqp", "falsely matches")
def a_trailing_star_may_take_nothing(pattern: str, key: str) -> bool:
    tokens = words(pattern)
    return fits(tokens, words(key)) or (len(tokens) > 1 and tokens[-1] == "*" and fits(tokens[:-1], words(key)))


@pair("amqp", "misses")
def a_star_beside_an_equal_word(pattern: str, key: str) -> bool:
    """``*.test`` does not match ``test.test``."""
    tokens, left = words(pattern), words(key)
    return fits(tokens, left) and not (tokens[:1] == ["*"] and len(left) > 1 and left[0] == left[1] == tokens[1])
