"""How large automata get, and what a broker pays: the counts are held to walks, and to RabbitMQ itself."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from typing import Any

import pytest

from compiler import build_dfa
from compiler.automata.positions import Positions, Side, States
from dfa_router.analysis.costs import broker_cost, growth
from dfa_router.analysis.questions import tokens_of
from dfa_router.errors import OptionError
from dfa_router.language.dialects import AMQP
from dfa_router.language.rules import compile_nfa
from tests.analysis.oracle import patterns_of


def walked(patterns: list[str], words: list[str]) -> int:
    """Return how many calls a walk of the trie of patterns makes, by making them."""
    trie: dict[str, Any] = {}
    for pattern in patterns:
        node = trie
        for word in pattern.split(".") if pattern else []:
            node = node.setdefault(word, {})

    def walk(node: dict[str, Any], rest: list[str]) -> int:
        calls = 1
        if rest:
            calls += sum(walk(node[word], rest[1:]) for word in (rest[0], "*") if word in node)
        if "#" in node:
            calls += sum(walk(node["#"], rest[taken:]) for taken in range(len(rest) + 1))
        return calls

    return walk(trie, words)


def test_steps_are_those_of_a_walk() -> None:
    chance = random.Random(3)
    patterns = patterns_of("amqp", 3)
    for _ in range(200):
        chosen = chance.sample(patterns, chance.randint(1, 4))
        found = broker_cost([(one, "q") for one in chosen], most_bytes=15)
        for key, steps in ((found.key, found.steps), (found.plain, found.plain_steps)):
            assert steps == walked(chosen, key.split(".") if key else [])
        assert len(found.key) <= 15
        assert len(found.plain) == len(found.key)


def test_a_key_of_empty_words_is_one_that_can_be_written() -> None:
    """One empty word is written as a key without words is; n bytes are n + 1 of them."""
    for most in (0, 1, 3, 255):
        found = broker_cost([("#..#", "q"), ("*.#", "r")], most_bytes=most)
        words = found.key.split(".") if found.key else []
        assert found.steps == walked(["#..#", "*.#"], words)
        assert len(found.key) == most


def test_a_plain_key_has_no_word_of_a_binding() -> None:
    """Also where words are letters repeated, or take each letter of a length."""
    letters = [chr(number) for number in range(ord("a"), ord("z") + 1)]
    for literals in (["xx"], ["x", "yy"], ["xxx", "xxy", "x"], letters):
        bindings = [(f"#.{word}.#.{word}.#", "q") for word in literals]
        found = broker_cost(bindings, most_bytes=60)
        assert not set(found.plain.split(".")) & set(literals)
        assert list(map(len, found.plain.split("."))) == list(map(len, found.key.split(".")))
        assert found.plain_steps < found.steps


def test_states_are_those_of_the_complete_automaton() -> None:
    chance = random.Random(4)
    patterns = patterns_of("amqp", 3)
    for _ in range(100):
        chosen = chance.sample(patterns, chance.randint(1, 5))
        found = growth([(one, "q") for one in chosen])
        dfa = build_dfa(compile_nfa([one.encode() for one in chosen], AMQP))
        # The DFA forgets positions that have ended, and keeps their tags: never more states than sets of positions.
        assert found.complete
        assert found.states >= len(dfa) - 1


def test_all_positions_of_a_state_are_asked_once_and_not_for_each_of_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    step_all = Positions.step_all

    def counted(self: Positions, states: States, symbol: int, side: Side) -> States:
        asked.append(states)
        return step_all(self, states, symbol, side)

    monkeypatch.setattr(Positions, "step_all", counted)
    found = growth([(f"#.{letter}.#", "q") for letter in "abcdefgh"])
    assert found.complete
    assert 2**8 <= found.states <= len(asked) < 2 * found.states  # some come with and without a word before


def test_what_four_times_the_bindings_cost_is_found_with_as_many_more_calls() -> None:
    """Each binding's own keys are walked, and of the trie only what they reach: not every node for every key."""

    def calls(count: int) -> int:
        made = 0

        def count_calls(frame: Any, event: str, argument: Any) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        bindings = [(f"#.a{number}.#.b{number}", "q") for number in range(count)]
        sys.setprofile(count_calls)
        try:
            broker_cost(bindings, most_bytes=40)
        finally:
            sys.setprofile(None)
        return made

    assert calls(160) < 6 * calls(40)


