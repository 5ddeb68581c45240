"""Opens the target that a SPEC names: the text that ``--target`` takes on the command line."""

from __future__ import annotations

import difflib
import errno
import os
import re
import shlex
from dataclasses import dataclass

from dfa_router.brokers.address import without_password
from dfa_router.engines.registry import engine_info, engines
from dfa_router.errors import OptionError
from dfa_router.fuzz.patience import check_seconds
from dfa_router.fuzz.targets.command import CommandTarget
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.fuzz.targets.function import FunctionTarget
from dfa_router.fuzz.targets.live import open_broker
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Target

__all__ = ["TIMEOUT", "TargetSpec", "open_target"]

TIMEOUT = 10.0
"""Seconds that a target may take for one answer if none are given."""

_BROKERS = ("amqp", "mqtt", "nats")


def open_target(
    spec: str, dialect: str | Dialect = "amqp", *, timeout: float = TIMEOUT, python: str | None = None
) -> Target:
    """Open what a SPEC names, to be asked in a dialect or one of that name; the caller closes it.

    ==============================  ====================================================================
    ``dfa``                         an engine of this package, see :func:`dfa_router.engines`
    ``module:callable``             Python: ``f(patterns, key)`` returns the positions of those that match
    ``cmd:./my-matcher --flag``     a program in any language that speaks ``docs/fuzz-protocol.md``
    ``amqp://guest@localhost``      a live broker, as ``mqtt://host`` and ``nats://host`` are
    ==============================  ====================================================================

    ``timeout`` is in seconds, for one answer of a program or callable. ``python`` is the interpreter that imports a
    callable, such as that of an environment of its own, where this package need not be installed.

    Raises :class:`OptionError` for a SPEC that names nothing, or nothing that speaks the dialect, and
    :class:`EnvironmentLacksError` where an extra or a broker is missing.

    >>> from contextlib import closing
    >>> from dfa_router.fuzz import open_target, run
    >>> with closing(open_target("trie", "mqtt")) as target:
    ...     target.answer(["a/+", "#"], ["a/b", "a"])
    ...     run(target, "mqtt", rounds=3).agrees
    [(0, 1), (1,)]
    True
    """
    check_seconds("the timeout", timeout, "a number of seconds above 0")
    if not isinstance(spec, str):
        raise OptionError(f"the target is {spec!r}: expected a text, such as 'dfa' or 'module:callable'")
    if python is not None and not isinstance(python, str | os.PathLike):
        raise OptionError(f"python is {python!r}: expected the path of an interpreter, such as 'env/bin/python'")
    return TargetSpec(spec, dialect_named(dialect), timeout, python).open()


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """Everything that opens a target: a SPEC, the dialect that it is asked in, seconds for one answer, and the interpreter."""

    text: str
    dialect: Dialect
    timeout: float
    python: str | None = None

    def open(self) -> Target:
        """Open the target; see :func:`open_target`."""
        scheme, colon, rest = self.text.partition(":")
        if self.text in engines():
            return EngineTarget(self.text, self.dialect)
        if scheme == "cmd" and colon:
            return self._command(rest)
        if rest.startswith("//") and (scheme in _BROKERS or scheme.removesuffix("s") in _BROKERS):
            return open_broker(self.text, self.dialect)
        if file := re.fullmatch(r"(?:.*[/\\])?([^\W\d]\w*)\.py(:[\w.]+)", self.text):
            meant = "".join(file.groups())
            raise OptionError(f"the target {self.text!r} names a file: write {meant}, in the folder of the file")
        if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*", self.text):
            return FunctionTarget(self.text, self.dialect, timeout=self.timeout, python=self.python)
        raise OptionError(self._unknown())

    def _command(self, line: str) -> Target:
        try:
            command = shlex.split(line)
        except ValueError as error:
            raise OptionError(f"the command of the target {self.text!r} cannot be split into words: {error}") from None
        if not command:
            raise OptionError(
                "the target 'cmd:' names no program: write cmd:./my-matcher, with its arguments if it has any"
            )
        try:
            return CommandTarget(self.text, command, self.dialect, timeout=self.timeout)
        except OSError as error:
            reason = f"{error.strerror or error}{_remedy(command[0], error)}"
            raise OptionError(f"cannot start the target {self.text!r}: {reason}") from None
        except ValueError as error:  # a NUL in an argument
            raise OptionError(f"cannot start the target {self.text!r}: {error}") from None

    def _unknown(self) -> str:
        """Return the error text for a SPEC that names nothing: near names, and what there is."""
        speakers = [name for name in engines() if engine_info(name).speaks(self.dialect)]
        known = [*engines(), *(f"{scheme}://" for scheme in _BROKERS), "cmd:"]
        begin = self.text.partition("//")[0] + ("//" if "//" in self.text else "")
        near = difflib.get_close_matches(begin, known, n=3)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        return (
            f"unknown target {without_password(self.text)!r}{meant}\n"
            f"A target is an engine that speaks {self.dialect.name} ({', '.join(speakers)}), a Python callable "
            f"(module:callable), a program (cmd:./my-matcher), or a live broker "
            f"({', '.join(f'{name}://host' for name in _BROKERS)})"
        )


def _remedy(program: str, error: OSError) -> str:
    if error.errno in (errno.EACCES, errno.ENOEXEC):
        return f": make it executable with chmod +x and a first line #!, or name what runs it, such as cmd:python3 {program}"
    return ": write ./ before a program of this directory" if "/" not in program else ""
