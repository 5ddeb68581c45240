"""One function for each class of bug, which makes its sketch: patterns, and keys that are aimed at them.

Each is a case from a bug report (a pattern, a key, a wrong answer) with the words left open. They stand in one file,
although it is long, as all have the same form and :mod:`dfa_router.fuzz.generating.classes` lists them in one table.
"""

from __future__ import annotations

import unicodedata

from dfa_router.fuzz.generating.making import Maker, Words

__all__ = [
    "Sketch",
    "adjacent",
    "both_kinds",
    "case",
    "crosses_separators",
    "duplicates",
    "empty_text",
    "empty_words",
    "greedy",
    "group",
    "key_is_a_pattern",
    "many_manies",
    "needs_a_word",
    "non_ascii",
    "position",
    "reserved",
    "several_ones",
    "shared_node",
    "shared_prefix",
    "special",
    "unanchored",
    "wildcard_inside",
    "zero_at_the_end",
    "zero_at_the_start",
    "zero_in_the_middle",
]

Sketch = tuple[list[Words], list[Words]]
"""Patterns, and keys that are aimed at them."""


def _one(make: Maker) -> str:
    return make.language.one or "a"


def _tail(make: Maker) -> str:
    return make.language.tail or "a"


def zero_at_the_end(make: Maker) -> Sketch:
    head = make.words(1, 2)
    if make.language.one is not None and make.once_in(3):
        pattern = [*head[:1], make.language.one, _tail(make)]
        return [pattern], [[*head[:1], make.plain()], head[:1], [*head[:1], make.plain(), make.plain()]]
    return [[*head, _tail(make)]], [head, [*head, make.plain()], head[:-1]]


def zero_at_the_start(make: Maker) -> Sketch:
    rest = make.words(1, 2)
    return [[_tail(make), *rest]], [rest, [make.plain(), *rest], rest[1:]]


def zero_in_the_middle(make: Maker) -> Sketch:
    head, rest = make.words(1, 2), make.words(1, 2)
    return [[*head, _tail(make), *rest]], [[*head, *rest], [*head, make.plain(), *rest], head, rest]


def needs_a_word(make: Maker) -> Sketch:
    head = make.words(1, 2)
    some = make.language.some or "a"
    patterns = [[*head, some]]
    if make.language.one is not None and make.once_in(2):
        patterns = [[make.language.one, some]]
    return patterns, [head, head[:1], [*head, make.plain()], [*head, make.plain(), make.plain()]]


def crosses_separators(make: Maker) -> Sketch:
    head, rest = make.words(0, 2), make.words(0, 2)
    more = make.words(2, 3)
    return [[*head, _one(make), *rest]], [[*head, *more, *rest], [*head, make.plain(), *rest], [*head, *rest]]


def several_ones(make: Maker) -> Sketch:
    pattern = [_one(make) if make.below(3) else make.plain() for _ in range(2 + make.below(3))]
    equal = [make.plain()] * len(pattern)
    return [pattern], [make.matching(pattern), equal, make.matching(pattern)[:-1]]


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


def shared_node(make: Maker) -> Sketch:
    """Patterns on one path of a trie: one is a prefix of the other, or one has a literal where the other has a wildcard."""
    head = make.words(1, 2)
    one, tail = make.language.one, make.language.tail
    if one is not None and make.once_in(3):
        head[make.below(len(head))] = one
    if tail is not None and make.language.anywhere and make.once_in(4):
        inner, outer = [*head, tail], [*head, tail, "d"]
        key = make.matching(head)
        return [inner, outer], [key, [*key, "c"], [*key, "d"], [*key, "c", "d"]]
    ends: list[Words] = [[], [make.plain()]]
    if one is not None:
        ends += [[one], [one, make.plain()]]
    if tail is not None:
        ends.append([tail])
        if make.language.anywhere:
            ends.append([tail, make.plain()])
    if make.language.dialect.empty_words:
        ends.append(["", make.plain()])
    first = [*head, *make.pick(ends)]
    second = [*head, *make.pick(ends)]
    if make.below(2) and (make.language.anywhere or first[-1] != tail):
        second = [*first, make.pick([make.plain(), make.plain(), *(word for word in (one, tail) if word is not None)])]
    patterns = [first, second]
    if make.once_in(2):
        patterns.append([*head, make.plain(), make.plain()])
    base = make.matching(head)
    return patterns, [base, [*base, make.plain()], [*base, make.plain(), make.plain()], make.matching(first), base[:-1]]


