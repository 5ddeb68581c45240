"""Options of routing on Spark: rows per copy, fates, names of columns, and how many rows are routed at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from dfa_router.rabbitmq.routed_columns import CHOICE, ROUTED, RoutedColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ADDED = ["queues", "routed", "not_simulated", "problem"]

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic"), Exchange(name="odd", type="x-unheard-of")],
    queues=[Queue(name="q"), Queue(name="r")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.#"),
        Binding(source="x", destination="r", routing_key="*.b"),
        Binding(source="x", destination="odd", destination_type="exchange", routing_key="a.odd"),
    ],
)

MESSAGES = [
    (1, "x", "a.b", ["q", "r"], "routed"),
    (2, "x", "none", [], "unroutable"),
    (3, "odd", "k", [], "undecided"),
    (4, "x", None, [], "problem"),
    (5, "nobody", "a.b", [], "problem"),
    (6, "x", "a.odd", ["q"], "routed"),
    (7, "x", "a" + ".w" * 200, ["q"], "routed"),
]


@contextmanager
def setting(spark: SparkSession, name: str, value: object) -> Iterator[None]:
    """Set one of Spark's settings within the block."""
    spark.conf.set(name, str(value))
    try:
        yield
    finally:
        spark.conf.unset(name)


def frame(spark: SparkSession, names: Sequence[str] = ("exchange", "routing_key"), *, wide: bool = True) -> DataFrame:
    """Return the messages, with their numbers or without: then they take the other way through Python."""
    rows = spark.createDataFrame(
        [row[:3] for row in MESSAGES], f"number int, `{names[0]}` string, `{names[1]}` string"
    ).coalesce(1)
    return rows if wide else rows.drop("number")


both_ways = pytest.mark.parametrize("wide", [True, False], ids=["wide", "narrow"])


@both_ways
def test_a_row_per_copy_and_one_for_each_message_without(spark: SparkSession, *, wide: bool) -> None:
    from dfa_router.spark import route

    routed = route(frame(spark, wide=wide), TOPOLOGY, explode=True, fate=True)
    assert routed.columns == [*["number"] * wide, "exchange", "routing_key", "queue", *ADDED[1:], "fate"]
    found = [(row.exchange, row.routing_key, row.queue, row.fate) for row in routed.collect()]
    nobody: list[str | None] = [None]
    expected = [
        (exchange, key, queue, fate) for _, exchange, key, queues, fate in MESSAGES for queue in queues or nobody
    ]
    assert found == expected


@both_ways
def test_fates(spark: SparkSession, *, wide: bool) -> None:
    from dfa_router.spark import route

    routed = route(frame(spark, wide=wide), TOPOLOGY, fate=True)
    assert routed.columns[-5:] == [*ADDED, "fate"]
    assert [(row.queues, row.fate) for row in routed.collect()] == [(queues, fate) for *_, queues, fate in MESSAGES]


@both_ways
def test_key_columns_of_other_names(spark: SparkSession, *, wide: bool) -> None:
    from dfa_router.spark import route

    names = {"exchange": "my ex.`", "routing_key": "subject"}
    messages = frame(spark, ["my ex.``", "subject"], wide=wide)
    routed = route(messages, TOPOLOGY, columns=names)
    assert routed.columns == [*messages.columns, *ADDED]
    assert [row.queues for row in routed.collect()] == [queues for *_, queues, _ in MESSAGES]
    with pytest.raises(dr.MessagesError, match=r"no column 'exchange'.*columns=\{'exchange': \.\.\.\}"):
        route(messages, TOPOLOGY)
    with pytest.raises(dr.MessagesError, match="no column 'place'"):
        route(messages, TOPOLOGY, columns={**names, "vhost": "place"})
    with pytest.raises(dr.OptionError, match="'key' is no key of a message; expected exchange, routing_key, vhost"):
        route(messages, TOPOLOGY, columns={"key": "subject"})


@both_ways
def test_columns_are_found_as_spark_finds_them(spark: SparkSession, *, wide: bool) -> None:
    from dfa_router.spark import route

    messages = frame(spark, ["Exchange", "Routing_Key"], wide=wide)
    routed = route(messages, TOPOLOGY)
    assert routed.columns == [*messages.columns, *ADDED]
    assert [row.queues for row in routed.collect()] == [queues for *_, queues, _ in MESSAGES]
    with setting(spark, "spark.sql.caseSensitive", "true"):
        with pytest.raises(dr.MessagesError, match=r"no column 'exchange'; they have: .*Exchange string"):
            route(messages, TOPOLOGY)
        other = frame(spark, wide=wide).selectExpr("*", "1 as Queues", "2 as EXCHANGE")
        assert [row.queues for row in route(other, TOPOLOGY).collect()] == [queues for *_, queues, _ in MESSAGES]


