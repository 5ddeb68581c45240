"""What the fuzz tester can ask: engines, Python callables, programs and live brokers, opened by a text that names one."""

from __future__ import annotations

from dfa_router.fuzz.targets.specs import TIMEOUT, open_target

__all__ = ["TIMEOUT", "open_target"]
