"""What queues do with messages in time is shown, and marked in the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dfa_router.errors import UnknownNameError
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, QueueLimits, Topology, load_definitions, topology_of

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


def loaded(folder: Path, arguments: dict[str, Any], definition: dict[str, Any]) -> Topology:
    """A file with a queue of these arguments behind another, and with a policy."""
    policy = {"vhost": "/", "name": "p", "pattern": "", "apply-to": "queues", "definition": definition}
    document = {
        "vhosts": [{"name": "/"}],
        "queues": [{"vhost": "/", "name": "fine"}, {"vhost": "/", "name": "q", "arguments": arguments}],
        "policies": [policy],
    }
    (folder / "d.json").write_text(json.dumps(document))
    return load_definitions(folder / "d.json")


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"message-ttl": 0, "max-length": 0, "expires": 1, "overflow": "reject-publish-dlx"}, None),
        ({"message-ttl": -1}, "message-ttl is -1: it takes a whole number of at least 0"),
        ({"message-ttl": True}, "message-ttl is True: it takes a whole number of at least 0"),
        ({"expires": 0}, "expires is 0: it takes a whole number of at least 1"),
        ({"overflow": "drop-tail"}, "overflow is 'drop-tail': it takes one of drop-head, reject-publish"),
        ({"dead-letter-exchange": 1}, "dead-letter-exchange is 1: it takes a text"),
    ],
)
def test_limits_that_a_broker_refuses_are_told_at_the_queue_and_the_policy(
    tmp_path: Path, given: dict[str, Any], refused: str | None
) -> None:
    topology = loaded(tmp_path, {f"x-{name}": value for name, value in given.items()}, given)
    told = [(one.kind, one.name, one.place) for one in topology.warnings]
    if refused is None:
        assert told == []
        return
    source = tmp_path / "d.json"
    assert told == [
        ("refused-declaration", "q", f"{source}: queues[1].arguments"),
        ("refused-declaration", "p", f"{source}: policies[0].definition"),
    ]
    assert topology.warnings[0].detail.startswith(f"x-{refused}")
    assert topology.warnings[1].detail.startswith(refused)


def test_a_key_of_dead_letters_without_their_exchange_is_refused_of_a_queue_alone(tmp_path: Path) -> None:
    """Of a policy it is not: the queue's arguments may have the exchange."""
    topology = loaded(tmp_path, {"x-dead-letter-routing-key": "k"}, {"dead-letter-routing-key": "k"})
    (told,) = topology.warnings
    assert (told.kind, told.name) == ("refused-declaration", "q")
    assert told.detail == "x-dead-letter-routing-key stands without x-dead-letter-exchange"


def test_a_text_of_a_queue_goes_before_that_of_its_policy() -> None:
    arguments = {"x-dead-letter-exchange": "own", "x-max-length": True}
    policy = Policy(name="p", pattern="", apply_to="queues", definition={"dead-letter-exchange": "a", "max-length": 4})
    found = topology_of(queues=[Queue(name="q", arguments=arguments)], policies=[policy]).limits("/", "q")
    assert (found.dead_letter_exchange, found.max_length) == ("own", 4)
