"""Routing keys from files: text, CSV, JSON lines and Parquet, as one Arrow column.

The end of a file's name tells its format, with or without that of a compressed file (``keys.csv.gz``). A file of any other
name is text with a key per line; an empty line is the empty key. Keys are bytes, valid UTF-8 or not. A byte-order mark at
the beginning of a file is no part of a key.

Keys of a folder, or of a pattern of names, are those of its files, one after the other; those of a Delta or Iceberg table are
what its log says. Folders that are columns (``day=1``) hold no keys: only what a file holds is read.

A pipe, and standard input as ``-``, is text with a key per line, which is read once. The other formats are read in several places.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from dfa_router.arrow.checks import is_text
from dfa_router.errors import MessagesError
from dfa_router.file_names import local_name, standard_input
from dfa_router.no_text import check_header, check_text
from dfa_router.padded_gzip import opened_padded
from dfa_router.strict_json import RepeatedKeyError, loads
from dfa_router.tables import DataFile, Found, read_table, table_at

__all__ = ["distinct_count", "read_keys"]

T = TypeVar("T")

_BLOCK, _MOST_BLOCK = 1 << 20, (1 << 31) - 1
"""The bytes of CSV and JSON that Arrow reads at once, as it does by itself, and the most that it can."""
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
FilesRead = Callable[[int, int], object]
"""Called before each file with the number of those that have been read, and of all."""


def read_keys(path: Path | str, column: str = "routing_key", report: FilesRead | None = None) -> pa.ChunkedArray:
    """Return the keys of a file, a folder with all below it, a pattern such as ``logs/*.parquet``, or a table, as bytes.

    They come in the order of the files' names, or of the table's log, which ``@v3`` behind the folder asks for at version 3.
    ``column`` says where they are in a table; ``report`` is called before each file. Raises :class:`MessagesError` for what cannot be
    read or has no such column; the text names file, line and remedy. A table whose library is not installed is an :class:`EnvironmentLacksError`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, text in {"1.txt": "a.b", "2.txt": "c"}.items():
    ...         _ = Path(folder, name).write_text(text)
    ...     read_keys(folder).to_pylist()
    [b'a.b', b'c']
    """
    keys = _keys_of(local_name(str(path)), column, report)
    if pa.types.is_null(keys.type):
        raise MessagesError(f"{path}: no line has a {column!r}; name the field that holds the keys with --key-column")
    return keys


def _keys_of(path: str, column: str, report: FilesRead | None = None) -> pa.ChunkedArray:
    """Return the keys; they have the type of nulls where no line of JSON has a key, of whatever file."""
    if path == "-":
        (name,) = _reported([Path("standard input")], report)
        return _read(name, column, lambda place, _: _in_lines(place, standard_input()))
    table = table_at(path)
    if table is not None:
        return _of_table(table, column, report)
    place = Path(path)
    if place.is_dir():
        files = sorted(file for file in place.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(place)))
        return _joined([_of_file(file, column) for file in _reported(_of_one_format(place, files), report)])
    if has_magic(path) and not place.exists():
        found = sorted(map(Path, glob(path)))  # noqa: PTH207  (Path's own takes no absolute pattern)
        return _joined([_keys_of(str(one), column) for one in _reported(_of_one_format(place, found), report)])
    (file,) = _reported([place], report)
    return _of_file(file, column)


def _reported(files: Sequence[T], report: FilesRead | None) -> Iterator[T]:
    for number, file in enumerate(files):
        if report is not None:
            report(number, len(files))
        yield file


def _of_file(path: Path, column: str) -> pa.ChunkedArray:
    read = _READERS.get(_ending(path), _from_text)
    if path.exists() and not path.is_file():
        if read is not _from_text or _compression(path) is not None:
            raise MessagesError(
                f"{path}: is a pipe or a device, of which only text with a key per line is read: save it to a file"
            )
        read = _from_pipe
    return _read(path, column, read)


def _read(path: Path, column: str, read: Callable[[Path, str], pa.ChunkedArray]) -> pa.ChunkedArray:
    try:
        keys = read(path, column)
    except FileNotFoundError:
        raise MessagesError(f"{path}: there is no such file; name a file of routing keys") from None
    except OSError as error:
        raise MessagesError(f"{path}: cannot be read: {error}; name a readable file of routing keys") from error
    return keys.cast(_BYTES.get(keys.type, keys.type))


def _of_table(found: Found, column: str, report: FilesRead | None) -> pa.ChunkedArray:
    table = read_table(found)
    _check_column(Path(found.root), column, table.schema.names)
    _check_text(Path(found.root), column, table.schema.field(column).type)

    def of_data_file(file: DataFile) -> pa.ChunkedArray:
        def read(path: Path, column: str) -> pa.ChunkedArray:
            if column in file.partition or column not in pq.read_schema(path).names:
                constant = file.partition.get(column, pa.scalar(None, pa.binary()))
                return pa.chunked_array([pa.repeat(constant, pq.read_metadata(path).num_rows)])
            return _from_parquet(path, column)

        if "://" in file.path:
            raise MessagesError(f"{found.root}: its file {file.path} is not on this machine; name a table that is")
        return _read(Path(file.path), column, read)

    return _joined([of_data_file(file) for file in _reported(table.files, report)])


def _joined(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return one column of those of several files, which may have made other types of their keys."""
    kinds = {column.type for column in columns}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_binary()
    return pa.chunked_array([chunk for column in columns for chunk in column.cast(kind).chunks], kind)


def _of_one_format(path: Path, files: list[Path]) -> list[Path]:
    """Return the files; raises :class:`MessagesError` where there are none, or some of another format than the rest."""
    if not files:
        raise MessagesError(
            f"{path}: there are no files; name a file of routing keys, or a folder or a pattern of files"
        )
    readers: dict[Callable[[Path, str], pa.ChunkedArray], Path] = {}
    for file in files:
        if file.is_file():
            readers.setdefault(_READERS.get(_ending(file), _from_text), file)
    if len(readers) > 1:
        one, other, *_ = readers.values()
        raise MessagesError(f"{path}: {one} and {other} are of several formats; name files of one format, by a pattern")
    return files


def _ending(path: Path) -> str:
    name = path.name.lower()
    for ending in _CODECS:
        name = name.removesuffix(ending)
    return name.rpartition(".")[2] if "." in name else ""


def _is_hidden(path: Path) -> bool:
    """Tell whether a path in a folder is no data, as what writes such folders has it: ``_SUCCESS``, ``.part-0.crc``."""
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def distinct_count(keys: pa.ChunkedArray) -> int:
    """Return the number of distinct keys, null not counted.

    >>> distinct_count(pa.chunked_array([["a", None], ["a", "b"]]))
    2
    """
    return int(pc.count_distinct(keys, mode="only_valid").as_py())


def _from_text(path: Path, _: str) -> pa.ChunkedArray:
    return _in_lines(path, _content(path))


def _from_pipe(path: Path, _: str) -> pa.ChunkedArray:
    return _in_lines(path, path.read_bytes())  # Arrow asks how long a file is, which a pipe cannot tell


def _in_lines(path: Path, text: bytes) -> pa.ChunkedArray:
    text = text.removeprefix(codecs.BOM_UTF8)
    check_text(path, text)
    if not text:
        return pa.chunked_array([], pa.large_binary())
    text = text.replace(b"\r\n", b"\n").removesuffix(b"\n")
    return pa.chunked_array([pc.split_pattern(pa.array([text], pa.large_binary()), b"\n").flatten()])


def _from_csv(path: Path, column: str) -> pa.ChunkedArray:
    check_header(path, _head(path))
    try:
        return _csv_column(path, column, _BLOCK)
    except pa.ArrowInvalid:
        size = len(_content(path))
    try:
        # A record that lies over the ends of two blocks is an error as well.
        return _csv_column(path, column, max(_BLOCK, 1 + size))
    except pa.ArrowInvalid as error:
        raise MessagesError(f"{path}: {_sentence(error)}; correct the file, its first line must name columns") from None


def _csv_column(path: Path, column: str, block_bytes: int) -> pa.ChunkedArray:
    """Read the column in blocks."""
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    # With several threads an error names no row.
    read = pyarrow.csv.ReadOptions(use_threads=False, block_size=min(block_bytes, _MOST_BLOCK))
    convert = pyarrow.csv.ConvertOptions(include_columns=[column], column_types={column: pa.binary()})
    with _opened(path) as file, pyarrow.csv.open_csv(file, parse_options=parse, read_options=read) as start:
        try:
            names = start.schema.names
        except UnicodeDecodeError as error:
            raise MessagesError(
                f"{path}: its first line, which names columns, is no UTF-8: {error}; correct the file"
            ) from None
        _check_column(path, column, names)
    with _opened(path) as file:
        return pyarrow.csv.read_csv(file, read_options=read, parse_options=parse, convert_options=convert)[column]


def _from_json_lines(path: Path, column: str) -> pa.ChunkedArray:
    check_text(path, _head(path))
    try:
        return _json_column(path, column, _BLOCK)
    except pa.ArrowInvalid:
        lines = _lines(path)
    if not any(map(bytes.strip, lines)):
        return pa.chunked_array([], pa.string())  # which Arrow takes for an error
    try:
        # A line that lies over the ends of two blocks is an error as well.
        return _json_column(path, column, max(_BLOCK, 1 + max(map(len, lines))))
    except pa.ArrowInvalid as error:
        raise MessagesError(
            _json_problem(path, lines, column) or f"{path}: {_sentence(error)}; correct the file"
        ) from None


def _json_column(path: Path, column: str, block_bytes: int) -> pa.ChunkedArray:
    """Read the field of each line, in blocks; the type is that of nulls if no line has it."""
    read = pyarrow.json.ReadOptions(block_size=min(block_bytes, _MOST_BLOCK))
    schema = pa.schema([(column, pa.string())])
    parse = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    with _opened(path) as file:
        keys = pyarrow.json.read_json(file, read_options=read, parse_options=parse)[column]
    return pa.chunked_array([pa.nulls(len(keys))]) if len(keys) and keys.null_count == len(keys) else keys


def _from_parquet(path: Path, column: str) -> pa.ChunkedArray:
    try:
        _check_column(path, column, pq.read_schema(path).names)
        keys = pq.read_table(path, columns=[column], partitioning=None)[column]
    except pa.ArrowInvalid as error:
        raise MessagesError(f"{path}: {_sentence(error)}; is it a Parquet file?") from None
    kind = keys.type.value_type if pa.types.is_dictionary(keys.type) else keys.type
    _check_text(path, column, kind)
    return keys.cast(kind)


def _check_text(path: Path, column: str, kind: pa.DataType) -> None:
    if not is_text(kind):
        raise MessagesError(f"{path}: the column {column!r} holds {kind}; name one of text with --key-column")


_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.large_binary(),
    pa.binary_view(): pa.large_binary(),
}
"""Types of text, and those of the same bytes without the claim that they are valid UTF-8. Arrow counts no distinct views."""

_READERS = {
    "csv": _from_csv,
    "jsonl": _from_json_lines,
    "ndjson": _from_json_lines,
    "json": _from_json_lines,
    "parquet": _from_parquet,
    "pq": _from_parquet,
}


def _check_column(path: Path, column: str, names: list[str]) -> None:
    if column not in names:
        listed = ", ".join(map(repr, names)) or "none"
        raise MessagesError(f"{path}: has no column {column!r}; its columns: {listed}. Name one with --key-column")
    if names.count(column) > 1:
        raise MessagesError(
            f"{path}: has {names.count(column)} columns of the name {column!r}; rename all but the one that holds the keys"
        )


def _opened(path: Path) -> Any:
    """Open a file, decompressing it where its name, in whatever case, says that it is compressed."""
    compression = _compression(path)
    if compression == "gzip":
        file = pa.OSFile(str(path))
        return opened_padded(file) or pa.CompressedInputStream(file, compression)
    return pa.input_stream(str(path), compression=compression)


def _compression(path: Path) -> str | None:
    return _CODECS.get(path.suffix.lower())


def _head(path: Path) -> bytes:
    with _opened(path) as file:
        return cast("bytes", file.read(16))


def _content(path: Path) -> bytes:
    with _opened(path) as file:
        return cast("bytes", file.read()).removeprefix(codecs.BOM_UTF8)


def _lines(path: Path) -> list[bytes]:
    return _content(path).split(b"\n")


def _json_problem(path: Path, lines: list[bytes], column: str) -> str | None:
    """Say which line cannot be read, and why: Arrow counts lines from the start of a block."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = loads(line)
        except RepeatedKeyError as error:
            return f"{path}:{number}: {error}; remove one of them"
        except ValueError as error:
            return f"{path}:{number}: is no JSON: {error}; write one JSON object per line"
        if not isinstance(entry, dict):
            return f"{path}:{number}: is a JSON {type(entry).__name__}; write one JSON object per line"
        if not isinstance(entry.get(column), str | None):
            return f"{path}:{number}: {column!r} is {entry[column]!r}; write keys as strings"
        if any("\ud800" <= character <= "\udfff" for character in entry.get(column) or ""):
            return f"{path}:{number}: {column!r} has half of a character (\\ud800 to \\udfff); correct the escape there"
    return None


def _sentence(error: pa.ArrowInvalid) -> str:
    """Return Arrow's message in one line."""
    return " ".join(str(error).split())[:200]
