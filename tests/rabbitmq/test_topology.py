"""Routing of single messages: what RabbitMQ does, case by case."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, Topology, topology_of


def exchange(name: str, kind: str = "topic", alternate: str | None = None, *, internal: bool = False) -> Exchange:
    """Return an exchange, perhaps with an alternate one."""
    arguments = {"alternate-exchange": alternate} if alternate else {}
    return Exchange(name=name, type=kind, internal=internal, arguments=arguments)


def bind(source: str, destination: str, routing_key: str = "") -> Binding:
    """Return a binding; destinations in capitals are exchanges."""
    return Binding(
        source=source,
        destination=destination,
        destination_type="exchange" if destination.isupper() else "queue",
        routing_key=routing_key,
    )


def topology(
    exchanges: list[Exchange], bindings: list[Binding], *queues: str, policies: list[Policy] | None = None
) -> Topology:
    """Return a topology that declares the queues that are bound, and some more."""
    bound = dict.fromkeys(one.destination for one in bindings if one.destination_type == "queue")
    names = dict.fromkeys([*bound, *queues])
    return topology_of(
        exchanges=exchanges, queues=[Queue(name=name) for name in names], bindings=bindings, policies=policies or []
    )


def test_one_copy_per_queue_however_many_bindings_match() -> None:
    there = topology(
        [exchange("X")], [bind("X", "q", "a.#"), bind("X", "q", "#"), bind("X", "p", "*.b"), bind("X", "q", "#")]
    )
    assert there.route("X", "a.b").queues == ("p", "q")


def test_empty_words_and_the_empty_key() -> None:
    there = topology(
        [exchange("X")], [bind("X", "none", ""), bind("X", "one", "*"), bind("X", "two", "*.*"), bind("X", "all", "#")]
    )
    assert there.route("X", "").queues == ("all", "none")
    assert there.route("X", ".").queues == ("all", "two")
    assert there.route("X", "a").queues == ("all", "one")


def test_direct_and_default_exchanges_have_no_wildcards() -> None:
    there = topology([exchange("X", "direct")], [bind("X", "q", "#"), bind("X", "p", "a")], "*", "a.b")
    assert there.route("X", "a").queues == ("p",)
    assert there.route("X", "#").queues == ("q",)
    assert there.route("", "a.b").queues == ("a.b",)
    assert there.route("", "*").queues == ("*",)
    assert there.route("", "a").queues == ()


def test_fanout_ignores_keys() -> None:
    there = topology([exchange("X", "fanout")], [bind("X", "q", "a"), bind("X", "p", "b")])
    assert there.route("X", "c").queues == ("p", "q")


def test_the_same_key_goes_on_to_bound_exchanges() -> None:
    there = topology(
        [exchange("X"), exchange("Y"), exchange("Z", "direct")],
        [bind("X", "Y", "a.#"), bind("Y", "Z", "#.b"), bind("Z", "q", "a.b"), bind("Y", "p", "b")],
    )
    route = there.route("X", "a.b")
    assert route.queues == ("q",)
    assert route.exchanges == ("X", "Y", "Z")
    assert there.route("X", "b").exchanges == ("X",)


def test_cycles_end_and_each_exchange_is_visited_once() -> None:
    there = topology(
        [exchange("X", "fanout"), exchange("Y", "fanout")],
        [bind("X", "Y"), bind("Y", "X"), bind("X", "X"), bind("X", "p"), bind("Y", "q"), bind("X", "q")],
    )
    assert there.route("X", "a").queues == ("p", "q")
    assert there.route("Y", "a").exchanges == ("Y", "X")


def test_the_alternate_exchange_is_tried_where_nothing_matches_at_every_hop() -> None:
    there = topology(
        [
            exchange("X", "direct", "A"),
            exchange("Y", "direct", "B"),
            exchange("A", "fanout"),
            exchange("B", "direct", "A"),
        ],
        [bind("X", "Y", "on"), bind("X", "q", "here"), bind("Y", "r", "never"), bind("A", "a"), bind("B", "b", "on")],
    )
    assert there.route("X", "here").queues == ("q",)
    assert there.route("X", "miss").queues == ("a",)
    assert there.route("X", "on").queues == ("b",), "X has a match, so its own alternate is not tried; that of Y is"
    assert there.route("Y", "other").queues == ("a",), "the alternate's alternate"


def test_a_match_that_leads_nowhere_does_not_try_the_alternate_exchange() -> None:
    there = topology(
        [exchange("X", "direct", "A"), exchange("Y"), exchange("A", "fanout")], [bind("X", "Y", "a"), bind("A", "q")]
    )
    assert there.route("X", "a").queues == ()
    assert not there.route("X", "a").routed


def test_an_alternate_exchange_in_a_cycle_is_visited_once() -> None:
    there = topology([exchange("X", "direct", "Y"), exchange("Y", "direct", "X")], [bind("Y", "q", "a")])
    assert there.route("X", "a").queues == ("q",)
    assert there.route("X", "b").exchanges == ("X", "Y")


def test_a_missing_alternate_exchange_is_dropped() -> None:
    there = topology([exchange("X", "direct", "nothing")], [])
    assert there.route("X", "a").queues == ()
    assert there.route("X", "a").not_simulated == ()


def policy(
    name: str, pattern: str, alternate: str | None, priority: int = 0, apply_to: str = "all", vhost: str = "/"
) -> Policy:
    """Return a policy that sets an alternate exchange, or something else."""
    definition: dict[str, object] = (
        {"alternate-exchange": alternate} if alternate else {"federation-upstream-set": "all"}
    )
    return Policy(name=name, pattern=pattern, priority=priority, apply_to=apply_to, definition=definition, vhost=vhost)


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ([policy("p", "^X", "A")], "a"),
        ([policy("p", "X$", "A", apply_to="exchanges")], "a"),
        ([policy("p", "^X", "A", apply_to="queues")], None),
        ([policy("p", "^x", "A")], None),
        ([policy("p", "", "A")], "a"),
        ([policy("p", "X", "A", vhost="other")], None),
        ([policy("p", "X", "A", 1), policy("r", "X", "B", 2)], "b"),
        ([policy("p", "X", "A", 1), policy("r", "X", None, 2)], None),
        ([policy("p", "X", "A", 1), policy("r", "X", None, 2, "queues")], "a"),
    ],
    ids=[
        "matches",
        "exchanges",
        "queues",
        "case",
        "searched",
        "vhost",
        "priority",
        "one applies",
        "of those that match",
    ],
)
def test_the_alternate_exchange_of_a_policy(policies: list[Policy], expected: str | None) -> None:
    there = topology(
        [exchange("X"), exchange("A", "fanout"), exchange("B", "fanout")],
        [bind("A", "a"), bind("B", "b")],
        policies=policies,
    )
    assert there.route("X", "k").queues == ((expected,) if expected else ())


def test_the_argument_wins_over_the_policy() -> None:
    there = topology(
        [exchange("X", "topic", "A"), exchange("A", "fanout"), exchange("B", "fanout")],
        [bind("A", "a"), bind("B", "b")],
        policies=[policy("p", "^X", "B", 9)],
    )
    assert there.route("X", "k").queues == ("a",)


def test_the_default_exchange_has_no_alternate() -> None:
    there = topology([exchange("A", "fanout")], [bind("A", "a")], policies=[policy("p", ".*", "A")])
    assert there.route("", "nobody").queues == ()
    assert there.route("amq.direct", "nobody").queues == ("a",), "a policy reaches the predeclared exchanges"


def test_types_that_are_not_simulated_are_named() -> None:
    there = topology(
        [exchange("X"), exchange("H", "x-jms-topic"), exchange("C", "x-unheard-of", "A"), exchange("A", "fanout")],
        [bind("X", "H", "#"), bind("X", "C", "a.#"), bind("H", "q"), bind("C", "r", "1"), bind("A", "s")],
    )
    assert there.route("X", "b").not_simulated == ("H",)
    assert there.route("X", "a").not_simulated == ("C", "H")
    assert there.route("X", "a").queues == ()
    assert there.route("C", "a").queues == (), "whether its alternate is tried is unknown too"


def test_internal_exchanges_take_messages_from_exchanges_only() -> None:
    there = topology([exchange("X"), exchange("Y", "fanout", internal=True)], [bind("X", "Y", "a"), bind("Y", "q")])
    assert there.route("X", "a").queues == ("q",)
    with pytest.raises(dr.PublishRefusedError, match=r"'Y' of vhost '/' is internal.*publish to an exchange"):
        there.route("Y", "a")
    assert issubclass(dr.PublishRefusedError, dr.InputError)


def test_vhosts_are_apart() -> None:
    there = topology_of(
        exchanges=[Exchange(vhost=vhost, name="x", type="topic") for vhost in ("one", "two")],
        queues=[Queue(vhost="one", name="q"), Queue(vhost="two", name="q"), Queue(vhost="two", name="r")],
        bindings=[
            Binding(vhost="one", source="x", destination="q", routing_key="a"),
            Binding(vhost="two", source="x", destination="r", routing_key="a"),
        ],
    )
    assert there.route("x", "a", vhost="one").queues == ("q",)
    assert there.route("x", "a", vhost="two").queues == ("r",)
    assert there.route("", "r", vhost="one").queues == ()


def test_unknown_names_are_errors_with_near_names() -> None:
    there = topology([exchange("market"), exchange("orders")], [])
    with pytest.raises(dr.UnknownNameError, match=r"no exchange 'markte' in vhost '/'.*near names: 'market'"):
        there.route("markte", "a")
    with pytest.raises(dr.UnknownNameError, match=r"no vhost 'prod'.*there are 1: '/'"):
        there.route("market", "a", vhost="prod")
    for name, vhost, said in (
        (None, "/", r"the exchange is None \(NoneType\): expected str"),
        (b"market", "/", r"the exchange is b'market' \(bytes\)"),
        ("market", 3, r"the vhost is 3 \(int\)"),
        (["market"], "/", r"the exchange is \['market'\] \(list\): expected str"),
        ("market", {"/": 1}, r"the vhost is \{'/': 1\} \(dict\): expected str"),
    ):
        with pytest.raises(dr.UnknownNameError, match=said):
            there.route(name, "a", vhost)  # type: ignore[arg-type]
        with pytest.raises(dr.UnknownNameError, match=said):
            there.exchange(name, vhost)  # type: ignore[arg-type]
    with pytest.raises(dr.KeyTypeError):
        there.route("market", None)  # type: ignore[arg-type]
    two = topology_of(vhosts=["/", "b"], exchanges=[Exchange(vhost="b", name="x", type="topic")])
    with pytest.raises(dr.UnknownNameError, match="vhost 'b' has one"):
        two.route("x", "a")


@pytest.mark.parametrize("wrong", ["market", None, ("/", "market")])
def test_what_is_no_exchange_has_no_policies(wrong: object) -> None:
    there = topology([exchange("market")], [])
    for ask in (
        there.alternate_exchange,
        there.policy,
        there.matching_policies,
        lambda one: list(there.costly_policies(one)),
    ):
        with pytest.raises(dr.OptionError, match=r"expected an Exchange, as topology.exchange\(name\) returns it"):
            ask(wrong)  # type: ignore[arg-type]


def test_keys_as_bytes_and_too_long_ones_are_matched() -> None:
    there = topology([exchange("X")], [bind("X", "q", "a.*"), bind("X", "all", "#.end")])
    assert there.route("X", b"a.\xff").queues == ("q",)
    assert there.route("X", "w." * 10_000 + "end").queues == ("all",)


def test_the_graph_holds_exchanges_queues_and_what_connects_them() -> None:
    there = topology(
        [exchange("X", "topic", "A"), exchange("A", "fanout")],
        [bind("X", "A", "a.*"), bind("X", "q", "b"), bind("Y", "r")],
    )
    graph = there.graph()
    assert {graph.nodes[node]["role"] for node in graph} == {"exchange", "queue"}
    assert graph.nodes["exchange", "/", "Y"]["declared"] is False
    assert graph.nodes["exchange", "/", "X"]["type"] == "topic"
    assert sorted(
        (source[2], target[2], data["role"], data["label"]) for source, target, data in graph.edges(data=True)
    ) == [
        ("X", "A", "alternate", "alternate exchange"),
        ("X", "A", "exchange-binding", "a.*"),
        ("X", "q", "binding", "b"),
        ("Y", "r", "binding", ""),
    ]


def test_a_topology_says_what_it_holds() -> None:
    there = topology([exchange("X"), exchange("Y", "fanout")], [bind("X", "q")])
    assert repr(there) == "<Topology: 1 vhost, 2 exchanges (1 fanout, 1 topic), 1 queue, 1 binding, 0 warnings>"


def test_a_router_pickles_as_its_compiled_form() -> None:
    there = topology(
        [exchange("X"), exchange("Y", "fanout")], [bind("X", "Y", "a.#"), bind("Y", "q"), bind("X", "p", "*.b")]
    )
    router = there.compile(cache_bytes=1 << 20)
    copy = pickle.loads(pickle.dumps(router))
    assert copy.fingerprint == router.fingerprint
    assert copy.route("X", "a.b") == router.route("X", "a.b")
    assert copy.route("X", "a.b").queues == ("p", "q")
    with pytest.raises(dr.UnknownNameError, match="near names"):
        copy.route("amq.topik", "a")
    size = len(pickle.dumps(router))
    router.route_columns(["X"] * 5000, [f"a.{number}" for number in range(5000)])
    assert len(pickle.dumps(router)) < size + 1000, "caches stay behind"


def test_the_fingerprint_tells_content_not_order() -> None:
    exchanges, bindings = [exchange("X"), exchange("Y")], [bind("X", "q", "a"), bind("X", "p", "b")]
    one = topology(exchanges, bindings).compile()
    assert topology(exchanges[::-1], bindings[::-1]).compile().fingerprint == one.fingerprint
    assert topology(exchanges, [*bindings, bind("X", "q", "c")]).compile().fingerprint != one.fingerprint
    assert topology(exchanges, bindings).compile(engine="nfa").fingerprint != one.fingerprint


def test_the_fingerprint_tells_order_where_it_decides() -> None:
    """The first binding of a destination is its weight."""
    chooses, weights = (
        [exchange("H", "x-consistent-hash")],
        [bind("H", "p", "1"), bind("H", "p", "9"), bind("H", "q", "1")],
    )
    routers = [topology(chooses, bindings).compile() for bindings in (weights, weights[::-1], [weights[1], *weights])]
    assert [router.route("H", "").one_of[0].candidates[0].share for router in routers] == [0.5, 0.9, 0.9]
    first, second, third = (router.fingerprint for router in routers)
    assert first != second
    assert topology(chooses, [weights[2], *weights[:2]]).compile().fingerprint == first
    assert len({first, second, third}) == 3


def test_a_declared_queue_is_what_the_default_exchange_fingerprint_depends_on() -> None:
    assert topology([], [], "q").compile().fingerprint != topology([], [], "p").compile().fingerprint


def test_shuffled_topologies_route_alike() -> None:
    """The order of a file decides nothing."""
    chance = random.Random(7)
    exchanges = [exchange(name, chance.choice(["topic", "fanout", "direct"])) for name in "ABCDEF"]
    bindings = [
        bind(chance.choice("ABCDEF"), chance.choice("ABCDEFpqrs"), chance.choice(["a", "#", "*.a", "a.#"]))
        for _ in range(30)
    ]
    there = topology(exchanges, bindings)
    shuffled = topology(chance.sample(exchanges, 6), chance.sample(bindings, 30))
    for name in "ABCDEF":
        for key in ("", "a", "b.a", "a.b.c"):
            assert there.route(name, key).queues == shuffled.route(name, key).queues


def test_importing_loads_no_spark_and_no_networkx() -> None:
    code = "import sys, dfa_router.rabbitmq; sys.exit(bool({'pyspark', 'networkx', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["topic", "fanout", "direct"])
def test_a_binding_to_the_default_exchange_leads_nowhere_and_is_told(kind: str) -> None:
    topology = topology_of(
        exchanges=[
            Exchange(name="x", type=kind, arguments={"alternate-exchange": "other"}),
            Exchange(name="other", type="fanout"),
        ],
        queues=[Queue(name="q"), Queue(name="lost")],
        bindings=[
            Binding(source="x", destination="", destination_type="exchange", routing_key="q"),
            Binding(source="other", destination="lost"),
        ],
    )
    found = topology.route("x", "q")
    assert (found.queues, found.exchanges, found.bindings) == ((), ("x",), (0,))
    assert list(topology.compile().route_columns(["x", "x"], ["q", "q"]).queues.to_pylist()) == [[], []]
    assert topology.route("", "q").queues == ("q",)
    if kind != "fanout":
        assert topology.route("x", "z").queues == ("lost",)
    (warning,) = topology.warnings
    assert (warning.kind, warning.name, warning.place) == ("default-exchange-binding", "x", "bindings[0]")
    assert "remove it" in warning.advice


def test_one_text_is_no_list_of_vhosts() -> None:
    with pytest.raises(
        dr.OptionError, match=r"vhosts is 'shop': expected several names: give a list, such as \['shop'\]"
    ):
        topology_of(vhosts="shop")


@pytest.mark.parametrize("broker", [3.10, 4, None, (3, 10), b"3.10"], ids=repr)
def test_a_version_that_is_no_text_is_refused_with_what_is_expected(broker: Any) -> None:
    with pytest.raises(dr.OptionError, match=r"expected a version of RabbitMQ, such as '3\.10'"):
        topology_of(broker=broker)
    if broker is not None:  # of Topology.compile, that is the topology's own
        with pytest.raises(dr.OptionError, match=r"expected a version of RabbitMQ, such as '3\.10'"):
            topology_of().compile(broker=broker)


def test_the_bound_of_a_topology_is_a_number() -> None:
    topology = topology_of(queues=[Queue(vhost="/", name="q")])
    counted: Any = np.int64(1 << 24)
    router = topology.compile(cache_bytes=counted)
    assert (router.cache_bytes, router.route("", "q").queues) == (1 << 24, ("q",))
    assert router.fingerprint == topology.compile(cache_bytes=1 << 24).fingerprint
    wrong: list[Any] = [None, -1, True]
    for bound in wrong:
        with pytest.raises(dr.OptionError, match=rf"cache_bytes is {bound}: expected a number of bytes from 0 up"):
            topology.compile(cache_bytes=bound)
