"""What a Parquet log holds, from its footers alone: its columns, its rows, and the parts in which it is routed.

The columns are those of all files, in the order in which they first occur; one that a file lacks is null there, and those that
folders name (``day=1``) come last. A part is as many whole row groups, perhaps of several files, as make up a task's worth.

Left to Spark, by :class:`OtherWayError`: columns whose types or cases differ among the files, which Spark merges or refuses,
times of the old form of 96 bits beside others, and types that Spark alone knows. Rejected: merging those here as well. Spark's
rules for it would stand twice, and such logs are rare.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from dfa_router.logs import parts
from dfa_router.logs.listing import files_of, of_each
from dfa_router.logs.parquet_reading import ReadParquet
from dfa_router.logs.partitions import OtherWayError, partition_types, partitions_of
from dfa_router.logs.parts import Part, Piece, Read, part_bytes
from dfa_router.logs.stores import Found, Place

__all__ = ["Footer", "OtherWayError", "Plan", "divided", "footers_of", "planned", "with_column"]

SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark keeps its types in a file. It believes them, so they have to name our columns, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A log that Arrow reads."""

    schema: pa.Schema
    """Of all files together, with the columns that folders name at the end; of a table, as its log has it."""
    read: Read
    """How a part is read."""
    parts: tuple[Part[Any], ...]
    old_times: bool = False
    """Whether all its times are of the form of 96 bits; the result has them so, too."""

    @property
    def rows(self) -> int:
        """Return how many rows the log has."""
        return sum(part.rows for part in self.parts)


class Footer(NamedTuple):
    """What the end of a file says; the tuples have an entry for each row group."""

    file: Found
    schema: pa.Schema
    rows: tuple[int, ...]
    stored: tuple[int, ...]
    decoded: tuple[int, ...]
    old_times: bool
    other_times: bool


def planned(place: Place, *, pattern: bool, cores: int) -> Plan:
    """Plan the log at a place, for so many cores; reads the footer of each file.

    Raises :class:`OtherWayError` for a log that Spark has to read, if anybody: one that cannot be read at all is among these.
    """
    files = files_of(place, pattern=pattern)
    partitions = partitions_of([file.folders for file in files])
    types = partition_types(partitions)
    footers = footers_of(place.store, files)
    if any(footer.old_times for footer in footers) and any(footer.other_times for footer in footers):
        raise OtherWayError("it has times of 96 bits beside others")
    schema = _with_folders(_together(footers), {name: kind for name, (kind, _) in types.items()})
    values = [tuple(types[name][1][text] for name, text in partition) for partition in partitions]
    return divided(place.store, footers, schema, tuple(types), values, cores)


def divided(
    store: Any,
    footers: Sequence[Footer],
    schema: pa.Schema,
    partitions: tuple[str, ...],
    values: Sequence[tuple[Any, ...]],
    cores: int,
) -> Plan:
    """Return the plan of files with these footers; ``values`` are those of the columns ``partitions``, for each file."""
    return Plan(
        schema=schema,
        read=ReadParquet(store=store, schema=schema, partitions=partitions),
        old_times=any(footer.old_times for footer in footers),
        parts=tuple(_parts(footers, values, cores)),
    )


def footers_of(store: Any, files: Sequence[Found]) -> list[Footer]:
    """Read the footer of each file; raises :class:`OtherWayError` for one that Arrow does not read."""
    return of_each(files, partial(_footer, store))


def _footer(store: Any, file: Found) -> Footer:
    with (
        store.open_input_file(file.path) as source,
        pq.ParquetFile(source, coerce_int96_timestamp_unit="us") as opened,
    ):
        metadata, schema = opened.metadata, opened.schema_arrow
        leaves = [opened.schema.column(number) for number in range(len(opened.schema))]
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return Footer(
        file,
        schema,
        tuple(group.num_rows for group in groups),
        tuple(sum(group.column(n).total_compressed_size for n in range(group.num_columns)) for group in groups),
        tuple(group.total_byte_size for group in groups),
        any(leaf.physical_type == "INT96" for leaf in leaves),
        any(leaf.logical_type.type == "TIMESTAMP" for leaf in leaves),
    )


