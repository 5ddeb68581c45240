"""The routing job over files: every format in and out, every row kept, nothing half-written left behind."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic"), Exchange(name="h", type="x-unheard-of")],
    queues=[Queue(name="q"), Queue(name="p"), Queue(name="r")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.#"),
        Binding(source="x", destination="p", routing_key="*.b"),
        Binding(source="x", destination="r", routing_key=""),
    ],
)

JSON_LINES = [
    b'{"exchange": "x", "routing_key": "a.b", "id": 1, "body": {"n": [1, 2]}}',
    b'{"exchange": "x", "routing_key": "", "id": 2, "body": null}',
    b'{"exchange": "x", "id": 3, "body": {"n": []}}',
    b'{"exchange": "x", "routing_key": "no.where", "id": 4}',
    b'{"exchange": "x", "routing_key": "no.where", "id": 5, "note": "\xc3\xa4 \\"quoted\\", with a comma"}',
    b"   ",
    b"not json at all",
    b'[{"exchange": "x", "routing_key": "a"}, {"exchange": "x", "routing_key": "a"}]',
    b'{"exchange": "x", "routing_key": "a.\xff", "id": 6}',
    b'{"exchange": "h", "routing_key": "a", "id": 7}',
    b'{"exchange": "", "routing_key": "q", "id": 8}',
    b'{"exchange": "x", "routing_key": "a.b", "id": 9',
]

CSV_LINES = [
    b"exchange,routing_key,id,note",
    b"x,a.b,1,plain",
    b'x,,2,"say ""hi"", you"',
    b",q,3,",
    b"x,a.c",
    b"x,a.d,5,one,two",
    b"x,a.\xff,6,bytes",
    b"h,a,7,  padded  ",
    b"x,no.where,8,back\\slash",
]


def run(spark: SparkSession, messages: Path, out: Path, kind: str, out_kind: str, **options: Any) -> Any:
    """Run the job."""
    from dfa_router.spark.job import route_log

    return route_log(spark, TOPOLOGY, str(messages), str(out), kind=kind, out_kind=out_kind, **options)


def results(out: Path, ending: str) -> Iterable[Path]:
    """Return the files with the result."""
    return sorted(out.glob(f"part-*{ending}"))


def left(folder: Path) -> list[str]:
    """Return the names in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def test_json_lines_keep_every_line(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(JSON_LINES) + b"\n\n")
    calls: list[str] = []
    summary = run(spark, log, tmp_path / "out", "jsonl", "jsonl", report=lambda label, done, total: calls.append(label))
    rows = [json.loads(line) for file in results(tmp_path / "out", ".json") for line in file.read_text().splitlines()]
    assert len(rows) == summary.messages == 11, "a blank line is no row"
    by_id = {row["id"]: row for row in rows if row["id"]}
    assert {number: row["queues"] for number, row in by_id.items()} == {
        1: ["p", "q"], 2: ["r"], 3: [], 4: [], 5: [], 6: ["q"], 7: [], 8: ["q"],
    }  # fmt: skip
    assert by_id[1]["body"] == {"n": [1, 2]}
    assert by_id[5]["note"] == 'ä "quoted", with a comma'
    assert by_id[3]["problem"] == "routing_key is null"
    assert by_id[6]["problem"].startswith("the line is not valid UTF-8")
    assert by_id[7]["not_simulated"] == ["h"]
    assert by_id[1]["problem"] is None
    unread = [row for row in rows if row["id"] is None]
    assert [row["unreadable_line"].encode() for row in unread] == [JSON_LINES[6], JSON_LINES[7], JSON_LINES[11]]
    assert {row["problem"] for row in unread} == {"the line is no JSON object"}
    assert (summary.routed, summary.unroutable, summary.undecided) == (4, 6, 1)
    assert summary.copies_per_queue == {"q": 3, "p": 1, "r": 1}
    assert summary.unroutable_keys == [("x", "no.where", 2)]
    assert summary.problems["the line is no JSON object"] == 3
    assert summary.problem_rows == 5
    assert summary.not_simulated == {"h": 1}
    assert {"planning", "reading", "routing", "counting"} <= set(calls)


