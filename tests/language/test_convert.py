"""Patterns in the words of other dialects: held to a search through all small patterns, and to the specification."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from functools import cache, reduce
from itertools import combinations, product
from operator import or_

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.language.dialects import DIALECTS, EXACT
from dfa_router.reference.naive import matches
from tests.strides import strides

ANYWHERE = dr.Dialect(name="anywhere", separator=b"/", one=b"?", some=b"**", empty_text=True)
"""One or more, wherever it stands, and no zero or more."""
NO_ONE = dr.Dialect(name="no one", separator=b"!", some=b">", reserved=b"$")
BOTH = dr.Dialect(name="both", separator=b":", one=b"*", many=b"#", some=b">", reserved=b"$", empty_text=False)
TOLD = dr.Dialect(name="told", separator=b" ", one=b"?", many=b"...", tail_only=True, reserved=b"a", unseen=b"z z")
SPOKEN = (*DIALECTS.values(), ANYWHERE, NO_ONE, BOTH, TOLD)

each_pair = pytest.mark.parametrize(
    ("source", "target"),
    [pytest.param(a, b, id=f"{a.name}-{b.name}") for a in SPOKEN if a.max_many is None for b in SPOKEN],
)

Words = tuple[str, ...]


def spelt(words: Words, dialect: dr.Dialect) -> str | None:
    """Write words as a key, or say that the dialect cannot."""
    text = dialect.separator.decode().join(words)
    split = tuple(text.split(dialect.separator.decode())) if text else ()
    return text if split == words and dr.key_problem(text, dialect) is None else None


def is_apart(words: Words, pattern: str, source: dr.Dialect, target: dr.Dialect) -> bool:
    """Tell whether a key is one that the definition leaves aside: reserved by one, and asked for by a wildcard."""
    if source.reserved == target.reserved:
        return False
    tokens = pattern.encode().split(source.separator)
    if tokens[1:] and tokens[0] == source.shared:
        tokens = tokens[2:]
    wild = tokens[0] in (source.one, source.many, source.some) and (
        tokens[0] == source.one or not tokens[1:] or not source.tail_only
    )
    first = words[0].encode()[:1] if words else b""
    return wild and first != b"" and first in (source.reserved, target.reserved)


@cache
def key_rows(longest: int) -> tuple[Words, ...]:
    return tuple(words for n in range(longest + 1) for words in product(("a", "z", "", "$"), repeat=n))


@cache
def common(source: dr.Dialect, target: dr.Dialect, longest: int) -> tuple[tuple[Words, bytes, bytes], ...]:
    """Return the keys that both dialects have, as their words and as each spells them."""
    found = []
    for words in key_rows(longest):
        one, other = spelt(words, source), spelt(words, target)
        if one is not None and other is not None:
            found.append((words, one.encode(), other.encode()))
    return tuple(found)


def small_patterns(dialect: dr.Dialect, longest: int) -> list[str]:
    """Return all valid patterns of so many words over a few words and the dialect's wildcards."""
    wild = [word.decode() for word in (dialect.one, dialect.many, dialect.some) if word is not None]
    rows = (words for n in range(longest + 1) for words in product(("a", "", "$", *wild), repeat=n))
    texts = dict.fromkeys(dialect.separator.decode().join(words) for words in rows)
    return [text for text in texts if dr.pattern_problem(text, dialect) is None]


@cache
def seen(pattern: str, dialect: dr.Dialect, source: dr.Dialect, target: dr.Dialect) -> int:
    """Return which common keys of up to four words a pattern matches, a bit for each."""
    keys = [one if dialect is source else other for _, one, other in common(source, target, 4)]
    return sum(1 << i for i, key in enumerate(keys) if matches(pattern.encode(), key, dialect))


@strides(5)
@each_pair
def test_all_small_patterns_against_a_search_through_all_small_patterns(
    source: dr.Dialect, target: dr.Dialect, stride: int
) -> None:
    """What is returned is equal, valid and no larger than need be; what is refused has no equal among small patterns."""
    candidates = small_patterns(target, 3)
    between = target.separator.decode()
    for pattern in small_patterns(source, 3)[::stride]:
        rows = common(source, target, 4)
        asked = sum(1 << i for i, row in enumerate(rows) if not is_apart(row[0], pattern, source, target))
        meant = seen(pattern, source, source, target) & asked
        usable = {c: seen(c, target, source, target) & asked for c in candidates}
        usable = {c: found for c, found in usable.items() if found and not found & ~meant}
        try:
            converted = dr.convert(pattern, source, target)
        except dr.ConversionError:
            assert meant == 0 or reduce(or_, usable.values(), 0) != meant, (pattern, usable)
            continue
        assert converted
        assert all(dr.pattern_problem(text, target) is None for text in converted)
        found = reduce(or_, (seen(text, target, source, target) & asked for text in converted))
        assert found == meant, (pattern, converted)
        words = [len(text.split(between)) for text in converted]
        assert words == sorted(words)
        for count in range(1, len(converted)):
            smaller = [some for some in combinations(usable, count) if reduce(or_, map(usable.get, some)) == meant]
            assert not smaller, (pattern, converted)
        if len(converted) == 1:
            shorter = [c for c, found in usable.items() if found == meant and len(c.split(between)) < words[0]]
            assert not shorter, (pattern, converted)


