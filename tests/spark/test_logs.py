"""Logs of several files, and lines that say more than Spark reads: no column and no row is lost, and each is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TOPOLOGY = topology_of(
    vhosts=["/", "b"],
    exchanges=[Exchange(name="x", type="topic"), Exchange(vhost="b", name="x", type="topic")],
    queues=[Queue(name="q"), Queue(vhost="b", name="r")],
    bindings=[
        Binding(source="x", destination="q", routing_key="#"),
        Binding(vhost="b", source="x", destination="r", routing_key="#"),
    ],
)

KEYS = {"exchange": ["x"], "routing_key": ["a"]}


def routed(spark: SparkSession, log: Path, kind: str, out: Path) -> list[dict[str, Any]]:
    """Route a log and return its rows, by their column ``n``."""
    from dfa_router.spark.job import route_log

    summary = route_log(spark, TOPOLOGY, str(log), str(out), kind=kind, out_kind="parquet")
    rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    assert len(rows) == summary.messages
    return sorted(rows, key=lambda row: int(row["n"]))


def test_parquet_files_of_other_columns_keep_them_whichever_file_comes_first(
    spark: SparkSession, tmp_path: Path
) -> None:
    with_vhost = pa.table({**KEYS, "vhost": ["b"], "n": [1], "note": ["kept"]})
    without = pa.table({**KEYS, "n": [2]})
    for order, (first, second) in enumerate([(with_vhost, without), (without, with_vhost)]):
        log = tmp_path / f"log{order}"
        log.mkdir()
        pq.write_table(first, log / "1.parquet")
        pq.write_table(second, log / "2.parquet")
        one, two = routed(spark, log, "parquet", tmp_path / f"out{order}")
        assert (one["vhost"], one["note"], one["queues"], one["problem"]) == ("b", "kept", ["r"], None)
        assert (two["vhost"], two["note"], two["queues"], two["problem"]) == (None, None, [], "vhost is null")


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (
            [pa.int32(), pa.int32(), pa.int64()],
            r"3 \[é\].parquet: column 'n' is bigint, but int in .*1 \[é\].parquet: ",
        ),
        (
            [None, pa.string(), pa.null()],
            r"3 \[é\].parquet: column 'n' is int, but string in .*2 \[é\].parquet: ",
        ),
        (
            [pa.struct([("m", pa.int64())]), pa.struct([("k", pa.int64())]), pa.struct([("k", pa.string())])],
            r"3 \[é\].parquet: column 'n' is struct<k:string>, but struct<k:bigint> in .*2 \[é\].parquet: ",
        ),
    ],
    ids=["widths", "nulls", "nested"],
)
def test_a_parquet_column_of_two_types_names_files_column_types_and_remedy(
    spark: SparkSession, tmp_path: Path, types: list[pa.DataType | None], expected: str
) -> None:
    for number, kind in enumerate(types, 1):
        column = {} if kind is None else {"n": pa.nulls(1, kind)}
        pq.write_table(pa.table({**KEYS, **column}), tmp_path / f"{number} [é].parquet")
    with pytest.raises(dr.MessagesError, match=expected + "write it with one type in all files") as refused:
        routed(spark, tmp_path, "parquet", tmp_path.with_suffix(".out"))
    assert ("nothing but nulls" in str(refused.value)) == (
        "is int," in str(refused.value) or "but int" in str(refused.value)
    )


def test_csv_files_are_read_by_their_own_headers(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for day in ("day=1", "day=2"):
        (log / day).mkdir(parents=True)
    (log / "day=1" / "a, b [1].csv").write_text(
        "exchange,routing_key,n\nx,a,1\nx,,2\nx,a\n".replace("x,a\n", "x,a,3,4\n")
    )
    (log / "day=1" / "c%20.csv").write_bytes(b"\xef\xbb\xbfn,routing_key,vhost,exchange\n4,a,b,x\n")
    (log / "day=2" / "d.csv").write_text("Exchange,Routing_Key,n\nx,a,5\n,,6\n")
    rows = routed(spark, log, "csv", tmp_path / "out")
    assert [row["n"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert [row["day"] for row in rows] == [1, 1, 1, 1, 2, 2]
    assert [row["vhost"] for row in rows] == [None, None, None, "b", None, None]
    assert [row["exchange"] for row in rows] == ["x", "x", "x", "x", "x", ""]
    assert [row["routing_key"] for row in rows] == ["a", "", "a", "a", "a", ""]
    assert [row["unreadable_line"] for row in rows] == [None, None, "x,a,3,4", None, None, None]
    assert rows[3]["queues"] == ["r"]
    assert rows[0]["problem"] == "vhost is null"
    assert rows[2]["problem"].startswith("the line has another number of fields")


def files_of(log: Path, kind: str, names: list[str]) -> None:
    """Write a file with a message under each of these names."""
    for number, name in enumerate(names):
        file = log / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if kind == "parquet":
            pq.write_table(pa.table({**KEYS, "n": [str(number)]}), file)
        elif kind == "csv":
            file.write_text(f"exchange,routing_key,n\nx,a,{number}\n")
        else:
            file.write_text(json.dumps({"exchange": "x", "routing_key": "a", "n": str(number)}) + "\n")


@pytest.fixture(params=["files", "frames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have logs routed in one of the two ways."""
    from dfa_router.logs.planning import OtherWayError
    from dfa_router.spark import job

    def refuse(*_: object) -> None:
        raise OtherWayError("the test says so")

    if request.param == "frames":
        monkeypatch.setattr(job, "plan_of", refuse)
    return str(request.param)


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_folders_that_name_no_columns_cost_no_row(spark: SparkSession, tmp_path: Path, kind: str, way: str) -> None:
    files_of(tmp_path / "log", kind, ["a [1]", "2024/b", "old/er/c", "_hidden/d"])
    rows = routed(spark, tmp_path / "log", kind, tmp_path / way)
    assert [row["n"] for row in rows] == ["0", "1", "2"]


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_files_beside_folders_that_name_columns_are_read_or_told(
    spark: SparkSession, tmp_path: Path, kind: str, way: str
) -> None:
    log = tmp_path / "log"
    files_of(log, kind, ["day=1/a", "day=2/b", "c [1]", "d"])
    if (kind, way) == ("jsonl", "files"):  # which gets no columns of folders
        assert [row["n"] for row in routed(spark, log, kind, tmp_path / "out")] == ["0", "1", "2", "3"]
        return
    left = rf"log: {log}/c \[1\] and 1 more file lie beside folders that name columns .* would be left out: move"
    with pytest.raises(dr.MessagesError, match=left):
        routed(spark, log, kind, tmp_path / "out")


