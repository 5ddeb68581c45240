r"""Arrow columns as JSON, one text per row, by Arrow's own functions: no row becomes a Python object.

Text is escaped as the standard asks and no further. Doubles keep what makes them doubles (``3.0``). What this leaves out: types
that JSON lines do not give, such as times and decimals; Spark writes these.

Rejected: polars and DuckDB, which are needed for nothing else here, and orjson, for which each row becomes Python objects first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["is_written", "json_lines", "json_texts"]

_NAMED = {8: r"\b", 9: r"\t", 10: r"\n", 12: r"\f", 13: r"\r"}


def is_written(kind: pa.DataType) -> bool:
    """Tell whether values of a type can be written.

    >>> is_written(pa.list_(pa.struct([("n", pa.int64())]))), is_written(pa.date32())
    (True, False)
    """
    if pa.types.is_list(kind):
        return is_written(kind.value_type)
    if pa.types.is_struct(kind):
        return all(is_written(field.type) for field in kind)
    return kind in {pa.string(), pa.int64(), pa.float64(), pa.bool_()}


def json_lines(table: pa.Table) -> pa.Array:
    r"""Return each row as an object, with its line feed.

    >>> json_lines(pa.table({"a": ["\"", None], "b": [[1.0], []]})).to_pylist()
    ['{"a":"\\"","b":[1.0]}\n', '{"a":null,"b":[]}\n']
    """
    columns = [column.combine_chunks() for column in table.columns]
    return _objects(table.schema.names, columns, "}\n")


def json_texts(array: Any) -> Any:
    """Return each value as JSON; null is ``null``."""
    kind = array.type
    if pa.types.is_list(kind):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
        offsets = np.zeros(len(array) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        lists = pa.ListArray.from_arrays(pa.array(offsets), json_texts(array.flatten()))
        texts = pc.binary_join_element_wise("[", pc.binary_join(lists, ","), "]", "")
        return pc.if_else(array.is_valid(), texts, "null")
    if pa.types.is_struct(kind):
        texts = _objects([field.name for field in kind], array.flatten(), "}")
        return pc.if_else(array.is_valid(), texts, "null")
    if pa.types.is_string(kind):
        return pc.fill_null(pc.binary_join_element_wise('"', _escaped(array), '"', ""), "null")
    texts = array.cast(pa.string())
    if pa.types.is_floating(kind):
        whole = pc.match_substring_regex(texts, "^-?[0-9]+$")
        texts = pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)
    return pc.fill_null(texts, "null")


def _objects(names: list[str], columns: list[Any], end: str) -> Any:
    parts: list[Any] = []
    for name, texts in zip(_escaped(pa.array(names)).to_pylist(), map(json_texts, columns), strict=True):
        parts += [f'{"," if parts else "{"}"{name}":', texts]
    return pc.binary_join_element_wise(*parts, end, "")


def _escaped(array: Any) -> Any:
    """Return texts with escapes; most have nothing to be escaped, which is seen by looking at their bytes."""
    odd = _odd_bytes(array)
    for code in odd:  # 92, the backslash, is the first
        escape = "\\" + chr(code) if code >= 32 else _NAMED.get(code, f"\\u{code:04x}")
        array = pc.replace_substring(array, chr(code), escape)
    return array


def _odd_bytes(array: Any) -> list[int]:
    """Return the bytes that have to be escaped and occur, the greatest first."""
    data = array.buffers()[2]
    if data is None or not len(array):
        return []
    offsets = np.frombuffer(array.buffers()[1], np.int32)
    held = np.frombuffer(data, np.uint8)[offsets[array.offset] : offsets[array.offset + len(array)]]
    odd = held[(held < 32) | (held == 34) | (held == 92)]
    return sorted(np.flatnonzero(np.bincount(odd, minlength=93)).tolist(), reverse=True)
