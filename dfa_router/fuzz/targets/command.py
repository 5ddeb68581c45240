"""A program in any language, asked over its standard input and output: ``docs/fuzz-protocol.md`` is its contract.

A round is written as one line of patterns and a line for each key, all at once, and the program's answers are read as
they come. So the report on a slow answer can name its key, and a fast program never waits for the next question.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dfa_router.fuzz.patience import TIMES, overdue_after
from dfa_router.fuzz.targets.process import LineProcess, ProcessError
from dfa_router.language.dialects import Dialect
from dfa_router.target import (
    Answers,
    Bind,
    OutOfTimeError,
    Ran,
    Refused,
    Step,
    TargetFailure,
    Unbind,
    bound,
    expected_positions,
)

__all__ = ["PROTOCOL", "CommandTarget", "positions_of"]

PROTOCOL = 2
"""The version of the protocol; the program gets it in the environment variable ``DFA_ROUTER_FUZZ``."""

_LINE_ENDS: Final = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x7f\x85\u2028\u2029"})
"""JSON texts may hold these unescaped, but some readers take them for ends of a line, as ``str.splitlines`` does."""


class CommandTarget:
    """A program that speaks the protocol; it is started at once, and again after each failure."""

    def __init__(self, name: str, command: Sequence[str], dialect: Dialect, *, timeout: float) -> None:
        """Start the program; ``timeout`` is in seconds for each answer. Raises :class:`OSError` if it cannot be started."""
        self.name, self.dialect = name, dialect
        self.timeout, self.deadline = timeout, math.inf
        self.slowest = 0.0
        """Seconds that the slowest set and its keys took so far, without the program's start; 0 if none was answered."""
        self._allowed = timeout
        """What it was given; campaigns set ``timeout`` to less."""
        self._start, self._starts = 0.0, True
        """Seconds that its slowest start took, with its first set, and whether the next answer is the first of a process."""
        self._silence, self._set = 0.0, 0.0
        """Seconds of its longest silence before an answer, and of its slowest set, both of a process that had answered before.

        The first set of a process may load what is needed for the first time.
        """
        self.scope: Mapping[str, Any] = {}
        """What the program says that it may be asked."""
        self.changing = False
        """Whether the program says that its sets can change."""
        self.tells_lines = False
        """Whether the program says that it can tell which lines of its source run."""
        self._process = LineProcess(command, self._environment())

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "DFA_ROUTER_FUZZ": str(PROTOCOL), "DFA_ROUTER_DIALECT": self.dialect.name}

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; raises :class:`Refused`, :class:`TargetFailure` or :class:`OutOfTimeError`."""
        return self.replay(patterns, keys)

    def replay(self, patterns: Sequence[str], steps: Sequence[Step]) -> Answers:
        """Return who matches each key among the steps; raises as :meth:`answer` does."""
        answers: Answers = []
        objection: Refused | TargetFailure | None = None
        lines = [_encoded({"patterns": list(patterns)})] + [_encoded(_question(step)) for step in steps]
        asked = -1  # the position of the step whose answer comes next; -1 stands for the patterns
        starts, self._starts = self._starts, False
        patience, first = self._patience(starts=starts)
        began = before = time.monotonic()
        try:
            for line in self._process.ask(b"".join(lines), len(lines), patience, self.deadline, first=first):
                now = time.monotonic()
                if starts and asked < 0:
                    self._start, began = max(self._start, now - began), now
                elif not starts:
                    self._silence = max(self._silence, now - before)
                if (
                    objection is None
                ):  # the answers after it are read, so as not to be taken for the next round's, and ignored
                    reply = _decoded(line)
                    objection = self._objection(reply, asked, patterns, steps)
                    if objection is None:
                        self._take(reply, line, asked, patterns, steps, answers)
                asked, before = asked + 1, time.monotonic()
        except ProcessError as trouble:
            self._end()
            if trouble.kind == "late":
                usual = max(self._start, self.slowest) if starts else self._usually(self._silence)
                reason = f"{self.name} {trouble.reason} ({_occasion(asked, patterns, steps)})"
                raise OutOfTimeError(reason, overdue=trouble.silent >= overdue_after(usual)) from None
            raise TargetFailure(
                trouble.kind,
                f"{self.name} {trouble.reason}\n({_occasion(asked, patterns, steps)})",
                patterns,
                _suspects(trouble.kind, asked, steps),
            ) from None
        except OSError as error:
            raise self._lost(error, patterns, _keys(steps)) from None
        except BaseException:
            self._end()
            raise
        if answers:
            passed = time.monotonic() - began
            self.slowest = max(self.slowest, passed)
            self._set = self._set if starts else max(self._set, passed)
        if objection is not None:
            raise objection
        return answers

    def _usually(self, seconds: float) -> float:
        """Return what it takes at most as far as is known: a start cannot be told from its first set before there is another."""
        return seconds if self._set else max(seconds, self._start)

    @property
    def leeway(self) -> float:
        """Seconds that must be left when it is given a set, so that an answer that never comes can be told from a slow one."""
        if self._starts:
            return self._start + self.slowest + overdue_after(max(self._start, self.slowest))
        return self._usually(self._set) + overdue_after(self._usually(self._silence))

    def _patience(self, *, starts: bool) -> tuple[float, float]:
        """Return the seconds for an answer, and for the first one, which may include a start.

        Nobody is said to hang for being slow: what has never answered has all the time that it was given.
        """
        patience = self._at_most(self._usually(self.slowest) if self.slowest else 0.0)
        return patience, max(patience, self._at_most(self._start)) if starts else patience

    def _at_most(self, usual: float) -> float:
        """Return the seconds for what usually takes so long; 0 stands for what has never been answered."""
        return min(self._allowed, max(self.timeout, TIMES * usual)) if usual else self._allowed

    def _end(self) -> None:
        self._process.kill()
        self._starts = True

    def _take(
        self, reply: Any, line: bytes, asked: int, patterns: Sequence[str], steps: Sequence[Step], answers: Answers
    ) -> None:
        """Take an answer: positions for a key, true for patterns and changes, or an offer for patterns."""
        if asked >= 0 and isinstance(steps[asked], str):
            answers.append(positions_of(reply, len(patterns) + sum(isinstance(step, Bind) for step in steps[:asked])))
            return
        if asked < 0 and isinstance(reply, dict) and reply.get("ready") is True:
            self.changing, self.tells_lines = (
                reply.get("changes") is True,
                self.tells_lines or reply.get("lines") is True,
            )
            self.scope = scope if isinstance(scope := reply.get("scope"), dict) else {}
        elif reply is not True:
            told = "the patterns" if asked < 0 else "a change"
            raise ProcessError("nonsense", f"answered {_shown(line)} to {told}, expected true")

    def lines(self, patterns: Sequence[str], key: str) -> Ran:
        """Return what of its source runs when a key is asked of a new set; raises as :meth:`answer` does."""
        question = _encoded({"lines": {"patterns": list(patterns), "key": key}})
        [reply] = self._told(question, 1, patterns, [key])
        told = reply if isinstance(reply, dict) else {"ran": reply}
        try:
            return Ran(
                frozenset((str(file), int(line)) for file, line in told["ran"]),
                tuple((str(file), int(a), int(b), str(name)) for file, a, b, name in told.get("functions", ())),
                frozenset((str(file), int(line)) for file, line in told.get("expressions", ())),
            )
        except (KeyError, TypeError, ValueError):
            reason = f"{self.name} answered {_shown(reply)} to lines, expected a list of [file, line]"
            raise TargetFailure("nonsense", reason, patterns, [key]) from None

    def _told(
        self, questions: bytes, count: int, patterns: Sequence[str], keys: Sequence[str], *, times: int = 0
    ) -> list[Any]:
        """Return the replies to some lines that are not a set and its keys, and take longer than these.

        ``times`` is how many keys are asked by them; 0 where it is not matching that takes the time.
        """
        self._starts = False
        usual = times * self._usually(self._silence)
        patience = self._at_most(usual) if times else self._allowed
        try:
            return [_decoded(line) for line in self._process.ask(questions, count, patience, self.deadline)]
        except ProcessError as trouble:
            self._end()
            if trouble.kind == "late":
                overdue = times > 0 and trouble.silent >= overdue_after(usual)
                raise OutOfTimeError(f"{self.name} {trouble.reason}", overdue=overdue) from None
            raise TargetFailure(trouble.kind, f"{self.name} {trouble.reason}", patterns, keys) from None
        except OSError as error:
            raise self._lost(error, patterns, keys) from None
        except BaseException:
            self._end()
            raise

    def _lost(self, error: OSError, patterns: Sequence[str], keys: Sequence[str]) -> TargetFailure:
        """Return the failure of a program that was ended and cannot be started."""
        return TargetFailure("died", f"{self.name} cannot be started again: {error}", patterns, keys)

    def restart(self, *, wholly: bool = False) -> None:  # noqa: ARG002 - other programs have one way only
        """End the program: the next question starts it anew."""
        self._end()

    def _objection(
        self, reply: Any, asked: int, patterns: Sequence[str], steps: Sequence[Step]
    ) -> Refused | TargetFailure | None:
        """Return the refusal or failure that a reply reports, or None if it is an answer."""
        if not isinstance(reply, dict):
            return None
        match reply:
            case {"refused": str(reason)}:
                pattern, count = reply.get("pattern"), len(bound(patterns, steps)[0])
                if pattern is not None and (type(pattern) is not int or not 0 <= pattern < count):
                    raise ProcessError("nonsense", f"refused pattern {pattern!r}, expected a position below {count}")
                key = None
                if pattern is None and asked >= 0 and isinstance(steps[asked], str):
                    key = len(_keys(steps[:asked]))
                return self._refusal(reason, pattern, key, limit=reply.get("limit") is True)
            case {"raised": str(text)}:
                return TargetFailure(
                    "raised",
                    f"{self.name} raised an error ({_occasion(asked, patterns, steps)}):\n{text}",
                    patterns,
                    _keys(steps[asked : asked + 1]) if asked >= 0 else (),
                )
        return None

    def _refusal(self, reason: str, pattern: int | None, key: int | None, *, limit: bool) -> Refused:
        return Refused(reason, pattern=pattern, key=key, limit=limit)

    def close(self) -> None:
        """End the program and its process group; may be called twice. Where its time is over, it has none to end by itself."""
        if time.monotonic() > self.deadline:
            self._process.kill()
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
        answered = _shown(line) if line.strip() else "with an empty line"
        raise ProcessError("nonsense", f"answered {answered}, which is no JSON value") from None


def positions_of(reply: Any, patterns: int) -> tuple[int, ...]:
    """Return the positions of a reply, ascending and each once; raises :class:`ProcessError` for anything else."""
    if not isinstance(reply, list) or not all(
        type(position) is int for position in reply
    ):  # True is an int, but no position
        # What a callable returned comes as its text where JSON has no such value.
        shown = reply["returned"] if isinstance(reply, dict) and reply.keys() == {"returned"} else _shown(reply)
        raise ProcessError(
            "nonsense", f"answered {shown}, expected the positions of the patterns that match, such as [0, 2]"
        )
    positions = sorted(set(reply))
    if positions and not (positions[0] >= 0 and positions[-1] < patterns):
        raise ProcessError("nonsense", f"answered {_shown(reply)}, {expected_positions(patterns)}")
    return tuple(positions)


def _question(step: Step) -> dict[str, Any]:
    if isinstance(step, Bind):
        return {"bind": step.pattern}
    return {"unbind": step.position} if isinstance(step, Unbind) else {"key": step}


def _keys(steps: Sequence[Step]) -> list[str]:
    return [step for step in steps if isinstance(step, str)]


def _suspects(kind: str, asked: int, steps: Sequence[Step]) -> Sequence[str]:
    """Return the keys that may have caused the trouble: a program that buffers its answers may be at a later key."""
    if kind == "nonsense" and asked < len(steps):
        return _keys(steps[asked : asked + 1]) if asked >= 0 else ()
    return _keys(steps[max(asked, 0) :]) or _keys(steps)


def _occasion(asked: int, patterns: Sequence[str], steps: Sequence[Step]) -> str:
    among = f"the patterns {_shown(list(patterns))}"
    if not 0 <= asked < len(steps):
        return f"given {among}"
    step = steps[asked]
    if isinstance(step, str):
        return f"asked for the key {step!r} and {among}"
    return f"told {_shown(_question(step))} after {among}"


def _shown(value: object, limit: int = 200) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"
