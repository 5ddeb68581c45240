"""How results are encoded: every reader gets lists of text and the values that were routed, and dictionaries stand where they pay."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.logs import encoding, writing
from dfa_router.logs.encoding import Encoding, added_columns
from dfa_router.logs.planning import planned
from dfa_router.logs.publishing import attempts_of, publish
from dfa_router.logs.routing import work_of
from dfa_router.logs.stores import place_of
from dfa_router.logs.writing import opened
from dfa_router.rabbitmq import Binding, Exchange, Queue, RoutedBatch, Topology, topology_of
from dfa_router.rabbitmq.routed_columns import ROUTED, routed_fields

ROWS = 4_000
ROUTER = topology_of(
    exchanges=[Exchange(name="x", type="topic"), Exchange(name="h", type="x-unheard-of")],
    queues=[Queue(name="q"), Queue(name="ü")],
    bindings=[
        Binding(source="x", destination="q", routing_key="#.a.#"),
        Binding(source="x", destination="ü", routing_key="*"),
    ],
).compile()
WIDE = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name=f'queue "{number}"') for number in range(20)],
    bindings=[
        Binding(source="x", destination=f'queue "{number}"', routing_key="#" if number % 2 else "a")
        for number in range(20)
    ],
)
CHOOSING = topology_of(
    exchanges=[Exchange(name="x", type="x-random")],
    queues=[Queue(name=f"q{number}") for number in range(20)],
    bindings=[Binding(source="x", destination=f"q{number}") for number in range(20)],
)
COLUMNS: dict[str, Any] = {
    "exchange": ["x", "x", "h", None] * (ROWS // 4),
    "routing_key": [("a", "b", "a.b", "c.c", None)[number % 5] for number in range(ROWS)],
    "id": [f"{number:032}" for number in range(ROWS)],
    "a.b": np.arange(ROWS) * 7,
    "few": np.arange(ROWS) % 3,
    "nested": [{"id": str(number), "l": [number]} for number in range(ROWS)],
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a result of one file."""
    folder = tmp_path_factory.mktemp("encoding")
    pq.write_table(pa.table(COLUMNS), folder / "log.parquet")
    source, out = place_of(str(folder / "log.parquet")), place_of(str(folder / "out"))
    assert source is not None
    assert out is not None
    plan = planned(source, pattern=False, cores=1)
    work = work_of(plan, attempts_of(out), keys={name: name for name in ("exchange", "routing_key")}, vhost="/")
    publish(out, [work(ROUTER, plan.parts[0])])
    (made,) = (folder / "out").glob("part-*")
    return made


def expected() -> dict[str, list[Any]]:
    routed = ROUTER.route_columns(COLUMNS["exchange"], COLUMNS["routing_key"])
    return {field.name: getattr(routed, field.name).to_pylist() for field in ROUTED}


def test_arrow_reads_lists_of_text(file: Path) -> None:
    table = pq.read_table(file)
    assert [table.schema.field(one.name).type for one in ROUTED] == [one.type for one in ROUTED]
    assert table.select([one.name for one in ROUTED]).to_pydict() == expected()


def test_duckdb_reads_lists_of_text(file: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(file))
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        assert (types["queues"], types["not_simulated"]) == ("VARCHAR[]", "VARCHAR[]")
        rows = connection.sql(f"select queues, routed, not_simulated, problem from '{file}'").fetchall()
    assert rows == list(zip(*expected().values(), strict=True))


def test_columns_of_values_that_occur_once_have_no_dictionary(file: Path) -> None:
    group = pq.read_metadata(file).row_group(0)
    coded = {
        group.column(number).path_in_schema: "RLE_DICTIONARY" in group.column(number).encodings
        for number in range(group.num_columns)
    }
    assert {path for path, is_coded in coded.items() if not is_coded} == {"id", "a.b", "routed"}
    assert coded["nested.id"], "parts of nested columns are not looked at"
    assert coded["queues.list.element"]


UUIDS = pa.array([bytes([*divmod(number, 256)] * 8) for number in range(ROWS)], pa.uuid())