def _together(footers: Sequence[Footer]) -> pa.Schema:
    """Return the columns of all files; raises :class:`OtherWayError` where they do not go together as they are."""
    fields: dict[str, pa.Field] = {}
    holders: dict[str, int] = {}
    cases: dict[str, str] = {}
    for footer in footers:
        names = footer.schema.names
        if len({name.lower() for name in names}) < len(names):
            raise OtherWayError(f"{footer.file.path} has columns whose names differ by their case alone, or not at all")
        for field in footer.schema:
            known = fields.setdefault(field.name, field)
            if cases.setdefault(field.name.lower(), field.name) != field.name:
                raise OtherWayError(f"its files write column {field.name!r} in several cases")
            if known.type != field.type:
                raise OtherWayError(f"column {field.name!r} is {known.type} in one file and {field.type} in another")
            fields[field.name] = known.with_nullable(known.nullable or field.nullable)
            holders[field.name] = holders.get(field.name, 0) + 1
    merged = [field.with_nullable(field.nullable or holders[name] < len(footers)) for name, field in fields.items()]
    return pa.schema(merged, _metadata([footer.schema for footer in footers]))


def _metadata(schemas: Sequence[pa.Schema]) -> dict[bytes, bytes]:
    """Return the first file's metadata; Spark's types only if all files have the same, and all are types of Arrow's, too."""
    metadata = dict(schemas[0].metadata or {})
    spark = {(schema.metadata or {}).get(SPARK_SCHEMA) for schema in schemas}
    if any(text is not None and any(kind in text for kind in (b'"variant"', b'"udt"', b'"geo')) for text in spark):
        raise OtherWayError("it has types that Spark alone knows")
    if len(spark) > 1:
        metadata.pop(SPARK_SCHEMA, None)
    return metadata


def _with_folders(schema: pa.Schema, types: dict[str, pa.DataType]) -> pa.Schema:
    taken = {name.lower() for name in schema.names}
    for name, kind in types.items():
        if name.lower() in taken:
            raise OtherWayError(f"column {name!r} is in its files and named by its folders")
        schema = with_column(schema, pa.field(name, kind))
    return schema


def with_column(schema: pa.Schema, field: pa.Field) -> pa.Schema:
    """Return a schema with a column more, which Spark's own account of the types, if there is one, gets as well."""
    metadata = dict(schema.metadata or {})
    extended = schema.append(field)
    if SPARK_SCHEMA not in metadata:
        return extended
    told = json.loads(metadata[SPARK_SCHEMA])
    told["fields"].append({"name": field.name, "type": _spark_type(field.type), "nullable": True, "metadata": {}})
    return extended.with_metadata(metadata | {SPARK_SCHEMA: json.dumps(told).encode()})


_SPARK_TYPES: dict[str, Any] = {
    "int32": "integer",
    "int64": "long",
    "double": "double",
    "date32[day]": "date",
    "string": "string",
    "bool": "boolean",
}
"""The types of the columns that we add, as Spark writes them; of lists and structs, those of what is in them."""


def _spark_type(kind: pa.DataType) -> Any:
    if pa.types.is_list(kind):
        return {"type": "array", "elementType": _spark_type(kind.value_type), "containsNull": True}
    if pa.types.is_struct(kind):
        fields = [{"name": one.name, "type": _spark_type(one.type), "nullable": True, "metadata": {}} for one in kind]
        return {"type": "struct", "fields": fields}
    return _SPARK_TYPES[str(kind)]


def _parts(footers: Sequence[Footer], values: Sequence[tuple[Any, ...]], cores: int) -> Iterator[Part[Piece]]:
    """Divide the row groups, in their order, into parts of about equal size."""
    stored = sum(sum(footer.stored) + parts.OPENING_BYTES for footer in footers)
    most = part_bytes(stored, cores)
    pieces: list[Piece] = []
    number = held = 0
    for footer, partition in zip(footers, values, strict=True):
        held += parts.OPENING_BYTES if pieces else 0
        groups: list[int] = []
        for group, size in enumerate(footer.stored):
            if (pieces or groups) and held + size > most:
                pieces += _piece(footer, groups, partition)
                yield Part(number, tuple(pieces))
                number, held, pieces, groups = number + 1, 0, [], []
            groups.append(group)
            held += size
        pieces += _piece(footer, groups, partition)
    if pieces or not number:  # a log without rows has a result without rows, with its columns
        yield Part(number, tuple(pieces))


def _piece(footer: Footer, groups: Sequence[int], partition: tuple[Any, ...]) -> Iterator[Piece]:
    if groups:
        rows, decoded = (sum(of[group] for group in groups) for of in (footer.rows, footer.decoded))
        yield Piece(footer.file.path, tuple(groups), rows, decoded, partition)
