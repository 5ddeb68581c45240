"""Sealed tables as sections of a file, beside the automaton that they are of.

What a file says of itself is believed of nothing: the tables must be well formed, so that kernels may read them, and each
transition in them is made once more from the automaton and compared (:mod:`compiler.machine.seals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels.seal_tables import REFERENCE_BITS, Seal
from compiler.kernels.tables import META, START, START_RESERVED
from compiler.machine.seals import seal_of

__all__ = ["PARTS", "SCHEMA", "seal_from", "sections_of"]

Array = npt.NDArray[Any]

PARTS = {
    "records": "u8",
    "starts": "u8",
    "state_end": "i4",
    "members": "i4",
    "set_end": "i4",
    "tags": "i4",
    "filters": "u8",
}
"""The arrays of a seal and their types."""
SCHEMA = {"seal_begin": "i8", **{f"seal_{name}": kind for name, kind in PARTS.items()}}
"""The sections and their types; ``seal_begin`` are the references to the start states."""
_STARTS = [START, START_RESERVED]


def sections_of(seal: Seal) -> dict[str, Array]:
    """Return the sections of a seal, in the order of ``SCHEMA``."""
    return {"seal_begin": seal.meta[_STARTS], **{f"seal_{name}": getattr(seal, name) for name in PARTS}}


def seal_from(sections: Mapping[str, Array]) -> Seal | None:
    """Return the seal of these sections, which nobody has checked yet; None if its start states are none."""
    starts = sections["seal_begin"]
    if len(starts) != len(_STARTS) or np.any(starts < 0) or np.any(starts >> REFERENCE_BITS):
        return None
    meta = np.zeros(META, np.int64)
    meta[_STARTS] = starts
    return seal_of(meta=meta, **{name: sections[f"seal_{name}"] for name in PARTS})
