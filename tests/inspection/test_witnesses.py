"""What two topologies treat differently: against all short keys routed by the specification, and on real definitions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.inspection import witnesses
from dfa_router.inspection.witnesses import changes_between
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from tests.inspection.topologies import KEYS, altered, random_topology, reached

Found = dict[tuple[str, str, str, bool], str]


def told(old: Topology, new: Topology) -> Found:
    found = changes_between(old, new)
    assert found.unsearched == []
    return {(one.exchange, one.kind, one.destination, one.gained): one.key for one in found.changes}


def words(key: str) -> int:
    return len(key.split(".")) if key else 0


@pytest.mark.parametrize("seed", range(30))
def test_all_changes_and_only_those_each_with_a_shortest_key(seed: int) -> None:
    chance = random.Random(seed)
    old = random_topology(chance)
    new = altered(chance, old) if seed % 4 else random_topology(chance)
    found = told(old, new)
    expected: dict[tuple[str, str, str, bool], int] = {}
    for exchange in (one.name for one in old.exchanges if one.name.startswith("x")):
        for key in KEYS:
            before, after = reached(old, exchange, key), reached(new, exchange, key)
            for ends, gained in ((after - before, True), (before - after, False)):
                for kind, name in ends:
                    place = (exchange, kind, name, gained)
                    expected[place] = min(expected.get(place, 99), words(key))
    short = {place: words(key) for place, key in found.items() if words(key) <= 3}
    assert {place: length for place, length in short.items() if place[0].startswith("x")} == expected
    for (exchange, kind, name, gained), key in found.items():
        assert ((kind, name) in reached(new, exchange, key)) == gained
        assert ((kind, name) in reached(old, exchange, key)) != gained


def one_exchange(*bindings: tuple[str, str], kind: str = "topic") -> Topology:
    return topology_of(
        exchanges=[Exchange(name="x", type=kind)],
        bindings=[Binding(source="x", destination=queue, routing_key=key) for key, queue in bindings],
    )


def test_an_exchange_that_becomes_internal_takes_nothing_from_clients_any_more() -> None:
    open_, closed = (
        topology_of(
            exchanges=[Exchange(name="x", type="topic", internal=internal)],
            bindings=[Binding(source="x", destination="q", routing_key="a.#")],
        )
        for internal in (False, True)
    )
    assert told(open_, closed) == {("x", "queue", "q", False): "a", ("x", "nobody", "", True): "a"}
    assert told(closed, open_) == {("x", "queue", "q", True): "a", ("x", "nobody", "", False): "a"}
    assert told(closed, closed) == {}


def test_an_internal_exchange_that_an_export_left_out_is_no_change() -> None:
    left_out, listed = (
        topology_of(
            exchanges=[Exchange(name="x", type="topic"), *internal],
            bindings=[Binding(source="x", destination="i", destination_type="exchange", routing_key="a")],
        )
        for internal in ([], [Exchange(name="i", type="fanout", internal=True)])
    )
    for old, new in ((left_out, listed), (listed, left_out)):
        assert "i" not in {change.exchange for change in changes_between(old, new).changes}


def test_what_lies_behind_an_exchange_that_an_export_left_out_is_neither_lost_nor_gained() -> None:
    declared = [Exchange(name="x", type="topic"), Exchange(name="else", type="fanout")]
    internal = Exchange(name="i", type="topic", internal=True, arguments={"alternate-exchange": "else"})
    bindings = [
        Binding(source="x", destination="i", destination_type="exchange", routing_key="#"),
        Binding(source="i", destination="q", routing_key="a.#"),
        Binding(source="else", destination="rest"),
    ]
    lost = Binding(source="x", destination="gone", routing_key="b")
    listed = topology_of(exchanges=[*declared, internal], bindings=[*bindings, lost])
    left_out = topology_of(exchanges=declared, bindings=bindings)
    for old, new, gained in ((listed, left_out, False), (left_out, listed, True)):
        found = changes_between(old, new)
        assert [(one.destination, one.gained) for one in found.changes] == [("gone", gained)]
        assert "'i', where the key alone does not decide, changed (type" in found.unsearched[-1][2]


def test_nothing_is_searched_for_the_sake_of_an_exchange_that_an_export_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(witnesses, "STEPS", 0)
    left_out, listed = (
        topology_of(
            exchanges=[Exchange(name="x", type="topic"), *internal],
            bindings=[
                Binding(source="x", destination="i", destination_type="exchange", routing_key="a.#"),
                *(Binding(source="i", destination=f"q{number}", routing_key=f"a.w{number}") for number in range(9)),
            ],
        )
        for internal in ([], [Exchange(name="i", type="topic", internal=True)])
    )
    for old, new in ((left_out, listed), (listed, left_out)):
        ((_, exchange, reason),) = changes_between(old, new).unsearched
        assert exchange == "x"
        assert "'i', where the key alone does not decide, changed (type" in reason


@pytest.mark.parametrize("kind", ["headers", "x-random", "topic"])
def test_an_exchange_to_which_nothing_is_bound_routes_to_nobody(kind: str) -> None:
    arguments = {"alternate-exchange": "y"}
    y = Exchange(name="y", type="fanout")
    plain = topology_of(exchanges=[Exchange(name="x", type=kind), y])
    assert changes_between(plain, topology_of(exchanges=[y])).changes == []
    led = topology_of(
        exchanges=[Exchange(name="x", type=kind, arguments=arguments), y],
        bindings=[Binding(source="y", destination="q", routing_key="")],
    )
    found = {(one.exchange, one.kind, one.gained) for one in changes_between(plain, led).changes}
    assert {("x", "queue", True), ("x", "exchange", True), ("x", "nobody", False)} <= found


def test_narrowing_a_binding_loses_what_it_does_not_match_any_more() -> None:
    found = told(one_exchange(("#", "q"), ("a.b", "p")), one_exchange(("*.*", "q"), ("a.b", "p")))
    assert found == {("x", "queue", "q", False): "", ("x", "nobody", "", True): ""}


def test_bindings_that_say_the_same_are_no_change() -> None:
    assert told(one_exchange(("#.#.a", "q")), one_exchange(("#.a", "q"), ("b.a", "q"))) == {}


def test_a_change_among_many_bindings_is_found_among_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "STEPS", 12_000)
    many = [(f"site{number}.*.temperature.#", f"q{number % 7}") for number in range(3_000)]
    changed = [*many[:1234], ("site1234.*.pressure.#", "q2"), *many[1235:]]
    assert told(one_exchange(*many), one_exchange(*changed)) == {
        ("x", "queue", "q2", True): "site1234.x.pressure",
        ("x", "queue", "q2", False): "site1234.x.temperature",
        ("x", "nobody", "", False): "site1234.x.pressure",
        ("x", "nobody", "", True): "site1234.x.temperature",
    }


def test_a_search_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "STEPS", 5_000)
    old = one_exchange(*((f"#.w{number}.#", f"q{number}") for number in range(18)))
    new = one_exchange(*((f"#.w{number}.#", f"q{number + 1}") for number in range(18)))
    found = changes_between(old, new)
    assert len(found.changes) > 30
    ((vhost, exchange, reason),) = found.unsearched
    assert (vhost, exchange) == ("/", "x")
    assert "5,000 steps" in reason


def test_an_exchange_with_many_bindings_leaves_steps_to_those_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "STEPS", 5_000)
    old, new = (
        topology_of(
            exchanges=[Exchange(name=name, type="topic") for name in ("large", "small")],
            bindings=[
                *(Binding(source="large", destination=f"q{n + more}", routing_key=f"#.w{n}.#") for n in range(18)),
                Binding(source="small", destination=f"q{more}", routing_key="a.b"),
            ],
        )
        for more in (0, 1)
    )
    found = changes_between(old, new)
    assert [exchange for _, exchange, _ in found.unsearched] == ["large"]
    assert {(one.destination, one.gained) for one in found.changes if one.exchange == "small"} == {
        ("q0", False),
        ("q1", True),
    }


def test_exchanges_where_the_key_does_not_decide_are_named() -> None:
    found = changes_between(
        one_exchange(("", "q"), kind="x-unheard-of"), one_exchange(("", "q"), ("", "p"), kind="x-unheard-of")
    )
    assert found.changes == []
    assert [place for *place, _ in found.unsearched] == [["/", "x"]]


def by_headers(**changed: Any) -> Topology:
    """Return an exchange that goes by headers, with an alternate exchange and an internal one behind it."""
    parts = {"kind": "headers", "alternate": "a1", "arguments": {}, "behind": "a.*", "demand": "eu", **changed}
    arguments = {"alternate-exchange": parts["alternate"], **parts["arguments"]}
    inner = Binding(source="h", destination="y", destination_type="exchange", arguments={"region": parts["demand"]})
    return topology_of(
        exchanges=[
            Exchange(name="h", type=parts["kind"], arguments=arguments),
            Exchange(name="y", type="topic", internal=True),
            Exchange(name="a1", type="fanout"),
            Exchange(name="a2", type="fanout"),
        ],
        bindings=[
            inner,
            Binding(source="y", destination="q", routing_key=parts["behind"]),
            Binding(source="a1", destination="q1", routing_key=""),
            Binding(source="a2", destination="q2", routing_key=""),
        ],
    )


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"alternate": "a2"}, "alternate exchange"),
        ({"kind": "x-random"}, "type"),
        ({"kind": "x-unheard-of", "arguments": {"seed": 1}}, "type, arguments"),
        ({"arguments": {"hash-header": "region"}}, "arguments"),
        ({"demand": "us"}, "bindings"),
        ({"behind": "a.b"}, "what is behind it"),
        ({"kind": "topic"}, "type, bindings"),
    ],
)
def test_whatever_changes_where_the_key_does_not_decide_is_told(changed: dict[str, Any], what: str) -> None:
    assert changes_between(by_headers(), by_headers()).unsearched == []
    for old, new in ((by_headers(), by_headers(**changed)), (by_headers(**changed), by_headers())):
        ((vhost, exchange, reason),) = changes_between(old, new).unsearched
        assert (vhost, exchange) == ("/", "h")
        assert f"changed ({what}): compare with --messages" in reason


def test_an_exchange_where_the_key_does_not_decide_on_one_side_only_is_told() -> None:
    without = topology_of(exchanges=[Exchange(name="x", type="topic")])
    with_it = topology_of(
        exchanges=[Exchange(name="x", type="topic"), Exchange(name="h", type="headers")],
        bindings=[Binding(source="h", destination="q", arguments={"a": 1})],
    )
    ((_, exchange, reason),) = changes_between(without, with_it).unsearched
    assert exchange == "h"
    assert "it is on one side only" in reason


def test_a_type_that_reads_the_same_binding_keys_otherwise_is_a_change() -> None:
    topic, direct = one_exchange(("a.*", "q")), one_exchange(("a.*", "q"), kind="direct")
    assert told(topic, direct) == {("x", "queue", "q", False): "a.x", ("x", "nobody", "", True): "a.x"}
    assert told(direct, topic) == {("x", "queue", "q", True): "a.x", ("x", "nobody", "", False): "a.x"}
    assert told(one_exchange(("a.b", "q")), one_exchange(("a.b", "q"), kind="direct")) == {}


def test_the_default_exchange_knows_the_queues_that_are_declared() -> None:
    old, new = (topology_of(queues=[Queue(name=name) for name in names]) for names in (["a.b", "c", "d"], ["c", "e"]))
    assert told(old, new) == {
        ("", "queue", "a.b", False): "a.b",
        ("", "queue", "d", False): "d",
        ("", "nobody", "", True): "d",
        ("", "queue", "e", True): "e",
        ("", "nobody", "", False): "e",
    }
    for (_, kind, name, gained), key in told(old, new).items():
        assert ((kind, name) in gets(new, "/", "", key)) == gained
        assert ((kind, name) in gets(old, "/", "", key)) != gained


def test_a_vhost_on_one_side_only_is_told() -> None:
    one, two = (topology_of(vhosts=vhosts) for vhosts in (["/"], ["/", "shop"]))
    assert [(*place, "the new" in reason) for *place, reason in changes_between(one, two).unsearched] == [
        ("shop", "", True)
    ]
    assert [(*place, "the old" in reason) for *place, reason in changes_between(two, one).unsearched] == [
        ("shop", "", True)
    ]


def test_real_definitions_against_their_next_version(shared: Path) -> None:
    """The sixteen of GridWorks; each change holds for its key, by the specification."""
    files = sorted((shared / "corpora" / "gridworks").glob("*.json"), key=lambda file: file.name.split("__")[1])
    before: dict[str, Path] = {}
    compared = changes = 0
    for file in files:
        kind = next((kind for kind in ("prod", "hybrid", "dev") if kind in file.name.split("__")[3]), "dev")
        if kind in before:
            old, new = (dr.load_definitions(one) for one in (before[kind], file))
            compared += 1
            for one in changes_between(old, new).changes:
                changes += 1
                got = [gets(topology, one.vhost, one.exchange, one.key) for topology in (old, new)]
                assert ((one.kind, one.destination) in got[1]) == one.gained
                assert ((one.kind, one.destination) in got[0]) != one.gained
        before[kind] = file
    assert compared == 13
    assert changes > 50


def gets(topology: Topology, vhost: str, exchange: str, key: str) -> set[tuple[str, str]]:
    if (vhost, exchange) not in topology.exchanges_by_name:
        return {("nobody", "")}
    route = topology.route(exchange, key, vhost)
    found = {("queue", name) for name in route.queues} | {("exchange", name) for name in route.exchanges[1:]}
    return found if route.queues or route.not_simulated else {*found, ("nobody", "")}


@pytest.mark.parametrize("bytes_of_key", [255, 256])
def test_a_witness_is_no_longer_than_a_key_may_be(bytes_of_key: int) -> None:
    """Two bindings, one behind the other, want a word each, and both words make a key that is just not too long, or too long."""
    first, second = "a" * 127, "b" * (bytes_of_key - 128)
    exchanges = [Exchange(name=name, type="topic") for name in ("x", "y")]
    way = Binding(source="x", destination="y", destination_type="exchange", routing_key=f"{first}.*")
    old = topology_of(exchanges=exchanges, bindings=[way])
    bound = Binding(source="y", destination="q", routing_key=f"*.{second}")
    new = topology_of(exchanges=exchanges, bindings=[way, bound])
    found = [one.key for one in changes_between(old, new).changes if (one.exchange, one.kind) == ("x", "queue")]
    assert found == ([f"{first}.{second}"] if bytes_of_key == 255 else [])
