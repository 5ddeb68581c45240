"""Plain batches, of Arrow columns with nothing out of the ordinary, held to the walk from exchange to exchange."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler.relay
import dfa_router.rabbitmq
from compiler.kernels.relay_tables import KNOWN
from compiler.machine import bounded_cache
from compiler.prepare import jit_enabled
from compiler.relay import plain_batches, plain_relay, relay, steps
from compiler.values import SetBatch
from dfa_router.arrow.lists import texts_of
from dfa_router.errors import KeyTypeError, MessagesError
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, narrowing, routing, topology_of
from dfa_router.rabbitmq.routing import TopologyRouter
from tests.breaking_off import everywhere, folders
from tests.compiler.guarded import guarded, guarded_buffer
from tests.rabbitmq.test_columns import KEYS, topologies
from tests.strides import strides

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="the relay is for compiled kernels")

HEADERS = [
    Exchange(name="x", type="topic"),
    Exchange(name="h", type="headers", arguments={"alternate-exchange": "f"}),
    Exchange(name="none", type="headers", arguments={"alternate-exchange": "f"}),
    Exchange(name="f", type="fanout"),
    Exchange(name="t", type="topic"),
    Exchange(name="m", type="x-modulus-hash"),
]


def with_headers() -> Topology:
    """Return a topology in which messages get to exchanges that go by headers, and beyond them."""
    ends = [("h", "a.#"), ("none", "b.#"), ("m", "#.m")]
    bindings = [
        Binding(source="x", destination=name, destination_type="exchange", routing_key=key) for name, key in ends
    ]
    bindings += [
        Binding(source="h", destination="always"),
        Binding(source="h", destination="asks", arguments={"k": 1}),
        Binding(source="h", destination="t", destination_type="exchange"),
        Binding(source="none", destination="never", arguments={"x-match": "any"}),
        Binding(source="f", destination="rest"),
        Binding(source="t", destination="behind", routing_key="*.b"),
        Binding(source="m", destination="m0", routing_key="1"),
        Binding(source="m", destination="m1", routing_key="2"),
    ]
    return topology_of(exchanges=HEADERS, bindings=bindings, broker="4.3")


def columns_of(router: TopologyRouter, messages: list[tuple[str, str]]) -> list[Any]:
    exchanges, keys = (pa.array(column, pa.string()) for column in zip(*messages, strict=True))
    found = router.route_columns(exchanges, keys)
    for column in found:
        column.validate(full=True)
    return [column.to_pylist() for column in found]


def plainly(router: TopologyRouter, messages: list[tuple[str, str]]) -> SetBatch | None:
    exchanges, keys = (pa.array(column, pa.string()) for column in zip(*messages, strict=True))
    return router.send_plain(exchanges, keys, None, "/", {})


@settings(max_examples=80, deadline=None)
@given(topologies(), st.sampled_from([("MOST_WAYS", 1), ("MOST_NARROWED", 0)]), st.sampled_from([2000, 1 << 20]))
def test_a_plain_batch_is_the_walk_from_exchange_to_exchange(
    topology: Topology, limit: tuple[str, int], cache_bytes: int
) -> None:
    """However often the keys are read, and however little room there is, at first and again."""
    names = [name for (_, name), exchange in topology.exchanges_by_name.items() if not exchange.internal]
    messages = [(name, key) for name in names for key in KEYS]
    expected = columns_of(topology.compile(engine="naive"), messages)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrowing, *limit)
        router = topology.compile(cache_bytes=cache_bytes)
        assert plainly(router, messages) is not None
        for _ in range(2):
            assert columns_of(router, messages) == expected


NUMBERS = pa.map_(pa.string(), pa.int64())


@pytest.mark.parametrize(
    "known", [False, [{"k": 1}, None], [{"k": 2, "j": 1}, {}, {"k": 1, "x-k": None}, None, {"k": None}]]
)
def test_exchanges_that_go_by_headers_are_passed_as_if_they_were_asked(known: Any) -> None:
    """Those without demands, and those whose demands cannot be known; and exchanges that are asked beside them."""
    topology = with_headers()
    messages = [("x", key) for key in ["a.b", "a.c", "b", "b.m", "c.m", "d.m", "", "a.m"]] + [
        ("h", "z.b"),
        ("none", ""),
    ]
    options: dict[str, Any] = {"headers": (known * 5)[: len(messages)]} if known else {}
    router = topology.compile()
    expected = topology.compile(engine="trie").route_columns(*map(list, zip(*messages, strict=True)), **options)
    names, keys = (pa.array(column) for column in zip(*messages, strict=True))
    plain = {name: pa.array([one and list(one.items()) for one in column], NUMBERS) for name, column in options.items()}
    assert router.send_plain(names, keys, None, "/", plain) is not None
    assert router.route_columns(names, keys, **plain) == expected
    assert router.route_columns(names, keys, **options) == expected
    assert router.route_columns(*map(list, zip(*messages, strict=True)), **options) == expected
    assert known or expected.not_simulated.to_pylist()[0] == ["h"]
    if known:
        ask = [name == "h" or key.startswith("a.") for name, key in messages]
        asks = [row for row, one in enumerate(options["headers"]) if ask[row] and one and one.get("k") == 1]
        assert [row for row, queues in enumerate(expected.queues.to_pylist()) if "asks" in queues] == asks
    else:
        assert expected.queues.to_pylist()[0] == ["always", "behind"]


def test_headers_that_are_out_of_the_ordinary_go_the_general_way() -> None:
    """Further keys, columns in another form, other attributes beside them; and a column that is too short is refused."""
    topology = with_headers()
    router, reference = topology.compile(), topology.compile(engine="trie")
    names, keys = pa.array(["x", "h", "x"]), pa.array(["a.b", "", "c"])
    copied = pa.array([[("k", "1")], [("CC", '["b.m"]')], []], pa.map_(pa.string(), pa.string()))
    refused = pa.array([[], [], [("BCC", "b")]], pa.map_(pa.string(), pa.string()))
    numbers = pa.array([[("k", 1)], None, []], NUMBERS)
    texts = pa.array(['{"k": 1}', None, "{"])
    for odd in (copied, refused, texts, pa.chunked_array([numbers[:1], numbers[1:]])):
        assert router.send_plain(names, keys, None, "/", {"headers": odd}) is None
        assert router.route_columns(names, keys, headers=odd) == reference.route_columns(names, keys, headers=odd)
    assert router.route_columns(names, keys, headers=refused).problem.to_pylist()[2] is not None
    further = {"headers": numbers, "cc": [["b.m"], None, None]}
    assert router.send_plain(names, keys, None, "/", further) is None
    assert router.route_columns(names, keys, **further) == reference.route_columns(names, keys, **further)
    assert router.send_plain(names, keys, None, "/", {"headers": numbers[1:]}) is None
    with pytest.raises(MessagesError, match=r"\(3 exchanges, 3 keys, 2 headers\)"):
        router.route_columns(names, keys, headers=numbers[1:])


LONG = "exchange-12"
"""A name of over eight bytes."""


def plain_topology() -> Topology:
    exchanges = [Exchange(name=name, type="topic") for name in ("x", LONG)]
    return topology_of(
        exchanges=[*exchanges, Exchange(name="inner", type="fanout", internal=True)],
        queues=[Queue(name="q")],
        bindings=[Binding(source=name, destination="q", routing_key="a.#") for name in ("x", LONG)],
    )


@pytest.mark.parametrize(
    ("exchange", "key"),
    [("x", None), (None, "a"), ("x", "a" * 256), ("x", "a.\u00e9"), ("x", b"a.\xff"), ("missing", "a"), ("inner", "a")],
)
@pytest.mark.parametrize("place", [0, 2, 4])
def test_one_row_that_is_out_of_the_ordinary_is_told_as_ever(exchange: Any, key: Any, place: int) -> None:
    names, keys = ["x"] * 5, ["a", "b", "a.b", "", "c"]
    names[place], keys[place] = exchange, key
    router, kind = plain_topology().compile(), pa.binary() if isinstance(key, bytes) else pa.string()
    encoded = [one.encode() if isinstance(one, str) and kind == pa.binary() else one for one in keys]
    columns = pa.array(names, pa.string()), pa.array(encoded, kind)
    assert router.send_plain(*columns, None, "/", {}) is None
    expected = plain_topology().compile(engine="naive").route_columns(names, keys)
    found = router.route_columns(*columns)
    assert found == expected
    assert found.problem.null_count == (5 if key == "a.\u00e9" else 4)


def test_slices_and_single_chunks_are_plain() -> None:
    router = plain_topology().compile()
    rows = plain_batches.ROWS
    names, keys = pa.array(["x"] * (rows + 1)), pa.array(["a.b", "b", ""] * rows).slice(0, rows + 1)
    assert router.send_plain(names[:0], keys[:0], None, "/", {}) is None
    vhosts = pa.array(["/"] * (rows + 1))
    for first, last in ((0, 1), (1, 3), (5, rows + 1)):
        some = [column.slice(first, last - first) for column in (names, keys, vhosts)]
        for part in (some, [pa.chunked_array([column]) for column in some]):
            assert router.send_plain(part[0], part[1], part[2], "/", {}) is not None
            found = router.route_columns(*part).queues.to_pylist()
            assert found == [["q"] if key == "a.b" else [] for key in keys[first:last].to_pylist()]


@pytest.mark.parametrize("lent", [0, 3, 10, 100])
def test_large_batches_go_in_parts(monkeypatch: pytest.MonkeyPatch, lent: int) -> None:
    """And have the answers of the walk from exchange to exchange, in whatever part a row lies, and whoever walks; few rows, too."""
    monkeypatch.setattr(plain_batches, "LENT", lent)
    monkeypatch.setattr(plain_batches, "ROWS", 16)
    monkeypatch.setattr(plain_relay, "ROWS", 16)
    topology, chance = with_headers(), random.Random(3)
    router, reference = topology.compile(), topology.compile(engine="trie")
    for rows in (15, 16, 17, 32, 33, 500):
        messages = [(chance.choice("xht"), chance.choice(["a.b", "b.m", "c.m", "", "z.b"])) for _ in range(rows)]
        names, keys = (pa.array(column) for column in zip(*messages, strict=True))
        more = {"headers": pa.array([chance.choice([[("k", 1)], [("k", 2)], [], None]) for _ in messages], NUMBERS)}
        for known in ({}, more):
            found = router.send_plain(names, keys, None, "/", known)
            assert found is not None
            assert found.set_ids.shape == (rows,)
            assert router.route_columns(names, keys, **known) == reference.route_columns(names, keys, **known)
            vhosts = pa.array(["/"] * rows)
            assert router.route_columns(names, keys, vhosts, **known) == reference.route_columns(names, keys, **known)


def test_large_batches_with_odd_rows_soon_go_the_general_way_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is tried for nothing stays at an eighth; and try again later."""
    monkeypatch.setattr(plain_batches, "ROWS", 16)
    monkeypatch.setattr(plain_relay, "ROWS", 16)
    router = plain_topology().compile()
    names, keys = pa.array(["x"] * 64), pa.array(["a"] * 64)
    odd = pa.array(["a"] * 50 + ["\u00e9"] + ["a"] * 13)
    assert router.send_plain(names, odd, None, "/", {}) is None
    tries = [router.send_plain(names, keys, None, "/", {}) is not None for _ in range(12)]
    assert tries == [False] * 8 + [True] * 4
    assert router.send_plain(names, odd, None, "/", {}) is None
    assert router.send_plain(names[:16], keys[:16], None, "/", {}) is not None, "few rows are always tried"
    assert router.route_columns(names, odd).queues.to_pylist()[49:52] == [["q"], [], ["q"]]


