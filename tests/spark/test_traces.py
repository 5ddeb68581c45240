"""Traces on Spark: the data source, at once and as a stream that is stopped anywhere, and the job's way through frames."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dfa_router.errors import EnvironmentLacksError, MessagesError
from dfa_router.logs.planning import OtherWayError
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATA = Path(__file__).parents[1] / "data" / "traces"
FORMS = ["json", "text"]
TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q1"), Queue(name="q.ü")],
    bindings=[
        Binding(source="x", destination="q1", routing_key="a.#"),
        Binding(source="x", destination="q.ü", routing_key="*.b"),
    ],
)


@pytest.fixture
def source(spark: SparkSession) -> str:
    if not hasattr(spark, "dataSource"):
        pytest.skip("needs Spark 4.0, which brought data sources in Python")
    from dfa_router.spark import register_trace_source

    return register_trace_source(spark)


def records(form: str, count: int, first: int = 0) -> bytes:
    """Return records of messages with keys a.<number>, as the plugin writes them."""
    if form == "json":
        line = json.loads((DATA / "rabbitmq-3.10-json.log").read_text("utf-8").splitlines()[0])
        return b"".join(
            json.dumps(line | {"routing_keys": [f"a.{number}"]}, separators=(",", ":")).encode() + b"\n"
            for number in range(first, first + count)
        )
    data = (DATA / "rabbitmq-3.10-text.log").read_bytes()
    record = data[: data.index(b"\n" + b"=" * 80, 1)]
    return b"".join(record.replace(b'<<"a.b">>', f'<<"a.{n}">>'.encode()) for n in range(first, first + count))


def test_before_spark_4_a_sentence_says_so(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from dfa_router.spark import register_trace_source

    monkeypatch.delattr(type(spark), "dataSource", raising=False)
    with pytest.raises(
        EnvironmentLacksError, match=rf"needs Spark 4\.0 or newer, and this is {re.escape(spark.version)}"
    ):
        register_trace_source(spark)


@pytest.mark.parametrize("form", FORMS)
def test_records_at_once(spark: SparkSession, source: str, form: str, tmp_path: Path) -> None:
    shutil.copy(DATA / f"rabbitmq-3.10-{form}.log", tmp_path / "a.log")
    whole = (tmp_path / "a.log").read_bytes()
    (tmp_path / "b.log").write_bytes(whole[:-40] if form == "json" else whole + whole[:300])
    trace = spark.read.format(source).load(str(tmp_path))
    rows = trace.collect()
    readable = [row for row in rows if row.read_problem is None]
    (cut,) = [row for row in rows if row.read_problem is not None]
    assert len(readable) == (29 if form == "json" else 30)
    assert cut.unreadable_line
    assert cut.routing_key is None
    assert Counter(row.type for row in readable)["received"] == 2
    published = spark.read.format(source).option("published", True).load(str(tmp_path))
    assert published.where("read_problem is null").count() == len(readable) - 2
    assert {tuple(row.cc) for row in readable if row.cc} == {("c.b", "zz", "a.q"), ("nope2",)}


def test_what_is_wrong_is_said(spark: SparkSession, source: str, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    (tmp_path / "syslog.log").write_text("Nov 22 started\n")
    for reader, said in (
        (spark.read.format(source).option("path", str(tmp_path / "syslog.log")), "is no trace log"),
        (spark.read.format(source), "give the file or folder"),
        (spark.read.format(source).option("paths", '["a", "b"]'), "takes one path: give a folder or a pattern"),
        (spark.read.format(source).schema("a int").option("path", str(tmp_path)), "leave schema"),
        (
            spark.read.format(source).option("published", "maybe").option("path", str(tmp_path)),
            "expected true or false",
        ),
    ):
        with pytest.raises(PySparkException, match=said):
            reader.load().collect()


def test_a_folder_is_read_with_all_below_it_and_one_without_a_trace_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.datasource")
    from dfa_router.spark.trace_source import TraceSource

    def count() -> int:
        source = TraceSource({"path": str(tmp_path)})
        reader = source.reader(source.schema())
        return sum(len(batch) for part in reader.partitions() for batch in reader.read(part))

    with pytest.raises(MessagesError, match=f"{tmp_path}: cannot be read: there are no files; give a file"):
        count()
    for name in ("a.log", "old/b.log", "day=1/c.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(records("json", 2))
    assert count() == 6


def test_a_file_that_is_cut_or_gone_is_named_by_the_worker_that_reads_it(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.datasource")
    from dfa_router.spark.trace_source import TraceSource

    log = tmp_path / "a.log.gz"
    # So long that the damage lies behind what is read of it for the plan.
    log.write_bytes(gzip.compress(records("json", 20_000))[:-9])
    source = TraceSource({"path": str(log)})
    reader = source.reader(source.schema())
    parts = reader.partitions()
    with pytest.raises(
        MessagesError, match=r"a\.log\.gz: cannot be read: Truncated compressed stream; read it again if"
    ):
        [list(reader.read(part)) for part in parts]
    log.unlink()
    with pytest.raises(MessagesError, match=r"a\.log\.gz: cannot be read: .*No such file"):
        [list(reader.read(part)) for part in parts]


def test_a_growing_file_that_is_gone_before_it_was_read_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.datasource")
    from dfa_router.spark.trace_source import TraceSource

    log = tmp_path / "a.log"
    log.write_bytes(records("json", 2))
    source = TraceSource({"path": str(tmp_path)})
    reader: Any = source.streamReader(source.schema())
    (part,) = reader.partitions(reader.initialOffset(), reader.latestOffset())
    log.unlink()
    with pytest.raises(MessagesError, match=r"a\.log: is not there any more; start with a new checkpoint"):
        list(reader.read(part))


def step(spark: SparkSession, source: str, folder: Path) -> None:
    """Run a stream from the folder's traces into files until all that is there has been read."""
    trace = spark.readStream.format(source).load(str(folder / "traces")).select("routing_key", "read_problem")
    writer = trace.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "out"))
    try:
        assert query.awaitTermination(300)
    finally:
        query.stop()


