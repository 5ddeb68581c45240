"""A log gone through in threads: in order, with a bound on what waits, and ended by whoever stops asking."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from dfa_router.errors import MessagesError
from dfa_router.logs import lines, parts
from dfa_router.logs.planning import Plan
from dfa_router.logs.scanning import key_names, plan_log, scanned
from dfa_router.logs.text_reading import SeeText


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Return a log of forty parts, each of a hundred numbers."""
    monkeypatch.setattr(parts, "LEAST_BYTES", 1)
    monkeypatch.setattr(parts, "OPENING_BYTES", 0)
    monkeypatch.setattr(parts, "PARTS_PER_CORE", 1_000)
    pq.write_table(pa.table({"n": range(4_000)}), tmp_path / "log.parquet", row_group_size=100)
    made = plan_log(str(tmp_path / "log.parquet"), "parquet")
    assert len(made.parts) == 40
    return made


def numbers(tables: Iterator[pa.Table]) -> list[int]:
    return [number for table in tables for number in table["n"].to_pylist()]


def test_results_come_in_order_and_progress_ends_with_all(plan: Plan) -> None:
    said: list[tuple[str, int, int]] = []
    found = [
        number for some in scanned(plan, numbers, ["n"], report=lambda *told: said.append(told)) for number in some
    ]
    assert found == list(range(4_000))
    assert said[-1] == ("routing", 4_000, 4_000)


@pytest.mark.parametrize(("kind", "line"), [("jsonl", b'{"n": 1}\n'), ("trace", b'{"type":"published"}\n')])
def test_progress_moves_within_a_compressed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, line: bytes
) -> None:
    """Which is one part, however long it is; how many messages it has is known at its end."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 2 * len(line))
    log = tmp_path / f"log.{kind}.gz"
    log.write_bytes(gzip.compress(line * 6))
    said: list[tuple[str, int, int]] = []
    plan = plan_log(str(log), kind, report=lambda *told: said.append(told))
    assert said[-1] == ("reading", 6, 0)
    passed: list[int] = []
    SeeText(fs.LocalFileSystem(), kind, passed.append)(plan.parts[0])
    assert len(passed) > 1
    assert sum(passed) == 6


def test_no_more_results_wait_than_twice_the_threads(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    begun = 0
    lock = threading.Lock()

    def work(tables: Iterator[pa.Table]) -> int:
        nonlocal begun
        with lock:
            begun += 1
        return len(numbers(tables))

    for taken, _ in enumerate(scanned(plan, work, ["n"]), 1):
        assert begun <= taken + 2 * 2


def test_of_a_table_those_columns_are_handed_over_that_are_named(tmp_path: Path) -> None:
    """And what was wrong with a row: the others, such as payloads, would be held until a table is full."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"a": 1, "body": "text"}\nno JSON\n')
    plan = plan_log(str(log), "jsonl")
    [[table]] = scanned(plan, list, ("a", "absent"))
    assert table.to_pydict() == {"a": [1, None], "read problem": [None, "the line is no JSON object"]}


def test_of_parquet_the_other_columns_are_not_decoded(tmp_path: Path) -> None:
    """As a payload that cannot be decoded shows; and a file that has none of the columns has its rows."""
    log = tmp_path / "day=1" / "log.parquet"
    log.parent.mkdir()
    body = pa.array(["text" * 50] * 1_000)
    pq.write_table(pa.table({"a": range(1_000), "body": body}), log, compression="none", use_dictionary=False)
    pq.write_table(pa.table({"body": body}), log.with_name("other.parquet"))
    data = bytearray(log.read_bytes())
    first = data.index(b"texttext")
    data[first - 4 : first + 100_000] = b"\xff" * 100_004
    log.write_bytes(data)
    plan = plan_log(str(tmp_path), "parquet")
    found = pa.concat_tables(table for some in scanned(plan, list, ("a", "day", "absent")) for table in some)
    assert found.to_pydict() == {"a": [*range(1_000), *[None] * 1_000], "day": [1] * 2_000}
    with pytest.raises(MessagesError, match=r"log\.parquet: cannot be read"):
        list(scanned(plan, list, ("body",)))


def test_a_table_has_no_more_rows_than_are_asked_for(plan: Plan) -> None:
    sizes = [len(table) for some in scanned(plan, list, ["n"], rows=30) for table in some]
    assert sum(sizes) == 4_000
    assert max(sizes) == 30


def test_an_error_of_a_part_is_raised_and_ends_the_others(plan: Plan) -> None:
    def work(tables: Iterator[pa.Table]) -> int:
        held = numbers(tables)
        if 700 in held:
            raise TimeoutError("the disk did not answer")
        return len(held)

    with pytest.raises(TimeoutError, match="disk"):
        list(scanned(plan, work, ["n"]))


def test_who_stops_asking_ends_the_parts_that_are_read(plan: Plan) -> None:
    waiting, go_on = threading.Event(), threading.Event()
    cut: list[int] = []

    def work(tables: Iterator[pa.Table]) -> int:
        first = next(tables)["n"][0].as_py()
        if first:
            waiting.set()
            go_on.wait(60)
            cut.append(sum(len(table) for table in tables))
        return 1

    results = scanned(plan, work, ["n"])
    assert next(results) == 1
    assert waiting.wait(60)
    results.close()  # type: ignore[attr-defined]  # a generator
    go_on.set()
    assert sum(cut) == 0


def test_columns_are_found_whatever_their_case() -> None:
    schema = pa.schema(
        {"VHost": pa.string(), "EXCHANGE": pa.large_string(), "routing_key": pa.binary(), "cc": pa.null()}
    )
    assert key_names(schema, ("cc", "headers")) == {
        "exchange": "EXCHANGE",
        "routing_key": "routing_key",
        "vhost": "VHost",
        "cc": "cc",
    }
    views = pa.schema({"exchange": pa.string_view(), "routing_key": pa.binary_view()})
    assert list(key_names(views)) == ["exchange", "routing_key"]


def test_a_table_that_is_refused_and_a_folder_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(MessagesError, match="there are no files"):
        plan_log(str(tmp_path), "parquet")
    with pytest.raises(MessagesError, match="a store that Spark reaches"):
        plan_log("hdfs2://host/log", "jsonl")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["log", "log [1] é%20"])
def test_a_log_of_this_machine_may_be_named_by_its_uri(tmp_path: Path, kind: str, name: str) -> None:
    """As for Spark, which takes what it reads by such names, with nothing in them encoded."""
    path = tmp_path / f"{name}.{kind}"
    table = pa.table({"exchange": ["x"], "routing_key": ["a"]})
    pq.write_table(table, path) if kind == "parquet" else csv.write_csv(table, path)
    plan = plan_log(f"file://{path}", kind)
    assert [
        rows
        for found in scanned(plan, lambda tables: [table.num_rows for table in tables], ["exchange"])
        for rows in found
    ] == [1]
    with pytest.raises(MessagesError, match="none: cannot be read as csv"):
        plan_log(f"file://{tmp_path}/none", "csv")
