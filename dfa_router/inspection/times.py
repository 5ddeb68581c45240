"""The minutes of a log's messages, from whatever column tells a time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.errors import EnvironmentLacksError

__all__ = ["NAMES", "minutes_of", "time_column"]

NAMES = ("timestamp", "time", "published_at", "sent_at", "ts", "at")
"""Names of columns that tell a time, the first of which that a log has is taken; else the first column of times."""

_MINUTE = r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[T ](?:[01]\d|2[0-3]):[0-5]\d"


def time_column(schema: pa.Schema) -> str | None:
    """Return the name of the column that tells when a message was sent, or None.

    >>> time_column(pa.schema({"exchange": pa.string(), "sent": pa.timestamp("ms")}))
    'sent'
    """
    known = [name for name in NAMES if name in schema.names]
    times = [field.name for field in schema if pa.types.is_timestamp(field.type)]
    usable = (name for name in (*known, *times) if _is_time(schema.field(name).type))
    return next(usable, None)


def minutes_of(column: Any, flags: Any) -> Counter[tuple[str, bool]]:
    """Count rows by minute, as text in the column's own time zone, and flag; rows without a time are left out.

    Raises :class:`EnvironmentLacksError` for a time zone that this machine does not know.

    >>> minutes = minutes_of(pa.array(["2026-11-22T14:11:22.297+00:00", "soon", None]), np.array([True, False, False]))
    >>> dict(minutes)
    {('2026-11-22 14:11', True): 1}
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_timestamp(array.type):
        local = _local(array).cast(pa.timestamp("s"), safe=False)
        texts = pc.cast(pc.floor_temporal(local, unit="minute"), pa.string())
    else:
        texts = array.cast(pa.string())
    matching = pc.fill_null(pc.match_substring_regex(texts, _MINUTE), False)
    minutes = pc.replace_substring(pc.utf8_slice_codeunits(texts.filter(matching), 0, 16), "T", " ")
    coded = minutes.dictionary_encode()
    places = coded.indices.to_numpy() * 2 + np.asarray(flags)[matching.to_numpy(zero_copy_only=False)]
    counts = np.bincount(places, minlength=2 * len(coded.dictionary)).tolist()
    names = coded.dictionary.to_pylist()
    return Counter({(names[n // 2], bool(n % 2)): count for n, count in enumerate(counts) if count})


def _local(times: Any) -> Any:
    """Return times as a clock of their zone shows them, which needs a database of time zones for all zones but UTC."""
    if times.type.tz in (None, "UTC"):
        return times
    try:
        return pc.local_timestamp(times)
    except pa.ArrowInvalid as error:
        raise EnvironmentLacksError(
            f"the times of the log cannot be told in their time zone, {times.type.tz!r}: install the system's database of time zones "
            f"(tzdata), or write the column in UTC ({error})"
        ) from error


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))
