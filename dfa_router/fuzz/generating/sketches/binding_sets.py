"""Sketches about whole patterns and several of them: where they begin and end, which matches, and which are alike."""

from __future__ import annotations

from dfa_router.fuzz.generating.making import Maker, Sketch, Words

__all__ = [
    "duplicates",
    "group",
    "position",
    "shared_node",
    "unanchored",
]


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
