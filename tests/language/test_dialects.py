"""The rules of dialects: what is refused and why, and that every engine keeps every rule, also of dialects made up here."""

from __future__ import annotations

import dataclasses
import pickle
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.language.dialect_files import read_dialect
from dfa_router.language.dialects import DIALECTS, EXACT
from tests.borders import LENGTHS, between
from tests.language.material import ALL, LONG, each_dialect, words_of
from tests.suite.matrix import CONFIGURATIONS, WAYS

RULES = [dialect for dialect in ALL if not dialect.plain]
SPEAKERS = [
    (configuration, dialect) for configuration in CONFIGURATIONS for dialect in RULES if configuration.speaks(dialect)
]
COMPILED = [configuration for configuration in CONFIGURATIONS if configuration.engine in ("dfa", "nfa")]
each_rule = pytest.mark.parametrize("dialect", RULES, ids=lambda dialect: dialect.name)


def texts(dialect: dr.Dialect, longest: int) -> st.SearchStrategy[str]:
    words = st.one_of(st.sampled_from(words_of(dialect)), st.sampled_from(["a", "", LONG, *words_of(dialect)[-4:]]))
    return st.lists(words, max_size=longest).map(dialect.separator.decode().join)


@st.composite
def questions(draw: st.DrawFn, dialects: Sequence[dr.Dialect] = RULES) -> tuple[dr.Dialect, list[str], list[str]]:
    """A dialect, patterns that are valid in it, and keys that need not be."""
    dialect = draw(st.sampled_from(dialects))
    valid = texts(dialect, 5).filter(lambda text: dr.pattern_problem(text, dialect) is None)
    patterns = draw(st.lists(valid, max_size=8))
    between = dialect.separator.decode()
    wild = {word.decode() for word in (dialect.one, dialect.many, dialect.some) if word is not None}
    # Keys that come near a pattern: its words, with others in the place of wildcards.
    filled = [
        draw(st.sampled_from(words_of(dialect))) if word in wild and draw(st.booleans()) else word
        for pattern in patterns[:3]
        for word in [*pattern.split(between), None]
        if word is not None
    ]
    near = between.join(filled[:5])
    return (
        dialect,
        patterns,
        [*draw(st.lists(texts(dialect, 6), max_size=12)), near, near + between, between + near, ""],
    )


def specified(dialect: dr.Dialect, patterns: Sequence[str], keys: Sequence[str]) -> list[list[int]]:
    router = dr.compile([(pattern, "q") for pattern in patterns], dialect=dialect, engine="naive")
    return [list(router.match_bindings(key)) for key in keys]


@given(questions(), st.data())
@settings(max_examples=80, deadline=None)
def test_every_engine_agrees_with_the_specification_however_it_is_asked(
    question: tuple[dr.Dialect, list[str], list[str]], data: st.DataObject
) -> None:
    dialect, patterns, keys = question
    expected = specified(dialect, patterns, keys)
    bindings = [(pattern, f"q{i % 3}") for i, pattern in enumerate(patterns)]
    for configuration in CONFIGURATIONS:
        if configuration.speaks(dialect):
            router = configuration.router(bindings, keys, dialect)
            way = data.draw(st.sampled_from(sorted(WAYS)))
            assert WAYS[way](router, keys) == expected, (configuration, way)
            assert [router.any(key) for key in keys] == list(map(bool, expected)), configuration


@given(questions(), st.integers(0, 3), st.booleans())
@settings(max_examples=60, deadline=None)
def test_nulls_slices_and_dictionaries(question: tuple[dr.Dialect, list[str], list[str]], cut: int, jit: bool) -> None:
    """A null key stays null beside keys that match nothing by a rule; with and without compiled kernels."""
    dialect, patterns, some_keys = question
    keys: list[str | None] = [key for pair in zip(some_keys, [None, *some_keys], strict=False) for key in pair]
    expected: list[list[int] | None] = []
    for key in keys:
        expected += [None] if key is None else specified(dialect, patterns, [key])
    plain = pa.array(["", *keys, None, "a"], pa.string())
    with mock.patch("dfa_router.engines.automaton.jit_enabled", return_value=jit):
        for configuration in COMPILED:
            router = configuration.router([(pattern, "q") for pattern in patterns], [], dialect)
            for column in (
                plain.slice(1, len(keys)),
                plain.cast(pa.large_string()).slice(1, len(keys)),
                plain.dictionary_encode().slice(1, len(keys)),
                plain.cast(pa.binary()).slice(1, len(keys)),
            ):
                assert router.match_batch(column).bindings().to_pylist() == expected
                assert router.match_batch(column.slice(cut)).bindings().to_pylist() == expected[cut:]
            chunks = pa.chunked_array([plain.slice(1, cut), plain.slice(1 + cut, len(keys) - cut)])
            assert router.match_batch(chunks).bindings().to_pylist() == expected


