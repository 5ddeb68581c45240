"""Exchanges of which nobody can tell which destination they take."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of


def choosing(kind: str, keys: dict[str, str], **options: Any) -> Topology:
    bindings = [
        Binding(source="in", destination="h", destination_type="exchange", routing_key="a.#"),
        Binding(source="in", destination="sure", routing_key="#"),
        *(Binding(source="h", destination=name, routing_key=key) for name, key in keys.items()),
    ]
    exchanges = [
        Exchange(name="in", type="topic"),
        Exchange(name="h", type=kind, arguments={"alternate-exchange": "rest"}),
        Exchange(name="rest", type="fanout"),
    ]
    return topology_of(
        exchanges=exchanges, bindings=bindings, queues=[Queue(name="p", arguments={"x-message-ttl": 0})], **options
    )


def test_the_candidates_of_a_consistent_hash_have_shares_by_weight() -> None:
    topology = choosing("x-consistent-hash", {"p": "1", "q": "3"})
    route = topology.route("in", "a.b")
    assert route.queues == ("sure",)
    assert route.exchanges == ("in", "h")
    assert route.unheld == ("p",)
    (choice,) = route.one_of
    assert choice.exchange == "h"
    assert [(one.destination, one.destination_type, one.share) for one in choice.candidates] == [
        ("p", "queue", 0.25),
        ("q", "queue", 0.75),
    ]
    assert topology.route("in", "b").one_of == ()


@pytest.mark.parametrize("engine", ["dfa", "naive"])
def test_columns_have_choices_in_a_column_of_their_own(engine: str) -> None:
    router = choosing("x-random", {"p": "", "q": ""}).compile(engine=engine)
    batch = pickle.loads(pickle.dumps(router)).route_batch(["in", "in", "h"], ["a.b", "b", "z"])
    columns = batch.columns()
    candidates = [{"destination": name, "destination_type": "queue", "share": 0.5} for name in "pq"]
    chosen = [{"exchange": "h", "candidates": candidates}]
    assert columns.one_of.to_pylist() == [chosen, [], chosen]
    assert columns.queues.to_pylist() == [["sure"], ["sure"], []]
    assert columns.routed.to_pylist() == [True, True, True]
    assert columns.not_simulated.to_pylist() == [[], [], []]
    assert pa.table(columns).column_names == ["queues", "routed", "not_simulated", "problem", "one_of"]
    assert batch.undecided.take(pa.array(batch.route_ids)).to_pylist() == [["h"], [], ["h"]]


def test_of_one_destination_one_can_tell_and_of_none_the_alternate_is_tried() -> None:
    assert choosing("x-consistent-hash", {"q": "5"}).route("h", "").queues == ("q",)
    nobody = topology_of(
        exchanges=[
            Exchange(name="h", type="x-random", arguments={"alternate-exchange": "rest"}),
            Exchange(name="rest", type="fanout"),
        ],
        bindings=[Binding(source="rest", destination="q")],
    )
    assert nobody.route("h", "a").queues == ("q",)


def test_a_type_that_came_later_is_not_simulated_before() -> None:
    topology = choosing("x-local-random", {"p": "", "q": ""})
    assert [one.exchange for one in topology.compile(broker="4.0").route("h", "").one_of] == ["h"]
    assert topology.compile(broker="3.13").route("h", "").not_simulated == ("h",)