@pytest.mark.parametrize("text", ["'a.b'", "'a.b' COLLATE UTF8_LCASE"])
def test_columns_of_files_with_a_collation_pass_through(spark: SparkSession, tmp_path: Path, text: str) -> None:
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 4.0 brought collations")
    from dfa_router.spark import route

    path = str(tmp_path / "log")
    query = f"SELECT 'x' AS exchange, {text} AS routing_key, array('W' COLLATE UNICODE_CI) AS who, id FROM range(3)"
    spark.sql(query).write.parquet(path)
    read = spark.read.parquet(path)
    routed = route(read, TOPOLOGY)
    assert list(routed.schema)[:4] == list(read.schema)
    assert sorted((row.id, row.who, row.queues) for row in routed.collect()) == [
        (number, ["W"], ["q", "r"]) for number in range(3)
    ]


def test_two_topologies_in_a_row(spark: SparkSession) -> None:
    """Each queue of the first is an exchange of the second, as where a shovel moves messages on."""
    from dfa_router.spark import route

    beyond = topology_of(
        exchanges=[Exchange(name="q", type="topic"), Exchange(name="r", type="direct")],
        queues=[Queue(name="far")],
        bindings=[Binding(source="q", destination="far", routing_key="#.b")],
    )
    first = route(frame(spark), TOPOLOGY, explode=True, prefix="near_")
    second = route(first, beyond, columns={"exchange": "near_queue"}, prefix="far_", fate=True)
    near, far = [f"near_{name}" for name in ADDED[1:]], [f"far_{name}" for name in ADDED]
    assert second.columns[3:] == ["near_queue", *near, *far, "far_fate"]
    found = [(row.number, row.near_queue, row.far_queues, row.far_fate) for row in second.collect()]
    assert found[:3] == [(1, "q", ["far"], "routed"), (1, "r", [], "unroutable"), (2, None, [], "problem")]
    with pytest.raises(dr.MessagesError, match=r"a column 'near_routed', which the result adds.*set a prefix"):
        route(first, TOPOLOGY, explode=True, prefix="near_")


@pytest.mark.slow
@pytest.mark.parametrize("columnar", [False, True], ids=["rows", "columnar"])
@pytest.mark.parametrize("batch_rows", [1, 10_000, 100_000])
def test_batches_are_gathered_and_no_row_changes_its_place(
    spark: SparkSession, tmp_path: Path, batch_rows: int, *, columnar: bool
) -> None:
    from dfa_router.spark import route

    log = str(tmp_path / "log")
    spark.range(50_000, numPartitions=2).selectExpr(
        "'x' as exchange", "concat(if(id % 3 = 0, 'a.', 'n.'), if(id % 5 = 0, 'b', 'c')) as routing_key", "id"
    ).write.parquet(log)
    with setting(spark, "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled", columnar):
        routed = route(spark.read.parquet(log), TOPOLOGY, batch_rows=batch_rows)
        expected = "array_compact(array(if(id % 3 = 0, 'q', null), if(id % 5 = 0, 'r', null)))"
        assert routed.where(f"queues = {expected}").count() == 50_000
        assert route(spark.read.parquet(log).drop("id"), TOPOLOGY, batch_rows=batch_rows).where("routed").count() == (
            sum(n % 3 == 0 or n % 5 == 0 for n in range(50_000))
        )
    with pytest.raises(dr.OptionError, match="batch_rows is 0: expected a number of rows from 1 up"):
        route(spark.read.parquet(log), TOPOLOGY, batch_rows=0)


FANOUT = topology_of(
    exchanges=[Exchange(name="x", type="fanout")],
    queues=[Queue(name=f"q{number}") for number in range(10)],
    bindings=[Binding(source="x", destination=f"q{number}") for number in range(10)],
)


