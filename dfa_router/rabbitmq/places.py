"""Which exchange each row of a batch is published to, and why to none where it is to none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from compiler.kernels.relay_tables import Directory
from compiler.kernels.tables import Keys, Uint64s, frozen
from compiler.machine.columns import whole
from compiler.values import Int32s, KeyColumn
from dfa_router.arrow import key_column
from dfa_router.rabbitmq.names import Names
from dfa_router.rabbitmq.nodes import Node
from dfa_router.rabbitmq.problems import Problems

__all__ = ["Places"]


class Places:
    """The exchanges that clients may publish to, by vhost and name."""

    def __init__(
        self, nodes: Sequence[Node], numbers: Mapping[tuple[str, str], int], names: Names, *, jit: bool
    ) -> None:
        """Enter the exchanges; ``numbers`` has all of them, internal ones included."""
        self._nodes, self._numbers, self._names = nodes, numbers, names
        self._table = _Table(nodes) if jit else None
        self._single = "/", _single("/")

    @property
    def directory(self) -> Directory | None:
        """The same for a kernel; None where kernels are not compiled."""
        return None if self._table is None else self._table.directory

    def column_of(self, vhost: str) -> pa.Array:
        """Return a column of one row, with this vhost."""
        name, column = self._single
        if name != vhost:
            column = _single(vhost)
            self._single = vhost, column
        return column

    def find(self, exchanges: pa.Array, vhosts: pa.Array | None, vhost: str, problems: Problems) -> Int32s:
        """Return the number of each row's exchange, or -1 and a sentence among the problems.

        ``exchanges`` and ``vhosts`` are bytes with 32-bit offsets; without vhosts, all rows are of ``vhost``.
        """
        if self._table is None:
            found, count = np.full(len(exchanges), -1, np.int32), len(exchanges)
        else:
            found, count = self._table.find(exchanges, vhosts, vhost)
        if count:
            missing = np.flatnonzero(found < 0)
            at = pa.array(missing)
            some = self._explain(exchanges.take(at), None if vhosts is None else vhosts.take(at), vhost, found, missing)
            places = np.zeros(len(exchanges), np.int64)
            places[missing] = np.arange(len(missing))
            problems.add_column(some.take(pa.array(places, mask=found >= 0)))
        return found

    def _explain(
        self, exchanges: pa.Array, vhosts: pa.Array | None, vhost: str, found: Int32s, rows: npt.NDArray[np.int64]
    ) -> pa.StringArray:
        """Return a sentence for each of these rows, or its exchange after all, which is written to ``found``."""
        names, exchange_ids = _coded(exchanges)
        places, vhost_ids = ([vhost.encode()], np.zeros(len(exchanges), np.int64)) if vhosts is None else _coded(vhosts)
        width = 1 + len(names)
        pairs, which = np.unique((vhost_ids + 1) * width + exchange_ids + 1, return_inverse=True)
        texts = []
        starts = []
        for pair in pairs.tolist():
            place, name = pair // width - 1, pair % width - 1
            nulls = [what for what, number in (("vhost is null", place), ("exchange is null", name)) if number < 0]
            start, text = (-1, "; ".join(nulls)) if nulls else self._start(places[place], names[name])
            starts.append(start)
            texts.append(text)
        found[rows] = np.array(starts, np.int32)[which]
        return pa.array(texts, pa.string()).take(pa.array(which))

    def _start(self, vhost: bytes, exchange: bytes) -> tuple[int, str | None]:
        place = (vhost.decode(errors="replace"), exchange.decode(errors="replace"))
        number = self._numbers.get(place)
        if number is None:
            return -1, self._names.no_exchange(place[1], place[0])
        if self._nodes[number].internal:
            return -1, f"exchange {place[1]!r} is internal: the broker lets no client publish to it"
        return number, None


def _single(text: str) -> pa.Array:
    """Return a column of one text, with room behind it for kernels to read eight bytes at once."""
    data = text.encode(errors="surrogatepass")
    ends = np.array([0, len(data)], np.int32)
    return pa.BinaryArray.from_buffers(pa.binary(), 1, [None, pa.py_buffer(ends), pa.py_buffer(data + bytes(8))])


class _Table:
    """The same as a hash table for a kernel."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        from compiler.kernels.places import fill_places

        public = [number for number, node in enumerate(nodes) if not node.internal]
        places = _texts([nodes[number].vhost for number in public])
        names = _texts([nodes[number].name for number in public])
        slots = 1 << max(4, (4 * len(public)).bit_length())
        content = blake2b(places.data.tobytes() + names.data.tobytes(), digest_size=8)
        while True:  # whoever chooses names cannot choose the multiplier, which depends on them
            multiplier = np.uint64(int.from_bytes(content.digest(), "little") | 1)
            table: Uint64s = np.zeros(6 * slots, np.uint64)
            if fill_places(places, names, multiplier, table):
                break
            content.update(b"another")
        self.directory = Directory(places, names, frozen(table), multiplier, frozen(np.array(public, np.int32)))

    def find(self, exchanges: pa.Array, vhosts: pa.Array | None, vhost: str) -> tuple[Int32s, int]:
        """Return the number of each row's exchange, or -1, and how many are -1."""
        from compiler.kernels.calling import direct
        from compiler.kernels.places import find_places

        found = np.empty(len(exchanges), np.int32)
        places = _texts([vhost]) if vhosts is None else whole(key_column(vhosts))
        names = whole(key_column(exchanges))
        missing = direct(find_places, places, names, self.directory, len(exchanges), found)
        return found, int(missing)


def _texts(texts: Sequence[str]) -> Keys:
    encoded = [text.encode(errors="surrogatepass") for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return whole(KeyColumn(offsets, np.frombuffer(b"".join(encoded), np.uint8), None))


def _coded(column: pa.Array) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """Return the distinct values and for each row the number of its value, or -1 for null."""
    encoded = column.dictionary_encode()
    return encoded.dictionary.to_pylist(), pc.fill_null(encoded.indices, -1).to_numpy().astype(np.int64)