def test_csv_keeps_every_line_and_holds_lists_as_json(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "one.csv").write_bytes(b"\n".join(CSV_LINES) + b"\n")
    (folder / "two.csv").write_bytes(CSV_LINES[0] + b"\r\nx,a.z,9,second file\r\n")
    summary = run(spark, folder, tmp_path / "out", "csv", "csv", top=2)
    rows: list[dict[str, str]] = []
    for file in results(tmp_path / "out", ".csv"):
        with file.open(newline="") as lines:
            rows += csv.DictReader(lines)
    assert len(rows) == summary.messages == 9
    by_key = {(row["exchange"], row["routing_key"]): row for row in rows}
    assert json.loads(by_key["x", "a.b"]["queues"]) == ["p", "q"]
    assert json.loads(by_key["x", ""]["queues"]) == ["r"], "an empty field is the empty key"
    assert by_key["x", ""]["note"] == 'say "hi", you'
    assert json.loads(by_key["", "q"]["queues"]) == ["q"], "and the default exchange"
    assert by_key["h", "a"]["note"] == "  padded  "
    assert by_key["x", "no.where"]["note"] == "back\\slash"
    assert json.loads(by_key["h", "a"]["not_simulated"]) == ["h"]
    for key, line in (("a.c", CSV_LINES[4]), ("a.d", CSV_LINES[5])):
        assert by_key["x", key]["problem"].startswith("the line has another number of fields")
        assert by_key["x", key]["unreadable_line"].encode() == line
        assert json.loads(by_key["x", key]["queues"]) == ["q"], "routed by what could be read"
    assert [row["problem"][:31] for row in rows if "�" in row["routing_key"]] == ["the line is not valid UTF-8: ea"]
    assert summary.copies_per_queue == {"q": 6, "p": 1}
    assert (summary.other_queues, summary.other_copies, summary.copies) == (1, 1, 8)
    assert summary.unroutable_keys == [("x", "no.where", 1)]


def test_parquet_in_and_out_and_the_old_result_stays_until_the_new_is_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    log, out = tmp_path / "log.parquet", tmp_path / "out"
    keys = [b"a.b", None, b"a.\xff", b"zzz"]
    pq.write_table(
        pa.table({"exchange": ["x"] * 4, "routing_key": pa.array(keys, pa.binary()), "n": [1, 2, 3, 4]}), log
    )
    summary = run(spark, log, out, "parquet", "parquet")
    table = pq.read_table(out).sort_by("n")
    assert table.column_names == ["exchange", "routing_key", "n", "queues", "routed", "not_simulated", "problem"]
    assert table["queues"].to_pylist() == [["p", "q"], [], ["q"], []]
    assert table["routing_key"].to_pylist() == keys
    assert table["problem"].to_pylist() == [None, "routing_key is null", "routing_key is not valid UTF-8", None]
    assert (summary.messages, summary.routed) == (4, 2)
    with pytest.raises(dr.MessagesError, match=r"out: exists already.*--overwrite"):
        run(spark, log, out, "parquet", "jsonl")
    pq.write_table(pa.table({"exchange": ["x"]}), tmp_path / "other.parquet")
    with pytest.raises(dr.MessagesError, match=r"no column 'routing_key'; they have: exchange string"):
        run(spark, tmp_path / "other.parquet", out, "parquet", "parquet", overwrite=True)
    assert len(pq.read_table(out)) == 4, "a failed run leaves the old result"
    assert run(spark, log, out, "parquet", "jsonl", overwrite=True).messages == 4
    assert len(list(results(out, ".json"))) == 1
    assert left(tmp_path) == ["log.parquet", "other.parquet", "out"]


def test_vhosts_are_told_apart_in_the_summary(spark: SparkSession, tmp_path: Path) -> None:
    from dfa_router.spark.job import route_log

    topology = topology_of(
        vhosts=["/", "b"], queues=[Queue(name="q"), Queue(vhost="b", name="q"), Queue(vhost="b", name="r")]
    )
    log = tmp_path / "log.jsonl"
    rows = [("/", "q"), ("b", "q"), ("b", "q"), ("b", "nobody"), ("/", "nobody"), (None, "q")]
    lines = [json.dumps({"vhost": vhost, "exchange": "", "routing_key": key}) for vhost, key in rows]
    log.write_text("\n".join(lines))
    for kind in ("jsonl", "csv"):
        summary = route_log(spark, topology, str(log), str(tmp_path / kind), kind="jsonl", out_kind=kind)
        assert summary.copies_per_queue == {"q (b)": 2, "q": 1}
        assert sorted(summary.unroutable_keys) == [("", "nobody", 1), (" (b)", "nobody", 1)]
        assert summary.problems == {"vhost is null": 1}


@pytest.mark.parametrize(("before", "after"), [((0, 0, 0), (0, 0)), ((0, 7, 0), (0, 7, 0, 0))], ids=["files", "frames"])
def test_a_result_with_other_rows_than_the_input_is_not_kept(
    spark: SparkSession, tmp_path: Path, before: tuple[int, ...], after: tuple[int, ...]
) -> None:
    """As when a log is replaced while it is routed; lines that are added are not read where files are."""
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(JSON_LINES[line] + b"\n" for line in before))

    def change(label: str, _done: int, _total: int) -> None:
        if (
            label == "routing"
        ):  # told again and again, also while a task reads the file, which shall never find it empty
            other = tmp_path / "other"
            other.write_bytes(b"".join(JSON_LINES[line] + b"\n" for line in after))
            other.replace(log)

    said = rf"{len(after)} rows were written, but .* holds {len(before)}; nothing was kept"
    with pytest.raises(dr.JobError, match=said):
        run(spark, log, tmp_path / "out", "jsonl", "jsonl", report=change)
    assert left(tmp_path) == ["log.jsonl"]


