"""CC and BCC: further routing keys of a message."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from tests.rabbitmq.test_columns import KEYS, topologies

SMALL = topology_of(
    exchanges=[Exchange(name="t", type="topic"), Exchange(name="d", type="direct"), Exchange(name="e", type="topic")],
    queues=[Queue(name="q"), Queue(name="p")],
    bindings=[
        Binding(source="t", destination="fx", routing_key="forex.*"),
        Binding(source="t", destination="e", destination_type="exchange", routing_key="a.#"),
        Binding(source="e", destination="inner", routing_key="#.z"),
        Binding(source="d", destination="one", routing_key="1"),
        Binding(source="d", destination="two", routing_key="2"),
    ],
)


def routed(topology: Topology, rows: list[tuple[str, str, dict[str, Any]]], **options: Any) -> list[list[str]]:
    columns = topology.compile(**options).route_columns(
        *map(list, zip(*(row[:2] for row in rows), strict=True)), headers=[row[2] for row in rows]
    )
    found: list[list[str]] = columns.queues.to_pylist()
    return found


def test_a_message_counts_all_of_its_keys_at_every_hop() -> None:
    """It gets to an exchange by one key and on by another."""
    rows: list[tuple[str, str, dict[str, Any]]] = [
        ("d", "1", {"CC": ["2"]}),
        ("d", "0", {"BCC": ["2"], "CC": ["1", "1"]}),
        ("t", "forex.eur", {}),
        ("t", "a", {"CC": ["b.z"]}),
        ("t", "z", {"BCC": ["a"]}),
        ("", "q", {"CC": ["p", "nobody"]}),
        ("d", "1", {"CC": [2, None]}),
    ]
    expected = [["one", "two"], ["one", "two"], ["fx"], ["inner"], ["inner"], ["p", "q"], ["one"]]
    for engine in ("dfa", "nfa", "naive"):
        assert routed(SMALL, rows, engine=engine) == expected
    assert [list(SMALL.route(name, key, headers=headers).queues) for name, key, headers in rows] == expected


def test_copies_come_in_columns_of_their_own_too() -> None:
    router = SMALL.compile()
    columns = router.route_columns(["d", "d", "d"], ["0"] * 3, cc=[["1"], None, []], bcc=pa.array([["2"], ["2"], None]))
    assert columns.queues.to_pylist() == [["one", "two"], ["two"], []]
    both = router.route_columns(
        ["d"], ["0"], cc=[["1"]], headers=pa.array([[("BCC", '["2"]')]], pa.map_(pa.string(), pa.string()))
    )
    assert both.queues.to_pylist() == [["one", "two"]]
    struct = pa.array([{"CC": ["1"], "n": 1}], pa.struct([("CC", pa.list_(pa.string())), ("n", pa.int64())]))
    assert router.route_columns(["d"], ["2"], headers=struct).queues.to_pylist() == [["one", "two"]]
    text = router.route_columns(["d"], ["2"], headers=['{"CC": ["1"]}'])
    assert text.queues.to_pylist() == [["one", "two"]]


def test_a_copy_header_that_is_no_array_is_refused_as_by_the_broker() -> None:
    with pytest.raises(dr.PublishRefusedError, match=r"header CC is 'x', and no array of texts: the broker refuses"):
        SMALL.route("d", "1", headers={"CC": "x"})
    columns = SMALL.compile().route_columns(["d", "d"], ["1", "1"], headers=[{"BCC": 5}, {}])
    assert columns.queues.to_pylist() == [[], ["one"]]
    assert "header BCC is '5'" in columns.problem[0].as_py()
    assert columns.problem[1].as_py() is None
    deep = SMALL.compile().route_columns(["d"] * 3, ["1"] * 3, cc=["[]", "[" * 100_000, '["2"]'])
    assert deep.queues.to_pylist() == [["one"], [], ["one", "two"]]
    assert [problem is None for problem in deep.problem.to_pylist()] == [True, False, True]


@settings(max_examples=100, deadline=None)
@given(topologies(), st.randoms(), st.sampled_from([0, 2000, 1 << 20]))
def test_the_relay_the_hops_and_single_messages_agree(
    topology: Topology, chance: random.Random, cache_bytes: int
) -> None:
    sources = [name for (_, name), exchange in topology.exchanges_by_name.items() if not exchange.internal]
    rows: list[tuple[str, str, dict[str, Any]]] = [
        (name, key, {"CC": chance.choices(KEYS, k=chance.randrange(3))}) for name in sources for key in KEYS
    ]
    found = routed(topology, rows, cache_bytes=cache_bytes)
    assert found == routed(topology, rows, engine="naive")
    assert found == [list(topology.route(name, key, headers=headers).queues) for name, key, headers in rows]
