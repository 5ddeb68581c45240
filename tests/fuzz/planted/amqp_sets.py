"""Faults of AMQP in what bindings have to do with each other."""

from __future__ import annotations

from tests.fuzz.planted.registry import planted
from tests.fuzz.planted.right import right_amqp, words


@planted("amqp", "misses")
def the_first_match_is_the_last(patterns: list[str], key: str) -> list[int]:
    return right_amqp(patterns, key)[:1]


@planted("amqp", "misses")
def equal_patterns_are_one_binding(patterns: list[str], key: str) -> list[int]:
    return [i for i in right_amqp(patterns, key) if patterns.index(patterns[i]) == i]


@planted("amqp", "misses")
def the_last_binding_is_forgotten(patterns: list[str], key: str) -> list[int]:
    return [i for i in right_amqp(patterns, key) if i < max(1, len(patterns) - 1)]


@planted("amqp", "misses")
def a_longer_pattern_hides_the_hash(patterns: list[str], key: str) -> list[int]:
    """``*.pre.#`` is lost when ``*.pre.#.suf`` makes an inner node of its own."""
    extended = {p for p in patterns for q in patterns if p.endswith(".#") and q.startswith(p + ".")}
    return [i for i in right_amqp(patterns, key) if patterns[i] not in extended]


@planted("amqp", "misses")
def a_literal_hides_the_star(patterns: list[str], key: str) -> list[int]:
    """A trie that enters a literal child does not look at the wildcard beside it."""
    root: dict[str, dict] = {}  # type: ignore[type-arg]
    for pattern in patterns:
        node = root
        for token in words(pattern):
            node = node.setdefault(token, {})
    found = right_amqp(patterns, key)

    def hidden(pattern: str) -> bool:
        node = root
        for token, word in zip(words(pattern), words(key), strict=False):
            if token == "#":
                return False
            if token == "*" and word in node and word not in ("*", "#"):
                return True
            node = node[token]
        return False

    return [i for i in found if not hidden(patterns[i])]