@pytest.mark.parametrize("lent", [100, 1 << 13])
def test_messages_that_recur_are_known_whole_and_others_are_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, lent: int
) -> None:
    """Whatever a message goes by besides its key is never taken for what it went by before."""
    monkeypatch.setattr(plain_batches, "LENT", lent)
    topology = with_headers()
    router, reference = topology.compile(), topology.compile(engine="trie")
    names, keys = pa.array(["x", "x", "t", "x", "h"] * 50), pa.array(["a.b", "d", "z.b", "c" * 60, ""] * 50)
    for number in (1, 2, None, 1):
        more = {"headers": pa.array([[] if number is None else [("k", number)]] * 250, NUMBERS)}
        for _ in range(3):
            assert router.route_columns(names, keys, **more) == reference.route_columns(names, keys, **more)
    own = router._automata[0]._relay
    assert own is not None
    assert own._plain is not None
    # Of five messages two go by their headers, and one is too long to be kept.
    assert own._plain._room.counts[KNOWN] == 100
    assert own._plain._messages.wanted
    assert router.stats().key_cache_hits >= own.known >= 100
    for first in range(0, 20_000, 200):
        different = pa.array([f"a.{number}" for number in range(first, first + 200)])
        router.route_columns(pa.array(["x"] * 200), different, headers=pa.array([[]] * 200, NUMBERS))
    assert not own._plain._messages.wanted
    assert own.nbytes <= own._capacity