DIALECT = st.sampled_from(SPOKEN)
WORD = st.sampled_from(
    ["a", "b", "z", "", "$", "$share", "g", "a.b", "a/b", "x*", "+", "*", "#", ">", "a b", "#P2P", "é", "**", "?"]
)


@st.composite
def conversions(draw: st.DrawFn) -> tuple[str, dr.Dialect, dr.Dialect]:
    source, target = draw(DIALECT), draw(DIALECT)
    wild = [word.decode() for word in (source.one, source.many, source.some) if word is not None]
    words = st.one_of(WORD, st.sampled_from(wild)) if wild else WORD
    text = source.separator.decode().join(draw(st.lists(words, max_size=7)))
    return text, source, target


@given(conversions())
@settings(max_examples=800, deadline=None)
def test_longer_patterns_match_the_same_keys_and_are_valid(conversion: tuple[str, dr.Dialect, dr.Dialect]) -> None:
    pattern, source, target = conversion
    if dr.pattern_problem(pattern, source) is not None:
        with pytest.raises(dr.PatternError, match="is no pattern of"):
            dr.convert(pattern, source, target)
        return
    try:
        converted = dr.convert(pattern, source, target)
    except dr.ConversionError:
        return
    assert [dr.pattern_problem(text, target) for text in converted] == [None] * len(converted)
    # The pattern's own words beside a few others, so that something is matched.
    own = [word for word in pattern.split(source.separator.decode()) if word]
    rows = [words for n in range(5) for words in product(dict.fromkeys([*own[:3], "z", ""]), repeat=n)]
    for words in rows:
        one, other = spelt(words, source), spelt(words, target)
        if one is None or other is None or is_apart(words, pattern, source, target):
            continue
        right = matches(pattern.encode(), one.encode(), source)
        assert any(matches(text.encode(), other.encode(), target) for text in converted) == right, (converted, words)


@given(conversions())
@settings(max_examples=500, deadline=None)
def test_a_pattern_alone_comes_back_as_itself_in_its_one_spelling(
    conversion: tuple[str, dr.Dialect, dr.Dialect],
) -> None:
    """There and back and there again gives what the first time gave."""
    pattern, source, target = conversion
    try:
        converted = dr.convert(pattern, source, target)
    except dr.PatternError:
        return
    back = {text for one in converted for text in dr.convert(one, target, source)}
    assert {text for one in back for text in dr.convert(one, source, target)} == set(converted)


@pytest.mark.parametrize(
    ("pattern", "source", "target", "converted"),
    [
        ("*.a", "amqp", "mqtt", ["+/a"]),
        ("a.#", "amqp", "mqtt", ["a/#"]),
        ("a.#", "amqp", "nats", ["a", "a.>"]),
        ("a.>", "nats", "amqp", ["a.*.#"]),
        ("a.>", "nats", "mqtt", ["a/+/#"]),
        ("a/+/#", "mqtt", "nats", ["a.>"]),
        ("a.>", "nats", "solace", ["a/>"]),
        ("#", "amqp", "nats", [">"]),
        (">", "nats", "amqp", ["#"]),
        ("*.#", "amqp", "amqp-4.3.5", ["*.#"]),
        ("#.#", "amqp", "mqtt", ["#"]),
        ("a.#.*.#", "amqp", "nats", ["a.>"]),
        ("#.*.#.*", "amqp", "mqtt", ["+/+/#"]),
        ("#.#.#.a", "amqp", "amqp-4.3.5", ["#.a"]),
        ("a..b", "amqp", "mqtt", ["a//b"]),
        (".#", "amqp", "solace", ["/>"]),
        ("$SYS/#", "mqtt", "nats", ["$SYS", "$SYS.>"]),
        ("$SYS.#", "amqp", "mqtt", ["$SYS/#"]),
        ("$share/g/a/+", "mqtt", "mqtt", ["$share/g/a/+"]),
        ("a*.>b", "nats", "amqp", ["a*.>b"]),
        (">.a", "amqp", "solace", [">/a"]),
        ("a.b", "amqp", EXACT, ["a.b"]),
        ("#.a.#", "amqp", ANYWHERE, ["a", "a/**", "**/a", "**/a/**"]),
        ("*.*.#", "amqp", NO_ONE, [">!>"]),
    ],
)
def test_conversions_that_users_want(
    pattern: str, source: str, target: str | dr.Dialect, converted: Sequence[str]
) -> None:
    assert list(dr.convert(pattern, source, target)) == list(converted)