@given(questions())
@settings(max_examples=100, deadline=None)
def test_engines_that_change_keep_the_rules(question: tuple[dr.Dialect, list[str], list[str]]) -> None:
    dialect, patterns, keys = question
    for configuration in CONFIGURATIONS:
        if configuration.speaks(dialect) and configuration.info.dynamic:
            router = configuration.router([], keys, dialect)
            for pattern in [*patterns, *patterns]:
                router.subscribe(pattern, "q")
            for pattern in patterns:
                router.unsubscribe(pattern, "q")
            later = [[len(patterns) + position for position in row] for row in specified(dialect, patterns, keys)]
            assert [list(router.match_bindings(key)) for key in keys] == later, configuration


def test_these_tests_ask_every_engine_that_speaks_all_dialects() -> None:
    assert {configuration.engine for configuration, _ in SPEAKERS} == {"dfa", "nfa", "naive", "scan", "trie"}
    assert {dialect.name for dialect in DIALECTS.values() if dialect.plain} == {"amqp", "amqp-4.3.5", "exact"}


@pytest.mark.parametrize("name", [name for name in dr.engines() if not dr.engine_info(name).rules])
@each_rule
def test_an_engine_that_does_not_know_the_rules_says_so(name: str, dialect: dr.Dialect) -> None:
    with pytest.raises(dr.OptionError, match=f"engine '{name}' does not speak '{dialect.name}'.*'dfa' speaks all"):
        dr.compile([("a", "q")], engine=name, dialect=dialect)


# --- keys that match nothing -------------------------------------------------------------------------------------------

AROUND = between(LENGTHS, 0, 1000)
"""Bytes of a key before the one that is wrong."""


@pytest.mark.parametrize("engine", ["dfa", "nfa", "trie", "scan", "naive"])
def test_an_empty_word_is_found_wherever_it_is(engine: str) -> None:
    """A key of long and of short words, valid but for one empty word that begins at a certain byte."""
    router = dr.compile([(">", "q"), ("a.>", "q")], dialect="nats", engine=engine)
    keys, expected = [], []
    for at in AROUND:
        for words in ("w" * 1500, ".".join("ab" * 500)):
            whole = words[:at].rstrip(".") + "." + words[at + 1 :].lstrip(".") if at else words
            # Two separators in a row at `at`, a separator at the front, and one at the end.
            for key in (whole, words[:at] + ".." + "x", "." + words[:at], words[: at + 1] + "."):
                keys.append(key)
                hole = "" in key.split(".")
                expected.append([] if hole else [0, 1] if key.startswith("a.") and len(key) > 2 else [0])
    assert router.match_batch(keys).bindings().to_pylist() == expected
    assert [list(router.match_bindings(key)) for key in keys] == expected
    assert sum(not row for row in expected) > len(keys) // 2


@pytest.mark.parametrize("engine", ["dfa", "nfa", "trie", "scan", "naive"])
@pytest.mark.parametrize("byte", ["+", "#", "\0"])
def test_a_dropped_byte_is_found_wherever_it_is(engine: str, byte: str) -> None:
    """Also behind the place where the answer is clear without reading on."""
    router = dr.compile([("#", "q"), ("a/#", "q"), ("$a/#", "q")], dialect="mqtt", engine=engine)
    for length in (1, 64, 65, 130, 1500):
        keys = []
        for at in AROUND:
            text = ("a/" + "w" * 9 + "/") * 200
            keys += [text[: min(at, length - 1)] + byte + text[at + 1 : length], "$" + text[:at] + byte]
        assert router.match_batch(keys).pair_count == 0
        assert not any(router.any(key) for key in keys)
        clean = [key.replace(byte, "w") for key in keys]
        assert router.match_batch(clean).pair_count >= len(clean) // 2


