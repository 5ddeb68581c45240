"""Routing of columns: the same as message by message, and as an independent rendering of the broker's own loop."""

from __future__ import annotations

import difflib
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, Topology, narrowing, topology_of
from tests.router.memory import MB, needs_proc, peak

WORDS = ["a", "b", ""]
KEYS = ["", "a", "b", "a.b", "b.a", ".", "a.", "a.a.b", "b.b", "*", "#"]
PATTERNS = ["", "a", "b", "*", "#", "a.*", "*.b", "a.#", "#.b", "*.*", "#.a.#", "#.#", "a.b"]
NAMES = ["A", "B", "C", "D", "E", "F"]
TYPES = ["direct", "fanout", "topic", "topic", "headers", "x-unheard-of"]


def matches(pattern: list[str], key: list[str]) -> bool:
    """Tell whether a pattern matches, as RabbitMQ's documentation puts it."""
    if not pattern:
        return not key
    if pattern[0] == "#":
        return matches(pattern[1:], key) or (bool(key) and matches(pattern, key[1:]))
    return bool(key) and pattern[0] in {"*", key[0]} and matches(pattern[1:], key[1:])


def by_the_book(topology: Topology, start: str, key: str) -> tuple[list[str], list[str]]:
    """Return the queues and the exchanges that are not simulated, by a worklist over the plain values."""
    declared = {exchange.name: exchange for exchange in topology.exchanges}
    used = {one.source for one in topology.bindings}
    used |= {one.destination for one in topology.bindings if one.destination_type == "exchange"}
    words = key.split(".") if key else []
    queues: set[str] = set()
    unknown: set[str] = set()
    seen: set[str] = set()
    todo = [start]
    while todo:
        name = todo.pop()
        if name in seen or (name not in declared and name not in used):
            continue
        seen.add(name)
        kind = declared[name].type if name in declared else None
        if name == "":
            queues |= {queue.name for queue in topology.queues if queue.name == key}
            continue
        if kind not in {"direct", "fanout", "topic", "headers"}:
            unknown.add(name)
            continue
        hits = [
            one
            for one in topology.bindings
            if one.source == name
            and (
                kind in {"fanout", "headers"}  # without arguments, all are met by every message
                or (kind == "direct" and one.routing_key == key)
                or (kind == "topic" and matches(one.routing_key.split(".") if one.routing_key else [], words))
            )
        ]
        queues |= {one.destination for one in hits if one.destination_type == "queue"}
        todo += [one.destination for one in hits if one.destination_type == "exchange"]
        if not hits:
            by_policy = [p for p in topology.policies if p.pattern in name]
            alternate = declared[name].arguments.get("alternate-exchange")
            if alternate is None and by_policy:
                best = max(by_policy, key=lambda p: p.priority)
                alternate = best.definition.get("alternate-exchange")
            todo += [alternate] if alternate else []
    return sorted(queues), sorted(unknown)


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Draw a topology of a few exchanges, with cycles, alternate exchanges, and names that nobody declares."""
    exchanges = [
        Exchange(name=name, type=draw(st.sampled_from(TYPES)), arguments=draw(st.sampled_from(ALTERNATES)))
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    ]
    ends = st.sampled_from([("queue", name) for name in "pqrs"] + [("exchange", name) for name in NAMES])
    bindings = []
    for source, end, key in draw(
        st.lists(st.tuples(st.sampled_from(NAMES), ends, st.sampled_from(PATTERNS)), max_size=14)
    ):
        kind, destination = end
        bindings.append(
            Binding(source=source, destination=destination, destination_type=kind, routing_key=key)  # type: ignore[arg-type]
        )
    policies = [
        Policy(
            name=f"p{rank}", pattern=pattern, priority=rank, definition={"alternate-exchange": to} if to else {"x": 1}
        )
        for rank, (pattern, to) in enumerate(
            draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["A", "B", None])), max_size=3))
        )
    ]
    queues = [Queue(name=name) for name in draw(st.lists(st.sampled_from("pqrsa"), unique=True))]
    return topology_of(exchanges=exchanges, queues=queues, bindings=bindings, policies=policies)


ALTERNATES: list[dict[str, str]] = [{}, {}, *({"alternate-exchange": name} for name in [*NAMES, "nothing"])]


@settings(max_examples=60, deadline=None)
@given(topologies(), st.sampled_from(["dfa", "nfa", "naive"]), st.sampled_from([0, 300, 1 << 20]), st.randoms())
def test_columns_single_messages_and_the_book_agree(
    topology: Topology, engine: str, cache_bytes: int, chance: random.Random
) -> None:
    router = topology.compile(engine=engine, cache_bytes=cache_bytes)
    sources = [name for (_, name), exchange in topology.exchanges_by_name.items() if not exchange.internal]
    messages = [(name, key) for name in sources for key in KEYS]
    chance.shuffle(messages)
    columns = router.route_columns([name for name, _ in messages], [key for _, key in messages])
    assert columns.problem.null_count == len(messages)
    for row, (name, key) in enumerate(messages):
        route = router.route(name, key)
        queues, unknown = by_the_book(topology, name, key)
        assert (name, key, list(route.queues), list(route.not_simulated)) == (name, key, queues, unknown)
        assert columns.queues[row].as_py() == queues
        assert columns.not_simulated[row].as_py() == unknown
        assert columns.routed[row].as_py() == route.routed == bool(queues)


SMALL = topology_of(
    vhosts=["/", "b"],
    exchanges=[
        Exchange(name="x", type="topic"),
        Exchange(name="inner", type="fanout", internal=True),
        Exchange(vhost="b", name="x", type="direct"),
    ],
    queues=[Queue(name="q"), Queue(vhost="b", name="q"), Queue(vhost="b", name="r")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.*"),
        Binding(source="x", destination="q", routing_key="#.end"),
        Binding(vhost="b", source="x", destination="r", routing_key="a.b"),
    ],
)


def test_rows_that_cannot_be_routed_are_kept_and_say_why() -> None:
    rows: list[tuple[str | None, str | None, str | bytes | None, list[str], str | None]] = [
        ("/", "x", "a.b", ["q"], None),
        ("b", "x", "a.b", ["r"], None),
        ("b", "", "q", ["q"], None),
        ("/", "x", "", [], None),
        ("/", "x", None, [], "routing_key is null"),
        ("/", None, "a.b", [], "exchange is null"),
        (None, "x", "a.b", [], "vhost is null"),
        (None, None, None, [], "vhost is null; exchange is null; routing_key is null"),
        ("/", "y", "a.b", [], "no exchange 'y' in vhost '/'"),
        ("b", "inner", "a.b", [], "no exchange 'inner' in vhost 'b'; vhost '/' has one"),
        ("c", "x", "a.b", [], "no vhost 'c'"),
        ("/", "inner", "a.b", [], "exchange 'inner' is internal: the broker lets no client publish to it"),
        ("/", "x", "w." * 9_999 + "end", ["q"], "routing_key is over AMQP's 255 bytes"),
        ("/", "x", "w" * 256, [], "routing_key is over AMQP's 255 bytes"),
        ("/", "x", "a." + "ü" * 126, ["q"], None),
        ("/", "x", b"a.\xff\xfe", ["q"], "routing_key is not valid UTF-8"),
        (
            "/",
            "x",
            b"\xed\xa0\x80" + b"x" * 300,
            [],
            "routing_key is over AMQP's 255 bytes; routing_key is not valid UTF-8",
        ),
    ]
    vhosts, exchanges, keys, queues, problems = zip(*rows, strict=True)
    columns = SMALL.compile().route_columns(list(exchanges), list(keys), list(vhosts))
    assert columns.queues.to_pylist() == list(queues)
    assert columns.routed.to_pylist() == [bool(names) for names in queues]
    assert columns.queues.null_count == columns.not_simulated.null_count == columns.routed.null_count == 0
    for found, expected in zip(columns.problem.to_pylist(), problems, strict=True):
        assert found == expected or (expected and found and found.startswith(expected)), (found, expected)


def test_unknown_names_are_not_compared_with_each_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    compare = difflib.SequenceMatcher.set_seq1

    def counted(self: difflib.SequenceMatcher[str], name: str) -> None:
        nonlocal compared
        compared += 1
        compare(self, name)

    monkeypatch.setattr(difflib.SequenceMatcher, "set_seq1", counted)
    router = SMALL.compile()
    comparisons = []
    for count in (10, 1_000):
        names = [f"unknown {number}" for number in range(count)]
        columns = router.route_columns(names, ["a"] * count, ["/"] * count)
        assert all(text.startswith("no exchange 'unknown ") for text in columns.problem.to_pylist())
        comparisons.append(compared)
    assert comparisons[0] == comparisons[1], "of 990 more names none is compared with all others"


@pytest.mark.parametrize("typed", ["innr", "innerr", "innre", "ninner", "onner"])
def test_a_typing_error_in_a_batch_is_told_the_name_that_was_meant(typed: str) -> None:
    columns = SMALL.compile().route_columns([typed, "anything else"], ["a", "a"])
    near, far = columns.problem.to_pylist()
    assert near == f"no exchange {typed!r} in vhost '/'; near names: 'inner'"
    assert "; there are " in far


def test_a_name_that_is_too_long_for_one_is_told_by_its_beginning() -> None:
    long, longest = "ü" * 1_000_000, "a" * 255
    vhosts = ["/", "/", long]
    said = SMALL.compile().route_columns([long, longest, "x"], ["a"] * 3, vhosts).problem.to_pylist()
    beginning = repr("ü" * 60 + "...")
    assert said[0].startswith(f"no exchange {beginning} in vhost '/'; there are ")
    assert said[1].startswith(f"no exchange {longest!r} in vhost '/'; there are ")
    assert said[2].startswith(f"no vhost {beginning}; there are ")
    with pytest.raises(dr.UnknownNameError, match=rf"^no exchange {beginning} in vhost '/'; there are .{{,200}}$"):
        SMALL.route(long, "a")


def test_every_form_of_an_arrow_column_is_taken() -> None:
    router = SMALL.compile()
    keys = pa.array(["a.b", None, "ü.end", "", "a.b"])
    names = pa.array(["x", "x", "x", None, ""])
    expected = router.route_columns(names, keys)
    forms = [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int8(), pa.string()),
    ]
    for form in forms:
        assert router.route_columns(names.cast(form), keys.cast(form)) == expected, form
    sliced = router.route_columns(pa.concat_arrays([names, names])[5:], pa.concat_arrays([keys, keys])[5:])
    assert sliced == expected
    chunked = router.route_columns(pa.chunked_array([names[:2], names[2:]]), pa.chunked_array([keys[:1], keys[1:]]))
    assert chunked == expected
    for empty in (pa.array([], pa.string()), pa.array([], pa.large_string())):
        assert [len(column) for column in router.route_columns(empty, empty)] == [0, 0, 0, 0]
    nulls = router.route_columns(pa.nulls(2), pa.nulls(2))
    assert nulls.problem.to_pylist() == ["exchange is null; routing_key is null"] * 2
    with pytest.raises(dr.MessagesError, match=r"columns differ in length \(5 exchanges, 2 keys\)"):
        router.route_columns(names, keys[:2])
    with pytest.raises(dr.MessagesError, match=r"\(5 exchanges, 5 keys, 4 vhosts, 1 cc\): expected one of each"):
        router.route_columns(names, keys, ["/"] * 4, cc=[None])
    numbers = pa.array([1, 2, 3, 4, 5])
    for columns, wrong in [
        ((names, numbers), "keys"),
        ((numbers, keys), "exchanges"),
        ((names, keys, numbers), "vhosts"),
    ]:
        with pytest.raises(dr.KeyTypeError, match=f"^{wrong} is an Arrow column of int64: cast it to string first"):
            router.route_columns(*columns)
    with pytest.raises(dr.KeyTypeError, match=r"^exchanges\[1\] is 2 \(int\)"):
        router.route_columns(["x", 2], ["a", "b"])


def test_a_column_of_over_two_gigabytes_is_refused_with_the_remedy() -> None:
    router, size = SMALL.compile(), (1 << 30) + 1
    text = pa.py_buffer(np.zeros(size, np.uint8))  # never touched, so it takes no memory
    offsets = np.array([0, size], np.int64)
    one = pa.LargeStringArray.from_buffers(1, pa.py_buffer(offsets), text)
    with pytest.raises(dr.CapacityError, match=r"2\.0 GiB.*fewer messages at a time"):
        router.route_columns(["x", "x"], pa.chunked_array([one, one]))


@pytest.mark.parametrize(("most", "reads"), [(1 << 16, 1000), (0, 700 * 28 + 300 * 14)])
def test_a_message_is_read_once_or_once_for_each_exchange_that_it_reaches(
    most: int, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """28 exchanges in a row, each with a queue, as in a delayed delivery: counted by the engine itself."""
    monkeypatch.setattr(narrowing, "MOST_NARROWED", most)
    levels = [f"level{number:02}" for number in range(28)]
    bindings = [Binding(source=level, destination=level, routing_key="1.#") for level in levels]
    bindings += [
        Binding(source=one, destination=two, destination_type="exchange", routing_key="*.#")
        for one, two in itertools.pairwise(levels)
    ]
    topology = topology_of(exchanges=[Exchange(name=level, type="topic") for level in levels], bindings=bindings)
    router = topology.compile()
    columns = router.route_columns([levels[0]] * 700 + [levels[14]] * 300, ["1.a"] * 1000)
    assert columns.queues[0].as_py() == levels
    assert columns.queues[999].as_py() == levels[14:]
    assert router.stats().keys == reads


BATCHES = """
import random
from dfa_router.rabbitmq import Binding, Exchange, topology_of

