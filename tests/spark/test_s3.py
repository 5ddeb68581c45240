"""Logs and results in a store of objects, which cannot rename: an S3 of moto's, in this process and on loopback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import dfa_router as dr
from dfa_router.logs.owners import mark
from dfa_router.logs.publishing import staged_remotely
from dfa_router.logs.stores import Place, place_of
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
moto_server = pytest.importorskip("moto.server", reason="needs moto: pip install 'moto[server]'")

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="a.#")],
)


class Store:
    """A bucket, and the URIs of what is in it."""

    def __init__(self, port: int) -> None:
        self._options = f"endpoint_override=127.0.0.1:{port}&scheme=http&allow_bucket_creation=true"
        self.fs = self.place("").store
        self.fs.create_dir("bucket")
        self.fs.delete_dir_contents("bucket")  # moto has one memory for all its servers of a process

    def uri(self, path: str) -> str:
        return f"s3://key:secret@bucket/{path}?{self._options}"

    def place(self, path: str) -> Place:
        found = place_of(self.uri(path))
        assert found is not None
        return found

    def names(self, path: str = "bucket") -> list[str]:
        infos = self.fs.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
        return sorted(info.path.removeprefix("bucket/") for info in infos if info.type == fs.FileType.File)


@pytest.fixture
def store() -> Iterator[Store]:
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        yield Store(server.get_host_and_port()[1])
    finally:
        server.stop()


def route(spark: SparkSession, log: str, out: str, **options: Any) -> Any:
    from dfa_router.spark.job import route_log

    return route_log(spark, TOPOLOGY, log, out, kind="parquet", out_kind="parquet", **options)


def _fail(attempts: Place) -> None:
    with attempts.store.open_output_stream(attempts.beside("part").path) as file:
        file.write(b"half")
    raise ZeroDivisionError


def write_log(store: Store, rows: int = 4) -> None:
    for day in (1, 2):
        table = pa.table({"exchange": ["x"] * rows, "routing_key": ["a.b", "z"] * (rows // 2)})
        store.fs.create_dir(f"bucket/log/day={day}", recursive=True)
        pq.write_table(table, f"bucket/log/day={day}/1.parquet", filesystem=store.fs)


def test_a_log_in_a_store_is_routed_to_the_store(spark: SparkSession, store: Store) -> None:
    write_log(store)
    out = store.uri("out")
    summary = route(spark, store.uri("log"), out)
    assert (summary.messages, summary.routed, summary.way) == (8, 4, "files")
    table = pq.read_table("bucket/out", filesystem=store.fs)
    assert sorted(zip(table["day"].to_pylist(), table["queues"].to_pylist(), strict=True)) == sorted(
        [(day, queues) for day in (1, 2) for queues in ([], [], ["q"], ["q"])]
    )
    names = store.names("bucket/out")
    assert "out/_SUCCESS" in names
    assert not [name for name in names if "_temporary" in name]
    with pytest.raises(dr.MessagesError, match="exists already; choose another"):
        route(spark, store.uri("log"), out)
    assert store.names("bucket/out") == names
    assert route(spark, store.uri("log/day=*"), out, overwrite=True).messages == 8
    assert len(store.names("bucket/out")) == len(names)
    assert not set(store.names("bucket/out")) & set(names) - {"out/_SUCCESS"}


def test_a_table_in_a_store_is_no_log_of_files(spark: SparkSession, store: Store) -> None:
    from dfa_router.spark.table_logs import found_table

    write_log(store)
    assert found_table(spark, store.uri("log")) is None
    with store.fs.open_output_stream("bucket/log/_delta_log/0.json") as file:
        file.write(b"{}")
    found = found_table(spark, store.uri("log"))
    assert found is not None
    assert found.format == "delta"
    with pytest.raises(dr.MessagesError, match="lies in the Delta table"):
        found_table(spark, store.uri("log/day=1"))


def test_a_failed_run_leaves_nothing_in_the_store(spark: SparkSession, store: Store) -> None:
    write_log(store)
    store.fs.create_dir("bucket/keyless")
    pq.write_table(pa.table({"exchange": ["x"]}), "bucket/keyless/1.parquet", filesystem=store.fs)
    before = store.names()
    with pytest.raises(dr.MessagesError, match="no column 'routing_key'"):
        route(spark, store.uri("keyless"), store.uri("out"))
    with pytest.raises(ZeroDivisionError), staged_remotely("out", store.place("out"), overwrite=False) as draft:
        _fail(draft.attempts)
    assert store.names() == before


@pytest.mark.parametrize("kept", ["attempts", "half a commit"])
def test_what_a_killed_run_left_is_mended_by_overwriting(spark: SparkSession, store: Store, kept: str) -> None:
    write_log(store)
    names = ["out/_temporary/killed/part-0.parquet"] + ["out/part-0.parquet"] * (kept == "half a commit")
    for name in names:
        with store.fs.open_output_stream(f"bucket/{name}") as file:
            file.write(b"half")
    if kept == "half a commit":
        with pytest.raises(dr.MessagesError, match=r"holds files, but no complete result; .*--overwrite"):
            route(spark, store.uri("log"), store.uri("out"))
    assert route(spark, store.uri("log"), store.uri("out"), overwrite=True).messages == 8
    assert not set(names) & set(store.names())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are told apart by /proc")
@pytest.mark.parametrize("overwrite", [False, True])
def test_attempts_of_a_process_that_has_ended_are_removed_and_those_of_others_stay(
    store: Store, *, overwrite: bool
) -> None:
    line = [sys.executable, "-c", "from dfa_router.logs.owners import mark; print(mark())"]
    ended = subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
    for owner in (ended, mark(), "0123456789abcdef-1-1"):
        with store.fs.open_output_stream(f"bucket/out/_temporary/{owner}-{'0' * 32}/part") as file:
            file.write(b"half")
    with staged_remotely("out", store.place("out"), overwrite=overwrite) as draft:
        draft.publish([])
    left = {name.split("/")[2].rpartition("-")[0] for name in store.names("bucket/out") if "_temporary" in name}
    assert left == ({mark()} if overwrite else {mark(), "0123456789abcdef-1-1"})


def test_what_appeared_meanwhile_is_left_as_it_is(spark: SparkSession, store: Store) -> None:
    write_log(store)

    def appear(label: str, _done: int, _total: int) -> None:
        if label == "counting":
            with store.fs.open_output_stream("bucket/out/other") as file:
                file.write(b"of another run")

    with pytest.raises(dr.JobError, match=r"something appeared there.*the complete result is in bucket/out\.\w{8}"):
        route(spark, store.uri("log"), store.uri("out"), report=appear)
    assert store.names("bucket/out") == ["out/other"]
    (kept,) = [name for name in store.names() if name.endswith("_SUCCESS")]
    assert pq.read_table(f"bucket/{kept.rpartition('/')[0]}", filesystem=store.fs).num_rows == 8
