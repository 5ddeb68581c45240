"""A Python callable ``f(patterns: list[str], key: str)`` that returns the positions of the patterns that match.

Or a class, whose instances hold a set: ``Matcher(patterns)``, ``match(key)``, and, if sets can change, ``bind(pattern)`` and
``unbind(position)``. Either may have an attribute ``scope``, a dict that says what it may be asked.

It is asked in a process of its own, so that an endless loop or a crash of an extension module is reported and does not
end the campaign. Order and repetitions of the positions do not matter; anything but integers in range is nonsense.
``ValueError`` is a refusal, and the dialect decides whether it is right; any other exception is a failure of the kind
``raised``, with its traceback.

Rejected: calling it in this process, which is ten times faster, but then the first endless loop ends the campaign.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dfa_router.errors import OptionError
from dfa_router.fuzz.targets import serve
from dfa_router.fuzz.targets.command import CommandTarget, positions_of
from dfa_router.fuzz.targets.process import ProcessError
from dfa_router.language.dialects import Dialect
from dfa_router.target import Answers, Refused, Step, TargetFailure

__all__ = ["FunctionTarget"]


class FunctionTarget(CommandTarget):
    """A callable, by the name ``module:callable``; modules are looked for in the current directory first."""

    def __init__(self, spec: str, dialect: Dialect, *, timeout: float, python: str | None = None) -> None:
        """Import the callable, with another ``python`` if one is named; raises :class:`OptionError` if that fails."""
        self._own = python is None
        command = [*([sys.executable, "-P"] if python is None else [python]), serve.__file__, spec]
        try:
            super().__init__(spec, command, dialect, timeout=timeout)
        except OSError as error:
            raise OptionError(f"cannot start {command[0]!r} for the target {spec}: {error.strerror or error}") from None
        self.tells_lines = True
        try:
            self.answer((), ())
        except Refused:
            return  # of no patterns: it was imported
        except TargetFailure as failure:
            if failure.kind == "raised":
                return
            self.close()
            if failure.kind == "hung":
                raise OptionError(
                    f"{failure.reason}\nThat includes the import of the target: where it takes longer, give it more with --timeout, "
                    "and --seconds"
                ) from None
            raise OptionError(
                f"cannot import the target {spec}: {failure.reason}\n"
                f"It was looked for in {Path.cwd()}, then where Python looks"
            ) from None

    def restart(self, *, wholly: bool = False) -> None:
        """Start the callable anew: from what it was after its import, or with ``wholly`` in a new process."""
        if not wholly and self._process.running:
            try:
                replies = list(self._process.ask(b'{"restart": true}\n', 1, self.timeout, self.deadline))
            except ProcessError:
                replies = []
            if replies == [b"true"]:
                return
        super().restart()

    def together(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key, each asked by a thread of its own, again and again: an answer that stands out."""
        questions = [json.dumps({"patterns": list(patterns)}), json.dumps({"together": list(keys)})]
        times = serve.TIMES * len(keys)
        replies = self._told("".join(line + "\n" for line in questions).encode(), 2, patterns, keys, times=times)
        for reply in replies:
            if isinstance(reply, dict) and (objection := self._objection(reply, -1, patterns, ())) is not None:
                raise objection
        rows = replies[1] if isinstance(replies[1], list) else [replies[1]]  # what is no list is what one thread got
        try:
            return [positions_of(row, len(patterns)) for row in rows]
        except ProcessError as trouble:
            raise TargetFailure(trouble.kind, f"{self.name} {trouble.reason}", patterns, keys) from None

    def _environment(self) -> dict[str, str]:
        environment = super()._environment()
        if self._own:
            environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
        return environment

    def _objection(
        self, reply: Any, asked: int, patterns: Sequence[str], steps: Sequence[Step]
    ) -> Refused | TargetFailure | None:
        match reply:
            case {"unusable": str(reason)}:
                return TargetFailure("died", reason)
        return super()._objection(reply, asked, patterns, steps)

    def _refusal(self, reason: str, pattern: int | None, key: int | None, *, limit: bool) -> Refused:  # noqa: ARG002
        # It gets patterns and key in one call, so its exception does not tell which of them it refuses.
        return Refused(reason, limit=limit)