def written(spark: SparkSession, folder: Path) -> Counter[str]:
    return Counter(row.routing_key for row in spark.read.parquet(str(folder / "out")).collect())


def last(folder: Path) -> Path:
    return max((path for path in folder.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))


def forget(path: Path) -> None:
    """Remove a file of Spark's log, and its checksum."""
    path.unlink()
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("form", ["json", pytest.param("text", marks=pytest.mark.long)])
def test_a_stream_that_is_stopped_in_each_phase(spark: SparkSession, source: str, form: str, tmp_path: Path) -> None:
    """After the offset was noted, after the files were written, after the sink has noted them, before the batch is committed."""
    traces, checkpoint = tmp_path / "traces", tmp_path / "checkpoint"
    traces.mkdir()
    log, other = traces / "a.log", traces / "b.log"
    count = 0

    def grow(more: int) -> None:
        nonlocal count
        with log.open("ab") as file:
            file.write(records(form, more, count))
        count += more

    def expected() -> Counter[str]:
        # The last record of a file in text waits for the next one.
        return Counter(f"a.{number}" for number in range(count - (form == "text")))

    grow(5)
    step(spark, source, tmp_path)
    assert written(spark, tmp_path) == expected()

    grow(4)  # stopped when the offset was noted, and nothing else
    step(spark, source, tmp_path)
    forget(last(checkpoint / "commits"))
    forget(last(tmp_path / "out" / "_spark_metadata"))
    grow(2)
    step(spark, source, tmp_path)  # the batch that was begun
    step(spark, source, tmp_path)  # what has come since
    assert written(spark, tmp_path) == expected()

    grow(3)  # stopped when the sink has noted the batch
    step(spark, source, tmp_path)
    forget(last(checkpoint / "commits"))
    step(spark, source, tmp_path)
    assert written(spark, tmp_path) == expected()

    half = records(form, 2, count)  # a record is half written
    with log.open("ab") as file:
        file.write(half[: len(half) // 2 + 20])
    step(spark, source, tmp_path)
    with log.open("ab") as file:
        file.write(half[len(half) // 2 + 20 :])
    count += 2
    step(spark, source, tmp_path)
    assert written(spark, tmp_path) == expected()

    other.write_bytes(records(form, 3, 1_000))
    step(spark, source, tmp_path)
    log.unlink()  # a trace is deleted, and another one begun under its name
    log.write_bytes(records(form, 40, 2_000).replace(b"127.0.0.1", b"127.0.0.9"))
    step(spark, source, tmp_path)
    late = form == "text"
    both = [*range(1_000, 1_003 - late), *range(2_000, 2_040 - late)]
    assert written(spark, tmp_path) == expected() + Counter(f"a.{number}" for number in both)


def test_a_stream_is_routed(spark: SparkSession, source: str, tmp_path: Path) -> None:
    from dfa_router.spark import route

    (tmp_path / "traces").mkdir()
    shutil.copy(DATA / "rabbitmq-3.10-json.log", tmp_path / "traces" / "a.log")
    trace = spark.readStream.format(source).option("published", True).load(str(tmp_path / "traces"))
    routed = route(trace.select("exchange", "routing_key", "vhost", "routed_queues"), TOPOLOGY)
    query = (
        routed.writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    assert query.awaitTermination(300)
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert len(rows) == 14
    assert all(row.queues == row.routed_queues for row in rows if row.exchange == "x")


@pytest.mark.parametrize("form", FORMS)
def test_both_ways_of_the_job_say_the_same(spark: SparkSession, form: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from dfa_router.spark import job
    from dfa_router.spark.job import route_log

    log = tmp_path / "a.log"
    whole = (DATA / f"rabbitmq-3.10-{form}.log").read_bytes()
    log.write_bytes(whole + whole[:300])
    results: dict[str, list[dict[str, Any]]] = {}
    summaries = {}
    for way in ("files", "frames"):
        with pytest.MonkeyPatch.context() as patch:
            if way == "frames":
                patch.setattr(job, "_plan", lambda *_: OtherWayError(""))
            out = tmp_path / way
            summaries[way] = route_log(spark, TOPOLOGY, str(log), str(out), kind="trace", out_kind="parquet")
        assert summaries[way].way == way
        rows = pq.read_table(out).to_pylist()
        results[way] = sorted(rows, key=lambda row: json.dumps(row, default=str, sort_keys=True))
    assert results["files"] == results["frames"]
    assert len(results["files"]) == 15
    # Messages with CC and BCC are among them. The default exchange's record names queues that are not there.
    for row in results["files"]:
        known = {"q1", "q.ü"} & set(row["routed_queues"] or ())
        assert set(row["queues"]) == known, row["routing_keys"]
    for name in ("messages", "routed", "unroutable", "copies", "problem_rows"):
        assert getattr(summaries["files"], name) == getattr(summaries["frames"], name)
    assert summaries["files"].problem_rows == 1
