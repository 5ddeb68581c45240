"""The minimal DFA: the same answers, and no state to spare."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from compiler import Dfa, Wildcard, build_dfa, build_nfa
from compiler.automata.minimize import MinimalDfa, minimize

TOKENS = st.sampled_from([b"a", b"b", b"", Wildcard.ONE, Wildcard.MANY])
PATTERNS = st.lists(st.lists(TOKENS, max_size=4), max_size=4)


def _moore(dfa: Dfa) -> int:
    """Count the classes by the definition: split on every symbol, over and over, until nothing splits."""
    symbols = range(len(dfa.nfa.symbols) + 1)  # 0 is OTHER, which no state has as a literal
    classes: list[object] = [state.tags for state in dfa.states]
    while True:
        finer: list[object] = [
            (classes[i], *(classes[dfa.successors[i].get(symbol, dfa.defaults[i])] for symbol in symbols))
            for i in range(len(dfa))
        ]
        if len(set(finer)) == len(set(classes)):
            return len(set(classes))
        names = {label: number for number, label in enumerate(dict.fromkeys(finer))}
        classes = [names[label] for label in finer]


@given(PATTERNS)
def test_answers_like_the_dfa_and_is_minimal(patterns: list[list[bytes | Wildcard]]) -> None:
    dfa = build_dfa(build_nfa(patterns))
    minimal = minimize(dfa)
    assert len(minimal) == _moore(dfa)
    for length in range(4):
        for words in product([b"a", b"b", b"", b"x"], repeat=length):
            assert minimal.match(list(words)) == dfa.match(list(words)), words


@given(PATTERNS)
def test_every_state_of_the_dfa_is_a_member_of_one_state(patterns: list[list[bytes | Wildcard]]) -> None:
    dfa = build_dfa(build_nfa(patterns))
    minimal = minimize(dfa)
    assert sorted(state for members in minimal.members for state in members) == list(range(len(dfa)))
    assert 0 in minimal.members[0]
    for members, tags in zip(minimal.members, minimal.tags, strict=True):
        assert {dfa.states[state].tags for state in members} == {tags}
    for row, default in zip(minimal.successors, minimal.defaults, strict=True):
        assert default not in row.values()


def test_accept_tags_keep_states_apart() -> None:
    minimal = _minimal([[b"a", b"z"], [b"b", b"z"]])
    assert sorted(minimal.tags) == [(), (), (), (), (0,), (1,)], "the two ends accept different bindings"


def test_the_blow_ups_are_inherent() -> None:
    """``#.a.*^n`` needs 2^(n+1) states and n bindings ``#.w.#`` need 2^n: minimisation finds nothing to merge."""
    many, one = Wildcard.MANY, Wildcard.ONE
    assert len(_minimal([[many, b"a", *[one] * 5]])) == 2**6
    assert len(_minimal([[many, word.encode(), many] for word in "abcdef"])) == 2**6


def test_positions_that_can_no_longer_matter_are_merged_away() -> None:
    """Once ``#.a.*.#`` has matched, it makes no difference which of its earlier positions are active too."""
    dfa = build_dfa(build_nfa([[Wildcard.MANY, b"a", Wildcard.ONE, Wildcard.MANY]]))
    minimal = minimize(dfa)
    assert (len(dfa), len(minimal)) == (4, 3)
    assert minimal.members == ((0,), (1,), (2, 3))
    assert minimal.successors[2] == {}, "a literal that goes where every other word goes is no literal"


def test_graph_has_a_default_edge_per_state_and_one_dead_state() -> None:
    graph = _minimal([[b"a", b"z"], [b"b"]]).to_networkx()
    assert graph.graph["kind"] == "minimal"
    assert sum(data["dead"] for _, data in graph.nodes(data=True)) == 1
    assert sum(data["kind"] == "default" for _, _, data in graph.edges(data=True)) == len(graph)


def _minimal(patterns: list[list[bytes | Wildcard]]) -> MinimalDfa:
    return minimize(build_dfa(build_nfa(patterns)))
