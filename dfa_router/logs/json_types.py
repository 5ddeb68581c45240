"""The columns of JSON lines as Spark would find them, from what Arrow found in each block.

Both take a whole number for 64 bits and any other for a double, and an object for a struct. Spark sorts the names, takes no text
for a time, and has text where there is nothing but null. Where it would find text in values of several types, a decimal in
large numbers, or no column in empty objects, the log is left to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.logs.marks import READ_PROBLEM
from dfa_router.logs.partitions import OtherWayError, UnreadableError

__all__ = ["check_numbers", "columns_of", "merged"]

DEEPEST = 100
"""Levels of lists and objects within a column; a message that somebody reads has a few."""

KEYS = ("exchange", "routing_key", "vhost")

_MOST = 2.0**63
"""Whole numbers from here on are decimals to Spark, and doubles to Arrow."""

_LONG = re.compile(rb"[:\[,]\s*-?[0-9]{19,}\s*[,}\]]")

_WHOLE_ZERO = re.compile(rb"[:\[,]\s*-0\s*[,}\]]")


def merged(kinds: Iterable[pa.DataType]) -> pa.DataType:
    """Return the type of values of all these types; raises :class:`OtherWayError` where Spark would take them for text.

    >>> merged([pa.int64(), pa.null(), pa.float64()])
    DataType(double)
    """
    together: pa.DataType = pa.null()
    for kind in kinds:
        together = _both(together, kind)
    return together


def columns_of(schema: pa.DataType) -> pa.Schema:
    """Return the columns of a log of such objects, with text where nothing is known.

    >>> columns_of(pa.struct([("n", pa.int64()), ("exchange", pa.null())])).to_string().split()
    ['exchange:', 'string', 'n:', 'int64']
    """
    if not pa.types.is_struct(schema) or not schema.num_fields:
        raise UnreadableError("no line is a JSON object")
    found = pa.schema(list(_settled(schema)))
    if READ_PROBLEM in found.names:
        raise OtherWayError(f"it has the column {READ_PROBLEM!r}")
    for name in found.names:
        if name in KEYS and not pa.types.is_string(found.field(name).type):
            raise OtherWayError(f"column {name!r} is {found.field(name).type}")
    return found


def check_numbers(columns: Iterable[Any], data: bytes, depth: int = 0) -> None:
    """Raise :class:`OtherWayError` for numbers that Spark would read otherwise: whole ones of over 64 bits, and -0.

    It is raised, too, for columns of over :data:`DEEPEST` levels, which Python's stack would not take further on.

    Values of lists are looked at where they are kept, not by the lists' offsets: where Arrow finds the types by itself, it may
    leave out a null in front of them (its issue 51305). Of what it reads with types that it was given, none is left out.
    """
    if depth > DEEPEST:
        raise OtherWayError(f"it has values of over {DEEPEST} levels")
    for column in columns:
        for array in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            _check(array, data, depth)


def _check(array: Any, data: bytes, depth: int) -> None:
    numbers = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    # Another block may make a double of it.
    if numbers and pc.any(pc.equal(array, 0)).as_py() and _WHOLE_ZERO.search(data):
        raise OtherWayError("it has the number -0")
    if pa.types.is_struct(array.type):
        check_numbers((array.field(number) for number in range(array.type.num_fields)), data, depth + 1)
    elif pa.types.is_list(array.type):
        check_numbers([array.values], data, depth + 1)
    elif pa.types.is_floating(array.type):
        if pc.all(pc.is_finite(array)).as_py() is False:
            raise OtherWayError("it has numbers that are none, or infinite")
        if pc.any(pc.greater_equal(pc.abs(array), _MOST)).as_py() and _LONG.search(data):
            raise OtherWayError("it has numbers of more than 64 bits")


def _both(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    one, other = (pa.string() if pa.types.is_timestamp(kind) else kind for kind in (one, other))
    if pa.types.is_null(one) or pa.types.is_null(other):
        known = other if pa.types.is_null(one) else one
        return _both(known, known) if pa.types.is_nested(known) and not pa.types.is_null(known) else known
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields: dict[str, pa.DataType] = {}
        for field in (*one, *other):
            fields[field.name] = _both(fields.get(field.name, pa.null()), field.type)
        return pa.struct(list(fields.items()))
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(_both(one.value_type, other.value_type))
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if one != other:
        raise OtherWayError(f"it has values that are {one} beside others that are {other}")
    return one


def _settled(kind: pa.DataType) -> Any:
    """Return a type as Spark has it: names sorted as Java sorts them, and text for what is always null."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_settled(kind.value_type))
    if not pa.types.is_struct(kind):
        return kind
    names = [field.name for field in kind]
    if not names:
        raise OtherWayError("it has columns of nothing but empty objects")
    if "" in names:
        raise OtherWayError("it has a key that is the empty text")
    if len({name.lower() for name in names}) < len(names):
        raise OtherWayError("it has keys that differ by their case alone")
    fields = sorted(kind, key=lambda field: field.name.encode("utf-16-be", "surrogatepass"))
    return pa.struct([(field.name, _settled(field.type)) for field in fields])
