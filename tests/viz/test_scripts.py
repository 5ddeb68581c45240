"""The page's scripts beside what they repeat: words, dialects, the NFA and its walk. The machine has a module of its own."""

from __future__ import annotations

import itertools
import random
import re
import unicodedata
from dataclasses import fields
from typing import Any

import pytest

import dfa_router as dr
from compiler import Wildcard, build_dfa
from compiler.automata.pattern import normalize
from dfa_router.cli.drawing import unrouted
from dfa_router.cli.page_dialects import page_dialect
from dfa_router.language.dialects import DIALECTS
from dfa_router.language.rules import compile_nfa, tokens
from tests.viz.material import ATTACKS
from tests.viz.streams import Stream, random_streams
from tests.viz.test_machine import asked_in_node
from viz.page.scripts import part
from viz.text import isolated, shown, visible
from viz.trie_walk import trie_walk
from viz.walk import failures, steps


def test_words_are_made_visible_alike() -> None:
    words = [
        *ATTACKS,
        "",
        "*",
        "#",
        "other",
        " a",
        "a ",
        'a"b',
        "a,b",
        "x" * 30,
        "\ue000",
        "\u00a0",
        "\u2028",
        "é",
        "🙂" * 30,
        *itertools.chain(*TWOFOLD),
        "\u2713 \u05d0b.#.\u05d1, \u0639/x/\ufe8d \ufb31",
        "\u2713 \U0001e900.#.\U00010a60, \U00010800/\U0001efff \U00010fff",
        "\U000107ff.\U00011000.\U0001e7ff.\U0001f000",
    ]
    told = asked_in_node([{"what": "words", "words": words}])[0]
    assert told == [[visible(word), shown(word), isolated(word)] for word in words]


TWOFOLD = [
    ("\u00e9", "e\u0301"),
    ("\u1ead", "a\u0323\u0302", "a\u0302\u0323", "\u1ea1\u0302"),
    ("\ud55c", "\u1112\u1161\u11ab", "\ud558\u11ab"),
    ("\u00c5", "A\u030a", "\u212b"),
    ("K", "\u212a"),
    ("\u00e1\u0327", "a\u0327\u0301", "a\u0301\u0327"),
    ("x\u0301" * 40, "x" + "\u0301" * 40),
]
"""Words that look alike, as Unicode takes all of a line but the last for the same text; the broker compares bytes."""


@pytest.mark.parametrize("words", TWOFOLD[:-1], ids=ascii)
def test_words_that_unicode_takes_for_one_do_not_look_alike(words: tuple[str, ...]) -> None:
    told = [visible(word) for word in words]
    assert told[0] == words[0]
    assert len({unicodedata.normalize("NFC", one) for one in told}) == len(words)


ELSEWHERE = {"reserved", "wildcard_keys"}
"""Fields that are no matter of ``language.js``: the root of the automaton, which other scripts choose, and which keys are valid to a
client, while the page steps through any key."""


def test_every_field_of_a_dialect_is_read() -> None:
    """A rule that the page passed over would make its answers wrong, without a word."""
    source = part("script/language.js")
    named = {one.name for one in fields(dr.Dialect) if one.init}
    assert {name for name in named if re.search(rf"\bdialect\.{name}\b", source)} == named - ELSEWHERE


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_spelt_and_refused_alike(name: str) -> None:
    dialect = DIALECTS[name]
    choose = random.Random(name)
    words = [
        "a",
        "b",
        "",
        "*",
        "#",
        ">",
        "+",
        "$share",
        "$SYS",
        "g",
        "a*",
        "*a",
        "#P2P",
        "pre>",
        "é",
        "\x00",
        " ",
        "x" * 80,
        "a+b",
    ]
    separator = dialect.separator.decode()
    texts = [separator.join(choose.choices(words, k=choose.randint(0, 6))) for _ in range(3000)]
    texts += [
        "x" * 255,
        "x" * 256,
        "é" * 128,
        separator * 200,
        "#" + separator + "#" + separator + "#",
        "$share",
        "$share/g",
        "$share//a",
    ]
    told = asked_in_node([{"what": "language", "texts": texts, "dialect": page_dialect(dialect)}])[0]
    refused = unrouted_too = 0
    codes: dict[Any, Any] = {Wildcard.ONE: -1, Wildcard.MANY: -2}
    for text, (problem, refusal, spelt) in zip(texts, told, strict=True):
        expected = dr.pattern_problem(text, dialect)
        assert problem.replace("␀", "\\x00") == (expected or ""), text
        assert refusal.replace("␀", "\\x00") == (unrouted(text, dialect) or ""), text
        if expected is None:
            assert spelt == [
                codes.get(one, one.decode() if isinstance(one, bytes) else one)
                for one in normalize(tokens(text.encode(), dialect))
            ]
        refused, unrouted_too = refused + bool(problem), unrouted_too + bool(refusal)
    assert refused >= 2
    assert (unrouted_too > 0) == (name in ("mqtt", "nats", "solace"))


def test_a_key_is_read_alike() -> None:
    streams = [*random_streams(8, 40), Stream(["", "#"], dr.AMQP, 64 << 20, ["c"])]
    for stream, told in zip(
        streams, asked_in_node([{**stream.question(), "what": "walk"} for stream in streams]), strict=True
    ):
        nfa = compile_nfa([pattern.encode() for pattern in stream.patterns], stream.dialect)
        for key, here in zip(stream.keys, told, strict=True):
            words = key.encode().split(stream.dialect.separator) if key else []
            read = steps(nfa, words)
            assert here["steps"] == [
                {
                    "symbol": step.symbol,
                    "positions": list(step.state.positions),
                    "tags": list(step.state.tags),
                    "moves": [list(move) for move in step.moves],
                    "final": step.final,
                }
                for step in read
            ]
            assert dict(here["failed"]) == failures(nfa, read)
            walk = trie_walk(nfa, words)
            assert here["walk"] == [walk.visits, walk.backtracks, list(walk.reads), list(walk.tags), walk.complete]


def test_a_complete_dfa_may_begin_with_the_states_of_a_cache() -> None:
    nfa = compile_nfa([b"a.#.c"], dr.AMQP)
    plain = build_dfa(nfa)
    again = build_dfa(nfa, first=plain.states[::-1])
    assert again.states == plain.states[::-1]
    assert again.match([b"a", b"x", b"c"]) == plain.match([b"a", b"x", b"c"]) == (0,)
    assert again.starts == (len(plain) - 1,)
