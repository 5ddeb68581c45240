"""What queues do with messages in time is shown, and marked in the answer."""

from __future__ import annotations

import pytest

from dfa_router.errors import UnknownNameError
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, QueueLimits, topology_of

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="fanout"), Exchange(name="dead", type="fanout")],
    queues=[
        Queue(name="now", arguments={"x-message-ttl": 0, "x-dead-letter-exchange": "dead"}),
        Queue(name="long", type="quorum", arguments={"x-max-length": 10, "x-dead-letter-exchange": ""}),
        Queue(name="plain", arguments={"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "now"}),
        Queue(name="ruled.by.policy"),
    ],
    bindings=[Binding(source="x", destination=name) for name in ("now", "long", "plain", "ruled.by.policy")],
    policies=[
        Policy(name="low", pattern="", apply_to="queues", priority=1, definition={"max-length": 5}),
        Policy(
            name="high",
            pattern="^ruled",
            apply_to="classic_queues",
            priority=2,
            definition={"message-ttl": 0, "expires": 9},
        ),
        Policy(name="other", pattern="^ruled", apply_to="streams", priority=3, definition={"message-ttl": 7}),
        Policy(name="exchanges", pattern="", apply_to="exchanges", priority=9, definition={"max-length": 1}),
    ],
)


def test_limits_are_asked_by_names() -> None:
    with pytest.raises(UnknownNameError, match=r"the vhost is 5 \(int\): expected str"):
        TOPOLOGY.limits(5, "now")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"the queue is None \(NoneType\): expected str"):
        TOPOLOGY.limits("/", None)  # type: ignore[arg-type]
    assert TOPOLOGY.limits("/", "of a binding alone") == QueueLimits()


def test_limits_come_from_arguments_and_one_policy() -> None:
    assert TOPOLOGY.limits("/", "now").lines() == ("message-ttl 0", "max-length 5")
    assert TOPOLOGY.limits("/", "long").lines() == ("max-length 5",), "the smaller one holds"
    assert TOPOLOGY.limits("/", "ruled.by.policy").lines() == ("message-ttl 0", "expires 9")
    assert TOPOLOGY.limits("/", "now").dead_letter_exchange == "dead"
    assert TOPOLOGY.limits("/", "gone").lines() == ()


def test_queues_that_hold_nothing_are_named_in_the_answer() -> None:
    route = TOPOLOGY.route("x", "a")
    assert route.queues == ("long", "now", "plain", "ruled.by.policy")
    assert route.unheld == ("now", "ruled.by.policy")


@pytest.mark.parametrize("name", ["message-ttl", "max-length", "max-length-bytes"])
@pytest.mark.parametrize("limit", [0, 1])
def test_no_length_is_as_no_time(name: str, limit: int) -> None:
    kinds = ("classic", "quorum", "stream")
    topology = topology_of(
        queues=[
            Queue(name=f"{how}.{kind}", type=kind, arguments=arguments)
            for how, arguments in (("own", {f"x-{name}": limit}), ("policy", {}))
            for kind in kinds
        ],
        policies=[Policy(name="p", pattern="^policy", apply_to="all", definition={name: limit})],
    )
    unheld = {kind for kind in kinds for how in ("own", "policy") if topology.route("", f"{how}.{kind}").unheld}
    assert unheld == ({"classic", "quorum"} if limit == 0 else set())


def test_the_picture_shows_limits_and_where_dead_letters_go() -> None:
    graph = TOPOLOGY.graph()
    assert graph.nodes["queue", "/", "now"]["lines"] == ("message-ttl 0", "max-length 5")
    dead = {
        (source[2], target[:1] + target[2:])
        for source, target, data in graph.edges(data=True)
        if data["role"] == "dead-letter"
    }
    assert dead == {("now", ("exchange", "dead")), ("long", ("queue", "long")), ("plain", ("queue", "now"))}


def test_what_a_broker_refuses_or_drops_is_warned_about() -> None:
    topology = topology_of(
        exchanges=[
            Exchange(name="h", type="headers", arguments={"alternate-exchange": ""}),
            Exchange(name="c", type="x-consistent-hash"),
        ],
        queues=[Queue(name="q")],
        bindings=[
            Binding(source="h", destination="q", arguments={"x-match": "most"}),
            Binding(source="c", destination="q", routing_key="0"),
        ],
    )
    found = {(one.kind, one.name, one.place) for one in topology.warnings}
    assert found == {
        ("refused-binding", "h", "bindings[0]"),
        ("refused-binding", "c", "bindings[1]"),
        ("default-alternate-exchange", "h", "exchanges[0].arguments.alternate-exchange"),
    }
    assert not [data for *_, data in topology.graph().edges(data=True) if data["role"] == "alternate"]
