"""Parts of a log: every row once, every column as it was, whichever way the log was divided, and nothing of failed attempts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.logs import routing
from dfa_router.logs.planning import SPARK_SCHEMA, OtherWayError, Plan, planned
from dfa_router.logs.publishing import attempts_of, publish
from dfa_router.logs.routing import Written, work_of
from dfa_router.logs.stores import Place, place_of
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from dfa_router.rabbitmq.routed_columns import ROUTED

ROUTER = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q"), Queue(name="p")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.#"),
        Binding(source="x", destination="p", routing_key="#.b"),
    ],
).compile()

KEYS = {"exchange": "exchange", "routing_key": "routing_key"}
ROUTED_NAMES = [field.name for field in ROUTED]


def local(path: Path) -> Place:
    place = place_of(str(path))
    assert place is not None
    return place


def plan(log: Path, cores: int = 2) -> Plan:
    return planned(local(log), pattern=False, cores=cores)


def result(plan: Plan, out: Path, keys: dict[str, str] = KEYS) -> pa.Table:
    """Route all parts, publish them, and read them in order."""
    out.mkdir()
    work = work_of(plan, attempts_of(local(out)), keys=keys, vhost="/")
    written = [work(ROUTER, part) for part in plan.parts]
    publish(local(out), written)
    assert sum(one.totals.messages for one in written) == plan.rows
    assert sorted(path.name for path in out.iterdir()) == sorted(["_SUCCESS", *(one.file for one in written)])
    return pa.concat_tables([pq.read_table(out / one.file, partitioning=None) for one in written])


def messages(rows: int, first: int = 0) -> pa.Table:
    numbers = np.arange(first, first + rows)
    keys = [f"a.{number}" if number % 3 else f"{number}.b" for number in numbers]
    return pa.table({"exchange": ["x"] * rows, "routing_key": keys, "n": numbers})


@pytest.mark.parametrize(("group", "most"), [(10_000, 122_880), (700, 122_880), (50_000, 3_000), (700, 1_000)])
def test_every_row_is_there_once_and_in_order_however_the_log_is_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, most: int
) -> None:
    from dfa_router.logs import parts

    monkeypatch.setattr(parts, "LEAST_BYTES", 40_000)
    monkeypatch.setattr(parts, "OPENING_BYTES", 1_000)
    monkeypatch.setattr(routing, "MOST_ROWS", most)
    log = tmp_path / "log"
    log.mkdir()
    whole = messages(50_000)
    pq.write_table(whole[:30_000], log / "1.parquet", row_group_size=group)
    pq.write_table(whole[30_000:], log / "2.parquet", row_group_size=group)
    made = plan(log)
    assert len(made.parts) >= (2 if group == 50_000 else 5)
    table = result(made, tmp_path / "out")
    assert table.select(whole.column_names).equals(whole)
    expected = ROUTER.route_columns(whole["exchange"], whole["routing_key"])
    assert table["queues"].to_pylist() == expected.queues.to_pylist()
    for file in (tmp_path / "out").glob("part-*"):
        metadata = pq.read_metadata(file)
        rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        assert max(rows) <= most
        assert len(rows) <= 2 * sum(rows) // min(most, max(group, most // 2)) + 1, "small row groups are gathered"


def test_types_metadata_and_order_of_other_columns_stay(tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "before": pa.array([b"\xff", None], pa.large_binary()),
        "exchange": pa.array(["x", "x"]).dictionary_encode(),
        "nested": pa.array([{"a": [1, None], "b": {"c": 1.5}}, None]),
        "routing_key": pa.array([b"a.\xff", b"z"], pa.binary()),
        "at": pa.array([1, None], pa.timestamp("ns", "Europe/Berlin")),
        "price": pa.array([None, "3.14"], pa.string()).cast(pa.decimal128(9, 2)),
        "nothing": pa.nulls(2),
        "pairs": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int8())),
        "count": pa.array([1, 2], pa.uint64()),
    }
    fields = [pa.field(name, column.type, metadata={"unit": name}) for name, column in columns.items()]
    schema = pa.schema([*fields[:-1], fields[-1].with_nullable(False)], {"origin": "a test"})
    log = tmp_path / "log.parquet"
    pq.write_table(pa.table(list(columns.values()), schema=schema), log)
    plain = pq.read_table(log)
    table = result(plan(log), tmp_path / "out")
    assert table.column_names == [*columns, *ROUTED_NAMES]
    assert table.select(list(columns)).equals(plain, check_metadata=True)
    assert table["queues"].to_pylist() == [["q"], []]


def test_columns_that_a_file_lacks_are_null_and_folders_are_columns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    folders = {
        "day=1/shop=a%20b": {"extra": pa.array(["e"])},
        "day=2/shop=__HIVE_DEFAULT_PARTITION__": {"vhost": pa.array(["/"])},
        "day=3/shop=9": {},
    }
    for folder, more in folders.items():
        (log / folder).mkdir(parents=True)
        pq.write_table(pa.table({"exchange": ["x"], "routing_key": ["a"], **more}), log / folder / "f.parquet")
    (log / "_metadata").mkdir()
    (log / ".hidden.parquet").write_bytes(b"nothing")
    table = result(plan(log), tmp_path / "out", KEYS | {"vhost": "vhost"})
    assert table.column_names == ["exchange", "routing_key", "extra", "vhost", "day", "shop", *ROUTED_NAMES]
    assert table["extra"].to_pylist() == ["e", None, None]
    assert table["day"].to_pylist() == [1, 2, 3]
    assert table["day"].type == pa.int32()
    assert table["shop"].to_pylist() == ["a b", None, "9"]
    assert table["problem"].to_pylist() == ["vhost is null", None, "vhost is null"]


def test_a_log_without_rows_has_a_result_with_its_columns(tmp_path: Path) -> None:
    pq.write_table(messages(0), tmp_path / "log.parquet")
    table = result(plan(tmp_path / "log.parquet"), tmp_path / "out")
    assert (len(table), table.column_names) == (0, ["exchange", "routing_key", "n", *ROUTED_NAMES])


def test_times_of_96_bits_stay_so(tmp_path: Path) -> None:
    at = pa.array([0, 1_700_000_000_000_001], pa.timestamp("us"))
    table = pa.table({"exchange": ["x"] * 2, "routing_key": ["a", "b"], "at": at})
    pq.write_table(table, tmp_path / "log.parquet", use_deprecated_int96_timestamps=True, store_schema=False)
    result(plan(tmp_path / "log.parquet"), tmp_path / "out")
    (file,) = (tmp_path / "out").glob("part-*")
    written = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
    assert written.schema.column(2).physical_type == "INT96"
    assert written.read()["at"].to_pylist() == at.to_pylist()


def test_only_attempts_that_came_back_are_published(tmp_path: Path) -> None:
    pq.write_table(messages(1_000), tmp_path / "log.parquet")
    made = plan(tmp_path / "log.parquet")
    draft = local(tmp_path / "out")
    attempts = attempts_of(draft)
    work = work_of(made, attempts, keys=KEYS, vhost="/")
    first, second = work(ROUTER, made.parts[0]), work(ROUTER, made.parts[0])
    assert first.file != second.file
    Path(attempts.path, "part-00000-killed.parquet").write_bytes(b"half of a fi")
    publish(draft, [second])
    assert sorted(path.name for path in Path(draft.path).iterdir()) == ["_SUCCESS", second.file]
    with pytest.raises(FileNotFoundError):
        work(ROUTER, made.parts[0])
    assert sorted(path.name for path in Path(draft.path).iterdir()) == ["_SUCCESS", second.file], (
        "a late copy adds none"
    )


def test_a_damaged_page_is_an_error_with_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(messages(20_000), log, compression="none", use_dictionary=False, write_page_checksum=False)
    made = plan(log)
    data = bytearray(log.read_bytes())
    data[100_000:200_000] = b"\xff" * 100_000
    log.write_bytes(data)
    attempts = attempts_of(local(tmp_path / "out"))
    with pytest.raises(dr.MessagesError, match=r"log\.parquet: cannot be read"):
        work_of(made, attempts, keys=KEYS, vhost="/")(ROUTER, made.parts[0])
    assert list(Path(attempts.path).iterdir()) == []


def test_a_router_that_fails_leaves_no_file(tmp_path: Path) -> None:
    class Failing:
        def route_batch(self, *_: Any, **__: Any) -> Any:
            raise MemoryError

    pq.write_table(messages(10), tmp_path / "log.parquet")
    made = plan(tmp_path / "log.parquet")
    attempts = attempts_of(local(tmp_path / "out"))
    with pytest.raises(MemoryError):
        work_of(made, attempts, keys=KEYS, vhost="/")(Failing(), made.parts[0])
    assert list(Path(attempts.path).iterdir()) == []


def other_way(log: Path) -> str:
    with pytest.raises(OtherWayError) as refused:
        plan(log)
    return str(refused.value)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ([{"n": pa.array([1])}, {"n": pa.array(["1"])}], "column 'n' is int64 in one file and string in another"),
        ([{"n": pa.array([1])}, {"N": pa.array([1])}], "in several cases"),
        ([{"n": pa.array([1]), "N": pa.array([1])}], "by their case alone"),
        ([{"n": pa.array([{"a": 1}])}, {"n": pa.array([{"b": 1}])}], "column 'n' is struct"),
    ],
    ids=["types", "cases", "one file", "nested"],
)
def test_what_spark_merges_or_refuses_is_left_to_it(
    tmp_path: Path, files: list[dict[str, pa.Array]], reason: str
) -> None:
    for number, columns in enumerate(files):
        pq.write_table(pa.table({"exchange": ["x"], "routing_key": ["a"], **columns}), tmp_path / f"{number}.parquet")
    assert reason in other_way(tmp_path)


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["day=1/1.parquet", "a/2.parquet"], "'a', which is no column=value"),
        (["day=1/1.parquet", "2.parquet"], "equally deep"),
        (["day=1/1.parquet", "month=2/2.parquet"], "equally deep"),
        (["n=1/1.parquet"], "is in its files and named by its folders"),
        (["day=1/DAY=2/1.parquet"], "name a column twice"),
        (["at=2025-01-01 10%3A00/1.parquet"], "'at' holds times"),
    ],
)
def test_folders_that_spark_reads_in_its_own_way_are_left_to_it(tmp_path: Path, paths: list[str], reason: str) -> None:
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(messages(1), tmp_path / path)
    assert reason in other_way(tmp_path)


def test_folders_that_name_no_columns_are_folders_and_nothing_else(tmp_path: Path) -> None:
    for path in ("1.parquet", "2024/2.parquet", "old/er/3.parquet"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(messages(2), tmp_path / path)
    made = plan(tmp_path)
    assert (made.rows, made.schema.names) == (6, messages(2).column_names)


def test_types_that_spark_alone_knows_are_left_to_it(tmp_path: Path) -> None:
    table = messages(1).replace_schema_metadata({SPARK_SCHEMA: b'{"fields":[{"name":"v","type":"variant"}]}'})
    pq.write_table(table, tmp_path / "log.parquet")
    assert "types that Spark alone knows" in other_way(tmp_path / "log.parquet")


def test_an_attempt_can_be_sent_to_another_process(tmp_path: Path) -> None:
    import pickle

    pq.write_table(messages(10), tmp_path / "log.parquet")
    made = plan(tmp_path / "log.parquet")
    work = work_of(made, attempts_of(local(tmp_path / "out")), keys=KEYS, vhost="/")
    sent, part = pickle.loads(pickle.dumps((work, made.parts[0])))
    written: Written = pickle.loads(pickle.dumps(sent(ROUTER, part)))
    assert written.totals.messages == 10


def test_slices_are_bounded_by_what_they_take_and_not_by_what_is_stored(tmp_path: Path) -> None:
    """Of large values that occur often a file holds one copy: this one has 600 MB in a few thousand bytes."""
    rows, values = 20_000, pa.array([letter * 30_000 for letter in "abcd"])
    body = pa.DictionaryArray.from_arrays(pa.array([number % 4 for number in range(rows)], pa.int32()), values)
    table = pa.table({"exchange": ["x"] * rows, "routing_key": ["a"] * rows, "body": body})
    pq.write_table(table, tmp_path / "log.parquet", store_schema=False)
    (part,) = plan(tmp_path).parts
    assert part.bytes < 1 << 20
    sizes = [
        (len(one), one.nbytes)
        for one in routing.gathered(plan(tmp_path).read(part, routing.MOST_ROWS), routing.MOST_ROWS)
    ]
    assert sum(count for count, _ in sizes) == rows
    assert max(size for _, size in sizes) <= 2 * routing.MOST_BYTES


def test_small_tables_are_joined_up_to_a_number_of_rows_or_of_bytes() -> None:
    def lengths(size: int, rows: int) -> list[int]:
        table = pa.table({"body": ["x" * size] * 10})
        return [len(one) for one in routing.gathered(iter([table] * 6), rows)]

    assert lengths(1, 1_000) == [60]
    assert lengths(1, 25) == [20, 20, 20]
    assert lengths(routing.MOST_BYTES // 25, 1_000) == [20, 20, 20]
    assert lengths(routing.MOST_BYTES // 5, 1_000) == [10] * 6
