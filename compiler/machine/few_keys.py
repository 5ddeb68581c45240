"""Room for the keys of a small batch, in arrays that are made once, and its answer in a single one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import PADDING, Cache, Keys, frozen
from compiler.kernels.work import SETS_FOUND, SETS_SHARED, Begun, FoundSets
from compiler.machine.columns import NO_NULLS
from compiler.values import FEW, FEW_BYTES, Memory, SetBatch

__all__ = ["FewKeys"]

MOST_TAGS = 1 << 15
"""The most tags of the answer's sets."""


class FewKeys:
    """One walker's room for a small batch. What is in it means nothing between two batches."""

    def __init__(self) -> None:
        """Allocate 475 KB; pages that no batch needs never become resident."""
        from compiler.kernels.calling import direct, entry  # as late as all kernels
        from compiler.kernels.few_keys import PLACES, copy_keys, gather_sets, split_keys
        from compiler.kernels.simulate_bits import simulate_bits
        from compiler.kernels.simulate_pairs import simulate
        from compiler.kernels.walk import walk
        from compiler.kernels.walk_sealed import walk_sealed

        self.walk, self.walk_sealed = partial(direct, walk), partial(direct, walk_sealed)
        self.simulate, self.simulate_bits = partial(direct, simulate), partial(direct, simulate_bits)
        # Kernels that match them; to import one at each call took a tenth of the time of a batch of one key.
        joined = np.zeros(FEW_BYTES + PADDING, np.uint8)
        self.joined = joined.data
        """Where keys that are joined by NUL bytes are put."""
        offsets, data = np.zeros(FEW + 1, np.int32), np.zeros(FEW_BYTES + PADDING, np.uint8)
        self.keys = Keys(_read_only(offsets), _read_only(data), frozen(NO_NULLS))
        """The keys as kernels read them; what is behind the last key of a batch is of earlier ones."""
        self.ids = np.zeros(FEW, np.int32)
        """Where a walk writes its set numbers."""
        places = np.zeros(PLACES, np.uint64)
        self._places = places.data
        self._slots = np.zeros(2 * FEW, np.uint64)
        self._answer = np.zeros(2 * FEW + 1 + MOST_TAGS, np.int32)
        self.sets = FoundSets(
            ends=np.zeros(1 + FEW, np.int32),
            tags=np.zeros(MOST_TAGS, np.int32),
            slots=np.zeros(4 * FEW, np.uint64),
            counts=np.zeros(SETS_SHARED + 1, np.int64),
        )
        """Where a simulation writes its sets, whose numbers descend from -1."""
        self.begun = Begun(np.arange(FEW, dtype=np.uint64), np.zeros(FEW, np.uint64), np.zeros(FEW, np.uint64))
        """Where the keys begin, as a simulation by pairs reads it."""
        self._split: Any = entry(split_keys, joined, 0, 0, offsets, data)
        self._copy: Any = entry(copy_keys, places, 0, 0, 0, offsets, data)
        self._gather: Any = entry(gather_sets, offsets, offsets, offsets, 0, 0, 0, self._slots, self._answer)
        self._arrays = joined, places, offsets, data

    def take_joined(self, joined: bytes, count: int) -> bool:
        """Take keys in that are joined by NUL bytes; return False if these are not ``count`` keys, or too many bytes."""
        size = len(joined)
        if size > FEW_BYTES:
            return False
        self.joined[:size] = joined
        source, _, offsets, data = self._arrays
        return bool(self._split(source, size, count, offsets, data) >= 0)

    def take_from(self, offsets: Memory, data: Memory | None, first: int, count: int, width: int) -> bool:
        """Take keys in from Arrow's layout, with offsets of ``width`` bytes; return False if they are damaged, or too many bytes."""
        places = self._places
        places[0], places[1] = offsets.address, offsets.size // width
        places[2], places[3] = (0, 0) if data is None else (data.address, data.size)
        _, at, own_offsets, own_data = self._arrays
        return bool(self._copy(at, first, count, width >> 3, own_offsets, own_data) >= 0)

    def forget_sets(self) -> None:
        """Begin anew with sets, behind one that is no key's: sets are counted from 1 in :meth:`answer`."""
        counts = self.sets.counts
        if counts[SETS_SHARED]:
            self.sets.slots[:] = 0
        counts[:] = 0
        counts[SETS_FOUND] = 1

    def answer(self, tables: Cache | Seal | FoundSets, count: int) -> SetBatch | None:
        """Return the answer for the first ``count`` keys, whose sets are of these tables, or None if it has too many tags, or these have none."""
        if isinstance(tables, FoundSets):
            if not tables.counts[SETS_FOUND]:
                return None
            numbered = tables.ends, tables.tags, self.ids, 0, -1
        else:
            numbered = tables.set_end, tables.tags, self.ids, -1, 1
        sets = self._gather(*numbered, count, self._slots, self._answer)
        if sets < 0:
            return None
        begin = 2 * count + 1
        found = self._answer[: begin + self._answer[count + sets]].copy()
        return SetBatch(found[:count], found[count : count + sets + 1], found[begin:])


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view for kernels that only read. It must be no copy, as other kernels write what this one shows."""
    view = array.view()
    view.flags.writeable = False
    return view