@pytest.mark.parametrize("engine", ["dfa", "nfa", "trie", "scan", "naive"])
def test_prefixes_that_are_not_seen(engine: str) -> None:
    """As bytes of the key and not as a word: `#P2Px/a` begins so as well; a key that is shorter does not."""
    router = dr.compile([(">", "q"), ("#P2P", "q"), ("#P2/>", "q")], dialect="solace", engine=engine)
    keys = ["#P2P", "#P2Px/a", "#P2P/a", "#P2", "#P2/a", "#", "x#P2P", "a/#P2P"]
    expected = [[], [], [], [0], [0, 2], [0], [0], [0]]
    assert router.match_batch(keys).bindings().to_pylist() == expected
    assert [list(router.match_bindings(key)) for key in keys] == expected


def test_many_threads_and_many_keys() -> None:
    """Chunks of a large batch, each with nulls and keys that match nothing, on several threads and from several."""
    keys = ["a/b", None, "$SYS/a", "a/+", "", "x", "$a", "a//b"] * 5000
    row: list[Any] = [[0, 1], None, [2], [], [], [0], [], [0, 1]]
    router = dr.compile([("#", "all"), ("a/#", "a"), ("$SYS/+", "sys")], dialect="mqtt", cache_bytes=1 << 16)
    assert router.match_batch(keys, threads=2).bindings().to_pylist() == row * 5000
    right: list[bool] = []

    def work() -> None:
        for _ in range(20):
            right.append(router.match_batch(keys[:800]).bindings().to_pylist() == row * 100)
            right.append(router.match("$SYS/a") == ("sys",))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 160


def test_keys_that_are_no_utf8() -> None:
    router = dr.compile([("#", "q"), ("$a/#", "s")], dialect="mqtt")
    keys = [b"\xff/a", b"$a/\xff", b"\xff+", b"$\xff"]
    assert [router.match(key) for key in keys] == [("q",), ("s",), (), ()]
    assert router.match_batch(keys).destinations().to_pylist() == [["q"], ["s"], [], []]


@given(questions(ALL))
@settings(max_examples=120, deadline=None)
def test_a_key_that_a_rule_lets_match_nothing_is_not_valid(question: tuple[dr.Dialect, list[str], list[str]]) -> None:
    """What engines do not route is told by ``key_problem``; what is valid is routed to who asks for all."""
    dialect, _, keys = question
    wild = dialect.many or dialect.some
    if wild is None:
        return
    router = dr.compile([(wild.decode(), "q")], dialect=dialect)
    for key in keys:
        hidden = dialect.reserved is not None and key.encode().startswith(dialect.reserved)
        empty = dialect.many is None and not key  # zero words are none
        if dr.key_problem(key, dialect) is None:
            assert router.any(key) == (not hidden and not empty), key
        valid_but_for_characters = dataclasses.replace(
            dialect, forbidden="", wildcard_keys=True, max_bytes=None, max_words=None
        )
        assert router.any(key) == (
            dr.key_problem(key, valid_but_for_characters) is None and not hidden and not empty
        ), key


# --- dialects as values --------------------------------------------------------------------------------------------------


@each_dialect
def test_a_dialect_is_a_value(dialect: dr.Dialect) -> None:
    copy = pickle.loads(pickle.dumps(dialect))
    assert copy == dialect
    assert hash(copy) == hash(dialect)
    assert (copy.plain, copy.lenient) == (dialect.plain, dialect.lenient)
    assert dr.dialect_named(dialect) is dialect
    assert dataclasses.replace(dialect, reserved=b"!") != dialect


