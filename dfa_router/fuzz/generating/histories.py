"""Rounds in which the set changes: for caches that are kept too long, and removals that take too much or too little.

A set is followed by sets that differ a little, so that what a matcher keeps of one is nearly right for the next (the same
number of patterns, the same first and last one, the same patterns in another order), or it is changed in place: patterns
join and leave, among them prefixes, siblings and equals of others, and keys are asked in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dfa_router.fuzz.generating.making import Maker, Words
from dfa_router.fuzz.validity import invalid_pattern
from dfa_router.target import Bind, Chapter, Step, Unbind

__all__ = ["changing_set", "following_sets"]

_KEYS = 6
"""Keys that are asked of each set, and about how many after each change."""


def following_sets(make: Maker, patterns: Sequence[str], keys: Sequence[str]) -> list[Chapter]:
    """Return two to four sets, each made of the one before by a small change."""
    chapters, current = [], list(patterns)
    for _ in range(2 + make.below(3)):
        current = _CHANGES[make.below(len(_CHANGES))](make, list(current))
        aimed = [make.pick(keys) for _ in range(_KEYS)] + _aimed(make, current, _KEYS)
        chapters.append(Chapter(tuple(current), tuple(dict.fromkeys(aimed))))
    return chapters


def changing_set(make: Maker, patterns: Sequence[str], keys: Sequence[str]) -> Chapter:
    """Return a set that changes in place: 4 to 13 changes, with keys asked in between."""
    table, live = list(patterns), list(range(len(patterns)))
    steps: list[Step] = []
    for _ in range(4 + make.below(10)):
        if live and make.below(5) < 2 + (len(live) > 4):
            position = live.pop(make.below(len(live)))
            steps.append(Unbind(position))
            touched = table[position]
        else:
            touched = _related(make, table)
            live.append(len(table))
            table.append(touched)
            steps.append(Bind(touched))
        asked = [*_aimed(make, [touched], 1 + make.below(2)), make.pick(keys)]
        if live:
            asked += _aimed(make, [table[make.pick(live)]], 1)
        steps += list(dict.fromkeys(asked)) if make.below(4) else []
    steps += list(dict.fromkeys(_aimed(make, table, _KEYS)))
    return Chapter(tuple(patterns), tuple(steps))


def _replaced(make: Maker, patterns: list[str]) -> list[str]:
    """Another pattern in the middle: first, last and number stay."""
    if len(patterns) < 3:
        return [*patterns[:1], _new(make), *patterns[1:]]
    patterns[1 + make.below(len(patterns) - 2)] = _new(make)
    return patterns


def _any_replaced(make: Maker, patterns: list[str]) -> list[str]:
    patterns[make.below(len(patterns))] = _new(make)
    return patterns


def _dropped(make: Maker, patterns: list[str]) -> list[str]:
    if len(patterns) > 1:
        patterns.pop(make.below(len(patterns)))
    return patterns


def _added(make: Maker, patterns: list[str]) -> list[str]:
    patterns.insert(make.below(len(patterns) + 1), _related(make, patterns))
    return patterns


def _reordered(make: Maker, patterns: list[str]) -> list[str]:
    one, other = make.below(len(patterns)), make.below(len(patterns))
    patterns[one], patterns[other] = patterns[other], patterns[one]
    return patterns


def _respelt(make: Maker, patterns: list[str]) -> list[str]:
    """The same characters in another order, and the same lengths: a weak hash takes the sets for equal."""
    place = make.below(len(patterns))
    words = patterns[place].split(make.language.separator)
    changed = make.language.separator.join(reversed(words))
    if changed == patterns[place] and words[0] in make.language.plain:
        changed = make.language.separator.join([make.plain(), *words[1:]])
    patterns[place] = changed if invalid_pattern(changed, make.language.dialect) is None else _new(make)
    return patterns


_CHANGES: Sequence[Callable[[Maker, list[str]], list[str]]] = (
    _replaced,
    _any_replaced,
    _dropped,
    _added,
    _reordered,
    _respelt,
)


def _new(make: Maker) -> str:
    return _valid(make, make.pattern(3))


def _related(make: Maker, table: Sequence[str]) -> str:
    """Return an equal, an extension, a prefix or a sibling of a pattern, or a new one."""
    separator, language = make.language.separator, make.language
    words = make.pick(table).split(separator) if table else ["a"]
    kind = make.below(6)
    if kind == 0:
        return separator.join(words)
    if kind == 1:
        tail = [word for word in (language.one, language.tail) if word is not None]
        return _valid(make, [*words, make.pick([make.plain(), *tail])])
    if kind == 2 and len(words) > 1:
        return _valid(make, words[:-1])
    if kind == 3:
        return _valid(make, [*words[:-1], make.plain()])
    if kind == 4 and language.one is not None:
        words[make.below(len(words))] = language.one
        return _valid(make, words)
    return _new(make)


def _valid(make: Maker, words: Words) -> str:
    text = make.language.separator.join(make.allowed(words))
    return text if invalid_pattern(text, make.language.dialect) is None else make.plain()


def _aimed(make: Maker, patterns: Sequence[str], count: int) -> list[str]:
    """Return keys that the patterns match, or nearly."""
    separator = make.language.separator
    keys = []
    for _ in range(count):
        pattern = make.pick(patterns)
        words = make.matching(pattern.split(separator) if pattern else [])
        keys.append(separator.join(words if make.below(4) else make.changed(words)))
    limit = make.language.dialect.max_bytes
    return [key for key in keys if limit is None or len(key.encode()) <= limit]
