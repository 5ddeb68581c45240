"""What is wrong with rows of a batch, as sentences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from compiler.kernels.tables import Keys, frozen
from compiler.prepare import jit_enabled
from dfa_router.arrow import key_column
from dfa_router.short_strings import MAX_BYTES

__all__ = ["Problems", "check_keys"]

NO_NULLS = frozen(np.empty(0, np.bool_))
"""Kernels look at null keys' bytes as at others'."""
_UTF8 = (
    r"^(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    r"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*$"
)
"""Well-formed UTF-8 (Unicode's table 3-7), for a regular expression engine that reads bytes."""


class Problems:
    """What is wrong with rows: a column of sentences per kind of problem, joined where a row has several."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._columns: list[pa.StringArray] = []

    def add(self, where: npt.NDArray[np.bool_], text: str) -> None:
        if where.any():
            self._columns.append(pc.if_else(pa.array(where), text, pa.scalar(None, pa.string())))

    def add_column(self, texts: pa.StringArray) -> None:
        if texts.null_count < len(texts):
            self._columns.append(texts)

    def column(self) -> pa.StringArray:
        joined = pa.nulls(self._rows, pa.string())
        for texts in self._columns:
            # Not null_handling="skip" over all columns: pyarrow 26 leaves out the rows where each of them is null.
            joined = pc.coalesce(pc.binary_join_element_wise(joined, texts, "; "), joined, texts)
        return joined


def check_keys(keys: pa.Array, problems: Problems) -> npt.NDArray[np.bool_] | None:
    """Add to the problems what is wrong with keys; return which are null, or None if none is."""
    null: npt.NDArray[np.bool_] | None = None
    if keys.null_count:
        null = keys.is_null().to_numpy(zero_copy_only=False)
        problems.add(null, "routing_key is null")
    if not _is_plain(keys):
        too_long = pc.fill_null(pc.greater(pc.binary_length(keys), MAX_BYTES), False)
        problems.add(too_long.to_numpy(zero_copy_only=False), f"routing_key is over AMQP's {MAX_BYTES} bytes")
        try:
            keys.view(pa.string()).validate(full=True)
        except pa.ArrowInvalid:
            valid = pc.fill_null(pc.match_substring_regex(keys, _UTF8), True)
            problems.add(~valid.to_numpy(zero_copy_only=False), "routing_key is not valid UTF-8")
    return null


def _is_plain(keys: pa.Array) -> bool:
    """Tell whether no key is too long, and all bytes are ASCII: then nothing else need be looked at."""
    if not jit_enabled():
        return False
    from compiler.kernels.calling import direct
    from compiler.kernels.leading import screen_keys

    offsets, data, _ = key_column(keys)
    return bool(direct(screen_keys, Keys(frozen(offsets), frozen(data), NO_NULLS)) <= MAX_BYTES)