@pytest.mark.parametrize("line", ['[{"exchange": "x", "routing_key": "a", "z": 1}]', '\ufeff{"exchange": "x", "z": 1}'])
def test_a_line_that_is_no_object_is_kept_though_spark_finds_columns_in_it(
    spark: SparkSession, tmp_path: Path, line: str
) -> None:
    from dfa_router.spark.logs import read_messages

    log = tmp_path / "log.jsonl"
    log.write_text('{"exchange": "x", "routing_key": "a", "n": 1}\n' + line)
    messages = read_messages(spark, str(log), "jsonl").messages
    assert messages.columns == ["exchange", "n", "routing_key", "unreadable_line", "read problem"]
    assert [tuple(row) for row in messages.orderBy(messages.n.desc()).collect()] == [
        ("x", 1, "a", None, None),
        (None, None, None, line, "the line is no JSON object"),
    ]


def test_a_key_that_stands_twice_costs_no_row(spark: SparkSession, tmp_path: Path) -> None:
    lines = [
        r'{"n": 1, "vhost": "b", "exchange": "x", "routing_key": "a", "body": {"k": 1}}',
        r'{"n": 2, "vhost": "b", "exchange": "x", "routing_key": "a", "exchange": "y"}',
        r'{"n": 3, "vhost": "b", "exchange": "x", "Exchange": "y", "routing_key": "a"}',
        r'{"n": 4, "vhost": "b", "exchange": "x", "routing_key": "a", "body": {"k": 1, "k": "2"}}',
        r'{"n": 5, "n": 5, "N": 6, "vhost": "b", "exchange": "x", "routing_key": "a"}',
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(lines))
    rows = routed(spark, log, "jsonl", tmp_path / "out")
    assert [row["n"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["queues"] for row in rows] == [["r"], [], ["r"], ["r"], ["r"]]
    assert [row["unreadable_line"] for row in rows] == [None, lines[1], lines[2], None, lines[4]]
    assert rows[0]["problem"] is None
    assert rows[1]["problem"].startswith("a key stands twice in the line: its last value was read; no exchange 'y'")
    assert rows[2]["problem"] == "a key of the line differs from one of the log by its case alone: it was not read"
    assert rows[3]["problem"] is None
    assert [row["body"] and json.loads(row["body"]) for row in rows] == [{"k": 1}, None, None, {"k": "2"}, None]
    assert '"k":1,"k":"2"' in rows[3]["body"], "both values are kept"
    assert "twice" in rows[4]["problem"]
    assert "case" in rows[4]["problem"]


def test_half_a_character_is_marked_and_whole_ones_are_not(spark: SparkSession, tmp_path: Path) -> None:
    keys = [
        (r"a\ud800", "a\ufffd", True),
        (r"\udc00\ud83d", "\ufffd\ufffd", True),
        (r"\ud800\ud83d\ude00", "\ufffd\U0001f600", True),
        (r"\\\ud800\\", "\\\ufffd\\", True),
        (r"\ud83d\ude00", "\U0001f600", False),
        (r"\\ud800", r"\ud800", False),
        (r"\\\\\ud83d\ude00\\\udbff\udfff", "\\\\\U0001f600\\\U0010ffff", False),
        ("\\ud83d\\ude00" * 20_000, "\U0001f600" * 20_000, False),
        ("\\ud83d" * 20_000, "\ufffd" * 20_000, True),
    ]
    log = tmp_path / "log.jsonl"
    text = "\n".join(f'{{"n": {n}, "exchange": "x", "routing_key": "{key}"}}' for n, (key, _, _) in enumerate(keys))
    log.write_bytes(b"\xef\xbb\xbf" + text.encode())
    rows = routed(spark, log, "jsonl", tmp_path / "out")
    assert [row["routing_key"] for row in rows] == [read for _, read, _ in keys]
    assert ["half of a character" in (row["problem"] or "") for row in rows] == [half for _, _, half in keys]
    assert all(row["queues"] == ["q"] for row in rows), "routed by what was read"


def test_a_vhost_column_of_another_case_is_not_passed_over(spark: SparkSession) -> None:
    """It is the vhost where Spark does not tell cases apart, and refused where it does."""
    from dfa_router.spark import route

    messages = spark.createDataFrame([("nobody", "a", "x")], "exchange string, routing_key string, VHost string")
    assert "no vhost 'x'" in route(messages, TOPOLOGY).collect()[0].problem
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(dr.MessagesError, match=r"column 'VHost' differs from 'vhost' by its case alone.*Rename it"):
            route(messages, TOPOLOGY)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
