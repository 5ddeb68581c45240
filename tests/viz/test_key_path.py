"""The path of a key in a picture, where some keys begin at a root of their own."""

from __future__ import annotations

import random
from typing import Any

import pytest

import dfa_router as dr
from compiler import Nfa, build_dfa, build_nfa
from compiler.automata.minimize import minimize
from compiler.automata.powerset import start
from compiler.automata.twin import Twin
from compiler.machine.lazy import LazyDfa
from dfa_router.cli.drawing import nfa_of, recorded, unrouted
from dfa_router.language.dialects import DIALECTS
from viz import drawing
from viz.model.key_path import key_path
from viz.model.sources import graph_of
from viz.patterns import words_of

SETS = {
    "mqtt": ["#", "$SYS/#", "home/+/lamp", "+/lamp"],
    "nats": [">", "home.*.lamp", "*.lamp"],
}
KEYS = ["$SYS/lamp", "$SYS", "$other/lamp", "home/hall/lamp", "home/lamp", "x", "/lamp"]


def _things(nfa: Nfa, separator: bytes, keys: list[str]) -> dict[str, Any]:
    """Return everything in which a key has a path."""
    cache, twin = LazyDfa(nfa, separator, 1 << 20), Twin(nfa, separator, 1 << 20)
    for key in keys:
        cache.match(key.encode())
        twin.match(key.encode())
    roots = [start(nfa, root) for root in nfa.roots]
    things: dict[str, Any] = {"nfa": nfa, "cache": cache, "twin": twin}
    for order, first in (("", roots), ("reversed ", roots[::-1])):
        dfa = build_dfa(nfa, first=first)
        things |= {f"{order}dfa": dfa, f"{order}minimal dfa": minimize(dfa)}
    return things


@pytest.mark.parametrize("name", SETS)
def test_what_a_picture_says_of_a_key_is_what_the_automaton_answers(name: str) -> None:
    separator = DIALECTS[name].separator
    keys = [key.replace("/", separator.decode()) for key in KEYS]
    nfa = nfa_of(SETS[name], DIALECTS[name])
    dfa = build_dfa(nfa)
    for what, thing in _things(nfa, separator, keys).items():
        graph, automaton = _graph(thing, nfa)
        for key in keys:
            words = words_of(key, separator)
            path = key_path(graph, automaton, words)
            assert path.tags == dfa.match(words), (what, key)
            begins = {node for node, numbers in path.nodes.items() if 0 in numbers and graph.nodes[node]["start"]}
            if what == "nfa":
                assert begins == {nfa.root(words[0])}, key
            elif "minimal" not in what:
                states = [graph.nodes[node]["positions"] for node in begins]
                assert states == [start(nfa, nfa.root(words[0])).positions], (what, key)


def test_where_a_cache_does_not_hold_the_start_of_a_key_its_path_is_not_drawn() -> None:
    twin = Twin(nfa_of(["#", "$SYS/#"], DIALECTS["mqtt"]), b"/", 1 << 20)
    twin.match(b"home")
    assert (
        drawing(twin, key="home", separator=b"/")
        .graph["alt"]
        .endswith("The key home visits 0, 0 and is accepted by binding 0.")
    )
    assert drawing(twin, key="$SYS/x", separator=b"/").graph["alt"].endswith("The key $SYS/x leaves what is drawn.")


def test_both_roots_are_shown_as_starts() -> None:
    machine = LazyDfa(nfa_of(["#", "$SYS/#"], DIALECTS["mqtt"]), b"/", 1 << 20)
    machine.match(b"$SYS/lamp")
    for thing in (machine, machine.nfa, build_dfa(machine.nfa)):
        model = drawing(thing)
        assert sum("start" in data["roles"] for _, data in model.nodes(data=True)) == 2
        assert "It starts at 0 or 1." in model.graph["alt"]


def test_a_bare_graph_with_two_starts_does_not_tell_where_a_key_begins() -> None:
    nfa = nfa_of(["#", "$SYS/#"], DIALECTS["mqtt"])
    dfa = build_dfa(nfa)
    with pytest.raises(TypeError, match="draw the automaton itself"):
        drawing(dfa.to_networkx(), key=[b"$SYS"])
    assert drawing(dfa.to_networkx(), nfa=nfa, key=[b"$SYS"]).graph["alt"].endswith("is accepted by binding 1.")


@pytest.mark.parametrize("name", ["mqtt", "exact"])
def test_a_word_that_is_a_wildcard_elsewhere_is_a_word_that_a_cache_has_not_built(name: str) -> None:
    dialect = DIALECTS[name]
    nfa = nfa_of(["*"], dialect)
    twin = Twin(nfa, dialect.separator, 1 << 20)
    twin.match(b"x")
    for cache in (recorded(nfa, ["x"], dialect), twin):
        model = drawing(cache, names=["*"], key="*", separator=dialect.separator)
        assert model.graph["alt"].endswith('The key "*" leaves what is drawn.')
        (unknown,) = [data for *_, data in model.edges(data=True) if "unknown" in data["roles"]]
        assert (unknown["label"], unknown["words"]) == ('"*"', ("*",))
        other = drawing(cache, dead=True, separator=dialect.separator).edges
        assert "other" in {data["label"] for *_, data in other(data=True)}, "x is another word than the star"


@pytest.mark.parametrize("name", DIALECTS)
def test_what_a_picture_says_of_a_key_is_what_the_definition_answers(name: str) -> None:
    """Words that are a wildcard in one dialect, or a label of pictures, are among those of every other."""
    dialect, choose = DIALECTS[name], random.Random(name)
    separator = dialect.separator.decode()
    words = ["a", "b", "$a", "*", "#", ">", "+", "other", "\\xff"]

    def text(most: int) -> str:
        return separator.join(choose.choice(words) for _ in range(choose.randint(1, most)))

    verdicts = 0
    for _ in range(100):
        texts = dict.fromkeys(text(2) for _ in range(choose.randint(1, 4)))
        patterns = [one for one in texts if dr.pattern_problem(one, dialect) is None]
        keys = [key for key in (text(2) for _ in range(8)) if unrouted(key, dialect) is None]
        if not patterns or not keys:
            continue
        nfa = nfa_of(patterns, dialect)
        naive = dr.compile([(pattern, pattern) for pattern in patterns], engine="naive", dialect=dialect)
        for what, thing in _things(nfa, dialect.separator, keys[:1]).items():
            for key in keys:
                path = key_path(*_graph(thing, nfa), words_of(key, dialect.separator))
                assert path.tags == naive.match_bindings(key) or (path.tags is None and what in ("cache", "twin")), (
                    what, patterns, keys[0], key
                )  # fmt: skip
                verdicts += path.tags is not None
    assert verdicts > 100


def test_words_of_one_text_are_told_apart_by_their_bytes() -> None:
    nfa = build_nfa([[b"\\xff"], [b"\xff"]])
    dfa = build_dfa(nfa)
    for thing in (dfa, minimize(dfa)):
        for word in (b"\\xff", b"\xff"):
            path = key_path(*_graph(thing, nfa), [word])
            assert path.tags == dfa.match([word])


def _graph(thing: Any, nfa: Nfa) -> tuple[Any, Nfa]:
    graph, automaton = graph_of(thing)
    return graph, automaton or nfa
