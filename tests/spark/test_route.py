"""Routing on Spark: the same queues for every message as the specification in plain Python, and no row lost."""

from __future__ import annotations

import gc
import importlib
import json
import random
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, load_definitions, topology_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ADDED = ["queues", "routed", "not_simulated", "problem"]


class Case(NamedTuple):
    """A real topology and messages for it."""

    topology: Topology
    messages: list[tuple[str, str, str]]
    """(vhost, exchange, routing key)"""


def keys_for(patterns: list[str], count: int, chance: random.Random) -> list[str]:
    """Return keys, most of which match some of the patterns: wildcards filled in, and now and then a word changed."""
    words = [*sorted({word for pattern in patterns for word in pattern.split(".")} - {"*", "#"}), "other", ""]
    keys = []
    for _ in range(count):
        key: list[str] = []
        for word in chance.choice(patterns).split("."):
            size = {"*": 1, "#": chance.choice([0, 1, 2])}.get(word)
            key += [word] if size is None else [chance.choice(words) for _ in range(size)]
        if key and chance.random() < 0.2:
            key[chance.randrange(len(key))] = chance.choice(words)
        keys.append(".".join(key))
    return keys


def with_queues(path: Path, target: Path) -> Topology:
    """Return the topology of a definitions file, with a queue added to each exchange that has none.

    An exchange that others are bound to gives the new queue everything; one where messages only start gives it what its
    first binding matches, so that a message of no interest to anyone stays unroutable.
    """
    document = json.loads(path.read_text())
    bindings = document["bindings"]
    served = {(one["vhost"], one["source"]) for one in bindings if one["destination_type"] == "queue"}
    inner = {(one["vhost"], one["destination"]) for one in bindings if one["destination_type"] == "exchange"}
    for exchange in list(document["exchanges"]):
        place = (exchange["vhost"], exchange["name"])
        if place in served:
            continue
        first = next((one["routing_key"] for one in bindings if (one["vhost"], one["source"]) == place), "#")
        name = f"added to {exchange['name']}"
        document.setdefault("queues", []).append({"vhost": place[0], "name": name, "durable": True, "arguments": {}})
        bindings.append(
            {
                "vhost": place[0],
                "source": place[1],
                "destination": name,
                "destination_type": "queue",
                "routing_key": "#" if place in inner else first,
                "arguments": {},
            }
        )
    target.write_text(json.dumps(document))
    return load_definitions(target)