@pytest.mark.parametrize(
    "values",
    [
        UUIDS,
        pa.array(["{}"] * ROWS, pa.json_()),
        pa.array(map(Decimal, range(ROWS)), pa.decimal32(6)),
        pa.array(map(Decimal, range(ROWS)), pa.decimal64(12)),
        pa.array(COLUMNS["id"], pa.string_view()),
        pa.array([one.encode() for one in COLUMNS["id"]], pa.binary_view()),
    ],
    ids=lambda values: str(values.type),
)
def test_columns_of_every_type_that_parquet_has_are_handed_through(values: pa.Array) -> None:
    try:
        pq.write_table(pa.table({"extra": values}), pa.BufferOutputStream())
    except pa.ArrowNotImplementedError:
        pytest.skip(f"this version of Arrow does not write {values.type} to Parquet")
    assert pq.read_table(pa.BufferReader(with_routes(values)))["extra"].combine_chunks().equals(values)


def test_identifiers_that_occur_once_have_no_dictionary() -> None:
    column = pq.read_metadata(pa.BufferReader(with_routes(UUIDS))).row_group(0).column(0)
    assert "RLE_DICTIONARY" not in column.encodings


def with_routes(values: pa.Array) -> pa.Buffer:
    """Return a file with a column of a log, and those of the result."""
    sink = pa.BufferOutputStream()
    with opened("parquet", sink, pa.schema([("extra", values.type), *ROUTED])) as write:
        write(pa.table({"extra": values}), ROUTER.route_batch(COLUMNS["exchange"], COLUMNS["routing_key"]))
    return sink.getvalue()


def test_a_slice_of_many_copies_is_written_in_several_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = ROUTER.route_batch(COLUMNS["exchange"], COLUMNS["routing_key"])
    monkeypatch.setattr(encoding, "MOST_NAMES", 100)
    runs = list(added_columns(batch))
    assert len(runs) > 10
    assert [rows.start for rows, _ in runs] == [0, *(rows.stop for rows, _ in runs[:-1])]
    assert runs[-1][0].stop == ROWS
    for _, (queues, _, not_simulated, _) in runs:
        assert len(queues.flatten()) + len(not_simulated.flatten()) <= 100
    columns = zip(*(added for _, added in runs), strict=True)
    assert [[value for part in column for value in part.to_pylist()] for column in columns] == list(expected().values())


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
@pytest.mark.parametrize("topology", [WIDE, CHOOSING], ids=["wide", "choosing"])
def test_a_slice_of_many_copies_is_written_as_text_in_several_runs(
    kind: str, topology: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.table({"routing_key": ["a", "b", None, "c"] * 50, "n": range(200)})
    router = topology.compile()
    batch = router.route_batch(["x", "x", "x", "gone"] * 50, table["routing_key"])
    schema = pa.schema([*table.schema, *routed_fields(topology.chooses)])

    def written() -> bytes:
        sink = pa.BufferOutputStream()
        with opened(kind, sink, schema) as write:
            write(table, batch)
        return bytes(sink.getvalue())

    whole = written()
    lengths: list[int] = []
    columns = RoutedBatch.columns

    def counted(one: RoutedBatch) -> Any:
        lengths.append(len(one.route_ids))
        return columns(one)

    monkeypatch.setattr(RoutedBatch, "columns", counted)
    monkeypatch.setattr(writing, "MOST_NAME_BYTES", 1_000)
    assert written() == whole
    assert sum(lengths) == 200
    assert len(lengths) > 10


def test_the_bytes_of_names_are_those_of_the_columns() -> None:
    batch = ROUTER.route_batch(COLUMNS["exchange"], COLUMNS["routing_key"])
    columns = batch.columns()
    lists = zip(columns.queues.to_pylist(), columns.not_simulated.to_pylist(), strict=True)
    assert batch.name_bytes.tolist() == [len("".join(some + others).encode()) for some, others in lists]
    assert batch.name_bytes.max() > 2


def test_names_and_metadata_of_the_log_are_those_of_the_file() -> None:
    schema = pa.schema([pa.field("n", pa.large_string(), metadata={"unit": "m"}), *ROUTED], {"origin": "a test"})
    sink = pa.BufferOutputStream()
    with Encoding(schema).writer(sink, None):
        pass
    found = pq.read_schema(pa.BufferReader(sink.getvalue()))
    assert found.metadata == {b"origin": b"a test"}
    assert found.field("n").type == pa.large_string()
    assert found.field("n").metadata[b"unit"] == b"m"
