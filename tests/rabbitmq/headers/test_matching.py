"""Headers exchanges: what bindings ask, in which forms headers come, and the bitmaps held to the reference of fields."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Topology, topology_of
from dfa_router.reference.fields import FieldMatcher
from tests.router.memory import MB, needs_proc, peak

NAMES = ["a", "b", "currency", "x-a", "ü"]
VALUES: list[Any] = ["USD", "", "1", 1, True, False, 2.5, None]


def headers_topology(*demands: dict[str, Any], **options: Any) -> Topology:
    bindings = [
        Binding(source="h", destination=f"q{number:04}", arguments=arguments)
        for number, arguments in enumerate(demands)
    ]
    return topology_of(exchanges=[Exchange(name="h", type="headers")], bindings=bindings, **options)


def queues(topology: Topology, headers: dict[str, Any] | None, broker: str = "4.3") -> tuple[str, ...]:
    router = topology.compile(broker=broker)
    found = router.route("h", "any", headers=headers).queues
    assert router.route_columns(["h"], ["any"], headers=[headers]).queues.to_pylist() == [list(found)]
    return found


@pytest.mark.parametrize("demands", [3, 70, 400, 2500])
def test_the_bitmaps_agree_with_the_reference_of_fields(demands: int) -> None:
    chance = random.Random(demands)
    reference, drawn = FieldMatcher(), []
    for _ in range(demands):
        arguments = {name: chance.choice(VALUES) for name in chance.sample(NAMES, chance.randrange(4))}
        match = chance.choice([None, "all", "any", "all-with-x", "any-with-x"])
        asked = {
            name: one for name, one in arguments.items() if (match or "").endswith("x") or not name.startswith("x-")
        }
        reference.subscribe(asked, on="any" if (match or "").startswith("any") else "all")
        drawn.append(arguments if match is None else {**arguments, "x-match": match})
    topology = headers_topology(*drawn)
    messages = [{name: chance.choice(VALUES) for name in chance.sample(NAMES, chance.randrange(6))} for _ in range(300)]
    expected = [[f"q{number:04}" for number in reference.match(message)] for message in messages]
    router = topology.compile()
    assert router.route_columns(["h"] * 300, ["k"] * 300, headers=messages).queues.to_pylist() == expected
    assert [list(router.route("h", "k", headers=one).queues) for one in messages[:50]] == expected[:50]
    naive = topology.compile(engine="naive").route_columns(["h"] * 300, ["k"] * 300, headers=messages)
    assert naive.queues.to_pylist() == expected


def test_numbers_are_told_apart_since_3_13() -> None:
    topology = headers_topology({"n": 1}, {"n": 1.0}, {"n": "1"}, {"n": True})
    assert queues(topology, {"n": 1}, "3.12") == queues(topology, {"n": 1.0}, "3.12") == ("q0000", "q0001")
    assert queues(topology, {"n": 1}) == ("q0000",)
    assert queues(topology, {"n": 1.0}) == ("q0001",)
    assert queues(topology, {"n": "1"}) == queues(topology, {"n": b"1"}) == ("q0002",)
    assert queues(topology, {"n": True}) == ("q0003",)


def test_a_timestamp_is_a_number_of_seconds_and_since_3_13_of_milliseconds() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    topology = headers_topology({"t": int(moment.timestamp())}, {"t": int(moment.timestamp()) * 1000})
    assert queues(topology, {"t": moment}, "3.10") == ("q0000",)
    assert queues(topology, {"t": moment}, "4.0") == ("q0001",)


def test_what_begins_with_x_is_passed_over_unless_the_binding_says_otherwise() -> None:
    topology = headers_topology(
        {"x-match": "all", "x-a": 1},
        {"x-match": "all-with-x", "x-a": 1},
        {"x-match": "any", "x-a": 1},
        {"x-match": "any-with-x", "x-a": 1},
    )
    assert queues(topology, {}) == ("q0000",)
    assert queues(topology, {"x-a": 1}) == ("q0000", "q0001", "q0003")


def test_bcc_is_no_header_and_cc_is_one() -> None:
    topology = headers_topology({"BCC": None}, {"CC": None}, {"BCC": None, "a": None, "x-match": "any"})
    assert queues(topology, {"BCC": ["x"], "CC": ["y"]}) == ("q0001",)


def test_lists_and_tables_are_compared_as_they_are_written() -> None:
    topology = headers_topology({"l": ["a", 1]}, {"t": {"k": "v"}}, {"l": None})
    assert queues(topology, {"l": ["a", 1], "t": {"k": "v"}}) == ("q0000", "q0001", "q0002")
    assert queues(topology, {"l": ["a"], "t": {"k": "w"}}) == ("q0002",)


def test_an_empty_list_is_an_empty_table() -> None:
    """The broker compares what they hold, which is nothing, and not the names of their types; within others it does."""
    topology = headers_topology({"e": []}, {"e": {}}, {"e": [[]]}, {"e": [{}]}, {"e": ""})
    for broker in ("3.10", "4.3"):
        assert queues(topology, {"e": []}, broker) == queues(topology, {"e": {}}, broker) == ("q0000", "q0001")
        assert queues(topology, {"e": [[]]}, broker) == ("q0002",)
        assert queues(topology, {"e": [{}]}, broker) == ("q0003",)


FORMS: list[Any] = [
    pa.array([[("a", "1"), ("b", "x")], [("a", None)], [], None], pa.map_(pa.string(), pa.string())),
    pa.array([[(b"a", b"1"), (b"b", b"x")], [(b"a", None)], [], None], pa.map_(pa.binary(), pa.large_binary())),
    pa.array(
        [[{"key": "a", "value": b"1"}, {"key": "b", "value": b"x"}], [{"key": "a", "value": None}], [], None],
        pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
    ),
    pa.array(['{"a": "1", "b": "x"}', '{"a": null}', "{}", None]),
    pa.array(['{"a": "1", "b": "x"}', '{"a": null}', "null", None]).dictionary_encode(),
    [{"a": "1", "b": "x"}, {"a": None}, {}, None],
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(getattr(form, "type", "list"))[:20])
def test_headers_come_in_many_forms(form: Any) -> None:
    topology = headers_topology({"a": "1"}, {"a": None}, {"b": "x", "a": "1"}, {})
    expected = [["q0000", "q0001", "q0002", "q0003"], ["q0001", "q0003"], ["q0003"], ["q0003"]]
    router = topology.compile()
    assert router.route_columns(["h"] * 4, [""] * 4, headers=form).queues.to_pylist() == expected
    if isinstance(form, pa.Array):
        twice = pa.chunked_array([form, form.slice(0, 2), form.slice(2)])
        assert router.route_columns(["h"] * 8, [""] * 8, headers=twice).queues.to_pylist() == expected * 2
        some = router.route_columns(["h"] * 3, [""] * 3, headers=form.slice(1))
        assert some.queues.to_pylist() == expected[1:]


def test_slices_of_columns_with_nulls_have_the_answers_of_the_whole() -> None:
    """Slices are read in place, at any beginning, and with or without bytes of other rows behind them."""
    chance, count = random.Random(3), 500
    router = headers_topology({"a": "1"}, {"a": None}, {"b": "x", "a": "1"}, {"x-match": "any", "b": "y"}).compile()

    def drawn(*values: Any) -> list[Any]:
        return [chance.choice([*values, None]) for _ in range(count)]

    pairs = [
        None if one is None else [("a", one), ("b", chance.choice(["x", "y", None]))] for one in drawn("1", "2", "")
    ]
    columns = [
        pa.array(drawn("h", "h", "nowhere")),
        pa.array(drawn("k", "")),
        pa.array(drawn("/", "/", "other")),
        pa.array(pairs, pa.map_(pa.string(), pa.string())),
    ]

    def routed(*some: Any) -> list[dict[str, Any]]:
        return pa.table(router.route_columns(*some[:3], headers=some[3])).to_pylist()  # type: ignore[no-any-return]

    expected = routed(*columns)
    assert {len(row["queues"]) for row in expected} == {0, 1, 2, 3}
    for _ in range(30):
        first, rows = chance.randrange(count), chance.randrange(40)
        assert routed(*(column.slice(first, rows) for column in columns)) == expected[first : first + rows]


def test_a_field_of_a_struct_that_is_null_is_no_header() -> None:
    topology = headers_topology({"n": 5}, {"f": 2.5}, {"t": True}, {"n": None}, {"d": Decimal("1.5")})
    rows = [
        {"n": 5, "f": 2.5, "t": True, "d": None},
        {"n": None, "f": 2.0, "t": None, "d": Decimal("1.5")},
        {"n": 6, "f": None, "t": False, "d": None},
    ]
    kind = pa.struct([("n", pa.int16()), ("f", pa.float64()), ("t", pa.bool_()), ("d", pa.decimal128(5, 1))])
    found = topology.compile().route_columns(["h"] * 3, [""] * 3, headers=pa.array(rows, kind))
    assert found.queues.to_pylist() == [["q0000", "q0001", "q0002", "q0003"], ["q0004"], ["q0003"]]


def test_headers_that_are_not_known_leave_the_exchange_undecided() -> None:
    topology = headers_topology({"a": "1"}, {})
    router = topology.compile()
    assert router.route("h", "").not_simulated == ("h",)
    assert router.route("h", "").queues == ("q0001",), "what asks for nothing is met in any case"
    columns = router.route_columns(["h"] * 3, [""] * 3, headers=['{"a": "1"}', "[1]", '{"a": '])
    assert columns.queues.to_pylist() == [["q0000", "q0001"], ["q0001"], ["q0001"]]
    assert columns.not_simulated.to_pylist() == [[], ["h"], ["h"]]
    assert columns.problem[0].as_py() is None
    assert "JSON list, expected an object" in columns.problem[1].as_py()
    assert "cannot be read as JSON" in columns.problem[2].as_py()
    without = router.route_columns(["h"], [""])
    assert without.not_simulated.to_pylist() == [["h"]]
    deep = router.route_columns(["h"], [""], headers=['{"a":' + "[" * 100_000 + "]" * 100_000 + "}"])
    assert deep.not_simulated.to_pylist() == [["h"]]


def test_a_column_that_has_no_headers_is_refused() -> None:
    router = headers_topology({"a": "1"}).compile()
    with pytest.raises(dr.MessagesError, match=r"headers is a column of int64: expected a map, a struct"):
        router.route_columns(["h"], [""], headers=pa.array([1]))
    with pytest.raises(dr.MessagesError, match="differ in length"):
        router.route_columns(["h"], [""], headers=[{}, {}])
    with pytest.raises(dr.MessagesError, match=r"headers is str: expected a mapping"):
        router.route("h", "", headers="a")
    with pytest.raises(dr.OptionError, match="expected a version of RabbitMQ"):
        topology_of(broker="latest")


def test_headers_exchanges_behind_others_and_on_cycles() -> None:
    bindings = [
        Binding(source="t", destination="h", destination_type="exchange", routing_key="a.#"),
        Binding(source="h", destination="t", destination_type="exchange", arguments={"again": "yes"}),
        Binding(source="h", destination="g", destination_type="exchange", arguments={"n": 1}),
        Binding(source="g", destination="deep", arguments={"x-match": "any", "n": 1, "m": 2}),
        Binding(source="t", destination="all", routing_key="#"),
        Binding(source="rest", destination="others"),
    ]
    exchanges = [
        Exchange(name="t", type="topic"),
        Exchange(name="h", type="headers", arguments={"alternate-exchange": "rest"}),
        Exchange(name="g", type="headers"),
        Exchange(name="rest", type="fanout"),
    ]
    topology = topology_of(exchanges=exchanges, bindings=bindings)
    rows = [
        ("t", "a", {"n": 1}),
        ("t", "b", {"n": 1}),
        ("h", "a", {"again": "yes"}),
        ("t", "a", {}),
        ("h", "b", {"n": 1, "again": "yes"}),
    ]
    expected = [["all", "deep"], ["all"], ["all"], ["all", "others"], ["all", "deep"]]
    names, keys, headers = map(list, zip(*rows, strict=True))
    for engine in ("dfa", "nfa", "naive"):
        assert (
            topology.compile(engine=engine).route_columns(names, keys, headers=headers).queues.to_pylist() == expected
        )
    assert [list(topology.route(name, key, headers=one).queues) for name, key, one in rows] == expected
    route = topology.route("t", "a", headers={"n": 1})
    assert route.bindings == (0, 2, 3, 4)
    assert route.exchanges == ("t", "h", "g")


MILLION = """
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
count = 1_000_000
bindings = [
    Binding(source="h", destination=f"q{n % 10}", arguments={"x-match": "all", "n": n, "k": str(n % 1000)})
    for n in range(count)
]
queues = [Queue(name=f"q{n}") for n in range(10)]
topology = topology_of(exchanges=[Exchange(name="h", type="headers")], queues=queues, bindings=bindings)
router = topology.compile()
for n in (0, 7, count - 1):
    assert router.route("h", "", headers={"n": n, "k": str(n % 1000)}).queues == (f"q{n % 10}",), n
    assert router.route("h", "", headers={"n": n, "k": str((n + 1) % 1000)}).queues == ()
headers = [{"n": n, "k": str(n % 1000)} for n in range(0, count, 1001)] + [{"n": count, "k": "0"}, {}]
routed = router.route_columns(["h"] * len(headers), [""] * len(headers), headers=headers)
found = routed.queues.to_pylist()
assert found[:-2] == [[f"q{n % 10}"] for n in range(0, count, 1001)]
assert found[-2:] == [[], []]
"""


@needs_proc
@pytest.mark.long
def test_a_million_bindings() -> None:
    """Each with two criteria of its own: what is routed is right, and two gigabytes hold them and all that is compiled."""
    assert peak(MILLION) < 2_500 * MB
