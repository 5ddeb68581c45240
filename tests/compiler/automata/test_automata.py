"""The automata as values: NFA, one powerset step, complete DFA, their dumps and graphs."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from compiler import CapacityError, Nfa, Token, Wildcard, build_dfa, build_nfa, normalize
from compiler.automata.nfa import OTHER
from compiler.automata.powerset import default_successor, is_final, literal_successors, literals, start, successor

ONE, MANY = Wildcard.ONE, Wildcard.MANY


def parsed(*patterns: str) -> Nfa:
    """Build the NFA of patterns written with dots."""
    wildcards: dict[str, Token] = {"*": ONE, "#": MANY}
    return build_nfa([[wildcards.get(w, w.encode()) for w in p.split(".")] if p else [] for p in patterns])


def test_runs_of_wildcards_have_one_spelling() -> None:
    assert normalize([MANY, MANY]) == (MANY,)
    assert normalize([MANY, ONE]) == (ONE, MANY)
    assert normalize([b"a", MANY, ONE, MANY, ONE, b"b", ONE]) == (b"a", ONE, ONE, MANY, b"b", ONE)
    for n in range(5):
        for run in product((ONE, MANY), repeat=n):
            assert len(build_nfa([run, normalize(run)]).tags_of(len(normalize(run)))) == 2


def test_prefixes_are_shared_and_tails_are_not() -> None:
    """RabbitMQ's own four patterns: the start has two ways out, and every binding ends on a position of its own."""
    nfa = parsed("a.b.c", "a.*.b.c", "a.#.c", "b.b.c")
    assert str(nfa).splitlines() == [
        "Nfa: 12 positions, 3 literal words, 4 bindings",
        ">0 a->1 b->2",
        " 1 ε->3 *->4 b->5",
        " 2 b->6",
        " 3 loops c->7",
        " 4 b->8",
        " 5 c->9",
        " 6 c->10",
        " 7   tags 2",
        " 8 c->11",
        " 9   tags 0",
        " 10   tags 3",
        " 11   tags 1",
    ]


def test_equal_patterns_share_a_position_and_keep_both_tags() -> None:
    nfa = parsed("a.#.#", "b", "a.#")
    assert [nfa.tags_of(p) for p in range(len(nfa)) if nfa.tags_of(p)] == [(1,), (0, 2)]


def test_children_are_consecutive_and_ascend_with_their_parents() -> None:
    """The three facts that the kernels stand on."""
    nfa = parsed("a.b", "b.#.a", "*.x", "#.c.d", "a.*", "a.#.z", "")
    seen = [child for position in range(len(nfa)) for child in nfa.successors(position)]
    assert seen == list(range(1, len(nfa)))
    for position in range(len(nfa)):
        labels = [nfa.label(child) for child in nfa.successors(position)]
        assert labels == sorted(labels)


def test_no_patterns_at_all() -> None:
    nfa = build_nfa([])
    assert len(nfa) == 1
    assert is_final(nfa, start(nfa))
    assert build_dfa(nfa).match([b"a"]) == ()


def test_a_step_keeps_finished_patterns_as_tags_only() -> None:
    """After ``a``, the position where ``a`` ended leads nowhere: it is dropped, its tag stays."""
    nfa = parsed("a", "a.b")
    state = successor(nfa, start(nfa), nfa.symbol_of[b"a"])
    assert (state.positions, state.tags) == ((1,), (0,))


def test_successors_that_are_made_together_are_those_of_each_word() -> None:
    random = Random(4)
    tokens: list[Token] = [b"a", b"b", b"c", b"", ONE, MANY]
    for _ in range(200):
        patterns = [random.choices(tokens, k=random.randint(0, 4)) for _ in range(random.randint(0, 8))]
        nfa = build_nfa(patterns)
        agenda = [start(nfa)]
        for state in agenda:  # it grows
            found = [*literal_successors(nfa, state).items()]
            assert found == [(symbol, successor(nfa, state, symbol)) for symbol in literals(nfa, state)]
            assert default_successor(nfa, state) == successor(nfa, state, OTHER)
            following = [default_successor(nfa, state), *(after for _, after in found)]
            agenda += [after for after in following if after not in agenda]


