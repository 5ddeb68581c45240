"""A Python callable ``f(patterns: list[str], key: str)`` that returns the positions of the patterns that match.

It is asked in a process of its own, so that an endless loop or a crash of an extension module is reported and does not
end the campaign. Order and repetitions of the positions do not matter; anything but integers in range is nonsense.
``ValueError`` is a refusal, and the dialect decides whether it is right; any other exception is a failure of the kind
``raised``, with its traceback.

Rejected: calling it in this process, which is ten times faster, but then the first endless loop ends the campaign.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dfa_router.errors import OptionError
from dfa_router.fuzz.targets import serve
from dfa_router.fuzz.targets.command import CommandTarget
from dfa_router.language.dialects import Dialect
from dfa_router.target import Refused, TargetFailure

__all__ = ["FunctionTarget"]


class FunctionTarget(CommandTarget):
    """A callable, by the name ``module:callable``; modules are looked for in the current directory first."""

    def __init__(self, spec: str, dialect: Dialect, *, timeout: float) -> None:
        """Import the callable; raises :class:`OptionError` if that fails."""
        super().__init__(spec, [sys.executable, "-P", serve.__file__, spec], dialect, timeout=timeout)
        try:
            self.answer((), ())
        except TargetFailure as failure:
            self.close()
            raise OptionError(
                f"cannot import the target {spec}: {failure.reason}\n"
                f"It was looked for in {Path.cwd()}, then where Python looks"
            ) from None

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}

    def _objection(
        self, reply: Any, asked: int, patterns: Sequence[str], keys: Sequence[str]
    ) -> Refused | TargetFailure | None:
        match reply:
            case {"unusable": str(reason)}:
                return TargetFailure("died", reason)
        return super()._objection(reply, asked, patterns, keys)

    def _refusal(self, reason: str, pattern: int | None, key: int | None) -> Refused:  # noqa: ARG002
        return Refused(
            reason
        )  # it gets patterns and key in one call, so its exception does not tell which of them it refuses
