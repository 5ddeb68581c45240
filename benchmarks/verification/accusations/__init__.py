"""Right matchers under the fuzz tester, for minutes: whoever is accused is accused falsely.

:func:`run` asks the matchers of :mod:`.matchers` in every dialect, with a new seed each time, and :func:`write` writes a page. It
shows false accusations alone: that faults are found is what ``tests/fuzz`` shows, with planted ones.
"""

from __future__ import annotations

from benchmarks.verification.accusations.campaigns import WAYS, Accusation, Asked, Result, Way, run
from benchmarks.verification.accusations.page import write

__all__ = ["WAYS", "Accusation", "Asked", "Result", "Way", "run", "write"]
