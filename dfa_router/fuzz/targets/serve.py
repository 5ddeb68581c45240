"""Speaks the fuzzer's protocol for a Python callable or class: ``python serve.py module:name``.

It runs in a process of its own, so that a callable may hang, crash the interpreter or print without harm to the campaign.
It imports nothing of this project, as that would take a second at every start, and as a matcher under test must not
depend on what it is compared with. It runs in Python 3.8, too: the target's environment may be older than ours.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):  # noqa: PTH100, PTH120
    del sys.path[0]  # the folder of this file, whose modules are none of the target's

import dis
import importlib
import json
import operator
import re
import reprlib
import signal
import threading
import traceback
from typing import Any, Callable  # noqa: UP035 - for Python 3.8

UNUSABLE = 3
"""The exit code of a process whose callable cannot be imported; its only line of output says why."""
AGAIN = 113
"""The exit code of a child that is to be followed by a new one."""
_FORKED: list[bool] = []
"""Not empty in a child."""
TIMES = 60
"""How often each of several threads asks its key."""


class MissingError(Exception):
    """The module is there, and has nothing of that name, or nothing to call."""


def find(spec: str) -> Callable[..., Any]:
    """Import what ``module:attribute.of.it`` names; raises whatever the import raises, and :class:`MissingError`."""
    name, _, path = spec.partition(":")
    module = importlib.import_module(name)
    try:
        found = operator.attrgetter(path)(module)
    except AttributeError:
        has = [one for one in vars(module) if not one.startswith("_") and callable(getattr(module, one))]
        there = ", ".join(has[:20]) or "nothing to call"
        raise MissingError(f"the module {name!r} has no attribute {path!r}: it has {there}") from None
    if not callable(found):
        raise MissingError(f"{spec} is {reprlib.repr(found)}, expected something to call as f(patterns, key)")
    return found  # type: ignore[no-any-return]


def told(error: BaseException) -> str:
    """Return the traceback without what is not the target's: the frames of this file, and of the import system."""
    frames = traceback.TracebackException.from_exception(error)
    own = ("<frozen importlib", importlib.__file__, __file__)
    frames.stack[:] = [frame for frame in frames.stack if not frame.filename.startswith(own)]
    return "".join(frames.format())


class Server:
    """Answers the questions of the protocol for a function, or for a class whose instances hold a set."""

    def __init__(self, found: Callable[..., Any]) -> None:
        self._found = found
        self._holds = isinstance(found, type) and hasattr(found, "match")
        self._patterns: list[str] = []
        self._matcher: Any = None

    @property
    def changes(self) -> bool:
        """Whether sets can change."""
        return self._holds and all(hasattr(self._found, name) for name in ("bind", "unbind"))

    def reply(self, question: dict[str, Any]) -> Any:
        """Return the reply to a question.

        ``ValueError`` is how a matcher refuses a pattern or a key, as ``int("x")`` does; any other exception is a failure.
        """
        try:
            return self._reply(question)
        except ValueError as error:
            refusal = {"refused": f"{type(error).__name__}: {error}"}
            return dict(refusal, limit=True) if getattr(error, "limit", False) else refusal
        except Exception as error:  # noqa: BLE001 - whatever is under test may raise whatever it likes
            return {"raised": told(error)}

    def _reply(self, question: dict[str, Any]) -> Any:
        if "lines" in question:
            return self._lines(**question["lines"])
        if "patterns" in question:
            self._patterns = question["patterns"]
            self._matcher = self._found(list(self._patterns)) if self._holds else None
            scope = getattr(self._found, "scope", None)
            offers = self.changes or isinstance(scope, dict)
            return {"ready": True, "changes": self.changes, "scope": scope or {}} if offers else True
        if "bind" in question:
            self._matcher.bind(question["bind"])
            return True
        if "unbind" in question:
            self._matcher.unbind(question["unbind"])
            return True
        if "together" in question:
            return self._together(question["together"])
        return self._ask(question["key"])

    def _ask(self, key: str) -> Any:
        return positions(self._matcher.match(key) if self._holds else self._found(list(self._patterns), key))

    def _lines(self, patterns: list[str], key: str) -> dict[str, Any]:
        """Return what runs when a new matcher is asked, except for Python's own library."""

        def ask(patterns: list[str], key: str) -> None:
            self._patterns = patterns
            try:
                self._matcher = self._found(list(patterns)) if self._holds else None
                self._ask(key)
            except Exception:  # noqa: BLE001, S110 - the lines until then are what is asked for
                pass

        first, second = Followed(), Followed()
        # What is imported or made at the first call only is no part of what a case runs, and would take seconds to follow.
        ask(["first"], "call")
        first.through(ask, ["first"], "call")
        second.through(ask, patterns, key)
        return {
            "ran": list(second.lines),
            "functions": list(second.functions),
            "expressions": second.built(first, [*patterns, key]),
        }

    def _together(self, keys: list[str]) -> Any:
        """Ask each key by a thread of its own, again and again; return for each the last answer that differs from the rest."""
        told: list[Any] = [None] * len(keys)
        begin = threading.Barrier(len(keys))

        def ask(place: int) -> None:
            begin.wait()
            try:
                answers = [self._ask(keys[place]) for _ in range(TIMES)]
            except Exception as error:  # noqa: BLE001 - as above
                told[place] = {"raised": "".join(traceback.format_exception(type(error), error, error.__traceback__))}
                return
            told[place] = min(answers, key=answers.count)

        pause = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(keys))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(pause)
        raised = [one for one in told if isinstance(one, dict)]
        return raised[0] if raised else told


