"""A Parquet file of all counts, with keys as text: it appears as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dfa_router.logs.counting import COUNTS
from dfa_router.logs.drafts import drafted
from dfa_router.logs.stores import STORE_ERRORS, unwritable

__all__ = ["counts_file", "is_replaceable"]

_SCHEMA = COUNTS.set(COUNTS.get_field_index("key"), pa.field("key", pa.string()))


@contextmanager
def counts_file(path: str | None) -> Iterator[Callable[[pa.Table], None] | None]:
    """Yield what writes rows to a Parquet file of counts, with keys as text, or None where there is no path.

    The file appears at the end, in place of an old one, if nothing was raised within: so the result has to be in its place
    by then. Raises ``OSError`` where it cannot be written.
    """
    if path is None:
        yield None
        return
    with drafted(path) as (draft, target):
        with _told(path):
            writer = pq.ParquetWriter(draft, _SCHEMA)

        def write(rows: pa.Table) -> None:
            keys = [None if key is None else key.decode(errors="replace") for key in rows["key"].to_pylist()]
            columns = {**{name: rows[name] for name in COUNTS.names}, "key": pa.array(keys, pa.string())}
            with _told(path):
                writer.write_table(pa.table(columns, schema=_SCHEMA))

        try:
            yield write
        finally:
            with _told(path):
                writer.close()
        draft.replace(target)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Have an error of writing name the file."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def is_replaceable(path: Path) -> bool:
    """Tell whether counts may be written to a path: nothing is there, or an empty file, or one of counts."""
    if not path.exists():
        return True
    if not path.is_file():
        return False
    try:
        return path.stat().st_size == 0 or pq.read_schema(path).names == COUNTS.names
    except STORE_ERRORS:
        return False
