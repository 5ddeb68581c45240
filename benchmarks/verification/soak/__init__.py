"""The soak: for minutes, random bindings and keys in random circumstances, and every answer is checked.

:func:`run` does rounds until its time is over and returns a :class:`Tally`; :func:`write` makes a page of it. A round
depends on its seed alone, so ``python -m benchmarks soak --seed N --rounds 1`` repeats one.
"""

from __future__ import annotations

from benchmarks.verification.soak.page import write
from benchmarks.verification.soak.rounds import run
from benchmarks.verification.soak.tally import Tally

__all__ = ["Tally", "run", "write"]
