"""Columns of headers, as logs have them: maps, structs, lists of pairs, JSON, or Python's dicts.

=====================================  ==================================================================================
Arrow type                             What a null is
=====================================  ==================================================================================
map, or list of (key, value)           a header without a value (void), which is there
struct                                 a header that the message does not have: every row of a struct has all fields
text: a JSON object for each message   ``null`` in it is a header without a value
Python's list of dicts                 ``None`` is a header without a value
=====================================  ==================================================================================

A message whose whole entry is null has no headers. Where an entry cannot be read, the headers are not known. Texts are AMQP's
longstr, and numbers and truth values are what they are (:mod:`dfa_router.rabbitmq.headers.values`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from compiler.criteria.demands import PRESENCE, Field
from compiler.criteria.vocabulary import FieldColumns, Vocabulary
from compiler.kernels.tables import Keys
from compiler.machine.columns import whole
from compiler.prepare import jit_enabled
from compiler.values import Int32s
from dfa_router.arrow import key_column
from dfa_router.errors import MessagesError
from dfa_router.rabbitmq.byte_columns import bytes_array, plain_array
from dfa_router.rabbitmq.copies import COPIES, Copies
from dfa_router.rabbitmq.headers.values import FALSE, INTEGER, TEXT, TRUE, fields_of, value_of
from dfa_router.strict_json import loads

__all__ = ["HeaderRows", "MetCriteria", "met_criteria", "read_headers", "read_plainly"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class HeaderRows:
    """The headers of a batch of messages."""

    fields: FieldColumns
    """The fields of each entry."""
    entries: Int32s | None = None
    """The entry of each message; None where entry i is that of message i."""
    unknown: dict[int, str] = field(default_factory=dict)
    """Entries that cannot be read, and why."""

    def problems(self) -> pa.StringArray:
        """Return for each message why its headers are not known, or null."""
        texts = pa.array([self.unknown.get(entry) for entry in range(len(self.fields.offsets) - 1)], pa.string())
        return texts if self.entries is None else texts.take(pa.array(self.entries))


class MetCriteria(NamedTuple):
    """Which criteria the messages of a batch meet, each combination of them once.

    A dictionary of lists would say the same in Arrow; to make one takes 40 us, as long as to find the combinations of 500 messages.
    """

    ids: Int32s
    """For each message the number of its combination; the one behind the last where its headers are not known."""
    ends: Int32s
    """Combination c has the criteria ``members[ends[c]:ends[c + 1]]``, ascending."""
    members: Int32s

    def slice(self, first: int, count: int) -> MetCriteria:
        """Return those of messages that follow each other."""
        return self._replace(ids=self.ids[first : first + count])

    def take(self, rows: npt.NDArray[Any]) -> MetCriteria:
        """Return those of some messages."""
        return self._replace(ids=self.ids[rows])


def read_headers(column: Any, copies: Copies, *, strict: bool) -> HeaderRows:
    """Read a column of headers, and hand those of CC and BCC to ``copies``.

    Raises :class:`MessagesError` for a column of another type.
    """
    if isinstance(column, list | tuple) and not any(isinstance(one, str | bytes) for one in column):
        return _of_mappings(column, copies, strict=strict)
    array = plain_array(column)
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if pa.types.is_map(kind):
        return _of_pairs(array, array.keys, array.items, copies, strict=strict)
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type) and kind.value_type.num_fields == 2:
        names, values = array.values.flatten()
        return _of_pairs(array, names, values, copies, strict=strict)
    if pa.types.is_struct(kind):
        return _of_struct(array, copies, strict=strict)
    if pa.types.is_null(kind):
        return _of_mappings([None] * len(array), copies, strict=strict)
    if _is_text(kind):
        return _of_json(array, copies, strict=strict)
    raise MessagesError(
        f"headers is a column of {kind}: expected a map, a struct, a list of (key, value), or text with a JSON object for each "
        "message; cast it first, or leave it out"
    )


def read_plainly(column: Any, rows: int, *, strict: bool) -> HeaderRows | None:
    """Read the headers of so many messages, if nothing about them is out of the ordinary: maps in one piece, none of which has CC or
    BCC; else None.
    """
    if not isinstance(column, pa.MapArray) or len(column) != rows:
        return None
    copies = Copies(rows)
    headers = read_headers(column, copies, strict=strict)
    return None if copies else headers


def met_criteria(headers: HeaderRows, vocabulary: Vocabulary) -> MetCriteria:
    """Return which criteria each message meets."""
    ids, ends, members = vocabulary.combine(headers.fields)
    if headers.unknown:
        ids[list(headers.unknown)] = len(ends) - 1
    return MetCriteria(ids if headers.entries is None else ids[headers.entries], ends, members)


def _is_text(kind: pa.DataType) -> bool:
    tests = pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary
    return any(test(kind) for test in tests) or kind in (pa.string_view(), pa.binary_view())


def _of_pairs(array: pa.Array, names: pa.Array, values: pa.Array, copies: Copies, *, strict: bool) -> HeaderRows:
    offsets = array.offsets.to_numpy()
    if array.null_count and (np.diff(offsets)[array.is_null().to_numpy(zero_copy_only=False)] > 0).any():
        compacted = array.take(pa.array(np.arange(len(array))))  # nulls with pairs behind them
        return read_headers(compacted, copies, strict=strict)
    first, last = int(offsets[0]), int(offsets[-1])
    names, values = bytes_array(names.slice(first, last - first)), values.slice(first, last - first)
    ends: Int32s = (offsets - first).astype(np.int32)
    texts, kinds = _typed(values, strict=strict)
    named = _keys(names)
    special = _copies(names, named)
    if len(special):
        rows = np.searchsorted(ends, special, side="right") - 1
        at = pa.array(special)
        for row, name, value in zip(
            rows.tolist(), names.take(at).to_pylist(), values.take(at).to_pylist(), strict=True
        ):
            copies.add([row], {name: value})
        kept = np.ones(len(names), np.bool_)
        kept[special] = np.array(names.take(at).to_pylist()) != b"BCC"  # which the broker takes away
        ends = np.concatenate([[0], np.cumsum(kept)])[ends].astype(np.int32)
        named, texts, kinds = (_keys(names.filter(pa.array(kept))), texts.filter(pa.array(kept)), kinds[kept])
    return HeaderRows(fields=FieldColumns(ends, named, _keys(texts), kinds))


def _copies(names: pa.BinaryArray, named: Keys) -> npt.NDArray[np.int64]:
    """Return which of these names are CC or BCC; most often none is, which is found out by looking at the bytes in ``named``."""
    if jit_enabled():
        from compiler.kernels.calling import direct
        from compiler.kernels.criteria import find_copies

        if int(direct(find_copies, named)) == len(names):
            return np.empty(0, np.int64)
    wanted = pa.array([name.encode() for name in COPIES])
    return np.flatnonzero(pc.is_in(names, wanted).to_numpy(zero_copy_only=False))


def _of_struct(array: pa.StructArray, copies: Copies, *, strict: bool) -> HeaderRows:
    rows, names, texts, kinds = [], [], [], []
    own = [array.type.field(number).name for number in range(array.type.num_fields)]
    for number, (name, values) in enumerate(zip(own, array.flatten(), strict=True)):
        there = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        values = values.take(pa.array(there))  # noqa: PLW2901 - those that are there
        if name in COPIES:
            for row, value in zip(there.tolist(), values.to_pylist(), strict=True):
                copies.add([row], {name: value})
        if name != "BCC":
            text, kind = _typed(values, strict=strict)
            rows.append(there)
            names.append(np.full(len(there), number))
            texts.append(text)
            kinds.append(kind)
    if not rows:
        return _of_mappings([None] * len(array), copies, strict=strict)
    order = np.argsort(np.concatenate(rows), kind="stable")
    ends = np.searchsorted(np.concatenate(rows)[order], np.arange(len(array) + 1)).astype(np.int32)
    at = pa.array(order)
    named = pa.array([name.encode() for name in own], pa.binary()).take(pa.array(np.concatenate(names)).take(at))
    return HeaderRows(
        fields=FieldColumns(ends, _keys(named), _keys(pa.concat_arrays(texts).take(at)), np.concatenate(kinds)[order])
    )


def _of_json(array: pa.Array, copies: Copies, *, strict: bool) -> HeaderRows:
    """Read each distinct text once."""
    encoded = bytes_array(array).dictionary_encode()
    mappings: list[Mapping[str, Any] | None] = []
    unknown = {}
    for number, text in enumerate(encoded.dictionary.to_pylist()):
        made, wrong = _object(text)
        mappings.append(made)
        if wrong:
            unknown[number] = wrong
    entries = encoded.indices.fill_null(len(mappings)).to_numpy().astype(np.int32)
    return _of_mappings([*mappings, None], copies, strict=strict, entries=entries, unknown=unknown)


def _object(text: bytes) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return the object of a JSON text, or why there is none."""
    try:
        made = loads(text)
    except (ValueError, RecursionError) as error:
        return None, f"headers cannot be read as JSON ({str(error)[:80]})"
    if made is None or isinstance(made, dict):
        return made, None
    return None, f"headers is a JSON {type(made).__name__}, expected an object"


