"""The soak: for minutes, random bindings and keys under random circumstances, and a judge for every answer.

:func:`run` goes from round to round until its time is over and returns a :class:`Tally`; :func:`write` makes a page of it.
A round is drawn from its seed alone, so ``dfa-router bench soak --seed N --rounds 1`` repeats one.
"""

from __future__ import annotations

from dfa_router.bench.soak.report import write
from dfa_router.bench.soak.rounds import Tally, run

__all__ = ["Tally", "run", "write"]
