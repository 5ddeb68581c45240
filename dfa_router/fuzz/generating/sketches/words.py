"""Sketches about words: what is in them, empty ones, long ones, and words that only look like something else."""

from __future__ import annotations

import unicodedata

from dfa_router.fuzz.generating.making import Maker, Sketch, Words, text

__all__ = [
    "case",
    "deep",
    "empty_text",
    "empty_words",
    "key_is_a_pattern",
    "line_ends",
    "long_words",
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
    near += ["".join(chr(ord(character) & mask) for character in first) for mask in (0xFF, 0xFFFF)]
    near = [word for word in near if not any(0xD800 <= ord(character) < 0xE000 for character in word)]
    return [pattern], [[*head, first], [*head, second], *([*head, word] for word in near), [*head, "a", first]]


def case(make: Maker) -> Sketch:
    pattern = [make.pick(make.language.cased) for _ in range(1 + make.below(2))]
    return [pattern], [
        pattern,
        [w.lower() for w in pattern],
        [w.upper() for w in pattern],
        [w.swapcase() for w in pattern],
    ]


def line_ends(make: Maker) -> Sketch:
    """A line end in a word: `$` of a regular expression matches before one, and `.` does not match one."""
    word = make.pick(make.language.line_ends)
    head = make.words(0, 1)
    wild = [[*head, token] for token in (make.language.one, make.language.tail) if token is not None]
    bare = word.strip() or "a"
    pattern = make.pick([[*head, bare], [*head, word], *wild])
    return [pattern], [[*head, word], [*head, bare], [*head, bare + "\n"], [*head, "\n" + bare], [*head, word, "b"]]


def long_words(make: Maker) -> Sketch:
    """Words of 127 bytes and more, which differ in their last byte, or in length alone; and keys as long as they may be."""
    limit = make.language.dialect.max_bytes
    room = (limit or 1100) - 8
    head = make.words(0, 1)
    sizes = [size for size in (127, 128, 129, 200, 240, 255, 256, 512, 1024) if size <= room]
    if limit is not None and limit <= 1100:
        sizes.append(limit - len(text([*head, ""], make.language)))
    word = "a" * make.pick(sizes)
    wild = [token for token in (make.language.one, make.language.tail) if token is not None]
    pattern = [*head, make.pick([word, word, *wild])]
    near = [word[:-1] + "b", word[:-1], word + "a", word[:127], word[:128], "b" + word[1:], word]
    return [pattern], [[*head, one] for one in near]


def deep(make: Maker) -> Sketch:
    """More words than 32 or 64: a bit for each of them no longer fits a number."""
    words = make.pick((31, 32, 33, 40, 63, 64, 65))
    language = make.language
    most = language.dialect.max_words
    key = ["a"] * min(words, most or words)
    pattern = list(key)
    pattern[-1 - make.below(3)] = make.pick([language.one or "a", "a", "b"])
    if language.tail is not None and make.once_in(2):
        pattern = [*pattern[: make.below(len(pattern))], language.tail]
    other = list(key)
    other[make.below(len(other))] = "b"
    return [pattern], [key, other, key[:-1], key[1:], [*key[:-1], "b"], ["b", *key[1:]]]