class Followed:
    """What ran while something was followed: lines, functions, and who built or ran which regular expression."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], None] = {}
        self.functions: dict[tuple[str, int, int, str], None] = {}
        self._expressions: dict[tuple[str, int], set[str]] = {}
        self._shaped: dict[tuple[str, int], set[str]] = {}
        """Texts that an expression changed, by the line that had it do so."""
        self._returned: dict[tuple[str, int], set[str]] = {}
        """Texts that functions returned."""

    def through(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Follow a call."""
        before = sys.gettrace(), sys.getprofile()
        sys.setprofile(self._profile)
        sys.settrace(self._trace)
        try:
            call(*arguments)
        finally:
            sys.settrace(before[0])
            sys.setprofile(before[1])

    def built(self, before: Followed, asked: list[str]) -> list[tuple[str, int]]:
        """Return the lines that build or run an expression which was not there in a call before, as it depends on what is asked."""
        old = set().union(*before._expressions.values())
        new = set().union(*self._expressions.values()) - old
        if not new:
            return []

        def part(text: str) -> bool:
            return len(text) > 2 and text not in asked and any(text in expression for expression in new)

        found = [line for line, texts in self._expressions.items() if texts & new]
        found += [line for line, texts in self._shaped.items() if texts - before._shaped.get(line, set())]
        found += [line for line, texts in self._returned.items() if any(map(part, texts))]
        return sorted(set(found))

    def _trace(self, frame: Any, event: str, value: Any) -> Any:
        code = frame.f_code
        if not _own(code.co_filename):
            if event == "call" and code.co_filename == re.__file__ and "pattern" in frame.f_locals:
                self._note(self._expressions, frame, frame.f_locals["pattern"])
                if code.co_name in {"sub", "subn", "escape"}:
                    self._note(self._shaped, frame, frame.f_locals.get("string", frame.f_locals["pattern"]))
            return None
        if event == "call":
            name = getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]
            self.functions[code.co_filename, code.co_firstlineno, _last_line(code), name] = None
        elif event == "line":
            self.lines[code.co_filename, frame.f_lineno] = None
        elif event == "return" and isinstance(value, str):
            self._returned.setdefault((code.co_filename, frame.f_lineno), set()).add(value)
        return self._trace

    def _profile(self, frame: Any, event: str, called: Any) -> None:
        expression = getattr(called, "__self__", None) if event == "c_call" else None
        if isinstance(expression, re.Pattern):
            self._note(self._expressions, frame, expression)

    def _note(self, noted: dict[tuple[str, int], set[str]], frame: Any, text: Any) -> None:
        """Note a text at the line of the target that the frame was reached from."""
        while frame is not None and not _own(frame.f_code.co_filename):
            frame = frame.f_back
        text = text.pattern if isinstance(text, re.Pattern) else text
        if frame is not None:
            noted.setdefault((frame.f_code.co_filename, frame.f_lineno), set()).add(str(text))


def _own(file: str) -> bool:
    """Tell whether a file is none of Python's own library, nor this one."""
    library = os.path.dirname(os.__file__)  # noqa: PTH120
    return os.path.isabs(file) and file != __file__ and ("site-packages" in file or not file.startswith(library))  # noqa: PTH117


def _last_line(code: Any) -> int:
    inner = [one for one in code.co_consts if hasattr(one, "co_consts")]
    lines = [line for _, line in dis.findlinestarts(code) if line is not None]
    return int(max([code.co_firstlineno, *lines, *map(_last_line, inner)]))


def positions(returned: Any) -> Any:
    """Return a list of ints, or the reply for a value that is none; raises what an iterator that was returned raises."""
    if isinstance(returned, (str, bytes, dict)) or not hasattr(returned, "__iter__"):
        return {"returned": reprlib.repr(returned)}
    found = list(returned)
    try:
        # A mask is no list of positions, though Python's bools, and numpy's before 2.3, pass for numbers.
        if not any(type(position).__name__ in {"bool", "bool_"} for position in found):
            return [operator.index(position) for position in found]  # numpy's integers too
    except TypeError:
        pass
    return {"returned": reprlib.repr(found)}


def _forked() -> None:
    """Go on in a child, and in a new one whenever a child ends to be started anew; other ends are this process's own.

    So the import, which takes most of a start, is done once. A module that has started threads is not forked: a question to
    start anew then finds nobody who does, and the process is ended instead.
    """
    tasks = "/proc/self/task"
    if not hasattr(os, "fork") or not os.path.isdir(tasks) or len(os.listdir(tasks)) > 1:  # noqa: PTH112, PTH208
        return
    while True:
        child = os.fork()
        if not child:
            _FORKED.append(True)
            return
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL) if os.WTERMSIG(status) != signal.SIGKILL else None
            os.kill(os.getpid(), os.WTERMSIG(status))
        elif os.WEXITSTATUS(status) != AGAIN:
            os._exit(os.WEXITSTATUS(status))


def main(spec: str) -> int:
    """Answer questions until the input ends; return the exit code."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)  # what the callable prints goes to stderr, as it is no answer
    questions = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # a callable that reads its standard input would take the questions, and wait for more
    os.close(nothing)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - only now, so that a json.py there is not imported above
    try:
        server = Server(find(spec))
    except BaseException as error:  # noqa: BLE001 - SystemExit too: the line says what it was
        plain = isinstance(error, (ImportError, MissingError))
        answers.write(json.dumps({"unusable": (str(error) if plain else told(error)) or repr(error)}) + "\n")
        return UNUSABLE
    _forked()
    for line in questions:
        question = json.loads(line)
        if "restart" in question:
            answers.write(json.dumps(bool(_FORKED)) + "\n")
            if _FORKED:
                os._exit(AGAIN)
            continue
        answers.write(json.dumps(server.reply(question)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