def test_messages_are_counted_as_known_only_where_they_were_looked_up() -> None:
    """Not again where there is no room for a table of them any more."""
    router = with_headers().compile()
    names, keys, none = pa.array(["t"] * 100), pa.array(["a.b"] * 100), pa.array([[]] * 100, NUMBERS)
    for _ in range(3):
        router.route_columns(names, keys, headers=none)
    own = router._automata[0]._relay
    assert own is not None
    assert own._plain is not None
    known = own.known
    assert known >= 100
    own._steps._forget_messages()
    own._capacity = own.nbytes
    router.route_columns(names, keys, headers=none)
    assert own._plain._messages.wanted, "it was thought of looking them up"
    assert own.known == known


def test_columns_at_the_end_of_their_memory_are_read_to_the_end_alone() -> None:
    """In vectors or not; a byte more ends the process."""
    router, reference = plain_topology().compile(), plain_topology().compile(engine="trie")
    for count, length in (
        (1, 1),
        (1, 8),
        (7, 3),
        (8, 55),
        (8, 56),
        (9, 9),
        (16, 57),
        (40, 30),
        (41, 1),
        (5, 70),
        (9, 120),
        (8, 200),
    ):
        lengths = [length if row % 2 else min(length, 10) for row in range(count)][::-1]
        keys = [("a." + chr(98 + row % 3) * 250)[:size] for row, size in enumerate(lengths)]
        names = [LONG if length % 2 else "x"] * count
        one, other, vhosts = (
            pa.StringArray.from_buffers(
                count,
                pa.py_buffer(guarded(np.cumsum([0, *map(len, texts)]).astype(np.int32), "before")),
                pa.py_buffer(guarded(np.frombuffer("".join(texts).encode(), np.uint8), "before")),
            )
            for texts in (names, keys, ["/"] * count)
        )
        for places in (None, vhosts, None):
            assert router.send_plain(one, other, places, "/", {}) is not None
            assert router.route_columns(one, other, places) == reference.route_columns(names, keys)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("ends", [[0, 1, 1000], [1, 0, 2], [-1, 1, 2], [0, 2**31 - 1, 2]])
