"""Columns of polars, DuckDB, pandas, nanoarrow and arro3 go in, and answers go out to them, by Arrow's PyCapsule interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.arrow import key_array, key_columns
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

pl = pytest.importorskip("polars")
nanoarrow = pytest.importorskip("nanoarrow")

ROUTER = dr.compile([("a.*", "x"), ("#", "y")])
TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="a.#")],
).compile()
KEYS = ["a.b", None, "c", "", "a.long enough to lie outside of a view"]
ANSWER = [[0, 1], None, [1], [1], [0, 1]]

Column = Callable[[list[str | None]], Any]


def _bytes(keys: list[str | None]) -> list[bytes | None]:
    return [None if key is None else key.encode() for key in keys]


def _duckdb(keys: list[str | None], *settings: str) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    _open.append(connection)
    for setting in settings:
        connection.sql(f"set {setting}")
    return connection.sql("select unnest(?) as key", params=[keys])


_open: list[Any] = []
"""Connections: before DuckDB 2 a relation keeps none."""


def _duckdb_views(keys: list[str | None]) -> Any:
    return _duckdb(keys, "produce_arrow_string_view = true", "arrow_output_version = '1.5'")


def _arro3(keys: list[str | None]) -> Any:
    arro3 = pytest.importorskip("arro3.core")
    return arro3.Array(pa.array(keys, pa.string()))


def _one_by_one(keys: list[str | None]) -> Any:
    return pl.concat([pl.Series([key], dtype=pl.String) for key in keys], rechunk=False)


COLUMNS: dict[str, Column] = {
    "polars": lambda keys: pl.Series(keys, dtype=pl.String),
    "polars, of bytes": lambda keys: pl.Series(_bytes(keys), dtype=pl.Binary),
    "polars, categorical": lambda keys: pl.Series(keys, dtype=pl.Categorical),
    "polars, in chunks": _one_by_one,
    "polars, a table": lambda keys: pl.DataFrame({"key": pl.Series(keys, dtype=pl.String)}),
    "duckdb": _duckdb,
    "duckdb, views": _duckdb_views,
    "pandas, of objects": lambda keys: pd.Series(keys, dtype=object),
    "pandas, of objects with NaN": lambda keys: pd.Series([float("nan") if key is None else key for key in keys]),
    "pandas, text": lambda keys: pd.Series(keys, dtype="string"),
    "pandas, of Arrow": lambda keys: pd.Series(keys, dtype=pd.ArrowDtype(pa.string())),
    "pandas, categorical": lambda keys: pd.Series(keys, dtype="category"),
    "pandas, categories": pd.Categorical,
    "pandas, an index": pd.Index,
    "pandas, a table": lambda keys: pd.DataFrame({"key": keys}, dtype=object),
    "nanoarrow": lambda keys: nanoarrow.Array(keys, nanoarrow.string()),
    "nanoarrow, a stream": lambda keys: nanoarrow.ArrayStream(pa.chunked_array([keys, []], pa.large_string())),
    "arro3": _arro3,
    "pyarrow, a table": lambda keys: pa.table({"key": keys}),
    "pyarrow, batches": lambda keys: pa.table({"key": keys}).to_reader(max_chunksize=2),
}

each_library = pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)


@each_library
def test_keys_are_read_from_columns_of_any_library(column: Column) -> None:
    assert ROUTER.match_batch(column(list(KEYS))).bindings().to_pylist() == ANSWER


def test_keys_that_pandas_took_for_floats_are_missing() -> None:
    """As it does with a column of which no key is there, and did with one without rows."""
    nan = float("nan")
    for missing in (pd.Series([nan, nan]), pd.Series([None, None], dtype="Int64"), pd.Series([pd.NaT, pd.NaT])):
        assert ROUTER.match_batch(missing).bindings().to_pylist() == [None, None]
    assert len(ROUTER.match_batch(pd.Series([], dtype=float))) == 0
    with pytest.raises(dr.KeyTypeError, match="column of double: cast it to string first"):
        ROUTER.match_batch(pd.Series([nan, 1.5]))


@pytest.mark.parametrize("name", ["key", "dtype"])
def test_a_pandas_table_of_one_column_stands_for_it_whichever_rows_were_selected(name: str) -> None:
    log = pd.DataFrame(
        {name: [*KEYS, "left out"], "day": [1] * len(KEYS) + [2]}, index=[f"m{i}" for i in range(len(KEYS) + 1)]
    )
    one_day = log[log["day"] == 1][[name]]
    assert ROUTER.match_batch(one_day).bindings().to_pylist() == ANSWER
    assert ROUTER.match_batch(one_day.reset_index(drop=True).iloc[[4, 1]]).bindings().to_pylist() == [[0, 1], None]
    missing = pd.DataFrame({name: [float("nan")] * 2})
    assert ROUTER.match_batch(missing).bindings().to_pylist() == [None, None]


@each_library
def test_messages_are_routed_from_columns_of_any_library(column: Column) -> None:
    exchanges = ["x", "x", None, "nowhere", "x"]
    expected = TOPOLOGY.route_columns(exchanges, list(KEYS))
    assert TOPOLOGY.route_columns(column(list(exchanges)), column(list(KEYS))) == expected
    assert TOPOLOGY.route_columns(column(list(exchanges)), column(list(KEYS)), column(["/"] * 5)) == expected
    assert expected.queues.to_pylist() == [["q"], [], [], [], ["q"]]


@each_library
def test_a_column_without_rows_has_an_answer_without_rows(column: Column) -> None:
    if column is _one_by_one:  # polars joins no nothing
        return
    has_rows = column in (_duckdb, _duckdb_views)  # DuckDB does not know what an empty list would hold
    rows = column(["a"]).filter("false") if has_rows else column([])
    assert len(ROUTER.match_batch(rows)) == 0


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary(), pa.string_view(), pa.null()], ids=str)
def test_small_chunks_are_matched_together_and_stay_in_order(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfa_router.arrow.columns._SMALL_ROWS", 10)
    keys = [None if number % 5 == 0 else f"{'ab'[number % 2]}.{number}" for number in range(50)]
    keys = [None] * 50 if pa.types.is_null(kind) else keys
    cuts = [0, 1, 3, 3, 9, 25, 26, 27, 28, 49, 50]
    column = pa.chunked_array([pa.array(keys, kind)[start:stop] for start, stop in pairwise(cuts)])
    assert [len(part.offsets) - 1 for part in key_columns(column)] == [9, 16, 3, 21, 1]
    assert ROUTER.match_batch(column).bindings().to_pylist() == ROUTER.match_batch(keys).bindings().to_pylist()


def test_chunks_of_many_bytes_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfa_router.arrow.columns._SMALL_BYTES", 100)
    column = pa.chunked_array([["a" * 60], ["b" * 60], ["c"], ["d"]])
    assert [len(part.offsets) - 1 for part in key_columns(column)] == [1, 3]


def test_text_of_others_is_not_copied() -> None:
    """The buffers are those of the library that handed them over."""
    theirs = pl.Series(KEYS)
    views = key_array(theirs).chunk(0)
    assert pa.types.is_string_view(views.type)
    again = key_array(theirs).chunk(0)
    assert [buffer and buffer.address for buffer in views.buffers()] == [
        buffer and buffer.address for buffer in again.buffers()
    ]
    strings = pa.array(KEYS)
    through = key_array(nanoarrow.Array(strings)).chunk(0)
    assert through.buffers()[2].address == strings.buffers()[2].address


TWO = {"exchange": ["x"], "key": ["a"]}


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame(TWO),
        pd.DataFrame(TWO),
        pd.DataFrame(TWO, index=["m"] * len(TWO["key"])),
        pa.table(TWO),
        pa.record_batch(TWO),
        pl.Series([{"exchange": "x", "key": "a"}]),
    ],
    ids=["polars", "pandas", "pandas, with an index", "pyarrow", "a batch", "structs"],
)
def test_a_table_of_two_columns_is_an_error_that_says_what_to_hand_over(table: Any) -> None:
    told = r"keys is a table or struct of 2 columns \('exchange', 'key'\): hand over one of them, such as keys\['exchange'\]"
    with pytest.raises(dr.KeyTypeError, match=told):
        ROUTER.match_batch(table)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (pl.Series([1]), "keys is an Arrow column of int64: cast it to string first"),
        (pl.DataFrame(), "keys is a table or struct of 0 columns .none.: hand over a column of text"),
        (pd.Series(["a", 3]), r"keys\[1\] is 3 \(int\): expected str, bytes, or None for a missing key"),
        (["a", pd.NA], r"keys\[1\] is NAType: expected str, bytes, or None for a missing key"),
        (
            np.array(["a", np.nan], object),
            r"keys\[1\] is nan \(float\): expected str, bytes, or None for a missing key",
        ),
        (
            np.ma.masked_array(["a", "b"], [False, True]),
            r"keys\[1\] is MaskedConstant: expected str, bytes, or None for a missing key",
        ),
        (pd.Series(["\ud800"], dtype=object), r"keys\[0\] is '\\ud800', with a lone surrogate at character 0"),
        (object(), "keys is object: expected an Arrow array of strings or a list of str$"),
        (pd.DataFrame({"key": ["a", 3]}, index=[5, 4]), r"keys\[1\] is 3 \(int\): expected str, bytes, or None"),
        (
            dict(TWO),
            r"keys is dict: .*; hand over one of its values, such as keys\['exchange'\], or its own keys by list\(keys\)$",
        ),
        ({}, "keys is dict: .*; hand over one of its values, or its own keys by list.keys.$"),
        (pl.LazyFrame({"key": ["a"]}), "keys is LazyFrame: .*; collect it first$"),
        (pl.col("key"), "keys is Expr: .*; within an expression, columns are handed over by its map_batches$"),
    ],
    ids=[
        "numbers",
        "no column",
        "mixed objects",
        "NA of pandas",
        "NaN of NumPy",
        "masked by NumPy",
        "half a character",
        "anything",
        "mixed objects of a table",
        "columns by name",
        "no columns by name",
        "a lazy frame",
        "an expression",
    ],
)
def test_what_holds_no_keys_is_an_error_that_says_so(keys: Any, told: str) -> None:
    with pytest.raises(dr.KeyTypeError, match=told):
        ROUTER.match_batch(keys)


def test_what_goes_wrong_in_the_other_library_is_raised_as_it_is() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows = connection.sql("select case when i > 5 then error('row ' || i) else 'a' end as key from range(10) as t(i)")
    with pytest.raises(duckdb.InvalidInputException, match="row 6"):
        ROUTER.match_batch(rows)

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"key": ["a"]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("key", pa.string())]), batches())
    with pytest.raises(pa.ArrowException, match="the disk is gone"):
        ROUTER.match_batch(reader)


def test_a_struct_that_is_shorter_than_it_says_is_an_error() -> None:
    kind = nanoarrow.struct({"key": nanoarrow.string()})
    children = [nanoarrow.c_array(pa.array(["a"]))]
    short = nanoarrow.c_array_from_buffers(kind, 5, [None], children=children, validation_level="none")
    with pytest.raises(dr.KeyTypeError, match=r"keys is a damaged Arrow table .*: make or write it again"):
        ROUTER.match_batch(short)


def test_a_null_row_of_a_struct_is_a_null_key() -> None:
    structs = pa.array([{"key": "a.b"}, None, {"key": None}], pa.struct([("key", pa.string())]))
    assert ROUTER.match_batch(structs).bindings().to_pylist() == [[0, 1], None, None]
    assert ROUTER.match_batch(pa.chunked_array([structs])).bindings().to_pylist() == [[0, 1], None, None]


def test_attributes_of_messages_are_read_from_other_libraries() -> None:
    """No simulated type reads one yet; the column is read as if one did."""
    from dfa_router.rabbitmq.byte_columns import plain_array

    assert plain_array(pl.Series([1, None])).to_pylist() == [1, None]
    assert plain_array(pa.chunked_array([[1], [2]])).to_pylist() == [1, 2]
    assert plain_array([{"a": 1}]).to_pylist() == [{"a": 1}]


ROWS = [
    {"bindings": [0, 1], "destinations": ["x", "y"]},
    {"bindings": None, "destinations": None},
    {"bindings": [1], "destinations": ["y"]},
]


@pytest.mark.parametrize(
    "read",
    [
        lambda matches: pl.DataFrame(matches).to_dicts(),
        lambda matches: pa.table(matches).to_pylist(),
        lambda matches: list(nanoarrow.ArrayStream(matches).iter_py()),
        lambda matches: pytest.importorskip("duckdb").sql("select * from matches").to_arrow_table().to_pylist(),
    ],
    ids=["polars", "pyarrow", "nanoarrow", "duckdb"],
)
def test_matches_are_a_table_of_two_columns_to_other_libraries(read: Callable[[Any], Any]) -> None:
    matches = ROUTER.match_batch(["a.b", None, "c"])
    assert read(matches) == ROWS
    assert read(matches) == ROWS, "it may be read more than once"
    assert read(ROUTER.match_batch([])) == []


def test_matches_go_out_in_batches_whose_offsets_do_not_run_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit at 10: five rows of two bindings."""
    matches = ROUTER.match_batch(["a.b"] * 12 + [None])
    monkeypatch.setattr("dfa_router.results.MOST", 10)
    table = pa.table(matches)
    assert [len(chunk) for chunk in table["bindings"].chunks] == [5, 5, 3]
    assert table.to_pylist() == [ROWS[0]] * 12 + [ROWS[1]]
    with pytest.raises(dr.CapacityError):
        matches.bindings()


def test_routed_columns_are_a_table_of_four_columns_to_other_libraries() -> None:
    columns = TOPOLOGY.route_columns(["x", "nowhere"], ["a", "a"])
    expected = [
        {"queues": ["q"], "routed": True, "not_simulated": [], "problem": None},
        {"queues": [], "routed": False, "not_simulated": [], "problem": "no exchange 'nowhere' in vhost '/'"},
    ]
    found = pl.DataFrame(columns).to_dicts()
    assert found[1].pop("problem").startswith(expected[1].pop("problem"))
    assert found == expected
    assert pa.table(columns).column_names == ["queues", "routed", "not_simulated", "problem"]
    queues, routed, *_ = columns
    assert queues.equals(columns.queues)
    assert routed.equals(columns.routed)