def test_final_states_are_those_that_no_word_can_change() -> None:
    nfa = parsed("a.#", "b", "c.#", "c")
    after = {word: successor(nfa, start(nfa), nfa.symbol_of[word]) for word in (b"a", b"b", b"c")}
    assert is_final(nfa, after[b"a"])  # saturated: only a final # is left
    assert not is_final(nfa, after[b"b"])  # b is accepted here and not after one more word
    assert not is_final(nfa, after[b"c"])  # likewise: tag 3 goes, tag 2 stays
    assert is_final(nfa, default_successor(nfa, start(nfa)))  # dead


def test_complete_dfa_of_the_four_patterns_as_text() -> None:
    assert str(build_dfa(parsed("a.#", "b"))).splitlines() == [
        "Dfa: 4 states, 2 literal transitions",
        ">0 {0} a->2 b->3 *->1",
        " 1 {} *->1!",
        " 2 {3} *->2!  tags 0",
        " 3 {} *->1  tags 1",
    ]


@pytest.mark.parametrize("n", range(8))
def test_stars_behind_a_hash_need_two_to_the_n_states(n: int) -> None:
    """``#.a.*^n`` is the word version of "the n-th symbol from the end is a": 2^(n+1) states, no fewer."""
    assert len(build_dfa(parsed(".".join(["#", "a", *["*"] * n])))) == 2 ** (n + 1)


@pytest.mark.parametrize("n", range(8))
def test_hashes_on_both_sides_need_two_to_the_n_accept_sets(n: int) -> None:
    dfa = build_dfa(parsed(*(f"#.w{i}.#" for i in range(n))))
    assert len({state.tags for state in dfa.states}) == 2**n


def test_limits_are_errors_that_say_what_to_do() -> None:
    nfa = parsed(".".join(["#", "a", *["*"] * 8]))
    with pytest.raises(
        CapacityError, match=r"more than 100 states \(max_states\): raise the limit, or use the lazy DFA"
    ):
        build_dfa(nfa, max_states=100)
    with pytest.raises(CapacityError, match=r"more than 10000 bytes \(max_bytes\)"):
        build_dfa(nfa, max_bytes=10_000)


def test_graphs_say_what_the_dumps_say() -> None:
    nfa = parsed("a.#", "*.b")
    graph = nfa.to_networkx()
    assert graph.number_of_nodes() == len(nfa)
    assert {(u, v, d["kind"], d["label"]) for u, v, d in graph.edges(data=True)} == {
        (0, 1, "one", "*"),
        (0, 2, "literal", "a"),
        (1, 3, "literal", "b"),
        (2, 4, "epsilon", "ε"),
        (4, 4, "loop", "*"),
    }
    assert [graph.nodes[p]["tags"] for p in range(5)] == [(), (), (), (1,), (0,)]
    dfa = build_dfa(nfa)
    states = dfa.to_networkx()
    assert [states.nodes[s]["positions"] for s in states] == [s.positions for s in dfa.states]
    assert states.number_of_edges() == len(dfa) + sum(map(len, dfa.successors))


def test_dumps_of_large_automata_are_cut() -> None:
    nfa = parsed(*(f"w{i}" for i in range(300)))
    assert nfa.dump(limit=10).splitlines()[-1] == " ... and 291 more positions"
    assert len(str(nfa).splitlines()) == 202


def test_words_that_could_be_mistaken_are_quoted() -> None:
    nfa = build_nfa([[b"*"], [b""], [b"a b"], [b"\xff"]])
    moves = str(nfa).splitlines()[1]
    assert moves == ">0 '*'->1 ''->2 'a b'->3 \\xff->4"
