"""The two ways of routing a log of text give the same rows, types and counts, whatever its lines hold."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import logging
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.logs import parts
from tests.topologies import TWO_VHOSTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def both_ways(
    spark: SparkSession, log: Path, kind: str, out_kind: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, list[Any]]:
    """Route a log in both ways, hold the results to each other, and return the summary and the rows."""
    from dfa_router.logs.planning import OtherWayError
    from dfa_router.spark import job

    def route(name: str) -> Any:
        out, counts = log.parent / f"{name} of {log.name}", log.parent / f"{name} counts"
        options: dict[str, Any] = {"kind": kind, "out_kind": out_kind, "top": 0, "counts": str(counts)}
        return job.route_log(spark, TWO_VHOSTS, str(log), str(out), **options)

    def refuse(*_: object) -> None:
        raise OtherWayError("the test says so")

    files = route("files")
    with monkeypatch.context() as patch:
        patch.setattr(job, "plan_of", refuse)
        frames = route("frames")
    assert (files.way, frames.way) == ("files", "frames")
    assert replace(files, out="", seconds=0, stages={}, way="") == replace(frames, out="", seconds=0, stages={}, way="")
    counts = [pq.read_table(log.parent / f"{way} counts").to_pylist() for way in ("files", "frames")]
    if out_kind != "csv":  # in which Spark counts the null exchange of a line without fields as the default exchange
        assert counts[0] == counts[1]
    one, other = (list(rows_of(log.parent / f"{way} of {log.name}", out_kind)) for way in ("files", "frames"))
    assert [list(row) for row in one[:1]] == [list(row) for row in other[:1]], "the columns, in their order"
    for here, there in zip(one, other, strict=True):
        assert here == there
    if out_kind == "parquet":
        types = [spark.read.parquet(str(log.parent / f"{way} of {log.name}")).dtypes for way in ("files", "frames")]
        assert types[0] == types[1]
    return files, one


def rows_of(out: Path, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a result, in the order of its files, sorted."""
    rows: list[dict[str, Any]] = []
    for file in sorted(out.glob("part-*")):
        if kind == "parquet":
            table = pq.read_table(file, partitioning=None)
            if "unreadable_line" in table.column_names:  # which is kept as it is
                place = table.column_names.index("unreadable_line")
                table = table.set_column(place, "unreadable_line", table["unreadable_line"].cast(pa.binary()))
            rows += table.to_pylist()
        elif kind == "jsonl":
            rows += map(json.loads, file.read_text().strip().split("\n"))
        else:
            with file.open(newline="") as opened:
                rows += csv.DictReader(opened)
    yield from sorted(rows, key=lambda row: json.dumps(row, sort_keys=True, default=repr))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide logs into many parts and blocks; both ways, and the workers, are told by the sizes of the driver."""
    monkeypatch.setattr(parts, "LEAST_BYTES", 3_000)
    monkeypatch.setattr(parts, "OPENING_BYTES", 10)


def messages(count: int, seed: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(seed)
    for number in range(count):
        row: dict[str, Any] = {
            "exchange": chance.choice(["x", "x", "h", "", "gone"]),
            "routing_key": chance.choice(["a.b", "a.c", "q", "n.n", "", "ä.b", 'say "b"\\', "k" * 300]),
            "n": number,
            "at": f"2024-01-01 00:00:{number % 60:02}",
            "price": chance.choice([1, 2.5, -0.0, 1e20, 5e-324, 0.1]),
            "flag": chance.choice([True, False, None]),
            "body": chance.choice([{"z": 1, "a": [{"k": "v"}, None]}, None, {"a": []}]),
            "never": None,
            "Ä\U0001f600\ud7ff": chance.choice(["", "\x00\x1f\x7f\u2028", "\U0001f600"]),
        }
        yield {key: value for key, value in row.items() if chance.random() > 0.05}


def plain(log: Path) -> None:
    log.mkdir()
    for number, opener in enumerate([Path.open, gzip.open, bz2.open]):
        name = log / ("1.jsonl" + ["", ".gz", ".bz2"][number])
        with opener(name, "wb") as file:  # type: ignore[operator]
            for row in messages(60, number):
                file.write(json.dumps(row, ensure_ascii=number > 0).encode() + [b"\n", b"\r\n", b"\r"][number])


def odd(log: Path) -> None:
    lines_of = [json.dumps(row, ensure_ascii=False).encode() for row in messages(60, 7)]
    chance = random.Random(1)
    for number in range(0, 60, 4):
        key = bytes(chance.choice(b"\x80\xbf\xa0\xe0\xed\xc3\xf0\xf4\x90\xffa") for _ in range(12))
        lines_of[number] = b'{"exchange": "x", "routing_key": "%b", "n": %d}' % (key, number)
    for place, line in enumerate(ODD):
        lines_of.insert(5 * place, line)
    log.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines_of))


ODD = [
    b"  ",
    b"not json at all",
    b"2024-01-01 [INFO] a line of another log",
    b"[2024-01-01 00:00] and of a third one",
    b'{"exchange": "x", "routing_key": "a.b", "id": 9',
    b'{"exchange": "x", "routing_key": "a.\xff\xe4", "n": 6}',
    b'{"exchange": "x", "routing_key": "a.\xff", "n": ',
    b'{"exchange": "x", "routing_key": "a.\\ud800b\\\\ud800", "n": 7}',
    b'{"exchange": "x", "routing_key": "\\ud83d\\ude00", "n": 8, "at": "\\uDC00"}',
    b'{"exchange": "gone", "routing_key": "a", "n": 9, "exchange": "x"}',
    b'{"exchange": "x", "routing_key": "a\tb"}',
    b'{"exchange": "x", "routing_key": "a", "n": 01}',
    b' {"exchange": "x", "routing_key": "a.sp"} \t',
    b"\x0b{}",
    b"{}",
    b'{"exchange": "x", "routing_key": "\x00"}',
    b'{"exchange": "x",\r"routing_key": "a"}',
    "\ufeff{}".encode(),
    b'{"vhost": "b", "exchange": "x", "routing_key": null}',
    b'{"exchange": "x", "routing_key": "\xed\xa0\x80\xf0\x80\x80\xe0\x80"}',
]


def several(log: Path) -> None:
    """CSV files whose headers differ, with lines that have too many fields, too few, or bytes that are no text."""
    log.mkdir()
    headers = [("exchange", "routing_key", "n", "note"), ("n", "vhost", "exchange", "routing_key"), ()]
    for number, names in enumerate(headers):
        with (log / f"{number} [a].csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator=["\n", "\r\n", "\r"][number])
            writer.writerow(names)
            for row in messages(60, number) if names else ():
                fields = {"note": row.get("at"), "vhost": "b", **row}
                writer.writerow([fields.get(name, "") for name in names])
        with (log / f"{number} [a].csv").open("ab") as more:
            more.write(b"\n".join(CSV_ODD) * (number == 0))
    with gzip.open(log / "more.csv.gz", "wb") as packed:
        packed.write(b"\xef\xbb\xbfrouting_key,exchange\n\na.b,x\n")


CSV_ODD = [
    b"x,a.b,1001,plain",
    b"",
    b'x,"",1002,""',
    b'"x","a,b",1003,"say ""hi"", you"',
    b",q,1004,",
    b",,1012,",
    b"x,a.c",
    b"gone,no.where",
    b"x,a.d,1005,one,two",
    b"x,a.\xff\xed\xa0\x80,1006,bytes",
    b"x,a.\xff",
    b"h,a,1007,  padded  ",
    b"x,no.where,1008,back\\slash",
    b"  ",
    b" x,a.b,1009,\t",
    "x,a.\ufffd,1010,ä".encode(),
    b'x,a,1011,"""",more,',
    b",,,",
]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("out_kind", ["parquet", "jsonl"])
@pytest.mark.parametrize("make", [plain, odd])
def test_both_ways_give_the_same_of_json_lines(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], out_kind: str
) -> None:
    log = tmp_path / "log"
    make(log)
    summary, rows = both_ways(spark, log, "jsonl", out_kind, monkeypatch)
    assert len(rows) == summary.messages == (180 if make is plain else 60 + len(ODD))
    assert ("unreadable_line" in rows[0]) == (make is odd)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("out_kind", ["parquet", "csv"])
