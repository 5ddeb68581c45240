"""Why a key matches and why not, held to the engines and to trying every small edit."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest

import dfa_router as dr
from dfa_router.analysis import alignment, explaining
from dfa_router.analysis.alignment import fitted
from dfa_router.analysis.explaining import explain, why_not
from dfa_router.analysis.questions import tokens_of
from dfa_router.errors import BindingError, KeyTypeError, PatternError
from dfa_router.language.dialects import AMQP, DIALECTS
from dfa_router.language.rules import key_space
from dfa_router.language.validity import key_problem, pattern_problem
from tests.analysis.oracle import WORDS, keys_of, matched, patterns_of
from tests.mutants import mutant


@pytest.mark.parametrize("name", ["amqp", "mqtt", "nats", "solace", "exact"])
def test_explain_and_why_not_agree_with_the_engines(name: str) -> None:
    """250 random sets and keys of each dialect: matches are those of two engines, nearest keys match, edits are counted."""
    dialect = DIALECTS[name]
    patterns, keys, chance = patterns_of(name, 3), keys_of(name, 4), random.Random(name)
    separator = dialect.separator.decode()
    for _ in range(250):
        bindings = [(chance.choice(patterns), f"q{i}") for i in range(chance.randint(0, 6))]
        key = chance.choice(keys)
        found, missed = explain(bindings, key, name), why_not(bindings, key, name, most=99)
        expected = dr.compile(bindings, dialect=name).match_bindings(key)
        assert expected == dr.compile(bindings, dialect=name, engine="naive").match_bindings(key)
        assert tuple(match.binding for match in found.matches) == expected
        assert sorted(miss.binding for miss in missed) == [i for i in range(len(bindings)) if i not in expected]
        for match in found.matches:
            taken = [word for _, words in match.taken for word in words]
            assert separator.join(taken) == key
            for shown, words in match.taken:
                assert words == (shown,) or shown in ("*", "+", "#", ">")
        for miss in missed:
            pattern = bindings[miss.binding][0]
            if miss.nearest is None:
                assert not any(matched([pattern], one, dialect) for one in keys)
            else:
                assert matched([pattern], miss.nearest, dialect), (bindings, key, miss)
            assert miss.prefix == "" or key == miss.prefix or key.startswith(miss.prefix + separator)
            assert miss.edits > 0
            assert miss.nearest is None or miss.edits == distance(key, miss.nearest, separator), (bindings, key, miss)


def distance(key: str, other: str, separator: str) -> int:
    """Return the fewest words to put in, leave out or replace to make one key of another: Levenshtein's rows."""
    words, wanted = (one.split(separator) if one else [] for one in (key, other))
    row = list(range(len(wanted) + 1))
    for number, word in enumerate(words, 1):
        above, row = row, [number]
        for at, want in enumerate(wanted):
            row.append(min(above[at + 1] + 1, row[at] + 1, above[at] + (word != want)))
    return row[-1]


def wrong_distances(fit: object) -> list[str]:
    """Return the pairs of small patterns and keys for which another key is nearer, or the nearest is none of the pattern."""
    patterns = patterns_of("amqp", 3)
    keys = [key for key in keys_of("amqp", 3) if "c" not in key]
    alphabet = [*(word for word in WORDS["amqp"][1] if word != "c"), "z"]
    near = {key: {0: {key}, 1: edited({key}, alphabet)} for key in keys}
    wrong = []
    for pattern in patterns:
        tokens = tokens_of(pattern, AMQP)
        for key in keys:
            words = key.encode().split(b".") if key else []
            found = fit(tokens, words, key_space(AMQP), b"z")  # type: ignore[operator]
            if found is None:
                wrong.append(f"{pattern} and {key}")
                continue
            nearest = b".".join(found.key()).decode()
            right = found.key() != (b"",) and matched([pattern], nearest, AMQP)
            right = right and (found.edits > 1 or nearest in near[key][found.edits])
            for edits, candidates in near[key].items():
                if edits < found.edits and any(matched([pattern], one, AMQP) for one in candidates):
                    right = False
            if not right:
                wrong.append(f"{pattern} and {key}: {found}")
    return wrong


def edited(keys: set[str], alphabet: list[str]) -> set[str]:
    """Return the keys that one word edit makes."""
    made: list[list[str]] = []
    for key in keys:
        words = key.split(".") if key else []
        for at in range(len(words) + 1):
            made += [[*words[:at], word, *words[at:]] for word in alphabet]
            if at < len(words):
                made += [[*words[:at], word, *words[at + 1 :]] for word in alphabet]
                made.append([*words[:at], *words[at + 1 :]])
    return {".".join(words) for words in made if words != [""]}


def test_nearest_keys_are_nearest() -> None:
    assert wrong_distances(fitted) == []


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("_Step(int(words[j] != new), new", "_Step(0, new"),
        ("_Step(0, None, 1, 0, phase)", "_Step(1, None, 1, 0, phase)"),
        ("_Step(1, None, 0, 1, phase)", "_Step(2, None, 0, 1, phase)"),
        ("if space.ends(phase):", "if True:"),
    ],
)
def test_planted_bugs_are_caught(right: str, planted: str) -> None:
    assert wrong_distances(mutant(alignment, right, planted).fitted) != []


