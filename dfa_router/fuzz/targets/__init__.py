"""What the fuzzer can be pointed at, by a text such as ``cmd:./my-matcher`` that names it."""

from __future__ import annotations

from dfa_router.fuzz.targets.specs import TIMEOUT, open_target

__all__ = ["TIMEOUT", "open_target"]