def test_a_router_keeps_its_dialect() -> None:
    for dialect in ALL:
        router = dr.compile([("b", "q")], dialect=dialect)
        assert router.dialect == dialect
        assert pickle.loads(pickle.dumps(router)).dialect == dialect
        assert f"dialect {dialect.name}" in repr(router)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"separator": b""}, "the separator of dialect 'x' is b'': expected one ASCII byte"),
        ({"separator": b"::"}, "expected one ASCII byte"),
        ({"separator": b"\xc3"}, "expected one ASCII byte"),
        ({"separator": None}, "separator of dialect 'x' is None: expected bytes"),
        ({"unseen": b""}, "unseen of dialect 'x' is empty: expected how some keys begin"),
        ({"reserved": b"$$"}, "the reserved byte of dialect 'x' is b'$$': expected a single byte"),
        ({"reserved": b""}, "expected a single byte"),
        ({"reserved": b"."}, "that is not the separator"),
        ({"one": "*"}, "one of dialect 'x' is '*': expected bytes"),
        ({"dropped": None}, "dropped of dialect 'x' is None: expected bytes"),
        ({"many": b""}, "the words of dialect 'x' are [b'']: expected different ones, none of them empty"),
        ({"some": b"a.b"}, "or with the separator b'.' in it"),
        ({"one": b"*", "many": b"*"}, "expected different ones"),
        ({"many": b"#", "shared": b"#"}, "expected different ones"),
        ({"stray_tail": "refuse"}, "stray_tail of dialect 'x' is 'refuse': expected one of 'literal', 'refused'"),
        ({"inner_wildcards": "refuse"}, "is 'refuse': expected one of 'literal', 'no prefix', 'refused'"),
        ({"inner_wildcards": ["literal"]}, "is ['literal']: expected one of 'literal', 'no prefix', 'refused'"),
        ({"tail_only": "no"}, "tail_only of dialect 'x' is 'no': expected True or False"),
        ({"empty_words": 0}, "empty_words of dialect 'x' is 0: expected True or False"),
        ({"wildcard_keys": None}, "wildcard_keys of dialect 'x' is None: expected True or False"),
        ({"forbidden": b"x"}, "forbidden of dialect 'x' is b'x': expected a text"),
        ({"max_bytes": "10"}, "max_bytes of dialect 'x' is '10': expected a number from 0 up or None"),
        ({"max_bytes": -1}, "max_bytes of dialect 'x' is -1: expected a number from 0 up or None"),
        ({"max_words": True}, "max_words of dialect 'x' is True: expected a number from 0 up or None"),
        ({"max_many": 2.0}, "max_many of dialect 'x' is 2.0: expected a number from 0 up or None"),
        ({"name": 5}, "name of dialect 5 is 5: expected a text"),
    ],
)
def test_a_dialect_that_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(dr.OptionError) as caught:
        dr.Dialect(**{"name": "x", **fields})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('stray_tail = "refuse"', "stray_tail of dialect 'team' is 'refuse': expected one of 'literal', 'refused'"),
        ('inner_wildcards = "reject"', "expected one of 'literal', 'no prefix', 'refused'"),
        ("max_bytes = -1", "max_bytes of dialect 'team' is -1: expected a number from 0 up"),
        ("max_words = true", "max_words of dialect 'team' is True: expected a number"),
        ("empty_words = 0", "empty_words of dialect 'team' is 0: expected True or False"),
        ('separator = "é"', "expected one ASCII byte"),
        ("one = 1", "one is 1: expected a text"),
        ('like = ["nats"]', "like is ['nats']: use one of amqp, "),
        ('like = "nat"', "like is 'nat': use one of amqp, "),
    ],
)
def test_a_file_of_a_dialect_that_makes_no_sense_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "team.toml"
    path.write_text(f'name = "team"\n{line}\n', "utf-8")
    with pytest.raises(dr.OptionError) as caught:
        read_dialect(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_wildcard_that_is_no_text_is_in_no_pattern() -> None:
    dialect = dr.Dialect(name="x", one=b"+", many=b"\xff", shared=b"\xfe", unseen=b"\xfd")
    router = dr.compile([("é.+", "q"), ("ÿ", "r")], dialect=dialect)
    assert [router.match(key) for key in ("é.a", "ÿ", b"\xfd.a")] == [("q",), ("r",), ()]
    with pytest.raises(dr.ConversionError, match=r"has no equal in x: .* lone surrogate"):
        dr.convert("a.#", "amqp", dialect)
    assert dr.key_problem("é", dialect) is None


def test_exact_has_no_wildcards() -> None:
    assert (EXACT.one, EXACT.many, EXACT.some) == (None, None, None)
    assert dr.compile([("#", "q")], dialect=EXACT).match("a") == ()
