"""What an import does, against a live broker: what stays, what is kept, and what is left out."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import dfa_router as dr
from dfa_router.inspection.arrows import arrow
from dfa_router.inspection.imports import declared_differences, import_over
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from tests.rabbitmq_node import Node

EXCHANGE = {"durable": True, "auto_delete": False, "internal": False, "arguments": {}}
QUEUE = {"durable": True, "auto_delete": False, "arguments": {}}


def binding(source: str, key: str, destination: str) -> dict[str, Any]:
    ends = {"source": source, "destination": destination, "destination_type": "queue"}
    return {**ends, "routing_key": key, "arguments": {}}


BOUND = binding("h", "", "q")
POLICY = {"name": "p", "vhost": "/", "definition": {"alternate-exchange": "h"}}
OLD = {
    "exchanges": [{"name": "x", "type": "topic", **EXCHANGE}, {"name": "y", "type": "direct", **EXCHANGE}],
    "queues": [{"name": "q", **QUEUE}, {"name": "p", **QUEUE}],
    "bindings": [binding("x", "a.#", "q"), binding("x", "b", "p"), binding("y", "k", "p")],
}
NEW = {
    "exchanges": [{"name": "x", "type": "direct", **EXCHANGE}, {"name": "z", "type": "topic", **EXCHANGE}],
    "queues": [{"name": "q", **QUEUE, "arguments": {"x-max-length": 5}}],
    "bindings": [
        binding("x", "a.#", "q"),
        binding("z", "#", "gone"),
        binding("nowhere", "#", "q"),
        binding("z", "#.a.#.b.#", "q"),
        binding("z", "last", "q"),
    ],
}


@pytest.mark.slow
@pytest.mark.broker
def test_an_import_over_what_a_broker_has(node: Node, tmp_path: Path) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    node.ask("PUT", "vhosts/imports")
    for path, document in zip(paths, (OLD, NEW), strict=True):
        path.write_text(json.dumps(document))
        node.ask("POST", "definitions/imports", document)
    old, new = (dr.load_definitions(path, "imports") for path in paths)
    told = import_over(old, new)
    has = dr.load_definitions(f"{node.api}/api/definitions/imports", "imports")
    arrows = {arrow(one) for one in has.bindings}

    assert told.staying == ["x --b--> p", "y --k--> p"]
    assert set(told.staying) <= arrows
    assert told.keeping == [
        "exchange 'x' of vhost 'imports' keeps its type 'topic', not 'direct'",
        "queue 'q' of vhost 'imports' keeps its arguments {}, not {'x-max-length': 5}",
    ]
    assert has.exchange("x", "imports").type == "topic"
    assert [queue.arguments for queue in has.queues if queue.name == "q"] == [{}]

    assert [(one.place, one.since) for one in told.failures] == [
        ("bindings[1]", None),
        ("bindings[2]", None),
        ("bindings[3]", "4.3.5"),
    ]
    version = node.ask("GET", "overview")["rabbitmq_version"]
    if version.startswith("3.10."):
        assert arrows == {"x --a.#--> q", "x --b--> p", "y --k--> p", "z --#.a.#.b.#--> q", "z --last--> q"}


@pytest.mark.parametrize(
    ("changed", "place", "since", "reason"),
    [
        ({"queues": [{"name": "q", "vhost": "nope"}]}, "queues[0].vhost", "3.10", "no vhost 'nope'"),
        (
            {"bindings": [{**BOUND, "arguments": {"urgent": None}}]},
            "bindings[0].arguments",
            "3.10",
            "null in arguments",
        ),
        ({"bindings": [{**BOUND, "arguments": {"x-match": "some"}}]}, "bindings[0]", None, "x-match is 'some'"),
        ({"policies": [{**POLICY, "pattern": "("}]}, "policies[0].pattern", "3.10", "'(' is no regular expression"),
        (
            {"queues": [{"name": "q", "vhost": "/", **QUEUE, "arguments": {"a": [None]}}]},
            "queues[0].arguments",
            "3.10",
            "null in arguments",
        ),
        (
            {"queues": [{"name": "q", "vhost": "/", **QUEUE, "arguments": {"x-message-ttl": "5000"}}]},
            "queues[0].arguments",
            "3.10",
            "q: x-message-ttl is '5000': it takes a whole number of at least 0",
        ),
        (
            {"policies": [{**POLICY, "pattern": "", "definition": {}}]},
            "policies[0].definition",
            "3.10",
            "p: it is empty",
        ),
        (
            {"policies": [{**POLICY, "pattern": "", "apply-to": "queue"}]},
            "policies[0].apply-to",
            "3.10",
            "p: it takes one of all",
        ),
        ({"policies": [{**POLICY, "pattern": r"\x{41}"}]}, None, None, ""),  # which a broker may well read
        ({"bindings": [{**BOUND, "arguments": {"urgent": "undefined"}}]}, None, None, ""),
    ],
)
def test_what_a_broker_does_not_take(
    tmp_path: Path, changed: dict[str, Any], place: str | None, since: str | None, reason: str
) -> None:
    path = tmp_path / "defs.json"
    document = {
        "vhosts": [{"name": "/"}],
        "exchanges": [{"name": "h", "vhost": "/", "type": "headers", **EXCHANGE}],
        "queues": [{"name": "q", "vhost": "/", **QUEUE}],
    }
    path.write_text(json.dumps(document | changed))
    failures = import_over(None, dr.load_definitions(path)).failures
    assert [(one.place, one.since) for one in failures] == ([] if place is None else [(place, since)])
    assert all(reason in one.reason for one in failures)


QUEUES = [
    {},
    {"x-message-ttl": 0, "x-max-length": 0, "x-max-length-bytes": 0, "x-expires": 1},
    {"x-message-ttl": -1},
    {"x-message-ttl": True},
    {"x-message-ttl": 5000.0},
    {"x-expires": 0},
    {"x-max-length": "5"},
    {"x-max-length-bytes": []},
    {"x-overflow": "drop-head"},
    {"x-overflow": "reject-publish-dlx"},
    {"x-overflow": "drop"},
    {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": ""},
    {"x-dead-letter-exchange": 1},
    {"x-dead-letter-routing-key": "k"},
    {"x-unheard-of": None},
]
POLICIES: list[dict[str, Any]] = [
    {},
    {"definition": {"message-ttl": 0, "max-length": 0, "max-length-bytes": 0, "expires": 1, "overflow": "drop-head"}},
    {"definition": {"dead-letter-routing-key": "k"}},
    {"definition": {}},
    {"definition": {"message-ttl": "5"}},
    {"definition": {"expires": 0}},
    {"definition": {"max-length": None}},
    {"definition": {"overflow": "drop"}},
    {"definition": {"dead-letter-exchange": 1}},
    {"apply-to": "exchanges"},
    {"apply-to": "exchange"},
    {"pattern": "("},
]


@pytest.mark.slow
@pytest.mark.broker
def test_an_import_ends_where_it_is_said_to(tmp_path: Path) -> None:
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl for imports")
    vhost = f"t{uuid4().hex[:8]}"
    queues = [{"queues": [{"name": f"q{n}", "vhost": vhost, **QUEUE, "arguments": a}]} for n, a in enumerate(QUEUES)]
    policies = [{"policies": [{**POLICY, "pattern": "x", "vhost": vhost, **changed}]} for changed in POLICIES]
    known = {"queues": [{"name": "q0", "vhost": vhost, **QUEUE, "arguments": {"x-message-ttl": "5000"}}]}
    old = topology_of(queues=[Queue(vhost=vhost, name="q0")])
    subprocess.run(["rabbitmqctl", "-q", "add_vhost", vhost], check=True, timeout=60)
    try:
        for document in (*queues, *policies, known):
            path = tmp_path / "defs.json"
            path.write_text(json.dumps({"vhosts": [{"name": vhost}], **document}))
            foretold = bool(import_over(old, dr.load_definitions(path)).failures)
            done = subprocess.run(
                ["rabbitmqctl", "-q", "import_definitions"],
                input=path.read_bytes(),
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert foretold == (done.returncode != 0), document
    finally:
        subprocess.run(["rabbitmqctl", "-q", "delete_vhost", vhost], check=True, timeout=60)


def test_a_vhost_that_the_broker_has_need_not_be_declared() -> None:
    new = topology_of(vhosts=["/"], exchanges=[Exchange(vhost="shop", name="x", type="topic")])
    assert [one.reason for one in import_over(topology_of(), new).failures] == ["no vhost 'shop'"]
    assert import_over(topology_of(vhosts=["shop"]), new).failures == []


def test_an_exchange_stays_internal_or_open_to_clients() -> None:
    old, new = (topology_of(exchanges=[Exchange(name="x", type="topic", internal=one)]) for one in (False, True))
    assert import_over(old, new).keeping == ["exchange 'x' of vhost '/' keeps its internal False, not True"]


def test_what_only_one_declares() -> None:
    exchanges = [Exchange(name=name, type="topic") for name in "xy"]
    bindings = [Binding(source="x", destination="q", routing_key=key, arguments={"n": 1}) for key in "ab"]
    old = topology_of(exchanges=exchanges[:1], bindings=bindings)
    new = topology_of(
        exchanges=exchanges, bindings=[bindings[0], Binding(source="x", destination="q", routing_key="b")]
    )
    added, removed = declared_differences(old, new)
    assert (added.exchanges, added.bindings) == ([("/", "y")], [("/", "x --b--> q")])
    assert (removed.exchanges, removed.bindings) == ([], [("/", "x --b--> q")])


@pytest.mark.parametrize(
    ("key", "kind", "remedy"),
    [
        ("#.#", "topic", None),
        ("##.#.#", "topic", None),
        ("#.#.#", "direct", None),
        ("#.a.#.b.#", "topic", "no pattern with fewer means the same"),
        ("primary.#.#.#.X.#.#", "topic", "write 'primary.#.X.#', which matches the same keys"),
    ],
)
def test_keys_that_newer_brokers_refuse(key: str, kind: str, remedy: str | None) -> None:
    one = Binding(source="x", destination="y", destination_type="exchange", routing_key=key)
    topology = topology_of(exchanges=[Exchange(name="x", type=kind), Exchange(name="y", type="fanout")], bindings=[one])
    failures = import_over(None, topology).failures
    assert [failure.remedy.split(":")[0] for failure in failures] == ([] if remedy is None else [remedy])


def test_a_queue_whose_type_one_file_does_not_say_keeps_nothing() -> None:
    unsaid, classic, quorum = (topology_of(queues=[Queue(name="q", type=kind)]) for kind in (None, "classic", "quorum"))
    assert import_over(unsaid, classic).keeping == import_over(quorum, unsaid).keeping == []
    assert import_over(classic, quorum).keeping == ["queue 'q' of vhost '/' keeps its type 'classic', not 'quorum'"]


def test_a_binding_to_an_exchange_is_another_than_one_to_a_queue_of_its_name() -> None:
    def bound(kind: Any) -> Topology:
        binding = Binding(source="x", destination="y", destination_type=kind, routing_key="a")
        ends = [Exchange(name=name, type="topic") for name in ("x", "y")]
        return topology_of(exchanges=ends, queues=[Queue(name="y")], bindings=[binding])

    added, removed = declared_differences(bound("queue"), bound("exchange"))
    assert added.bindings == [("/", "x --a--> exchange y")]
    assert removed.bindings == [("/", "x --a--> y")]


def test_an_import_does_not_end_at_the_declaration_of_a_queue_that_is_there(tmp_path: Path) -> None:
    """The broker keeps its queue, and does not look at how the file would declare it."""
    (path := tmp_path / "new.json").write_text(
        json.dumps({"queues": [{"name": "q", "vhost": "/", **QUEUE, "arguments": {"x-message-ttl": "5000"}}]})
    )
    new = dr.load_definitions(path)
    assert [one.place for one in import_over(None, new).failures] == ["queues[0].arguments"]
    assert import_over(topology_of(queues=[Queue(name="q")]), new).failures == []