def test_damaged_columns_are_refused_and_not_read(which: int, ends: list[int]) -> None:
    offsets = np.array([0, 1, 2], np.int32)
    damaged = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"xa")])
    offsets[:] = ends  # pyarrow refuses to make such an array, and reads such files
    whole = pa.array(["x", "x"])
    columns = (whole, damaged) if which else (damaged, whole)
    router = plain_topology().compile()
    assert router.send_plain(*columns, None, "/", {}) is None
    with pytest.raises(KeyTypeError, match="damaged"):
        router.route_columns(*columns)


def test_routes_that_have_no_room_go_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many outputs, or too many bytes of keys: and the batches after them are plain again."""
    bindings = [Binding(source="x", destination=f"q{number}", routing_key="a.#") for number in range(50)]
    topology = topology_of(exchanges=[Exchange(name="x", type="topic")], bindings=bindings)
    monkeypatch.setattr(plain_batches, "ROWS", 8)
    monkeypatch.setattr(plain_relay, "ROWS", 8)
    monkeypatch.setattr(plain_batches, "MOST_OUTPUTS", 20)
    monkeypatch.setattr(plain_batches, "KEY_BYTES", 100)
    router = topology.compile()
    for key, plain in (("b", True), ("a", False), ("b", True), ("b" * 60, False), ("c", True)):
        assert (plainly(router, [("x", key)]) is not None) == plain
        assert len(columns_of(router, [("x", key)])[0][0]) == (50 if key == "a" else 0)


def test_a_cache_that_is_too_small_holds_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    bindings = [Binding(source="x", destination=f"q{number}", routing_key=f"#.w{number}.#") for number in range(14)]
    topology = topology_of(exchanges=[Exchange(name="x", type="topic")], bindings=bindings)
    messages = [("x", ".".join(f"w{chance.randrange(14)}" for _ in range(6))) for _ in range(1500)]
    monkeypatch.setattr(relay, "LEAST_BYTES", 20_000)
    router = topology.compile(cache_bytes=80_000)
    reference, own = topology.compile(engine="trie"), None
    for first in range(0, 1500, 100):
        assert columns_of(router, messages[first : first + 100]) == columns_of(reference, messages[first : first + 100])
        own = router._automata[0]._relay
        assert own is not None
        assert own.nbytes <= 20_000
    assert own is not None
    assert own.clears > 2


@pytest.mark.parametrize(("room", "block"), [(4_000, 100), (20_000, 1 << 16), (1 << 20, 1 << 12)])
def test_names_of_all_lengths_are_those_of_the_queues(monkeypatch: pytest.MonkeyPatch, room: int, block: int) -> None:
    """However many names an itinerary has, whether they fit into the cache or into the room for few, and in the parts of a large batch."""
    chance = random.Random(9)
    monkeypatch.setattr(relay, "LEAST_BYTES", room)
    monkeypatch.setattr(plain_batches, "FEW_BYTES", block)
    monkeypatch.setattr(plain_batches, "ROWS", 64)
    monkeypatch.setattr(plain_relay, "ROWS", 64)
    names = [
        "q",
        "eight___",
        "\u00fc" * 20,
        *(chr(97 + size % 26) * size for size in (30, 31, 32, 33, 63, 64, 65, 128, 200)),
    ]
    names += [f"queue{number}" for number in range(20)]
    exchanges = [
        Exchange(name="x", type="topic"),
        Exchange(name="odd", type="x-random"),
        Exchange(name="y", type="topic"),
    ]
    bindings = [
        Binding(source="x", destination=name, routing_key=key)
        for name in names
        for key in {f"{chance.choice('abcd')}.#", f"#.{chance.choice('efg')}", f"*.{chance.choice('abef')}.*"}
    ]
    bindings += [
        Binding(source="x", destination=name, destination_type="exchange", routing_key=f"#.{word}")
        for name, word in (("odd", "h"), ("y", "c"))
    ]
    bindings.append(Binding(source="y", destination=names[7], routing_key="#"))
    topology = topology_of(exchanges=exchanges, bindings=bindings)
    router, reference = topology.compile(cache_bytes=4 * room), topology.compile(engine="trie")
    own = None
    for rows in (1, 7, 8, 9, 63, 64, 65, 200, 500, 3, 200):
        messages = [
            (chance.choice("xxy"), ".".join(chance.choices("abcdefgh", k=chance.randrange(4)))) for _ in range(rows)
        ]
        assert columns_of(router, messages) == columns_of(reference, messages)
        own = router._automata[0]._relay
        assert own is not None
        assert own.nbytes <= max(room, 12_000)
    assert own is not None


def test_names_that_do_not_fit_are_written_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """And large batches of such messages do not try each time; small ones have theirs kept again."""
    monkeypatch.setattr(relay, "LEAST_BYTES", 30_000)
    bindings = [Binding(source="x", destination=f"{number}" * 40, routing_key="a.#") for number in range(400)]
    bindings.append(Binding(source="x", destination="q", routing_key="b"))
    topology = topology_of(exchanges=[Exchange(name="x", type="topic")], bindings=bindings)
    router, reference = topology.compile(cache_bytes=80_000), topology.compile(engine="trie")
    written = []
    for messages in ([("x", "a.b")], [("x", "b"), ("x", "")], [("x", "b"), ("x", "a"), ("x", "b")], [("x", "b")] * 3):
        assert columns_of(router, messages) == columns_of(reference, messages)
        own = router._automata[0]._relay
        assert own is not None
        assert own.nbytes <= 30_000
        written.append(len(own._steps._cache.name_texts) > 0)
    assert written == [False, True, True, True]  # in the third batch those of one route, before the others do not fit


def test_names_that_are_others_now_are_written_anew() -> None:
    router = plain_topology().compile()
    for name in ("q", "r", "q"):
        router.__dict__["queue_texts"] = texts_of([name], 0)
        assert columns_of(router, [("x", "a"), ("x", "b")])[0] == [[name], []]


def test_lists_are_written_to_the_end_of_their_memory_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte more ends the process."""
    monkeypatch.setattr(plain_batches, "FEW_BYTES", 0)
    monkeypatch.setattr(routing, "new_block", lambda size: guarded_buffer((size | 3) + 1, "before").view(np.int32))
    names = [chr(97 + size % 26) * size for size in (1, 3, 40, 63, 64, 65, 130)]
    bindings = [Binding(source="x", destination=name, routing_key=f"#.{name[0]}") for name in names]
    bindings.append(Binding(source="x", destination="odd", destination_type="exchange", routing_key="#.o"))
    topology = topology_of(
        exchanges=[Exchange(name="x", type="topic"), Exchange(name="odd", type="x-random")], bindings=bindings
    )
    router, reference = topology.compile(), topology.compile(engine="trie")
    for rows in (1, 2, 7, 8, 9, 64, 1100):
        for others in ([], ["o"]):
            messages = [("x", (names[row % 7][0], *others, "")[row % (2 + len(others))]) for row in range(rows)]
            assert columns_of(router, messages) == columns_of(reference, messages)