def test_the_exploding_binding_is_blamed() -> None:
    harmless = [(f"site.{i}.*", "q") for i in range(200)]
    found = growth([*harmless, ("#.a.*.*.*.*.*.*.*.*.*.*.*.*.*.*.b", "bad")], budget=20_000)
    assert not found.complete
    assert found.blamed[0][0] == 200
    assert growth([], budget=0).states <= 1
    assert not growth([("a.#", "q")], budget=0).complete


def test_keys_are_no_longer_than_amqp_carries() -> None:
    bindings = [("#.a.#.a.#.b", "q")]
    for most in (256, 10**9):
        said = (
            f"^most_bytes is {most}: expected a number of bytes from 0 to 255, as AMQP carries no longer routing key$"
        )
        with pytest.raises(OptionError, match=said):
            broker_cost(bindings, most_bytes=most)
    assert broker_cost(bindings, most_bytes=255) == broker_cost(bindings)
    assert len(broker_cost(bindings).key) == 255


def test_no_bindings_cost_nothing() -> None:
    found = broker_cost([])
    assert (found.binding, found.steps) == (None, 1)
    assert broker_cost([("#.a.#.b.#.c", "q"), ("x", "q")]).binding == 0
    assert tokens_of("a", AMQP) == [b"a"]


_ERLANG = """
Name = rabbit_misc:r(<<"/">>, exchange, <<"dfa-router.cost">>),
Queue = rabbit_misc:r(<<"/">>, queue, <<"dfa-router.cost">>),
rabbit_exchange:declare(Name, topic, false, true, false, [], <<"test">>),
{ok, X} = rabbit_exchange:lookup(Name),
Binding = {binding, Name, <<"%s">>, Queue, []},
rabbit_misc:execute_mnesia_transaction(fun() -> rabbit_exchange_type_topic:add_binding(transaction, X, Binding) end),
Cost = fun(Key) ->
    Message = rabbit_basic:message(Name, Key, [], <<>>),
    {reductions, Before} = process_info(self(), reductions),
    rabbit_exchange_type_topic:route(X, {delivery, false, false, self(), Message, undefined, noflow}),
    {reductions, After} = process_info(self(), reductions),
    After - Before
end,
Costs = {Cost(<<"%s">>), Cost(<<"%s">>)},
rabbit_misc:execute_mnesia_transaction(fun() -> rabbit_exchange_type_topic:remove_bindings(transaction, X, [Binding]) end),
rabbit_exchange:delete(Name, false, <<"test">>),
Costs.
"""


@pytest.mark.broker
def test_the_worst_key_costs_a_broker_what_is_counted() -> None:
    """RabbitMQ counts its own reductions, its unit of work, for both keys: the generated one takes over 100 times as many."""
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs RabbitMQ's command rabbitmqctl")
    version = subprocess.run(["rabbitmqctl", "--quiet", "version"], capture_output=True, text=True, check=False)
    if version.returncode or not version.stdout.startswith("3."):
        pytest.skip(
            f"needs a running RabbitMQ 3, which keeps its bindings in Mnesia: {version.stdout or version.stderr}"
        )
    pattern = "#.a.#.a.#.b"
    found = broker_cost([(pattern, "q")], most_bytes=119)
    program = _ERLANG % (pattern, found.key, found.plain)
    ran = subprocess.run(["rabbitmqctl", "--quiet", "eval", program], capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip(f"needs a running RabbitMQ: {ran.stderr[:200]}")
    worst, plain = (int(one) for one in ran.stdout.strip().strip("{}").split(","))
    assert found.steps > 100 * found.plain_steps
    assert worst > 100 * plain
