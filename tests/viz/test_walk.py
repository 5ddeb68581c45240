"""The walks behind pictures and pages: the engine's states, the trie's counted backtracking, and why a binding failed."""

from __future__ import annotations

from itertools import product

from compiler.automata import powerset
from compiler.automata.nfa import MANY, ONE, Nfa
from dfa_router.language.dialects import AMQP
from dfa_router.reference.naive import matches
from dfa_router.reference.trie import Trie
from tests.viz.material import FOUR, KEY, random_sets
from viz.patterns import nfa_of, words_of
from viz.trie_walk import trie_walk
from viz.walk import accepted_moves, ends, failures, steps


def test_steps_are_the_states_of_subset_construction() -> None:
    for patterns, key in random_sets(1, 300):
        nfa = nfa_of(patterns)
        state = powerset.start(nfa)
        read = steps(nfa, words_of(key))
        for step in read[1:]:
            assert step.word is not None
            state = powerset.successor(nfa, state, nfa.symbol_of.get(step.word, 0))
            assert step.state == state
        wanted = tuple(i for i, pattern in enumerate(patterns) if matches(pattern.encode(), key.encode(), AMQP))
        assert read[-1].state.tags == wanted


def test_the_walk_of_the_articles() -> None:
    """RabbitMQ's articles: at # the walk goes on with d.d.d.c, d.d.c, d.c, c and the empty tail."""
    walk = trie_walk(nfa_of(FOUR), words_of(KEY))
    assert walk.tags == (2,)
    assert walk.visits == 9, "root, a, *, # with five tails, and c"
    assert walk.backtracks == 5
    assert walk.reads == (1, 2, 2, 1, 1)


def test_the_trie_s_walk_finds_what_the_reference_trie_finds() -> None:
    for patterns, key in random_sets(2, 500):
        walk = trie_walk(nfa_of(patterns), words_of(key))
        assert walk.tags == Trie([pattern.encode() for pattern in patterns], AMQP).match(key.encode())
        assert walk.complete


def test_the_count_is_that_of_the_plain_recursion() -> None:
    def walk(nfa: Nfa, node: int, words: list[bytes]) -> tuple[int, int]:
        """Return (visits, leaves), as the definition has it."""
        below = []
        for child in nfa.successors(node):
            label = nfa.label(child)
            if label == MANY:
                below += [walk(nfa, child, words[tail:]) for tail in range(len(words) + 1)]
            elif words and label in (ONE, nfa.symbol_of.get(words[0])):
                below.append(walk(nfa, child, words[1:]))
        return 1 + sum(visits for visits, _ in below), sum(leaves for _, leaves in below) or 1

    for patterns, key in random_sets(3, 300):
        nfa = nfa_of(patterns)
        visits, leaves = walk(nfa, 0, words_of(key))
        counted = trie_walk(nfa, words_of(key))
        assert (counted.visits, counted.backtracks) == (visits, leaves - 1), (patterns, key)


def test_the_walk_stops_at_its_limit() -> None:
    walk = trie_walk(nfa_of([".".join(["#.a"] * 6 + ["#.b"])]), [b"a"] * 60)
    assert not walk.complete
    assert walk.visits == 100_000


def test_a_binding_fails_at_the_word_after_which_no_key_can_match() -> None:
    """Checked by its meaning: the prefix up to the word cannot be continued to a match, and the one before could."""
    # Patterns have at most five tokens: a key that can be continued to a match needs no longer tail than that.
    tails = [b".".join(tail) for length in range(6) for tail in product((b"a", b"b", b"c"), repeat=length)]

    def can_match(pattern: str, words: list[bytes]) -> bool:
        base = b".".join(words)
        keys = (base + b"." * (bool(words) and bool(tail)) + tail for tail in tails)
        return any(matches(pattern.encode(), key, AMQP) for key in keys)

    checked = 0
    for patterns, key in random_sets(4, 200):
        words = words_of(key)
        if b"" in words or any("" in pattern.split(".") for pattern in patterns):
            continue  # the tails above hold no empty words
        nfa = nfa_of(patterns)
        read = steps(nfa, words)
        for tag, number in failures(nfa, read).items():
            assert number > 0
            assert can_match(patterns[tag], words[: number - 1]), (patterns[tag], key, number)
            if number < len(read):
                assert not can_match(patterns[tag], words[:number]), (patterns[tag], key, number)
                checked += 1
    assert checked > 15


def test_the_empty_pattern_fails_at_the_first_word() -> None:
    """Before it the key could have ended, also where no other pattern keeps the root among the positions."""
    for patterns in ([""], ["", "#"], ["", "#.b"], ["", "a"]):
        nfa = nfa_of(patterns)
        assert failures(nfa, steps(nfa, [b"c"]))[0] == 1


def test_accepted_moves_make_a_run_for_every_accepting_binding() -> None:
    for patterns, key in random_sets(5, 200):
        nfa = nfa_of(patterns)
        read = steps(nfa, words_of(key))
        moves = accepted_moves(nfa, read)
        if read[-1].state.tags:
            reached = {0} | {head for tail, head in moves[0] if tail == 0}
            for some in moves[1:]:
                reading = {head for tail, head in some if tail in reached}
                reached = reading | {head for tail, head in some if tail in reading and tail != head}
            assert reached >= {ends(nfa)[tag] for tag in read[-1].state.tags}, (patterns, key)