def adjacent(make: Maker) -> Sketch:
    wild = [_tail(make), _one(make)]
    run = [make.pick(wild) for _ in range(2 + make.below(2))]
    head, rest = make.words(0, 1), make.words(0, 1)
    few = make.words(0, 3)
    return [[*head, *run, *rest]], [[*head, *rest], [*head, *few, *rest], few, [""] * (1 + make.below(3))]


def greedy(make: Maker) -> Sketch:
    """The words after a ``#`` occur more than once in the key, and the first occurrence does not lead to a match."""
    rest = make.words(1, 2)
    tail = _tail(make)
    pattern = [*make.words(0, 1), tail, *rest, *([tail, make.plain()] if make.once_in(4) else [])]
    head = pattern[: pattern.index(tail)]
    return [pattern], [
        [*head, *rest, *rest],
        [*head, *rest[:1], *rest],
        [*head, *rest, make.plain(), *rest],
        [*head, *rest, "d"],
    ]


def unanchored(make: Maker) -> Sketch:
    pattern = make.words(1, 3)
    if make.language.one is not None and make.once_in(2):
        pattern[make.below(len(pattern))] = make.language.one
    key = make.matching(pattern)
    before, after = ["a" + key[0], *key[1:]], [*key[:-1], key[-1] + "a"]
    return [pattern], [
        [*key, make.plain()],
        [make.plain(), *key],
        before,
        after,
        key[1:],
        key[:-1],
        [*key, make.plain(), "b"],
    ]


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


def position(make: Maker) -> Sketch:
    """Several patterns of which one or two match: at the first place, the last, or any other."""
    key = make.words(1, 3)
    hit = [make.language.one if make.language.one is not None and make.once_in(3) else word for word in key]
    misses = [[*key, "d"], ["d", *key], ["d"], [*key[:-1], "d"]]
    patterns = [list(make.pick(misses)) for _ in range(1 + make.below(3))]
    patterns.insert(make.pick((0, len(patterns), make.below(len(patterns) + 1))), hit)
    if make.once_in(2):
        patterns.append(list(key))
    return patterns, [key, [*key, "d"], ["d"]]


def duplicates(make: Maker) -> Sketch:
    pattern = make.pattern(3)
    return [pattern, make.pattern(2), list(pattern)][:: 1 + make.below(2)], [
        make.matching(pattern),
        make.matching(pattern),
    ]


def many_manies(make: Maker) -> Sketch:
    tail = _tail(make)
    times = min(make.language.most_many, 2 + make.below(4))
    pattern: Words = make.words(0, 1)
    for _ in range(times):
        pattern += [tail, *make.words(0, 1)]
    literals = [word for word in pattern if word != tail]
    return [pattern], [literals, make.matching(pattern)[:8], [*literals, make.plain()], literals[1:], literals[::-1]]


def group(make: Maker) -> Sketch:
    """Shared subscriptions, and keys that look like them."""
    assert make.language.dialect.shared is not None
    shared = make.language.dialect.shared.decode()
    pattern = make.pattern(3)
    key = make.matching(pattern)
    return [[shared, "g", *pattern], pattern][: 1 + make.below(2)], [
        key,
        [shared, "g", *key],
        ["g", *key],
        [shared, *key],
    ]


def both_kinds(make: Maker) -> Sketch:
    pattern = [_one(make) if make.below(2) else make.plain() for _ in range(1 + make.below(3))]
    pattern.append(_tail(make))
    key = make.matching(pattern)
    return [pattern], [key, key[:-1], key[: len(pattern) - 1], key[: max(0, len(pattern) - 2)], [*key, make.plain()]]
