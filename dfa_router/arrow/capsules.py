"""Columns and tables of other libraries, in and out, by the Arrow PyCapsule interface.

Polars, DuckDB, pandas, nanoarrow, arro3 and whatever comes next hand over their memory by two methods,
``__arrow_c_stream__`` and ``__arrow_c_array__``; so none of them is imported here. Nothing is copied on the way: that
happens later, and only to text in views (polars), where it costs 5 to 10 ns a key.

What this leaves out: the devices of ``__arrow_c_device_array__``, as kernels run on processors.

Rejected: iterating over what is not pyarrow's, which takes 200 ns a key for a polars Series and 20 this way; and the
methods that each library has of its own (``to_arrow``, ``fetch_arrow_table``), which are another name in each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from dfa_router.errors import KeyTypeError

__all__ = ["column_of", "stream_of", "without_index"]


def column_of(data: Any, what: str) -> pa.ChunkedArray | None:
    """Return what another library's column holds, or None for an object that is no Arrow column.

    A table of one column stands for that column. ``what`` is the name of ``data`` in messages. Raises
    :class:`KeyTypeError` for a table of several columns, and for a type that Arrow's Python library cannot read. What goes
    wrong in the other library while it hands over its rows is raised as it is.

    >>> column_of(pa.table({"routing_key": ["a.b"]}), "keys").to_pylist()
    ['a.b']
    >>> column_of(["a.b"], "keys") is None
    True
    """
    try:
        if isinstance(data, pa.ChunkedArray):
            column = data
        elif isinstance(data, pa.Array):
            column = pa.chunked_array([data])
        elif hasattr(data, "isna") and hasattr(data, "dtype"):  # pandas: numpy and polars have not both
            return _of_pandas(data)
        elif hasattr(data, "__arrow_c_stream__"):
            column = pa.chunked_array(data)
        elif hasattr(data, "__arrow_c_array__"):
            column = pa.chunked_array([pa.array(data)])
        else:
            return None
    except (
        pa.ArrowNotImplementedError
    ) as error:  # a type that Arrow has since got; what the library itself raises is its own
        raise KeyTypeError(f"{what} cannot be read as an Arrow column ({error}): cast it to string first") from None
    return _only_column(column, what) if pa.types.is_struct(column.type) else column


def without_index(data: Any, what: str) -> Any:
    """Return the only column of a pandas table, and anything else as it is.

    As a stream, such a table has its index as a column more, where its rows were selected by what they say, or have names. Raises
    :class:`KeyTypeError` for a table of several columns.
    """
    if not (hasattr(data, "isna") and hasattr(data, "columns")):  # no other library has both
        return data
    _check_single(list(data.columns), what)
    return data.iloc[:, 0]


def _only_column(table: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    _check_single([field.name for field in table.type], what)
    try:
        table.validate()  # flatten believes that the column has as many rows as the table
    except pa.ArrowInvalid as error:
        raise KeyTypeError(f"{what} is a damaged Arrow table ({error}): make or write it again") from None
    return table.flatten()[0]


def _check_single(names: Sequence[Any], what: str) -> None:
    if len(names) != 1:
        listed = ", ".join(map(repr, names)) or "none"
        remedy = f"hand over one of them, such as {what}[{names[0]!r}]" if names else "hand over a column of text"
        raise KeyTypeError(f"{what} is a table or struct of {len(names)} columns ({listed}): {remedy}")


def _of_pandas(data: Any) -> pa.ChunkedArray | None:
    """Return a pandas column as an Arrow one: few of them have capsules, and missing text may be NaN."""
    try:
        column = pa.array(data, from_pandas=True)
    except (pa.ArrowException, UnicodeEncodeError):  # objects that are no text: they are named one by one elsewhere
        return None
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])  # without a single text pandas takes it for one of floats
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def stream_of(schema: pa.Schema, batches: Iterable[pa.RecordBatch], requested: object | None) -> object:
    """Return the capsule of a stream of record batches, which are made when they are asked for."""
    return pa.RecordBatchReader.from_batches(schema, iter(batches)).__arrow_c_stream__(requested)
