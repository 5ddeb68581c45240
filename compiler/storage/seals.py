"""Sealed tables as sections of a file, beside the automaton that they are of.

What a file says of itself is believed of nothing: the tables must be well formed, so that kernels may read them, and each
transition in them is made once more from the automaton and compared (:mod:`compiler.machine.seals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.kernels.tables import META, SETS, START, START_RESERVED, STATES
from compiler.machine.seals import Seal, seal_of

__all__ = ["PARTS", "SCHEMA", "seal_from", "sections_of"]

Array = npt.NDArray[Any]

PARTS = {
    "state_end": "i4",
    "info": "u8",
    "members": "i4",
    "set_end": "i4",
    "tags": "i4",
    "transitions": "u8",
    "filters": "u8",
}
"""The arrays of a seal and their types."""
SCHEMA = {"seal_numbers": "i8", **{f"seal_{name}": kind for name, kind in PARTS.items()}}
"""The sections and their types; ``seal_numbers`` are the start states and how the transition table is addressed."""
_NUMBERS = 5


def sections_of(seal: Seal) -> dict[str, Array]:
    """Return the sections of a seal, in the order of ``SCHEMA``."""
    starts = seal.meta[[START, START_RESERVED]].tolist()
    numbers = np.array([*starts, seal.transition_shift, seal.symbol_bits, seal.key_shift], np.int64)
    return {"seal_numbers": numbers, **{f"seal_{name}": getattr(seal, name) for name in PARTS}}


def seal_from(sections: Mapping[str, Array]) -> Seal | None:
    """Return the seal of these sections, which nobody has checked yet; None if their numbers are too few or out of range."""
    numbers = sections["seal_numbers"].tolist()
    if len(numbers) != _NUMBERS or not all(0 <= number < 1 << 32 for number in numbers) or max(numbers[2:]) > 63:
        return None
    arrays = {name: sections[f"seal_{name}"] for name in PARTS}
    meta = np.zeros(META, np.int64)
    meta[[START, START_RESERVED]] = numbers[:2]
    meta[[STATES, SETS]] = len(arrays["state_end"]), len(arrays["set_end"])
    addressing = map(np.int64, numbers[2:])
    return seal_of(
        meta=meta, **arrays, **dict(zip(("transition_shift", "symbol_bits", "key_shift"), addressing, strict=True))
    )
