"""Sketches about what wildcards take: how many words, across separators, and one wildcard beside another."""

from __future__ import annotations

from dfa_router.fuzz.generating.making import Maker, Sketch, Words

__all__ = [
    "adjacent",
    "both_kinds",
    "crosses_separators",
    "greedy",
    "many_manies",
    "needs_a_word",
    "several_ones",
    "zero_at_the_end",
    "zero_at_the_start",
    "zero_in_the_middle",
]


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


def many_manies(make: Maker) -> Sketch:
    tail = _tail(make)
    times = min(make.language.most_many, 2 + make.below(4))
    pattern: Words = make.words(0, 1)
    for _ in range(times):
        pattern += [tail, *make.words(0, 1)]
    literals = [word for word in pattern if word != tail]
    return [pattern], [literals, make.matching(pattern)[:8], [*literals, make.plain()], literals[1:], literals[::-1]]


def both_kinds(make: Maker) -> Sketch:
    pattern = [_one(make) if make.below(2) else make.plain() for _ in range(1 + make.below(3))]
    pattern.append(_tail(make))
    key = make.matching(pattern)
    return [pattern], [key, key[:-1], key[: len(pattern) - 1], key[: max(0, len(pattern) - 2)], [*key, make.plain()]]
