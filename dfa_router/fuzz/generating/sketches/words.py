"""Sketches about words: what is in them, empty ones, long ones, and words that only look like something else."""

from __future__ import annotations

import unicodedata

from dfa_router.fuzz.generating.making import Maker, Sketch, Words

__all__ = [
    "case",
    "empty_text",
    "empty_words",
    "key_is_a_pattern",
    "non_ascii",
    "reserved",
    "shared_prefix",
    "special",
    "wildcard_inside",
]


def wildcard_inside(make: Maker) -> Sketch:
    word = make.pick(make.language.inner)
    head, rest = make.words(0, 2), make.words(0, 1)
    keys = [[*head, word, *rest], [*head, "a", *rest], [*head, "aa", *rest], [*head, "ab", *rest], [*head, *rest]]
    return [[*head, word, *rest]], [*keys, [*head, "aa", make.plain(), *rest], [*head, "a", "b", *rest]]


def empty_words(make: Maker) -> Sketch:
    words = make.words(1, 2)
    forms = [
        words,
        [*words, ""],
        ["", *words],
        [*words[:1], "", *words[1:], make.plain()],
        ["", ""],
        ["", "", ""],
        [*words, "", ""],
        [*words, "", "", make.plain()],
    ]
    pattern = list(make.pick(forms if make.language.dialect.empty_words else [words]))
    if pattern and make.language.one is not None and make.below(2):
        pattern[make.below(len(pattern))] = make.language.one
    patterns = [pattern]
    tail = make.language.tail
    if tail is not None and make.language.dialect.empty_words and make.once_in(4):
        deep = ["a", "b", *[""] * (1 + make.below(3)), "c"]
        return [deep, [*deep[: make.below(3)], tail]], [deep, deep[:-1], [part for part in deep if part]]
    if tail is not None and make.once_in(3):
        patterns.append([*pattern[: make.below(len(pattern))], tail])
    double = [*words[:1], "", *words[1:], make.plain()]
    return patterns, [*forms, double, [part for part in pattern if part], [*pattern, ""], ["", *pattern]]


def reserved(make: Maker) -> Sketch:
    reserved = make.pick(make.language.reserved)
    rest = make.words(1, 2)
    one, tail = make.language.one, make.language.tail
    patterns: list[Words] = []
    if tail is not None:
        patterns += [[tail], [reserved, tail]]
    if one is not None:
        patterns += [[one, *rest], [reserved, one]]
        if tail is not None:
            patterns.append([one, tail])
    patterns.append([reserved, *rest])
    chosen = [patterns[make.below(len(patterns))] for _ in range(1 + make.below(2))]
    return chosen, [[reserved, *rest], [reserved], ["a", *rest], ["a", reserved], [reserved, make.plain()]]


def special(make: Maker) -> Sketch:
    word = make.pick(make.language.special)
    head = make.words(0, 1)
    one, tail = make.language.one, make.language.tail
    patterns: list[Words] = [[*head, word]]
    if one is not None:
        patterns.append([*head, one])
    if tail is not None:
        patterns.append([*head, tail])
    keys: list[Words] = [[*head, word], [*head, "a"], [*head, "aa"], [*head, "b"], [*head, word + "a"], [*head, ""]]
    glued = [
        "a" + "xab"[make.below(3)] + "b"
    ]  # matched if the separator is taken for "any character" of a regular expression
    return [make.pick(patterns), ["a", "b"]][: 1 + make.below(2)], [*keys, glued, ["a", "b"]]


def key_is_a_pattern(make: Maker) -> Sketch:
    pattern = make.pattern(3)
    wild = list(make.language.wildcards)
    literal = make.words(1, 3)
    starred = list(literal)
    if wild:
        starred[make.below(len(starred))] = make.pick(wild)
    return [make.pick((literal, pattern))], [pattern, starred, *([word] for word in wild), literal]


def empty_text(make: Maker) -> Sketch:
    tail, one = make.language.tail, make.language.one
    patterns: list[Words] = [["a"]]
    if tail is not None:
        patterns.append([tail])
    if one is not None:
        patterns.append([one])
    if make.language.anywhere and tail is not None:
        patterns += [[tail, tail], [tail, "a"]]
    if make.language.dialect.empty_text:
        patterns.append([])
    return [make.pick(patterns)], [[], ["", ""], ["a"], ["a", "b"]]


def shared_prefix(make: Maker) -> Sketch:
    """Long words that differ only after their first 7, 8, 16 or 32 bytes, or only in length."""
    first, second = make.pick(make.language.prefixed), make.pick(make.language.prefixed)
    head = make.words(0, 1)
    pattern = [
        *head,
        *([make.language.one] if make.language.one is not None and make.once_in(3) else []),
        first,
        *make.words(0, 1),
    ]
    key = make.matching(pattern)
    other = [second if word == first else word for word in key]
    return [pattern], [key, other, [word + "a" for word in key], [*head, first[:-1]], [*head, first + first]]


def non_ascii(make: Maker) -> Sketch:
    first, second = make.pick(make.language.non_ascii), make.pick(make.language.non_ascii)
    head = make.words(0, 1)
    wild = [word for word in (make.language.one, make.language.tail) if word is not None]
    pattern = [*head, make.pick([first, first, *wild])]
    near = [unicodedata.normalize(form, first) for form in ("NFC", "NFD", "NFKC")]
    near += [first.lower(), first.upper(), first.casefold(), first[:1], first + "a", "a" + first]
    near.append("".join(chr(ord(character) & 0xFF) for character in first))
    return [pattern], [[*head, first], [*head, second], *([*head, word] for word in near), [*head, "a", first]]


def case(make: Maker) -> Sketch:
    pattern = [make.pick(make.language.cased) for _ in range(1 + make.below(2))]
    return [pattern], [
        pattern,
        [w.lower() for w in pattern],
        [w.upper() for w in pattern],
        [w.swapcase() for w in pattern],
    ]
