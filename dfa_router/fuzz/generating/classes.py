"""One generator for each class of bug that matchers have had.

Each entry of :data:`CLASSES` names a function that makes a *sketch*: patterns, and keys that are aimed at them. A sketch
is a case from a bug report (a pattern, a key, a wrong answer) with the words left open, and
:mod:`dfa_router.fuzz.generating.rounds` adds further patterns and keys around it. To add a class, write its sketch in
one of the modules of :mod:`dfa_router.fuzz.generating.sketches` and its entry here.

The classes were collected from the trackers and change logs of RabbitMQ, LavinMQ, Artemis, Qpid, NATS, Mosquitto, EMQX,
VerneMQ, aedes, HiveMQ, kombu, FastStream, matchbox, rabbitmq-mock and others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dfa_router.fuzz.generating.language import Language
from dfa_router.fuzz.generating.making import Maker, Sketch
from dfa_router.fuzz.generating.sketches import binding_sets, wildcards, words

__all__ = ["CLASSES", "HISTORIES", "MANY_WORDS", "REFUSALS", "CaseClass", "classes_of"]


@dataclass(frozen=True, slots=True)
class CaseClass:
    """A class of bug, and the function that makes cases of it."""

    name: str
    summary: str
    """The rule that is broken, in words."""
    sketch: Callable[[Maker], Sketch]
    applies: Callable[[Language], bool]
    """Whether a dialect has what it takes to show the bug."""
    telling: int = 0
    """The place, among the sketch's keys, of one without which its patterns would not show the bug."""


@lru_cache(maxsize=64)
def classes_of(language: Language) -> tuple[CaseClass, ...]:
    """Return the classes that apply to the dialect.

    >>> from dfa_router.language.dialects import NATS
    >>> from dfa_router.fuzz.generating.language import language_of
    >>> "many-zero-in-the-middle" in {entry.name for entry in classes_of(language_of(NATS))}
    False
    """
    return tuple(entry for entry in CLASSES if entry.applies(language))


def _always(language: Language) -> bool:
    return bool(language.plain)


def _has_one(language: Language) -> bool:
    return language.one is not None


def _has_tail(language: Language) -> bool:
    return language.tail is not None


def _has_many(language: Language) -> bool:
    return language.many is not None


def _has_some(language: Language) -> bool:
    return language.some is not None


def _anywhere(language: Language) -> bool:
    return language.anywhere and language.many is not None


def _both(language: Language) -> bool:
    return language.one is not None and language.tail is not None


CLASSES = (
    CaseClass(
        "many-zero-at-the-end", "`a.#` takes zero words, and `a` is matched", wildcards.zero_at_the_end, _has_many
    ),
    CaseClass(
        "many-zero-at-the-start", "`#.a` takes zero words, and `a` is matched", wildcards.zero_at_the_start, _anywhere
    ),
    CaseClass(
        "many-zero-in-the-middle",
        "`a.#.b` takes zero words, and `a.b` is matched",
        wildcards.zero_in_the_middle,
        _anywhere,
    ),
    CaseClass(
        "some-needs-a-word", "`a.>` takes one word at least, and `a` is not matched", wildcards.needs_a_word, _has_some
    ),
    CaseClass("one-crosses-separators", "`*` takes exactly one word", wildcards.crosses_separators, _has_one),
    CaseClass(
        "several-ones", "`*` twice or more, beside literals and beside each other", wildcards.several_ones, _has_one
    ),
    CaseClass(
        "wildcard-inside-a-word", "`a*` is a literal", words.wildcard_inside, lambda language: bool(language.inner)
    ),
    CaseClass("empty-words", "leading, trailing and doubled separators", words.empty_words, _always, 1),
    CaseClass(
        "reserved-first-word",
        "`$` words, with the rule for them and without",
        words.reserved,
        lambda language: bool(language.reserved),
    ),
    CaseClass(
        "shared-node", "patterns that begin alike, and literals beside wildcards", binding_sets.shared_node, _always
    ),
    CaseClass(
        "adjacent-wildcards",
        "`#.#`, `#.*` and longer runs",
        wildcards.adjacent,
        lambda language: _anywhere(language) and _has_one(language),
    ),
    CaseClass("greedy-many", "`#.a` on `a.a`: the first occurrence is the wrong one", wildcards.greedy, _anywhere),
    CaseClass("unanchored", "keys with something before or behind what matches", binding_sets.unanchored, _always),
    CaseClass(
        "special-characters", "words that are regular expressions, or have `-` and spaces", words.special, _always
    ),
    CaseClass("wildcards-in-the-key", "`*` and `#` in a key are ordinary words", words.key_is_a_pattern, _has_tail, 1),
    CaseClass("empty-text", "the empty key and pattern, a lone `#`", words.empty_text, _always),
    CaseClass("shared-prefixes", "long words that begin alike", words.shared_prefix, _always),
    CaseClass("non-ascii", "words beyond ASCII, in several Unicode forms", words.non_ascii, _always),
    CaseClass("case", "words that differ in case", words.case, _always),
    CaseClass(
        "line-ends", "a line end is a character of a word", words.line_ends, lambda language: bool(language.line_ends)
    ),
    CaseClass("long-words", "words of 128 bytes and more, keys as long as they may be", words.long_words, _always),
    CaseClass("deep", "keys and patterns of more than 32 words", words.deep, _always),
    CaseClass("binding-position", "the first, the last or every binding matches", binding_sets.position, _always),
    CaseClass("duplicates", "equal patterns are bindings of their own", binding_sets.duplicates, _always),
    CaseClass(
        "many-manies",
        "several `#` in a pattern",
        wildcards.many_manies,
        lambda language: _anywhere(language) and language.most_many > 1,
    ),
    CaseClass(
        "shared-subscriptions",
        "`$share/group/filter` means the filter",
        binding_sets.group,
        lambda language: language.dialect.shared is not None,
    ),
    CaseClass("wildcards-together", "a tail wildcard behind others", wildcards.both_kinds, _both),
)
"""Every class, in the order in which campaigns take turns."""

HISTORIES = "changing-sets"
"""The class of rounds in which the set changes."""

MANY_WORDS = "many-words"
"""The class of rounds with so many words that two of them share a weak hash."""

REFUSALS = "validity"
"""The class of rounds that hold one pattern which the dialect refuses."""