def _of_mappings(
    mappings: Iterable[Mapping[Any, Any] | None],
    copies: Copies,
    *,
    strict: bool,
    entries: Int32s | None = None,
    unknown: dict[int, str] | None = None,
) -> HeaderRows:
    found: list[list[Field]] = []
    with_copies = []
    for number, mapping in enumerate(mappings):
        if mapping is not None and not isinstance(mapping, Mapping):
            raise MessagesError(f"headers[{number}] is {type(mapping).__name__}: expected a mapping of names to values")
        found.append(fields_of(mapping, strict=strict))
        if mapping and any(name in mapping or name.encode() in mapping for name in COPIES):
            with_copies.append((number, mapping))
    for number, mapping in with_copies:
        copies.add([number] if entries is None else np.flatnonzero(entries == number).tolist(), mapping)
    flat = [one for fields in found for one in fields]
    ends = np.cumsum([0, *map(len, found)]).astype(np.int32)
    names, texts = (_keys(pa.array([one[part] for one in flat], pa.binary())) for part in (0, 2))
    kinds = np.array([kind for _, kind, _ in flat], np.uint8)
    return HeaderRows(fields=FieldColumns(ends, names, texts, kinds), entries=entries, unknown=unknown or {})


def _typed(values: pa.Array, *, strict: bool) -> tuple[pa.BinaryArray, npt.NDArray[np.uint8]]:
    """Return the bytes of values, and their kinds."""
    kind = values.type
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        values = values.dictionary_decode()
        kind = values.type
    null = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
    if _is_text(kind):
        texts = bytes_array(values)
        return texts if null is None else texts.fill_null(b""), _kinds(TEXT, len(values), null)
    if pa.types.is_integer(kind):
        return values.cast(pa.string()).view(pa.binary()).fill_null(b""), _kinds(INTEGER, len(values), null)
    if pa.types.is_boolean(kind):
        truths = values.fill_null(False).to_numpy(zero_copy_only=False)
        kinds = np.where(truths, TRUE, FALSE).astype(np.uint8)
        if null is not None:
            kinds[null] = PRESENCE
        return pa.array([b""], pa.binary()).take(pa.array(np.zeros(len(values), np.int32))), kinds
    found = [value_of(value, strict=strict) for value in _python(values)]
    return pa.array([text for _, text in found], pa.binary()), np.array([one for one, _ in found], np.uint8)


def _python(values: pa.Array) -> list[Any]:
    """Return values, maps as dicts."""
    found: list[Any] = (
        values.to_pylist(maps_as_pydicts="lossy") if pa.types.is_nested(values.type) else values.to_pylist()
    )
    return found


def _kinds(kind: int, count: int, null: Bools | None) -> npt.NDArray[np.uint8]:
    kinds = np.full(count, kind, np.uint8)
    if null is not None:
        kinds[null] = PRESENCE
    return kinds


def _keys(array: pa.BinaryArray) -> Keys:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return whole(key_column(array))
