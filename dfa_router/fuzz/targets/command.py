"""A program in any language, asked over its standard input and output: ``docs/fuzz-protocol.md`` is its contract.

A round is written as one line of patterns and a line for each key, all at once, and the program's answers are read as
they come. So the report on a slow answer can name its key, and a fast program never waits for the next question.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Final

from dfa_router.fuzz.targets.process import LineProcess, ProcessError
from dfa_router.language.dialects import Dialect
from dfa_router.target import Answers, Refused, TargetFailure

__all__ = ["PROTOCOL", "CommandTarget"]

PROTOCOL = 1
"""The version of the protocol; the program gets it in the environment variable ``DFA_ROUTER_FUZZ``."""

_LINE_ENDS: Final = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x7f\x85\u2028\u2029"})
"""JSON texts may hold these unescaped, but some readers take them for ends of a line, as ``str.splitlines`` does."""


class CommandTarget:
    """A program that speaks the protocol; it is started at once, and again after each failure."""

    def __init__(self, name: str, command: Sequence[str], dialect: Dialect, *, timeout: float) -> None:
        """Start the program; ``timeout`` is in seconds for each answer. Raises :class:`OSError` if it cannot be started."""
        self.name, self.dialect = name, dialect
        self._timeout = timeout
        self._process = LineProcess(command, self._environment())

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "DFA_ROUTER_FUZZ": str(PROTOCOL), "DFA_ROUTER_DIALECT": self.dialect.name}

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; raises :class:`Refused` or :class:`TargetFailure`."""
        answers: Answers = []
        objection: Refused | TargetFailure | None = None
        lines = [_encoded({"patterns": list(patterns)})] + [_encoded({"key": key}) for key in keys]
        asked = -1  # the position of the key whose answer comes next; -1 stands for the patterns
        try:
            for line in self._process.ask(b"".join(lines), len(lines), self._timeout):
                if (
                    objection is None
                ):  # the answers after it are read, so as not to be taken for the next round's, and ignored
                    reply = _decoded(line)
                    objection = self._objection(reply, asked, patterns, keys)
                    if objection is None and asked >= 0:
                        answers.append(_positions(reply, len(patterns)))
                    elif objection is None and reply is not True:
                        raise ProcessError("nonsense", f"answered {_shown(line)} to the patterns, expected true")
                asked += 1
        except ProcessError as trouble:
            self._process.kill()
            raise TargetFailure(
                trouble.kind,
                f"{self.name} {trouble.reason}\n({_occasion(asked, patterns, keys)})",
                patterns,
                _suspects(trouble.kind, asked, keys),
            ) from None
        except OSError as error:
            raise TargetFailure("died", f"{self.name} cannot be started again: {error}", patterns, keys) from None
        except BaseException:
            self._process.kill()
            raise
        if objection is not None:
            raise objection
        return answers

    def _objection(
        self, reply: Any, asked: int, patterns: Sequence[str], keys: Sequence[str]
    ) -> Refused | TargetFailure | None:
        """Return the refusal or failure that a reply reports, or None if it is an answer."""
        if not isinstance(reply, dict):
            return None
        match reply:
            case {"refused": str(reason)}:
                pattern = reply.get("pattern")
                if pattern is not None and (type(pattern) is not int or not 0 <= pattern < len(patterns)):
                    raise ProcessError(
                        "nonsense", f"refused pattern {pattern!r}, expected a position below {len(patterns)}"
                    )
                return self._refusal(reason, pattern, asked if asked >= 0 and pattern is None else None)
            case {"raised": str(text)}:
                return TargetFailure(
                    "raised",
                    f"{self.name} raised an error ({_occasion(asked, patterns, keys)}):\n{text}",
                    patterns,
                    keys[asked : asked + 1] if asked >= 0 else (),
                )
        return None

    def _refusal(self, reason: str, pattern: int | None, key: int | None) -> Refused:
        return Refused(reason, pattern=pattern, key=key)

    def close(self) -> None:
        """End the program and all that it started; may be called twice."""
        self._process.close()


def _encoded(question: dict[str, Any]) -> bytes:
    text = json.dumps(question, ensure_ascii=False)
    if not text.isascii() or "\x7f" in text:
        text = text.translate(_LINE_ENDS)
    return (
        text.encode(errors="backslashreplace") + b"\n"
    )  # a lone surrogate has no form in UTF-8, but JSON can escape it


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        raise ProcessError("nonsense", f"answered {_shown(line)}, which is no JSON value") from None


def _positions(reply: Any, patterns: int) -> tuple[int, ...]:
    """Return the positions of a reply, ascending and each once; raises :class:`ProcessError` for anything else."""
    if not isinstance(reply, list) or not all(
        type(position) is int for position in reply
    ):  # True is an int, but no position
        raise ProcessError(
            "nonsense", f"answered {_shown(reply)}, expected the positions of the patterns that match, such as [0, 2]"
        )
    positions = sorted(set(reply))
    if positions and not (positions[0] >= 0 and positions[-1] < patterns):
        raise ProcessError(
            "nonsense", f"answered {_shown(reply)}, expected positions from 0 to {patterns - 1} of {patterns} patterns"
        )
    return tuple(positions)


def _suspects(kind: str, asked: int, keys: Sequence[str]) -> Sequence[str]:
    """Return the keys that may have caused the trouble: a program that buffers its answers may be at a later key."""
    if kind == "nonsense" and asked < len(keys):
        return keys[asked : asked + 1] if asked >= 0 else ()
    return keys[max(asked, 0) :] or keys


def _occasion(asked: int, patterns: Sequence[str], keys: Sequence[str]) -> str:
    among = f"the patterns {_shown(list(patterns))}"
    return f"asked for the key {keys[asked]!r} and {among}" if 0 <= asked < len(keys) else f"given {among}"


def _shown(value: object, limit: int = 200) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"
