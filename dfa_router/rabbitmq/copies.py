"""Further routing keys of a message: those of its headers CC and BCC ("sender-selected distribution").

Both headers are arrays of texts; elements of other types are passed over. A message whose CC or BCC is no array is refused by the
broker, with the reason ``unacceptable_type_in_header``. A message counts its keys together: a queue gets one copy, and the
default exchange takes each key for the name of a queue. Headers exchanges see CC as a header, and never BCC, which is
taken away first.

In logs the headers are often text. So a text that is a JSON array is read as an array.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from compiler.relay.unions import FurtherKeys
from dfa_router.arrow import key_column
from dfa_router.errors import PublishRefusedError

__all__ = ["BCC", "CC", "COPIES", "Copies", "further_keys", "keys_of_column"]

CC, BCC = "cc", "bcc"
"""Names of columns that have what the headers have."""
COPIES = ("CC", "BCC")
"""The headers."""


def further_keys(headers: Mapping[Any, Any] | None, cc: Any = None, bcc: Any = None) -> tuple[bytes, ...]:
    """Return the keys of CC and then those of BCC; raises :class:`PublishRefusedError` where one is no array.

    >>> further_keys({"BCC": ["b"], "CC": ["a", 5]}, cc=["c"])
    (b'a', b'c', b'b')
    """
    first, last = _both(headers, cc, bcc)
    return (*first, *last)


def _both(headers: Mapping[Any, Any] | None, cc: Any, bcc: Any) -> tuple[list[bytes], list[bytes]]:
    headers = headers or {}
    found: list[list[bytes]] = []
    for name, given in zip(COPIES, (cc, bcc), strict=True):
        own = headers.get(name, headers.get(name.encode()))
        keys = _keys(own, name) if name in headers or name.encode() in headers else []
        found.append(keys + ([] if given is None else _keys(given, name)))
    return found[0], found[1]


def _keys(value: Any, name: str) -> list[bytes]:
    if isinstance(value, str | bytes) and value.lstrip()[:1] in ("[", b"["):
        with suppress(ValueError, RecursionError):  # it stays the text that it is, of one that nests too deeply, too
            value = json.loads(value)
    if not isinstance(value, list | tuple):
        raise PublishRefusedError(
            f"the header {name} is {str(value)[:60]!r}, and no array of texts: the broker refuses the message"
        )
    return [
        one.encode(errors="surrogatepass") if isinstance(one, str) else one
        for one in value
        if isinstance(one, str | bytes)
    ]


def keys_of_column(column: pa.ListArray) -> FurtherKeys:
    """Return a column of further keys, as :meth:`Copies.column` gives it, as arrays."""
    return FurtherKeys(column.offsets.to_numpy(), key_column(column.values))


class Copies:
    """Collects the further keys of a batch, row by row: rows with any are few."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._keys: dict[int, tuple[list[bytes], list[bytes]]] = {}
        self.refused: dict[int, str] = {}
        """The sentences of rows that the broker refuses."""

    def __bool__(self) -> bool:
        return bool(self._keys or self.refused)

    def add(self, rows: Iterable[int], headers: Mapping[Any, Any] | None, cc: Any = None, bcc: Any = None) -> None:
        """Take the keys of a message for some rows, in which it stands."""
        rows = list(rows)
        try:
            keys = _both(headers, cc, bcc)
        except PublishRefusedError as error:
            self.refused.update(dict.fromkeys(rows, str(error)))
            return
        for row in rows if any(keys) else ():
            before = self._keys.get(row, ([], []))
            self._keys[row] = before[0] + keys[0], before[1] + keys[1]

    def add_columns(self, cc: pa.Array | None, bcc: pa.Array | None) -> None:
        """Take the keys of columns of lists, or of texts that are JSON arrays."""
        for column, named in ((cc, False), (bcc, True)):
            if column is None:
                continue
            there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            for row, value in zip(there.tolist(), column.take(pa.array(there)).to_pylist(), strict=True):
                self.add([row], None, **{BCC if named else CC: value})

    def column(self) -> pa.ListArray | None:
        """Return a list of bytes for each row, or None where no row has any."""
        if not self._keys:
            return None
        lengths = np.zeros(self._rows + 1, np.int64)
        rows = sorted(self._keys)
        lengths[1:][rows] = [sum(map(len, self._keys[row])) for row in rows]
        keys = pa.array([key for row in rows for part in self._keys[row] for key in part], pa.binary())
        return pa.ListArray.from_arrays(pa.array(np.cumsum(lengths), pa.int32()), keys)

    def problems(self) -> pa.StringArray:
        """Return the sentence of each row that is refused, and null for others."""
        texts = sorted(set(self.refused.values()))
        numbers = {text: number for number, text in enumerate(texts)}
        which = np.zeros(self._rows, np.int64)
        refused = np.zeros(self._rows, np.bool_)
        for row, text in self.refused.items():
            which[row], refused[row] = numbers[text], True
        return pa.array(texts, pa.string()).take(pa.array(which, mask=~refused))
