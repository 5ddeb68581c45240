"""Keys that match nothing, whatever the bindings: some dialects have rules that no automaton of words can state.

An automaton that has seen enough stops reading, so it cannot be the judge of a key's last byte. Such keys are found in a
pass of their own, before the walk; dialects without rules of this kind skip it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from compiler.machine.columns import readable
from compiler.values import KeyColumn

__all__ = ["Screen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What a key must not be.

    >>> screen = Screen(separator=b".", empty_words=False)
    >>> screen.passes(b"a.b"), screen.passes(b"a..b")
    (True, False)
    """

    separator: bytes
    empty_text: bool = True
    """Whether the empty key passes."""
    empty_words: bool = True
    """Whether a key with an empty word passes; the empty key has none."""
    wrong: bytes = b""
    """A key with one of these bytes does not pass."""
    prefix: bytes = b""
    """A key that begins so does not pass, unless this is empty."""

    def passes(self, key: bytes) -> bool:
        """Tell whether a key may match anything."""
        if not key:
            return self.empty_text
        if self.prefix and key.startswith(self.prefix):
            return False
        if any(byte in key for byte in self.wrong):
            return False
        return self.empty_words or b"" not in key.split(self.separator)

    def mask(self, column: KeyColumn, *, jit: bool = True) -> npt.NDArray[np.bool_]:
        """Return for each key of a column whether it passes; a null key may do either."""
        passing = np.empty(len(column.offsets) - 1, np.bool_)
        if not jit:
            ends = column.offsets.tolist()
            for row in range(len(passing)):
                passing[row] = self.passes(column.data[ends[row] : ends[row + 1]].tobytes())
            return passing
        from compiler.kernels.screening import screen
        from compiler.kernels.tables import frozen

        wrong = frozen(np.frombuffer(self.wrong, np.uint8))
        prefix = frozen(np.frombuffer(self.prefix, np.uint8))
        separator = np.uint8(self.separator[0])
        for rows, part in readable(column):
            screen(part, separator, self.empty_text, self.empty_words, wrong, prefix, passing[rows])
        return passing
