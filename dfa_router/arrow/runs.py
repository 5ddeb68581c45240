"""Run-end encoded columns of keys: a key that repeats in a row stands there once, and is matched once.

They become dictionary columns, whose keys are those of the runs. Arrow's own ``run_end_decode`` would repeat the bytes of each
key, knows neither views nor dictionaries, and believes the ends of runs that others hand over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dfa_router.errors import KeyTypeError

__all__ = ["runs_as_keys"]


def runs_as_keys(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a run-end encoded column as a dictionary column, and any other column as it is.

    ``name`` is what messages call it. Raises :class:`KeyTypeError` for runs that do not follow each other.
    """
    if not pa.types.is_run_end_encoded(column.type):
        return column
    of_keys = column.type.value_type
    kind = of_keys if pa.types.is_dictionary(of_keys) else pa.dictionary(pa.int64(), of_keys)
    return pa.chunked_array([_as_dictionary(chunk, name) for chunk in column.chunks], kind)


def _as_dictionary(chunk: Any, name: str) -> pa.Array:
    try:
        chunk.validate()
    except pa.ArrowInvalid as error:
        raise _damaged(name, str(error)) from None
    keys = chunk.values
    run = pa.array(_run_of_each_row(chunk, name))
    if pa.types.is_dictionary(keys.type):
        return pa.DictionaryArray.from_arrays(keys.indices.take(run), keys.dictionary, safe=False)
    return pa.DictionaryArray.from_arrays(run, keys)


def _run_of_each_row(chunk: Any, name: str) -> npt.NDArray[np.int64]:
    """Return the number of the run that each row is in; a slice has the runs of the whole column."""
    if not len(chunk):
        return np.zeros(0, np.int64)
    ends = chunk.run_ends.to_numpy(zero_copy_only=False)
    ascending = ends[0] > 0 and (ends[1:] > ends[:-1]).all()
    if not ascending or ends[-1] < chunk.offset + len(chunk):
        raise _damaged(name, "the ends of its runs do not ascend to the number of its rows")
    rows = np.diff(np.clip(ends.astype(np.int64) - chunk.offset, 0, len(chunk)), prepend=0)
    return np.repeat(np.arange(len(ends)), rows)


def _damaged(name: str, problem: str) -> KeyTypeError:
    return KeyTypeError(f"{name} is a damaged Arrow column ({problem}): make or write it again")