@pytest.mark.parametrize(
    ("name", "first", "words"),
    [
        ("mqtt", ["+", "#", "a", "", "$a"], ["a", "", "$a", "$"]),
        ("solace", ["*", ">", "a", "", "$a"], ["a", "", "$a", "#P2P"]),
        ("nats", ["*", ">", "a"], ["a", "", "b"]),
        ("amqp", ["*", "#", "a", ""], ["a", "", "b"]),
    ],
)
def test_no_key_is_nearer_where_words_are_empty_or_reserved(name: str, first: list[str], words: list[str]) -> None:
    """All patterns of two words, all keys of three, and all keys that could be nearer, by the definition."""
    dialect = DIALECTS[name]
    separator = dialect.separator.decode()

    def texts(of: list[str], most: int) -> list[str]:
        made = [list(one) for count in range(1, most + 1) for one in product(of, repeat=count)]
        return [separator.join(one) for one in made if one != [""]]

    there = [key for key in [*texts([*words, "x"], 3), ""] if key_problem(key, dialect) is None]
    for pattern in texts(first, 2):
        if pattern_problem(pattern, dialect) is not None:
            continue
        matching = [key for key in there if matched([pattern], key, dialect)]
        for key in texts(words, 3):
            misses = why_not([(pattern, "q")], key, name)
            assert bool(misses) is not bool(matched([pattern], key, dialect)), (pattern, key)
            for miss in misses:
                assert miss.nearest is not None, (pattern, key)
                assert matched([pattern], miss.nearest, dialect), (pattern, key, miss)
                assert key_problem(miss.nearest, dialect) is None, (pattern, key, miss)
                assert miss.edits == distance(key, miss.nearest, separator), (pattern, key, miss)
                # ">" before the end is a word of Solace's like any other, which none of these keys has.
                assert miss.edits <= min((distance(key, one, separator) for one in matching), default=9), (pattern, key)


def test_rules_of_dialects_are_told() -> None:
    (miss,) = why_not([("#", "q")], "$SYS/broker", "mqtt")
    assert miss.rule == "no wildcard at the beginning of a pattern matches a key that begins with '$'"
    assert miss.nearest is not None
    assert not miss.nearest.startswith("$")
    (miss,) = why_not([("a.>", "q")], "a..b", "nats")
    assert (miss.rule, miss.nearest) == ("it has an empty word: nats has none", "a.x.b")
    assert explain([("a.>", "q")], "a..b", "nats").problem == "it has an empty word: nats has none"
    (miss,) = why_not([("#P2P/a", "q")], "a", "solace")
    assert miss.nearest is None


def test_the_nearest_of_many() -> None:
    bindings = [("orders.eu.new", "a"), ("#.orders", "b"), ("orders.us.*", "c"), ("orders.*.*.x", "d")]
    found = why_not(bindings, "orders.us", most=2)
    assert [(one.binding, one.edits, one.nearest) for one in found] == [
        (1, 1, "orders.us.orders"),
        (2, 1, "orders.us.x"),
    ]
    assert found[1].expected == ("*",)
    assert found[1].broken_by is None


def test_patterns_that_are_far_from_a_key_are_not_fitted() -> None:
    """To fit one takes a tenth of a millisecond, and there are sets of a million."""
    rng = random.Random(7)
    words = [*map(str, range(50)), "*", "*", "#"]
    bindings = [(".".join(rng.choices(words, k=4)), str(number)) for number in range(2000)]
    bindings.append(("1.#.4", "one"))
    key, asked = "1.2.3.4", []

    def counted(*pattern: Any) -> Any:
        asked.append(pattern)
        return fitted(*pattern)

    with patch.object(explaining, "fitted", counted):
        matches = explain(bindings, key).matches
        assert len(asked) == len(matches) == 1
        asked.clear()
        nearest = why_not(bindings, key, most=3)
        assert len(asked) < 200
        assert why_not(bindings, key, most=0) == ()
    assert nearest == why_not(bindings, key, most=len(bindings))[:3]


@pytest.mark.parametrize(("key", "nearest", "edits"), [(".", "x", 2), ("..", "x", 3), (".b", "b", 1), ("", "x", 1)])
def test_a_nearest_key_is_no_empty_word_alone(key: str, nearest: str, edits: int) -> None:
    (miss,) = why_not([("*", "q")], key)
    assert (miss.nearest, miss.edits) == (nearest, edits)


@pytest.mark.parametrize("pattern", ["a.*", "b.*"])
@pytest.mark.parametrize("ask", [explain, why_not])
def test_a_key_with_half_of_a_character_is_refused(ask: Callable[..., object], pattern: str) -> None:
    with pytest.raises(KeyTypeError, match=r"the key is 'a.\\ud800': it has a lone surrogate at character 2"):
        ask([(pattern, "q")], "a.\ud800")


def test_bad_input() -> None:
    with pytest.raises(KeyTypeError, match="the key is 3"):
        explain([("a", "q")], 3)  # type: ignore[arg-type]
    with pytest.raises(PatternError, match="binding 0: the pattern 'a/#/b' is refused"):
        why_not([("a/#/b", "q")], "a", "mqtt")
    with pytest.raises(BindingError, match="binding 0 is 'a'"):
        explaining.explain(["a"], "a")  # type: ignore[list-item]
    assert explain([], "a").matches == ()
    assert why_not([], "a") == ()
