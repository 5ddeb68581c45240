"""Speaks the fuzzer's protocol for a Python callable: ``python serve.py module:callable``.

It runs in a process of its own, so that a callable may hang, crash the interpreter or print without harm to the campaign.
It imports nothing of this project, as that would take a second at every start, and as a matcher under test must not
depend on what it is compared with.
"""

from __future__ import annotations

import importlib
import json
import operator
import os
import reprlib
import sys
import traceback
from collections.abc import Callable
from typing import Any

UNUSABLE = 3
"""The exit code of a process whose callable cannot be imported; its only line of output says why."""


def find(spec: str) -> Callable[[list[str], str], Any]:
    """Import what ``module:attribute.of.it`` names; raises whatever the import raises."""
    module, _, path = spec.partition(":")
    found = operator.attrgetter(path)(importlib.import_module(module))
    if not callable(found):
        raise TypeError(f"{spec} is {reprlib.repr(found)}, expected something to call as f(patterns, key)")
    return found  # type: ignore[no-any-return]


def reply(function: Callable[[list[str], str], Any], patterns: list[str], key: str) -> Any:
    """Call the function and return the reply of the protocol.

    ``ValueError`` is how a matcher refuses a pattern or a key, as ``int("x")`` does; any other exception is a failure.
    """
    try:
        returned = function(list(patterns), key)
        return positions(returned)
    except ValueError as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    except Exception as error:  # noqa: BLE001 - whatever is under test may raise whatever it likes
        frames = traceback.TracebackException.from_exception(error)
        del frames.stack[:1]  # this function
        return {"raised": "".join(frames.format())}


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


def main(spec: str) -> int:
    """Answer questions until the input ends; return the exit code."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)  # what the callable prints goes to stderr, as it is no answer
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - only now, so that a json.py there is not imported above
    try:
        function = find(spec)
    except BaseException as error:  # noqa: BLE001 - SystemExit too: the line says what it was
        text = "".join(traceback.format_exception(error)) if not isinstance(error, ImportError) else str(error)
        answers.write(json.dumps({"unusable": text or repr(error)}) + "\n")
        return UNUSABLE
    patterns: list[str] = []
    for line in sys.stdin.buffer:
        question = json.loads(line)
        if "patterns" in question:
            patterns = question["patterns"]
            answers.write("true\n")
        else:
            answers.write(json.dumps(reply(function, patterns, question["key"])) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
