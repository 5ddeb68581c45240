"""Rounds: what generators make, and that they reach what has gone wrong elsewhere."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dfa_router.errors import OptionError
from dfa_router.fuzz import Round, Scope, Size, round_of
from dfa_router.fuzz.findings import Case, canonical
from dfa_router.fuzz.generating.classes import HISTORIES, MANY_WORDS, REFUSALS, classes_of
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.generating.making import LONGEST_KEY
from dfa_router.fuzz.generating.rounds import LARGE
from dfa_router.language.dialects import AMQP, AMQP_4_3_5, DIALECTS, MQTT, NATS, Dialect, dialect_named
from dfa_router.language.validity import pattern_problem
from dfa_router.reference.naive import matches

each_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)


def test_a_round_is_a_function_of_seed_and_number() -> None:
    """The very same on every machine and Python: what --seed repeats must not drift."""
    assert round_of(1, 7, AMQP) == round_of(1, 7, AMQP)
    assert len({round_of(seed, number, AMQP) for seed in range(20) for number in range(20)}) > 395
    made = round_of(20, 1, NATS, Size(2, 4))
    assert (made.patterns, made.keys) == PINNED


PINNED = (("*", "b.*.>"), ("c.b", "c", "", "a"))


@each_dialect
def test_rounds_are_valid_and_of_every_class(dialect: Dialect) -> None:
    language = language_of(dialect)
    counts: Counter[str] = Counter()
    for number in range(1500):
        made = round_of(3, number, dialect)
        counts.update(made.classes)
        refused = [pattern for pattern in made.patterns if pattern_problem(pattern, dialect) is not None]
        assert bool(refused) == (made.classes == {REFUSALS}), made
        assert made.patterns
        assert made.keys
        assert len(set(made.keys)) == len(made.keys)
        if REFUSALS not in made.classes:
            if "deep" not in made.classes:
                assert all(key.count(language.separator) < LONGEST_KEY for key in made.keys)
            for text in (*made.patterns, *made.keys):
                assert dialect.max_bytes is None or len(text.encode()) <= dialect.max_bytes
    expected = {entry.name for entry in classes_of(language)} | ({REFUSALS} if language.refused else set())
    assert set(counts) == expected | {HISTORIES, MANY_WORDS}
    assert min(count for name, count in counts.items() if name != MANY_WORDS) >= 30, counts
    assert counts[MANY_WORDS] == 5


@each_dialect
def test_keys_are_aimed(dialect: Dialect) -> None:
    """Of all cases a good part match, and not too many, and most rounds have both kinds."""
    hits = cases = both = 0
    for number in range(300):
        made = round_of(5, number, dialect, Size(4, 20))
        if REFUSALS in made.classes:
            continue
        found = sum(matches(p.encode(), k.encode(), dialect) for p in made.patterns for k in made.keys)
        hits, cases, both = hits + found, cases + made.cases, both + (0 < found < made.cases)
    assert 0.03 < hits / cases < 0.5
    assert both > 250


def test_a_round_is_of_a_dialect_or_its_name_and_of_whole_numbers() -> None:
    made: Any = round_of
    assert made(3, np.int64(9), "mqtt") == round_of(3, 9, MQTT)
    for arguments, said in (
        ((1, 5, "amqq"), "unknown dialect 'amqq': use one of 'amqp'"),
        ((1, 5, None), "unknown dialect None: use one of 'amqp'"),
        (("1", 5, AMQP), "seed is '1': expected a whole number from 0 up"),
        ((1, 5.5, AMQP), "number is 5.5: expected a whole number from 0 up"),
        ((1, -5, AMQP), "number is -5: expected a whole number from 0 up"),
        ((1, 5, AMQP, "3x7"), "size is '3x7': expected a Size, such as Size(100, 500)"),
        ((1, 5, AMQP, (3, 7)), "size is (3, 7): expected a Size, such as Size(100, 500)"),
    ):
        with pytest.raises(OptionError, match=f"^{re.escape(said)}"):
            made(*arguments)


def test_sizes() -> None:
    made = round_of(1, 0, AMQP, Size(100, 500))
    assert len(made.patterns) == 100
    assert len(made.keys) > 450
    assert Size.parse("3x7") == Size(3, 7)
    for wrong in ("3", "x7", "0x5", "5x0", "3X7", "-1x4", ""):
        with pytest.raises(OptionError, match="PATTERNSxKEYS"):
            Size.parse(wrong)
    sized: Any = Size
    assert sized(np.int64(3), 7) == Size(3, 7)
    for patterns, keys, said in (
        (0, 5, "patterns is 0: expected a number of patterns from 1 up"),
        ("3", 5, "patterns is '3': expected a number of patterns from 1 up"),
        (3, 2.5, "keys is 2.5: expected a number of keys from 1 up"),
        (3, True, "keys is True: expected a number of keys from 1 up"),
    ):
        with pytest.raises(OptionError, match=f"^{re.escape(said)}$"):
            sized(patterns, keys)
    largest = max((round_of(1, number, AMQP) for number in range(200)), key=lambda entry: entry.cases)
    assert len(largest.patterns) >= LARGE.patterns - 5


def test_the_number_of_hashes_is_bounded_where_the_dialect_bounds_it() -> None:
    most = max(p.split(".").count("#") for n in range(400) for p in _valid(round_of(1, n, AMQP_4_3_5)))
    assert most == 2
    assert max(p.split(".").count("#") for n in range(400) for p in _valid(round_of(1, n, AMQP))) > 3


def _valid(made: Round) -> tuple[str, ...]:
    return () if REFUSALS in made.classes else made.patterns


# --- what has gone wrong elsewhere ------------------------------------------------------------------------------------


def abstract(patterns: tuple[str, ...], key: str, dialect: Dialect) -> Case:
    """Rename words so that cases of one class are equal: plain ones, ones with wildcards inside, and special ones."""
    separator = dialect.separator.decode()
    wild = set(language_of(dialect).wildcards)

    def word(text: str) -> str:
        if text in wild or re.fullmatch(r"[a-zA-Z0-9]*", text):
            return text.lower()
        if text.startswith("$"):
            return "$"
        return "(inner)" if any(w in text for w in wild) else "(special)"

    def renamed(text: str) -> str:
        return separator.join(map(word, text.split(separator)))

    return canonical(Case(patterns=tuple(map(renamed, patterns)), key=renamed(key)), dialect)


def test_every_historic_bug_that_a_match_shows_is_generated(shared: Path) -> None:
    lines = (shared / "vectors" / "historic_bugs.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] in ("match", "any", "docs", "semantic change")]
    assert Counter(row["dialect"] for row in rows) == {"amqp": 29, "mqtt": 17, "nats": 9}
    missing = []
    for name in ("amqp", "mqtt", "nats"):
        dialect = dialect_named(name)
        separator = dialect.separator.decode()
        wanted: dict[tuple[int, ...], dict[Case, str]] = {}  # by separators of key and patterns
        refused = []
        for row in rows:
            patterns = tuple(row["patterns"].values())
            if row["dialect"] != name:
                continue
            if any(pattern_problem(pattern, dialect) is not None for pattern in patterns):
                refused.append(patterns)
                continue
            case = abstract(patterns, row["key"], dialect)
            size = (row["key"].count(separator), *(pattern.count(separator) for pattern in patterns))
            wanted.setdefault(size, {})[case] = f"{row['project']} {patterns} {row['key']!r}"
        # The one pattern that is refused today is of the class of refusals.
        assert refused == ([("foo.>.bar",)] if name == "nats" else [])
        for number in range(6000):
            made = round_of(11, number, dialect)
            if len(made.patterns) > 8 or REFUSALS in made.classes:
                continue
            depths = [pattern.count(separator) for pattern in made.patterns]
            chosen: list[tuple[int, ...]] = [(one,) for one in range(len(depths))]
            chosen += [(one, other) for one in range(len(depths)) for other in range(len(depths))]
            for key in made.keys:
                for places in chosen:
                    cases = wanted.get((key.count(separator), *(depths[place] for place in places)))
                    if cases:
                        cases.pop(abstract(tuple(made.patterns[place] for place in places), key, dialect), None)
            if not any(wanted.values()):
                break
        missing += [row for cases in wanted.values() for row in cases.values()]
    assert not missing


def test_the_refused_patterns_are_those_of_the_brokers() -> None:
    for dialect, pattern in [
        (MQTT, "a/#/b"),
        (MQTT, "a+"),
        (MQTT, "$share/g"),
        (NATS, "a.>.b"),
        (NATS, "a..b"),
        (NATS, ""),
    ]:
        assert pattern in language_of(dialect).refused, pattern
    assert "#.#.#" in language_of(AMQP_4_3_5).refused
    assert all(len(pattern.encode()) > 255 for pattern in language_of(AMQP).refused)


def test_a_part_of_a_round_is_of_the_classes_that_it_still_shows() -> None:
    language = language_of(AMQP)
    narrow = Scope(empty_words=False, plain_words=True, max_words=1, max_bindings=1)
    left: Counter[str] = Counter()
    for number in range(300):
        asked = round_of(5, number, AMQP)
        whole = Scope().narrowed(asked, language, changing=True)
        assert whole is not None
        assert whole.classes == asked.classes
        part = narrow.narrowed(asked, language, changing=False)
        left.update(() if part is None else part.classes)
    lost = [
        "empty-words",
        "empty-text",
        "special-characters",
        "line-ends",
        "reserved-first-word",
        "wildcard-inside-a-word",
        "deep",
    ]
    assert not left.keys() & {
        *lost,
        "many-manies",
        "duplicates",
        REFUSALS,
        MANY_WORDS,
    }  # some of "non-ascii" are: ss, k
    assert {"case", "shared-prefixes", "long-words", "wildcards-in-the-key", HISTORIES} <= left.keys()
