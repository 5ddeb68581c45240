"""Matchers with one fault each, of the kinds that brokers and libraries have had; and right ones, which have none.

Each is a callable ``f(patterns, key)`` as the fuzzer takes it, written in the manner in which its fault came about:
regular expressions, tries, loops. They share nothing with the engines of this project.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["PLANTED", "RIGHT", "Planted"]

Words = Sequence[str]
Matcher = Callable[[list[str], str], list[int]]


@dataclass(frozen=True)
class Planted:
    name: str
    dialect: str
    match: Matcher
    kind: str
    """In which direction the fault shows: ``misses``, ``falsely matches``, or ``either``."""


PLANTED: list[Planted] = []
RIGHT: dict[str, Matcher] = {}


def planted(dialect: str, kind: str) -> Callable[[Matcher], Matcher]:
    def enter(match: Matcher) -> Matcher:
        PLANTED.append(Planted(match.__name__, dialect, match, kind))
        return match

    return enter


def pair(dialect: str, kind: str) -> Callable[[Callable[[str, str], bool]], Callable[[str, str], bool]]:
    """Enter a function of one pattern and a key."""

    def enter(one: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
        def match(patterns: list[str], key: str) -> list[int]:
            return [position for position, pattern in enumerate(patterns) if one(pattern, key)]

        PLANTED.append(Planted(one.__name__, dialect, match, kind))
        return one

    return enter


# --- right ones -------------------------------------------------------------------------------------------------------


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


# --- AMQP: what `#` stands for ----------------------------------------------------------------------------------------


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


# --- AMQP: what `*` stands for ----------------------------------------------------------------------------------------


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


# --- AMQP: words ------------------------------------------------------------------------------------------------------


@pair("amqp", "falsely matches")
def a_star_inside_a_word_is_a_glob(pattern: str, key: str) -> bool:
    tokens = ["*" if token == "*" else token for token in words(pattern)]
    left = words(key)
    if fits(tokens, left):
        return True
    return "#" not in tokens and len(tokens) == len(left) and all(
        token == "*" or ("[" not in token and "?" not in token and fnmatch.fnmatchcase(word, token))
        for token, word in zip(tokens, left, strict=True)
    )  # fmt: skip


@pair("amqp", "either")
def empty_words_collapse(pattern: str, key: str) -> bool:
    return fits([t for t in words(pattern) if t], [w for w in words(key) if w])


@pair("amqp", "either")
def a_trailing_dot_is_dropped(pattern: str, key: str) -> bool:
    return fits(words(pattern), words(key.removesuffix(".")))


@pair("amqp", "misses")
def a_star_wants_a_character(pattern: str, key: str) -> bool:
    tokens, left = words(pattern), words(key)
    if "#" in tokens or len(tokens) != len(left):
        return fits(tokens, left)
    return all(t == w or (t == "*" and w != "") for t, w in zip(tokens, left, strict=True))


@pair("amqp", "falsely matches")
def the_end_is_not_anchored(pattern: str, key: str) -> bool:
    if "#" in words(pattern) or not pattern:
        return fits(words(pattern), words(key))
    parts = ["[^.]*" if token == "*" else re.escape(token) for token in words(pattern)]
    return re.match(r"\.".join(parts), key) is not None and key != ""


@pair("amqp", "falsely matches")
def the_start_is_not_anchored(pattern: str, key: str) -> bool:
    return any(fits(words(pattern), words(key)[skipped:]) for skipped in range(len(words(key)) or 1))


@pair("amqp", "falsely matches")
def dots_of_the_pattern_are_any_character(pattern: str, key: str) -> bool:
    if "*" in pattern or "#" in pattern:
        return fits(words(pattern), words(key))
    return pattern == key or (
        len(pattern) == len(key) and all(p in (".", k) for p, k in zip(pattern, key, strict=True))
    )


@pair("amqp", "either")
def words_are_a_regular_expression(pattern: str, key: str) -> bool:
    if "*" in pattern or "#" in pattern:
        return fits(words(pattern), words(key))
    try:
        return re.fullmatch(pattern.replace(".", r"\."), key) is not None
    except re.error:
        return False


@pair("amqp", "misses")
def wildcards_take_word_characters_only(pattern: str, key: str) -> bool:
    if not fits(words(pattern), words(key)):
        return False
    tokens, left = words(pattern), words(key)
    return "*" not in tokens or len(tokens) != len(left) or all(
        token != "*" or word == "" or re.fullmatch(r"\w+", word) is not None
        for token, word in zip(tokens, left, strict=True)
    )  # fmt: skip


@pair("amqp", "falsely matches")
def the_key_has_the_wildcards(pattern: str, key: str) -> bool:
    return fits(words(pattern), words(key)) or fits(words(key), words(pattern))


@pair("amqp", "misses")
def an_empty_key_reaches_nobody(pattern: str, key: str) -> bool:
    return bool(key) and fits(words(pattern), words(key))


@pair("amqp", "falsely matches")
def case_does_not_matter(pattern: str, key: str) -> bool:
    return fits(words(pattern.lower()), words(key.lower()))


@pair("amqp", "falsely matches")
def unicode_is_normalised(pattern: str, key: str) -> bool:
    return fits(words(unicodedata.normalize("NFC", pattern)), words(unicodedata.normalize("NFC", key)))


@pair("amqp", "either")
def characters_are_cut_to_a_byte(pattern: str, key: str) -> bool:
    def cut(text: str) -> str:
        return "".join(chr(ord(character) & 0xFF) for character in text)

    return fits(words(cut(pattern)), words(cut(key)))


@pair("amqp", "falsely matches")
def words_are_cut_at_eight_bytes(pattern: str, key: str) -> bool:
    return fits([t[:8] for t in words(pattern)], [w[:8] for w in words(key)])


@pair("amqp", "either")
def the_longest_key_loses_its_last_byte(pattern: str, key: str) -> bool:
    """AMQP's keys have up to 255 bytes, and a buffer of so many has none for the end."""
    return fits(words(pattern), words(key.encode()[:254].decode(errors="ignore")))


# --- AMQP: sets of bindings -------------------------------------------------------------------------------------------


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


# --- MQTT -------------------------------------------------------------------------------------------------------------


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


# --- NATS -------------------------------------------------------------------------------------------------------------


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