def test_both_ways_give_the_same_of_csv(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out_kind: str
) -> None:
    several(tmp_path / "log")
    summary, rows = both_ways(spark, tmp_path / "log", "csv", out_kind, monkeypatch)
    assert len(rows) == summary.messages == 121 + len(CSV_ODD) - 2
    assert len({row["unreadable_line"] for row in rows}) == 6


def test_zeros_that_a_crash_has_left_in_csv_cost_no_row(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.mkdir()
    (log / "1.csv").write_bytes(b"exchange,routing_key\n\0\0\0\nx,a.b\n\x01 \x02\n")
    (log / "2.csv").write_bytes(b"n,exchange,routing_key\n1,x,a.b\n" + b"\0" * 5_000)
    summary, rows = both_ways(spark, log, "csv", "parquet", monkeypatch)
    assert (summary.messages, summary.routed, summary.problem_rows) == (5, 2, 3)
    assert {row["unreadable_line"] for row in rows} == {None, b"\0\0\0", b"\x01 \x02", b"\0" * 5_000}


def by_folders(log: Path) -> None:
    for day in (1, 2):
        (log / f"day={day}").mkdir(parents=True)
        (log / f"day={day}" / "1.csv").write_text("exchange,routing_key\nx,a.b\n")


def of_mixed_types(log: Path) -> None:
    log.write_text("".join(f'{{"exchange": "x", "routing_key": "a.b", "n": {n}}}\n' for n in ("1", '"one"')))


def of_parquet(log: Path) -> None:
    pq.write_table(pa.table({"exchange": ["x", "x"], "routing_key": ["a.b", "a.b"]}), log)


@pytest.mark.parametrize(
    ("make", "kind", "out_kind", "reason"),
    [
        (by_folders, "csv", "parquet", "its folders name columns"),
        (of_mixed_types, "jsonl", "parquet", "JSON parse error: Column(/n) changed from number to string in row 1"),
        (of_parquet, "parquet", "jsonl", "columns of Parquet are written as jsonl by Spark alone"),
        (of_parquet, "parquet", "csv", "columns of Parquet are written as csv by Spark alone"),
    ],
)
def test_what_spark_has_to_read_or_write_is_said(
    spark: SparkSession,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    make: Callable[[Path], None],
    kind: str,
    out_kind: str,
    reason: str,
) -> None:
    from dfa_router.spark.job import route_log

    log, out = tmp_path / "log", tmp_path / "out"
    make(log)
    with caplog.at_level(logging.WARNING):
        summary = route_log(spark, TWO_VHOSTS, str(log), str(out), kind=kind, out_kind=out_kind)
    assert (summary.way, summary.messages, summary.copies_per_queue) == ("frames", 2, {"q": 2, 'p "1"\\\n': 2})
    (said,) = [record.getMessage() for record in caplog.records if record.name.startswith("dfa_router")]
    assert f"{log}: Spark reads it, row by row, which takes several times as long: {reason}" in said
    rows = list(rows_of(out, out_kind))
    assert len(rows) == 2
    if make is by_folders:
        assert [row["day"] for row in rows] == [1, 2]
    if make is of_mixed_types:
        assert [row["n"] for row in rows] == ["1", "one"]


@pytest.mark.parametrize("codec", ["lz4", "snappy", "deflate"])
def test_what_spark_compresses_is_read_by_spark(spark: SparkSession, tmp_path: Path, codec: str) -> None:
    from dfa_router.spark.job import route_log

    lines = spark.range(1_000).selectExpr('concat(\'{"exchange": "x", "routing_key": "a.\', id, \'"}\') as value')
    lines.write.text(str(tmp_path / "log"), compression=codec)
    summary = route_log(spark, TWO_VHOSTS, str(tmp_path / "log"), str(tmp_path / "out"), kind="jsonl", out_kind="jsonl")
    assert (summary.way, summary.messages) == ("frames", 1_000)


def test_lz4_as_everybody_writes_it_is_read_by_arrow_or_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's Java would die of it, and the session with it."""
    from dfa_router.errors import MessagesError
    from dfa_router.spark.job import route_log

    log = tmp_path / "log.jsonl.lz4"
    for number, line in enumerate(
        (b'{"exchange": "x", "routing_key": "a.b"}\n', b'{"exchange": "x", "routing_key": +INF}\n')
    ):
        log.write_bytes(pa.compress(line * 1_000, "lz4", asbytes=True))
        out = str(tmp_path / f"out{number}")
        if number:
            with pytest.raises(MessagesError, match=r"not in the form of Hadoop's.*decompress it"):
                route_log(spark, TWO_VHOSTS, str(log), out, kind="jsonl", out_kind="jsonl")
        else:
            summary = route_log(spark, TWO_VHOSTS, str(log), out, kind="jsonl", out_kind="jsonl")
            assert (summary.way, summary.messages) == ("files", 1_000)