class Calls:
    """A router that keeps how many rows it was called with, and says for each row where it stands."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def route_batch(self, exchanges: Any, keys: Any, vhosts: Any, *, vhost: str) -> Any:
        rows = len(keys)
        self.sizes.append(rows)
        empty = pa.array([[]] * rows, pa.list_(pa.string()))
        columns = RoutedColumns(empty, pa.array([False] * rows), empty, keys.combine_chunks(), pa.nulls(0, CHOICE))
        return SimpleNamespace(columns=lambda: columns)


def test_a_worker_reads_ahead_to_a_bound_and_answers_in_the_lengths_that_came() -> None:
    from dfa_router.spark import _worker

    router, read = Calls(), 0
    plan = _worker.Plan(
        fingerprint="calls", packed=("",), keys=("exchange", "routing_key"), vhost="/", batch_rows=10_000
    )
    lengths = [4096, 4096, 4096, 1, 0, 20_000, 3, 5]

    def columns() -> Iterator[tuple[pa.Array, pa.Array]]:
        nonlocal read
        start = 0
        for length in lengths:
            read += 1
            yield pa.array(["x"] * length, pa.string()), pa.array(map(str, range(start, start + length)), pa.string())
            start += length

    _worker._routers["calls"] = router  # type: ignore[assignment]
    try:
        answers, seen = [], []
        for answer in _worker.route_keys(plan, columns()):
            answers.append(answer)
            seen.append(read)
    finally:
        del _worker._routers["calls"]
    assert router.sizes == [3 * 4096, 20_001, 8]
    assert list(map(len, answers)) == lengths
    assert seen == [3, 3, 3, 6, 6, 6, 8, 8], "no more is read than is asked for"
    problems = [text for answer in answers for text in answer.field("problem").to_pylist()]
    assert problems == list(map(str, range(sum(lengths))))


def test_a_group_with_more_names_than_a_column_holds_is_named_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    from dfa_router.rabbitmq import name_lists
    from dfa_router.spark import _worker

    router = FANOUT.compile()
    keys, rows = ("exchange", "routing_key"), 50
    plan = _worker.Plan(fingerprint="wide", packed=("",), keys=keys, columns=(0, 1), vhost="/", batch_rows=1_000,
                        output=(*keys, *(field.name for field in ROUTED)))  # fmt: skip
    columns = tuple(pa.array([name] * rows) for name in ("x", "a"))
    monkeypatch.setattr(name_lists, "MOST", 3 * rows * 10)
    monkeypatch.setitem(_worker._routers, "wide", router)
    with pytest.raises(dr.CapacityError):
        router.route_batch(["x"] * 4 * rows, ["a"] * 4 * rows).columns()
    whole = list(_worker.route_batches(plan, [pa.record_batch(list(columns), list(keys))] * 4))
    parts = list(_worker.route_keys(plan, [columns] * 4))
    assert [len(one) for one in whole] == [len(one) for one in parts] == [rows] * 4
    names = [f"q{number}" for number in range(10)]
    assert all(one["queues"].to_pylist() == [names] * rows for one in whole)
    assert all(one.field("queues").to_pylist() == [names] * rows for one in parts)


def test_groups_are_bounded_in_bytes() -> None:
    from dfa_router.spark._worker import gathered

    groups = list(gathered([5, 5, 5, 20, 1, 1], 100, lambda size: (1, size), most_bytes=10))
    assert groups == [[5, 5], [5, 20], [1, 1]]
    assert list(gathered([], 1, lambda _: (1, 1))) == []


@pytest.mark.parametrize("given", ["definitions.json", TOPOLOGY.compile(), None], ids=["path", "router", "none"])
def test_what_is_no_topology_is_refused(spark: SparkSession, given: Any) -> None:
    from dfa_router.spark import register, route

    messages = spark.createDataFrame([("x", "a")], "exchange string, routing_key string")
    for call in (lambda: route(messages, given), lambda: register(spark, given)):
        with pytest.raises(
            dr.RouterError, match=r"topology is \w+: expected a Topology, as dfa_router.load_definitions"
        ):
            call()


@pytest.mark.parametrize("given", [5, None, "messages", [("x", "a")]], ids=["number", "none", "name", "rows"])
def test_what_is_no_data_frame_or_session_is_refused(given: Any) -> None:
    from dfa_router.spark import check_executors, register, register_trace_source, route

    with pytest.raises(TypeError, match=r"messages is .*: expected a DataFrame of Spark"):
        route(given, TOPOLOGY)
    for call in (
        lambda: register(given, TOPOLOGY),
        lambda: register_trace_source(given),
        lambda: check_executors(given),
    ):
        with pytest.raises(TypeError, match=r"session is .*: expected a SparkSession"):
            call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vhost": None}, "vhost is None: expected text"),
        ({"vhost": 5}, "vhost is 5: expected text"),
        ({"prefix": None}, "prefix is None: expected text"),
        ({"columns": "routing_key"}, "columns is 'routing_key': expected names by key, such as"),
        ({"columns": ["routing_key"]}, r"columns is \['routing_key'\]: expected names by key"),
        ({"columns": {"routing_key": None}}, "columns: 'routing_key' is None: expected the name of a column"),
        ({"explode": "no"}, "explode is 'no': expected True or False"),
        ({"fate": None}, "fate is None: expected True or False"),
        ({"engine": ["dfa"]}, r"unknown engine \['dfa'\]: use one of dfa, nfa"),
        ({"cache_bytes": [5]}, r"cache_bytes is \[5\]: expected a number of bytes"),
    ],
    ids=str,
)
def test_wrong_options_are_refused_before_the_job(spark: SparkSession, options: dict[str, Any], message: str) -> None:
    from dfa_router.spark import register, route

    messages = spark.createDataFrame([("x", "a")], "exchange string, routing_key string")
    with pytest.raises(dr.OptionError, match=message):
        route(messages, TOPOLOGY, **options)
    if not options.keys() & {"prefix", "columns", "explode", "fate"}:
        with pytest.raises(dr.OptionError, match=message):
            register(spark, TOPOLOGY, **options)


@pytest.mark.parametrize("tasks", [0, -1, "x", 2.5, True], ids=repr)
def test_executors_are_asked_by_a_number_of_tasks(spark: SparkSession, tasks: Any) -> None:
    from dfa_router.spark import check_executors

    with pytest.raises(dr.OptionError, match=r"tasks is .*: expected a number of tasks from 1 up"):
        check_executors(spark, tasks=tasks)