@pytest.mark.parametrize(
    ("pattern", "source", "target", "message"),
    [
        ("a.#.b", "amqp", "mqtt", "its '#' stands before the word 'b', and mqtt has '#' as the last word only: "),
        ("a.#.b", "amqp", "mqtt", "it would take 'b', '+/b', '+/+/b', and so on without end"),
        ("a.#.*.b", "amqp", "nats", "it would take '*.b', '*.*.b', '*.*.*.b', and so on"),
        ("#.#.a", "amqp", "nats", "'#' stands before the word 'a'"),
        ("a/b", "amqp", "mqtt", "its word 'a/b' has '/' in it, which separates words there"),
        ("a.b/c", "mqtt", "nats", "its word 'a.b' has '.' in it"),
        ("a.+", "amqp", "mqtt", "its word '+' is a wildcard there"),
        ("a.>", "amqp", "nats", "its word '>' is a wildcard there"),
        ("a.#", "nats", "amqp", "its word '#' is a wildcard there"),
        ("a+.b", "amqp", "mqtt", "'a+/b' would be refused: the word 'a+' has the wildcard '+' in it"),
        ("a*.b", "amqp", "solace", "'a*/b' would be refused: the word 'a*' ends with '*'"),
        ("a b", "amqp", "nats", "'a b' would be refused: it has the character ' '"),
        ("a..b", "amqp", "nats", "'a..b' would be refused: it has an empty word"),
        ("a\t", "amqp", "mqtt", "would be refused: it has the character '\\t'"),
        ("", "amqp", "mqtt", "it matches the empty key alone, and mqtt has no such key"),
        ("w" * 256, "nats", "amqp", "would be refused: it has 256 bytes, but amqp carries at most 255"),
        ("/" * 128, "mqtt", "solace", "it has 129 words, but solace takes at most 128"),
        ("#.a.#.b.#.c", "amqp", "amqp-4.3.5", "'#' occurs 3 times, and the broker takes at most 2"),
        ("$share/g/a/b", "mqtt", "nats", "it is shared by the group 'g', and nats has no groups"),
        ("$share.g.a", "amqp", "mqtt", "'$share/g/a' is a shared subscription there"),
        ("#P2P.a", "amqp", "solace", "no key of solace matches it: it begins with '#P2P'"),
        ("*", "amqp", "exact", "exact has no wildcard for one word"),
        ("a.#", "amqp", "exact", "exact has no wildcard for any number of words"),
        (".".join(["#.a"] * 11), "amqp", ANYWHERE, "it would take 2,048 patterns"),
        ("*.a", "amqp", NO_ONE, "no one has no wildcard for one word"),
    ],
)
def test_what_cannot_be_said_is_an_error_that_says_why(
    pattern: str, source: str, target: str | dr.Dialect, message: str
) -> None:
    with pytest.raises(dr.ConversionError) as caught:
        dr.convert(pattern, source, target)
    assert message in str(caught.value)
    assert isinstance(caught.value, dr.PatternError)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 400


def test_wrong_input_is_named() -> None:
    with pytest.raises(dr.PatternError, match=r"'a/#/b' is no pattern of mqtt: '#' is not the last word"):
        dr.convert("a/#/b", "mqtt", "amqp")
    with pytest.raises(dr.OptionError, match="unknown dialect 'mqqt'"):
        dr.convert("a", "mqqt", "amqp")
    with pytest.raises(dr.PatternError, match=r"the pattern is b'a' \(bytes\): expected str"):
        dr.convert(b"a", "mqtt", "amqp")  # type: ignore[arg-type]


def test_words_that_a_rule_is_about_do_not_make_a_pattern_void() -> None:
    """A key is found though the first that come to mind are not valid."""
    picky = dr.Dialect(name="picky", one=b"*", many=b"#", dropped=b"abcxyz", unseen=b"d")
    assert dr.convert("#.q.*", "amqp", picky) == ("#.q.*",)
    for pattern in ("#.a.*", "d.#", "q.day"):
        with pytest.raises(dr.ConversionError, match=r"no key of picky matches it: it (has|begins with) '[adz]'"):
            dr.convert(pattern, "amqp", picky)


def test_a_long_pattern_takes_no_long_time() -> None:
    """16,000 runs of wildcards, as many as MQTT carries: some 0.1 s, where looking at each with each takes minutes."""
    before = time.perf_counter()
    (text,) = dr.convert("+/a/" * 16_000 + "#", "mqtt", dataclasses.replace(dr.AMQP, name="long", max_bytes=None))
    assert text == "*.a." * 16_000 + "#"
    assert time.perf_counter() - before < 10


def test_groups_of_two_dialects_that_have_them() -> None:
    other = dataclasses.replace(dr.NATS, name="queues", shared=b"queue")
    assert dr.convert("$share/g/a/#", "mqtt", other) == ("queue.g.a", "queue.g.a.>")
    with pytest.raises(dr.ConversionError, match=r"its word 'g\.h' has '\.' in it"):
        dr.convert("$share/g.h/a", "mqtt", other)