@pytest.mark.parametrize("memos", [1, 4, 1 << 12])
@pytest.mark.parametrize(("cache_bytes", "rows"), [(15_000, 2), (15_000, 20), (1 << 20, 50)])
def test_what_sets_led_to_holds_as_long_as_their_numbers_do(
    monkeypatch: pytest.MonkeyPatch, memos: int, cache_bytes: int, rows: int
) -> None:
    """However few are kept in mind, whatever table grows in between, and though the automaton's cache is cleared and sets get new numbers."""
    chance = random.Random(7)
    bindings = [Binding(source="x", destination=f"q{number}", routing_key=f"#.w{number}.#") for number in range(10)]
    bindings += [
        Binding(source="x", destination="y", destination_type="exchange", routing_key="#.w0"),
        Binding(source="y", destination="q", routing_key="w1.#"),
    ]
    topology = topology_of(exchanges=[Exchange(name=name, type="topic") for name in "xy"], bindings=bindings)
    messages = [("x", ".".join(f"w{chance.randrange(10)}" for _ in range(4))) for _ in range(2000)]
    monkeypatch.setattr(steps, "MOST_MEMOS", memos)
    router, reference = topology.compile(cache_bytes=cache_bytes), topology.compile(engine="trie")
    for first in range(0, 2000, rows):
        some = messages[first : first + rows]
        assert columns_of(router, some) == columns_of(reference, some)
    assert (router.stats().clears > 0) == (cache_bytes == 15_000)