def test_a_result_whose_place_was_taken_while_the_job_ran_is_kept_beside_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "out"
    log.write_bytes(JSON_LINES[0])

    def take(label: str, _done: int, _total: int) -> None:
        if label == "counting" and not out.exists():
            out.mkdir()
            (out / "of another run").touch()

    with pytest.raises(dr.JobError, match=r"something appeared there while the job ran.*the complete result is in"):
        run(spark, log, out, "jsonl", "jsonl", report=take)
    (kept,) = (path for path in tmp_path.iterdir() if path not in {log, out})
    assert [json.loads(file.read_text())["queues"] for file in results(kept, ".json")] == [["p", "q"]]
    assert left(out) == ["of another run"]


def test_logs_that_cannot_be_read_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    fake = tmp_path / "fake.parquet"
    fake.write_bytes(b"this is no parquet")
    with pytest.raises(dr.MessagesError, match=r"fake.parquet: cannot be read"):
        run(spark, fake, tmp_path / "out", "parquet", "parquet")
    cut = tmp_path / "cut.jsonl.gz"
    whole = gzip.compress(b"\n".join(JSON_LINES[:5] * 1_000))
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(
        dr.MessagesError, match=r"cut.jsonl.gz: cannot be read: .* It was left to Spark because: .*Truncated"
    ):
        run(spark, cut, tmp_path / "out", "jsonl", "jsonl")
    prose = tmp_path / "prose.jsonl"
    prose.write_text("once upon a time\nthere was a log\n")
    with pytest.raises(dr.MessagesError, match="no line is a JSON object"):
        run(spark, prose, tmp_path / "out", "jsonl", "jsonl")
    for nothing, said in (
        (b"", "there is no line in it"),
        (b"\n", "there is no line in it"),
        (b"\0\n", "its first line, which names the columns, begins with zeros"),
    ):
        (tmp_path / "nothing.csv").write_bytes(nothing)
        with pytest.raises(dr.MessagesError, match=rf"nothing\.csv: {said}"):
            run(spark, tmp_path / "nothing.csv", tmp_path / "out", "csv", "csv")
    keyless = tmp_path / "keyless.jsonl"
    keyless.write_text('{"exchange": "x", "key": "a"}\n')
    with pytest.raises(dr.MessagesError, match=r"no column 'routing_key'; they have: exchange string, key string\."):
        run(spark, keyless, tmp_path / "out", "jsonl", "jsonl")
    assert not (tmp_path / "out").exists()


def test_a_damaged_log_is_told_without_what_spark_says_to_its_developers(spark: SparkSession, tmp_path: Path) -> None:
    for name, data, kind, said in (
        ("noise.jsonl.gz", bytes(range(1, 200)), "jsonl", "incorrect header check"),
        ("noise.parquet", bytes(range(1, 200)), "parquet", "Parquet magic bytes not found"),
        ("empty.parquet", b"", "parquet", "Parquet file size is 0 bytes"),
    ):
        log = tmp_path / name
        log.write_bytes(data)
        told = rf"{name}: cannot be read: neither Arrow nor Spark can open it\. Check that it is whole.*, and {kind}, .*{said}"
        with pytest.raises(dr.MessagesError, match=told) as refused:
            run(spark, log, tmp_path / "out", kind, kind)
        assert not re.search(r"\[[A-Z_]+|manually|magic number|file:/", str(refused.value))
    assert not (tmp_path / "out").exists()


def test_formats_are_told_by_names(tmp_path: Path) -> None:
    from dfa_router.logs.formats import format_of

    for name, kind in [("a.parquet", "parquet"), ("a.JSONL", "jsonl"), ("a.json.gz", "jsonl"), ("a.csv", "csv")]:
        (tmp_path / name).touch()
        assert format_of(str(tmp_path / name)) == kind
    assert format_of("s3a://bucket/log.ndjson") == "jsonl"
    assert format_of(str(tmp_path / "*.csv")) == "csv"
    folder = tmp_path / "day=1"
    folder.mkdir()
    (folder / "part-0.csv").touch()
    (folder / "_SUCCESS").touch()
    (folder / ".checkpoints").mkdir()
    (folder / ".checkpoints" / "a.parquet").touch()
    assert format_of(str(folder)) == "csv", "folders that no reader looks into tell nothing"
    with pytest.raises(dr.MessagesError, match=r"files of several formats \(csv, jsonl, parquet\).*--format"):
        format_of(str(tmp_path))
    assert format_of(str(tmp_path), "csv") == "csv"
    (tmp_path / "log.txt").touch()
    with pytest.raises(dr.MessagesError, match=r"log.txt: has no ending.*\.parquet.*--format"):
        format_of(str(tmp_path / "log.txt"))
    with pytest.raises(dr.MessagesError, match="no such file or folder"):
        format_of(str(tmp_path / "nothing.csv"))
    with pytest.raises(dr.MessagesError, match="no such file or folder"):
        format_of(str(tmp_path / ("n" * 300 + ".csv")))
