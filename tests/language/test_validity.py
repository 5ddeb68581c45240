"""What brokers refuse, as patterns and as keys, and what they do not, with the words it is told in."""

from __future__ import annotations

import pytest

import dfa_router as dr


def test_what_is_no_text_is_neither_a_pattern_nor_a_key() -> None:
    with pytest.raises(dr.PatternError, match=r"the pattern is None \(NoneType\): expected str"):
        dr.pattern_problem(None, "amqp")  # type: ignore[arg-type]
    with pytest.raises(dr.PatternError, match=r"the pattern is None \(NoneType\): expected str"):
        dr.convert(None, "amqp", "mqtt")  # type: ignore[arg-type]
    with pytest.raises(dr.KeyTypeError, match=r"the key is b'a' \(bytes\): expected str"):
        dr.key_problem(b"a", "amqp")  # type: ignore[arg-type]


LIMIT = {"amqp": 255, "amqp-4.3.5": 255, "exact": 255, "mqtt": 65_535, "solace": 250}


@pytest.mark.parametrize(
    ("pattern", "dialect", "problem"),
    [
        ("", "mqtt", "it is empty: mqtt needs at least one character"),
        ("", "nats", "it is empty: nats needs"),
        ("", "solace", "it is empty: solace needs"),
        ("a/#/b", "mqtt", "'#' is not the last word: only there it stands for further words"),
        ("#/#", "mqtt", "'#' is not the last word"),
        ("a.>.b", "nats", "'>' is not the last word"),
        ("a#", "mqtt", "the word 'a#' has the wildcard '#' in it: it must stand alone between separators"),
        ("a/b+/c", "mqtt", "the word 'b+' has the wildcard '+' in it"),
        ("++", "mqtt", "the word '++' has the wildcard '+' in it"),
        ("a\0", "mqtt", r"it has the character '\x00', which mqtt does not allow"),
        ("a\ufffe", "mqtt", r"it has the character '\ufffe'"),
        ("a\x7f", "mqtt", r"it has the character '\x7f'"),
        ("$share/g", "mqtt", "it has no filter: a shared subscription is $share/GROUP/FILTER"),
        ("$share/g/", "mqtt", "it has no filter"),
        ("$share//a", "mqtt", "its group has no name"),
        ("$share/g+/a", "mqtt", "its group 'g+' has a wildcard in it"),
        ("$share/g/$share/h/a", "mqtt", "it is shared twice"),
        ("$share/g/a#", "mqtt", "the word 'a#' has the wildcard '#' in it"),
        ("$share/g/#/a", "mqtt", "'#' is not the last word"),
        ("a..b", "nats", "it has an empty word: nats has none, so remove the '.' too many"),
        (".a", "nats", "it has an empty word"),
        ("a.", "nats", "it has an empty word"),
        ("a b", "nats", "it has the character ' ', which nats does not allow"),
        (
            "a/pre*",
            "solace",
            "the word 'pre*' ends with '*', which matches within a level in solace: only whole levels",
        ),
        ("**", "solace", "the word '**' ends with '*'"),
        ("a/" * 128 + "b", "solace", "it has 257 bytes, but solace carries at most 250"),
        ("/" * 128, "solace", "it has 129 words, but solace takes at most 128"),
        ("#.a.#.b.#", "amqp-4.3.5", "'#' occurs 3 times, and the broker takes at most 2"),
        ("a\ud800", "nats", "it has a lone surrogate at character 1"),
        *[
            ("a" * (size + 1), name, f"it has {size + 1} bytes, but {name} carries at most")
            for name, size in LIMIT.items()
        ],
    ],
)
def test_patterns_that_are_refused_and_why(pattern: str, dialect: str, problem: str) -> None:
    found = dr.pattern_problem(pattern, dr.dialect_named(dialect))
    assert found is not None
    assert found.startswith(problem)
    with pytest.raises(dr.PatternError) as caught:
        dr.compile([("a", "q"), (pattern, "q")], dialect=dialect)
    assert str(caught.value).startswith("binding 1: the pattern ")
    assert str(caught.value).endswith(f" is refused: {found}")
    assert len(str(caught.value)) < 300
    dynamic = dr.compile([], dialect=dialect, engine="trie")
    with pytest.raises(dr.PatternError, match="is refused: "):
        dynamic.subscribe(pattern, "q")


@pytest.mark.parametrize(
    ("pattern", "dialect"),
    [
        ("$shared/g", "mqtt"),
        ("a/$share/g", "mqtt"),
        ("$share/g//", "mqtt"),
        ("//", "mqtt"),
        (" ", "mqtt"),
        ("a.b*>/é\u2028", "mqtt"),
        ("a" * 65_535, "mqtt"),
        ("a>.*b.>>", "nats"),
        ("a\0", "nats"),
        ("a" * 100_000, "nats"),
        ("a/>/b*c/*a", "solace"),
        ("/" * 127, "solace"),
        ("#.a.#", "amqp-4.3.5"),
        ("##.#.#.##", "amqp-4.3.5"),
        ("a\n", "amqp"),
    ],
)
def test_patterns_that_look_wrong_and_are_not(pattern: str, dialect: str) -> None:
    assert dr.pattern_problem(pattern, dr.dialect_named(dialect)) is None
    assert len(dr.compile([(pattern, "q")], dialect=dialect)) == 1


@pytest.mark.parametrize(
    ("key", "dialect", "problem"),
    [
        ("", "mqtt", "it is empty"),
        ("a+b", "mqtt", "it has '+', which is for patterns only"),
        ("a/#", "mqtt", "it has '#', which is for patterns only"),
        ("a\n", "mqtt", r"it has the character '\n'"),
        ("a..b", "nats", "it has an empty word: nats has none"),
        ("a.*", "nats", "its word '*' is a wildcard: publish to one key at a time"),
        ("a.>.b", "nats", "its word '>' is a wildcard"),
        ("#P2P/a", "solace", "it begins with '#P2P', which no subscription sees"),
        ("/" * 128, "solace", "it has 129 words"),
        ("a" * 256, "amqp", "it has 256 bytes"),
    ],
)
def test_keys_that_are_not_valid_and_why(key: str, dialect: str, problem: str) -> None:
    found = dr.key_problem(key, dr.dialect_named(dialect))
    assert found is not None
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("key", "dialect"), [("$SYS/a", "mqtt"), ("a.b*", "nats"), ("*/>", "solace"), ("*.#.", "amqp")]
)
def test_keys_that_look_wrong_and_are_not(key: str, dialect: str) -> None:
    assert dr.key_problem(key, dr.dialect_named(dialect)) is None