def test_keys_that_the_machine_leaves_to_the_simulation_get_their_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does with what is asked for the first times where it has a doorkeeper."""
    monkeypatch.setattr(bounded_cache, "FAR_BYTES", -1)
    chance = random.Random(8)
    bindings = [Binding(source="x", destination=f"q{number}", routing_key=f"*.w{number}.#") for number in range(40)]
    topology = topology_of(exchanges=[Exchange(name="x", type="topic")], bindings=bindings)
    messages = [("x", ".".join(f"w{chance.randrange(40)}" for _ in range(4))) for _ in range(600)]
    router, reference = topology.compile(cache_bytes=4 << 20), topology.compile(engine="trie")
    for first in range(0, 600, 60):
        some = messages[first : first + 60]
        assert columns_of(router, some) == columns_of(reference, some)
    assert 0 < router.stats().fallbacks < router.stats().keys


@pytest.mark.parametrize("headers", [False, True])
@strides(7)
def test_a_batch_that_is_broken_off_leaves_nothing_wrong(stride: int, headers: bool) -> None:
    topology = with_headers()
    messages = [("x", key) for key in ("a.b", "b.m", "c.m", "", "d")]
    exchanges, keys = (pa.array(column) for column in zip(*messages, strict=True))
    more = {"headers": pa.array([[("k", 1)], [], None, [("k", 2)], []], NUMBERS)} if headers else {}
    expected = topology.compile(engine="trie").route_columns(exchanges, keys, **more)
    router = topology.compile(cache_bytes=1 << 18)
    router.route_columns(exchanges, keys, **more)

    def check(_step: int) -> None:
        assert router.route_columns(exchanges, keys, **more) == expected

    within = folders(compiler.relay, dfa_router.rabbitmq)
    assert everywhere(lambda: router.route_columns(exchanges, keys, **more), check, within, stride=3 * stride) > 200
