"""From a SPEC, as the command line takes it, to a target."""

from __future__ import annotations

import difflib
import re
import shlex

from dfa_router.brokers import connect
from dfa_router.engines.registry import engine_info, engines
from dfa_router.errors import OptionError
from dfa_router.fuzz.targets.command import CommandTarget
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.fuzz.targets.function import FunctionTarget
from dfa_router.language.dialects import Dialect
from dfa_router.target import Target

__all__ = ["TIMEOUT", "open_target"]

TIMEOUT = 10.0
"""Seconds that a target may take for one answer where nothing else is said."""

_BROKERS = ("amqp", "mqtt", "nats")


def open_target(spec: str, dialect: Dialect, *, timeout: float = TIMEOUT) -> Target:
    """Open what a SPEC names; whoever opens a target closes it.

    ==============================  ====================================================================
    ``dfa``                         an engine of this package, see :func:`dfa_router.engines`
    ``module:callable``             Python: ``f(patterns, key)`` returns the positions of those that match
    ``cmd:./my-matcher --flag``     a program in any language that speaks ``docs/fuzz-protocol.md``
    ``amqp://guest@localhost``      a live broker, as ``mqtt://host`` and ``nats://host`` are
    ==============================  ====================================================================

    ``timeout`` is in seconds, for one answer of a program or callable.

    Raises :class:`OptionError` for a SPEC that names nothing, or nothing that speaks the dialect, and
    :class:`EnvironmentLacksError` where an extra or a broker is missing.

    >>> from dfa_router.language.dialects import AMQP
    >>> open_target("dfa", AMQP).answer(["a.*", "#"], ["a.b", ""])
    [(0, 1), (1,)]
    """
    if not timeout > 0:
        raise OptionError(f"the timeout is {timeout!r}: expected a number of seconds above 0")
    scheme, colon, rest = spec.partition(":")
    if spec in engines():
        return EngineTarget(spec, dialect)
    if scheme == "cmd" and colon:
        return _command(spec, rest, dialect, timeout)
    if rest.startswith("//"):
        return _broker(spec, scheme, dialect)
    if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*", spec):
        return FunctionTarget(spec, dialect, timeout=timeout)
    raise OptionError(_nothing(spec, dialect))


def _command(spec: str, line: str, dialect: Dialect, timeout: float) -> Target:
    try:
        command = shlex.split(line)
    except ValueError as error:
        raise OptionError(f"the command of the target {spec!r} cannot be split into words: {error}") from None
    if not command:
        raise OptionError(
            "the target 'cmd:' names no program: write cmd:./my-matcher, with its arguments if it has any"
        )
    try:
        return CommandTarget(spec, command, dialect, timeout=timeout)
    except OSError as error:
        remedy = ": write ./ before a program of this directory" if "/" not in command[0] else ""
        raise OptionError(f"cannot start the target {spec!r}: {error.strerror or error}{remedy}") from None
    except ValueError as error:  # a NUL in an argument
        raise OptionError(f"cannot start the target {spec!r}: {error}") from None


def _broker(spec: str, scheme: str, dialect: Dialect) -> Target:
    if scheme.removesuffix("s") not in _BROKERS and scheme not in _BROKERS:
        raise OptionError(_nothing(spec, dialect))
    target = connect(spec)
    if _words(target.dialect) != _words(dialect):
        target.close()
        raise OptionError(
            f"the broker at {spec!r} speaks {target.dialect.name!r}, not {dialect.name!r}: use that dialect"
        )
    return target


def _words(dialect: Dialect) -> tuple[bytes | None, ...]:
    """Return what a pattern is made of: in the rest, what is refused, releases of one broker differ."""
    return dialect.separator, dialect.one, dialect.many, dialect.some


def _nothing(spec: str, dialect: Dialect) -> str:
    speakers = [name for name in engines() if engine_info(name).speaks(dialect)]
    known = [*engines(), *(f"{scheme}://" for scheme in _BROKERS), "cmd:"]
    near = difflib.get_close_matches(spec.partition("//")[0] + ("//" if "//" in spec else ""), known, n=3)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return (
        f"unknown target {spec!r}{meant}\n"
        f"A target is an engine that speaks {dialect.name} ({', '.join(speakers)}), a Python callable (module:callable), "
        f"a program (cmd:./my-matcher), or a live broker ({', '.join(f'{name}://host' for name in _BROKERS)})"
    )