def generated(topology: Topology, chance: random.Random, count: int = 400) -> Case:
    """Return messages to all exchanges that take any, with keys made from their own patterns."""
    messages = []
    declared = [one for one in topology.exchanges if not one.internal and not one.name.startswith("amq.") and one.name]
    for exchange in declared:
        patterns = [
            one.routing_key for one in topology.bindings if one.source == exchange.name and one.routing_key != "#"
        ]
        keys = keys_for(patterns or ["#"], count // len(declared) + 1, chance)
        messages += [(exchange.vhost, exchange.name, key) for key in keys]
    return Case(topology, messages)


def from_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a DataFrame of a table, which Spark takes as it is from 4.0 on."""
    if int(spark.version.split(".")[0]) >= 4:
        return spark.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], from_arrow_schema(table.schema))


def real_cases(shared: Path, folder: Path) -> dict[str, Case]:
    """Return the topologies that nobody wrote for a test, with messages."""
    chance = random.Random(2026)
    corpora = shared / "corpora"
    bindings = [json.loads(line) for line in (corpora / "fedora" / "bindings.jsonl").read_text().splitlines()]
    fedora = topology_of(
        exchanges=[Exchange(name="amq.topic", type="topic")],
        queues=[Queue(name=file) for file in sorted({one["file"] for one in bindings})],
        bindings=[Binding(source="amq.topic", destination=one["file"], routing_key=one["pattern"]) for one in bindings],
    )
    keys = (corpora / "fedora" / "keys.txt").read_text().splitlines()
    cases = {"fedora": Case(fedora, [("/", "amq.topic", key) for key in keys])}
    gridworks = sorted((corpora / "gridworks").glob("*.json"))
    assert len(gridworks) == 16
    for path in [*gridworks, corpora / "govuk" / "definitions.json"]:
        name = path.stem if path.stem != "definitions" else path.parent.name
        cases[name] = generated(with_queues(path, folder / f"{name}.json"), chance)
    delay = load_definitions(corpora / "nservicebus_delay" / "definitions.json")
    levels = [f"nsb.v2.delay-level-{number:02}" for number in (27, 27, 27, 14, 0)] + ["nsb.v2.delay-delivery"]
    keys = (corpora / "nservicebus_delay" / "keys.txt").read_text().splitlines()
    cases["nservicebus"] = Case(delay, [("/", chance.choice(levels), key) for key in keys])
    return cases


def test_real_topologies_give_each_message_the_same_queues_on_spark_and_in_plain_python(
    spark: SparkSession, shared: Path, tmp_path: Path
) -> None:
    from dfa_router.spark import route

    cases = real_cases(shared, tmp_path)
    rows = [(name, n, *message) for name, case in cases.items() for n, message in enumerate(case.messages)]
    names = ["case", "number", "vhost", "exchange", "routing_key"]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    messages = from_arrow(spark, table).coalesce(1)
    routed = [route(messages.where(messages.case == name), case.topology) for name, case in cases.items()]
    every = reduce(lambda one, other: one.union(other), routed).collect()
    assert len(every) == len(rows)
    answers = {(row.case, row.number): row for row in every}
    assert len(answers) == len(rows)
    reached: dict[str, int] = dict.fromkeys(cases, 0)
    for name, case in cases.items():
        naive = case.topology.compile(engine="naive")
        for number, (vhost, exchange, key) in enumerate(case.messages):
            expected = naive.route(exchange, key, vhost)
            row = answers[name, number]
            assert (row.exchange, row.routing_key) == (exchange, key)
            assert tuple(row.queues) == expected.queues, (name, exchange, key)
            assert row.routed == expected.routed
            assert (row.not_simulated, row.problem) == ([], None)
            reached[name] += row.routed
    for name, case in cases.items():
        floor = 0.15 if name == "fedora" else 0.5  # of the real Fedora keys most are of no interest to anyone
        assert reached[name] / len(case.messages) > floor, (name, reached[name], len(case.messages))
    assert any(reached[name] < len(case.messages) for name, case in cases.items() if "gridworks" in name)
    delay = cases["nservicebus"].topology
    assert (len(delay.bindings), sum("delay-level" in one.name for one in delay.exchanges)) == (64, 28)
    assert {len(key.split(".")) for *_, key in cases["nservicebus"].messages} <= {29, 30, 31}


TOPOLOGY = topology_of(
    vhosts=["/", "b"],
    exchanges=[
        Exchange(name="market", type="topic"),
        Exchange(name="odd", type="headers"),
        Exchange(name="inner", type="fanout", internal=True),
        Exchange(vhost="b", name="market", type="direct"),
    ],
    queues=[Queue(name="q"), Queue(vhost="b", name="r")],
    bindings=[
        Binding(source="market", destination="q", routing_key="a.#"),
        Binding(source="market", destination="odd", destination_type="exchange", routing_key="#.odd"),
        Binding(vhost="b", source="market", destination="r", routing_key="a.b"),
    ],
)

ROWS: list[tuple[str | None, str | None, str | bytes | None, list[str], list[str], str | None]] = [
    ("/", "market", "a.b", ["q"], [], None),
    ("/", "market", "", [], [], None),
    ("/", "market", "a.odd", ["q"], ["odd"], None),
    ("/", "odd", "", [], ["odd"], None),
    ("b", "market", "a.b", ["r"], [], None),
    ("b", "", "r", ["r"], [], None),
    ("/", "market", None, [], [], "routing_key is null"),
    ("/", None, "a", [], [], "exchange is null"),
    (None, "market", "a", [], [], "vhost is null"),
    ("/", "nobody", "a", [], [], "no exchange 'nobody'"),
    ("x", "market", "a", [], [], "no vhost 'x'"),
    ("/", "inner", "a", [], [], "exchange 'inner' is internal"),
    ("/", "market", "a" + ".w" * 9_999, ["q"], [], "routing_key is over AMQP's 255 bytes"),
    ("/", "market", b"a.\xff", ["q"], [], "routing_key is not valid UTF-8"),
]


def frame(spark: SparkSession, *, binary: bool = False) -> DataFrame:
    """Return the rows above as a DataFrame; as text, the key of the last row holds bytes that are no UTF-8."""
    keys = [key.encode() if isinstance(key, str) else key for *_, key, _, _, _ in ROWS]
    table = pa.table(
        {
            "vhost": [row[0] for row in ROWS],
            "exchange": [row[1] for row in ROWS],
            "routing_key": pa.array(keys, pa.binary()),
            "number": list(range(len(ROWS))),
            "pay load`": [{"n": n, "tags": ["x", None]} for n in range(len(ROWS))],
        }
    )
    messages = from_arrow(spark, table)
    return messages if binary else messages.withColumn("routing_key", messages.routing_key.cast("string"))


def check(rows: Iterable[Any], *, numbered: bool) -> None:
    """Compare rows with what is expected of them."""
    found = list(rows)
    assert len(found) == len(ROWS)
    for number, row in enumerate(sorted(found, key=lambda row: row.number) if numbered else found):
        _, _, _, queues, not_simulated, problem = ROWS[number]
        assert (row.queues, row.routed, row.not_simulated) == (queues, bool(queues), not_simulated), row
        assert (row.problem or "").startswith(problem or ""), row
        assert (row.problem is None) == (problem is None), row


def plan(frame: DataFrame) -> str:
    """Return the physical plan as text."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


@pytest.mark.parametrize("large", [False, True], ids=["string", "large_string"])
def test_rows_are_kept_and_marked_on_both_ways_through_python(spark: SparkSession, *, large: bool) -> None:
    from dfa_router.spark import route

    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", str(large).lower())
    try:
        wide = route(frame(spark), TOPOLOGY)
        assert wide.columns == ["vhost", "exchange", "routing_key", "number", "pay load`", *ADDED]
        rows = wide.collect()
        check(rows, numbered=True)
        assert sorted(row["pay load`"].n for row in rows) == list(range(len(ROWS)))
        narrow = route(frame(spark).select("exchange", "routing_key", "vhost").coalesce(1), TOPOLOGY)
        assert narrow.columns == ["exchange", "routing_key", "vhost", *ADDED]
        check(narrow.collect(), numbered=False)
        if not large:
            check(route(frame(spark, binary=True), TOPOLOGY).collect(), numbered=True)
            assert bytes(rows[-1].routing_key) == b"a.\xff" if isinstance(rows[-1].routing_key, bytes) else True
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")


def test_without_a_vhost_column_the_argument_says_which(spark: SparkSession) -> None:
    from dfa_router.spark import route

    messages = spark.createDataFrame([("market", "a.b"), ("", "r")], "exchange string, routing_key string")
    both = route(messages, TOPOLOGY, vhost="b").collect() + route(messages, TOPOLOGY).collect()
    assert [row.queues for row in both] == [["r"], ["r"], ["q"], []]


def test_the_payload_stays_in_the_jvm_and_keys_cross_once(spark: SparkSession) -> None:
    from pyspark.sql import functions as sf

    from dfa_router.spark import route

    wide = route(frame(spark), TOPOLOGY)
    asked = wide.where("routed").where(sf.size("queues") > 0).select("number", "queues", "problem")
    text = plan(asked)
    if not hasattr(sf, "arrow_udf"):
        assert text.count("MapInArrow") == 1, "before Spark 4.1, which brought Arrow UDFs"
        return
    assert text.count("ArrowEvalPython") == 1, text
    assert "MapInArrow" not in text
    assert "route_keys(exchange" in text.replace("vhost", "exchange") or "route_keys(" in text
    narrow = route(frame(spark).select("exchange", "routing_key"), TOPOLOGY)
    assert plan(narrow).count("MapInArrow") == 1


def test_messages_of_another_shape_are_refused(spark: SparkSession) -> None:
    from dfa_router.spark import route

    for schema, expected in [
        ("exchange string, key string", r"no column 'routing_key'; they have: exchange string, key string"),
        ("routing_key string", "no column 'exchange'"),
        ("exchange string, routing_key int", r"'routing_key' is int: expected a string.*Cast it"),
        ("exchange binary, routing_key string", "'exchange' is binary"),
        ("exchange string, routing_key string, vhost int", "'vhost' is int"),
        ("exchange string, routing_key string, Queues int", "a column 'queues', which the result adds.*Rename or drop"),
        ("exchange string, routing_key string, problem string", "'problem'"),
        ("exchange string, EXCHANGE string, routing_key string", "two columns 'exchange' and 'EXCHANGE'"),
        ("exchange string, exchange string, routing_key string", "two columns 'exchange'"),
    ]:
        with pytest.raises(dr.MessagesError, match=expected):
            route(spark.createDataFrame([], schema), TOPOLOGY)
    with pytest.raises(dr.OptionError, match="unknown engine 'fast'"):
        route(frame(spark), TOPOLOGY, engine="fast")


def test_a_topology_is_broadcast_once_and_let_go_with_it(spark: SparkSession) -> None:
    from dfa_router.spark import route

    module = importlib.import_module("dfa_router.spark.shipping")
    messages = frame(spark)
    gc.collect()
    before = len(module._shipped)
    topology = topology_of(exchanges=[Exchange(name="market", type="topic")])
    route(messages, topology)
    first = next(iter(module._shipped[topology].values()))
    route(messages, topology, vhost="b")
    assert list(module._shipped[topology].values()) == [first]
    route(messages, topology, engine="nfa")
    assert len(module._shipped[topology]) == 2
    del topology, first
    gc.collect()
    assert len(module._shipped) == before


def test_workers_keep_their_router_from_query_to_query(spark: SparkSession) -> None:
    from dfa_router.spark import route

    fingerprint = TOPOLOGY.compile(cache_bytes=12_345_678).fingerprint
    messages = spark.createDataFrame([("market", "a.b")] * 500, "exchange string, routing_key string").coalesce(1)
    for _ in range(8):
        assert route(messages, TOPOLOGY, cache_bytes=12_345_678).where("routed").count() == 500

    def matched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return how many keys this worker has matched, as its own router counts them."""
        from dfa_router.spark import _worker

        for _ in batches:
            pass
        router = _worker._routers.get(fingerprint)
        matcher = router.matcher(router.node_numbers["/", "market"]) if router else None
        yield pa.RecordBatch.from_pydict({"keys": [matcher.stats().keys if matcher else 0]})

    counts = [row.keys for row in spark.range(8, numPartitions=8).mapInArrow(matched, "keys long").collect()]
    assert max(counts) >= 1000, f"a few workers share eight queries of 500 rows: {counts}"


def test_the_worker_keeps_a_few_routers() -> None:
    from dfa_router.spark import _worker

    before = dict(_worker._routers)
    try:
        for number in range(_worker.KEPT + 2):
            _worker.router_for(f"f{number}", TOPOLOGY.compile)
            _worker.router_for("f0", TOPOLOGY.compile)
        assert len(_worker._routers) == _worker.KEPT
        assert "f0" in _worker._routers, "what is used stays"
        assert "f1" not in _worker._routers
    finally:
        _worker._routers.clear()
        _worker._routers.update(before)