bindings = [Binding(source="x", destination=f"q{number}", routing_key=f"#.w{number}.#") for number in range(12)]
router = topology_of(exchanges=[Exchange(name="x", type="topic")], bindings=bindings).compile(cache_bytes=1 << 18)
chance = random.Random(3)
exchanges = pa.array(["x"] * 1000)
batches = [pa.array([".".join(f"w{chance.randrange(14)}" for _ in range(6)) for _ in exchanges]) for _ in range(26)]

def ask(count):
    for _ in range(count):
        router.route_columns(exchanges, batches.pop())

ask(1)  # imports and kernels are no caches
"""


@needs_proc
def test_memory_does_not_grow_with_batches() -> None:
    """Every batch has routes of its own; the caches fill, are cleared and fill again, and then nothing more stays."""
    assert peak("ask(18)", BATCHES) < 12 * MB
    assert peak("ask(6)", BATCHES + "ask(18)") < 1 * MB


VIEW = pa.string_view()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("cc", pa.array([["c"], None], pa.list_(VIEW))),
        ("bcc", pa.array([["c"], None], pa.large_list(pa.binary_view()))),
        ("cc", pa.array(['["c"]', None], VIEW)),
        ("headers", pa.array(['{"CC": ["c"]}', None], VIEW)),
        ("headers", pa.array([{"CC": ["c"]}, None], pa.struct([("CC", pa.list_(VIEW))]))),
        ("headers", pa.array([[("CC", ["c"])], None], pa.map_(VIEW, pa.list_(VIEW)))),
        ("headers", pa.chunked_array([pa.array([[("CC", ["c"])], None], pa.map_(VIEW, pa.list_(VIEW)))])),
    ],
    ids=lambda one: one if isinstance(one, str) else str(one.type),
)
def test_attributes_are_read_from_views(name: str, column: Any) -> None:
    """Other libraries keep text so, and Arrow takes no rows of it by itself."""
    topology = topology_of(
        exchanges=[Exchange(name="x", type="topic")],
        queues=[Queue(name="q"), Queue(name="further")],
        bindings=[
            Binding(source="x", destination="q", routing_key="a"),
            Binding(source="x", destination="further", routing_key="c"),
        ],
    )
    routed = topology.compile().route_batch(pa.array(["x", "x"], VIEW), pa.array(["a", "a"], VIEW), **{name: column})
    assert [sorted(queues) for queues in routed.columns().queues.to_pylist()] == [["further", "q"], ["q"]]


@pytest.mark.parametrize("vhost", [None, 5, b"/"], ids=str)
@pytest.mark.parametrize("engine", ["dfa", "trie"])
def test_a_vhost_that_is_no_text_is_told_of_a_batch_as_of_a_message(vhost: Any, engine: str) -> None:
    compiled = topology_of(exchanges=[Exchange(name="x", type="topic")]).compile(engine=engine)
    calls: list[Callable[[], object]] = [
        lambda: compiled.route("x", "a", vhost=vhost),
        lambda: compiled.route_batch(["x"], ["a"], vhost=vhost),
        lambda: compiled.route_columns(["x"], ["a"], vhost=vhost),
    ]
    for call in calls:
        with pytest.raises(dr.RouterError, match=r"the vhost is .*: expected str"):
            call()
