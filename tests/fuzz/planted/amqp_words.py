"""Faults of AMQP in what is a word, and what is in it."""

from __future__ import annotations

import fnmatch
import re
import unicodedata

from tests.fuzz.planted.registry import pair
from tests.fuzz.planted.right import fits, words


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
