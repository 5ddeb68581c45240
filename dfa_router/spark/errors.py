"""What PySpark raises, and what of its text says what happened.

That text holds a trace of Python, of Java, or of both, and the exceptions that led to each other. What happened stands in the
last of Python's, or else in the first of Java's, which names the file, and the deepest, which says what was wrong with it.
"""

from __future__ import annotations

import builtins
import re
from importlib.util import find_spec

from pyspark.errors import PySparkException

from dfa_router.errors import JobError, MessagesError

__all__ = ["SPARK_ERRORS", "cause", "failure"]

SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, ConnectionError)
"""What PySpark raises: its own exceptions, those of its bridge to Java for exceptions of Java that it does not translate,
and connection errors where the Java process has ended. The client of Spark Connect alone has no such bridge."""

if find_spec("py4j") is not None:
    from py4j.protocol import Py4JError

    SPARK_ERRORS = (*SPARK_ERRORS, Py4JError)

_TRACE = "Traceback (most recent call last):"
_BELOW = "Caused by: "
_NO_ROOM = "No space left on device"
_OURS = f"{MessagesError.__module__}.{MessagesError.__name__}: "
_UNREAD = "[FAILED_READ_FILE"
"""Spark's own word for a file that it could not read; before 4.0 it has none."""


def cause(error: BaseException) -> str:
    """Return what a Spark error says that happened: one line, or as many as an exception of Python has; the others say where."""
    text = str(error)
    if _TRACE in text:
        return _of_python(text.rpartition(_TRACE)[2])
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("SQLSTATE")]
    if not lines:
        return type(error).__name__
    if lines[0].startswith("An error occurred while calling") and len(lines) > 1:  # py4j's text of an exception of Java
        lines = [re.sub(r"^: (?:[\w.$]+: )?", "", lines[1]), *lines[2:]]
    said = re.sub(r"[.:]?\s*(?:SQLSTATE: \w+)?$", "", lines[0])
    told = [line.removeprefix(_BELOW).partition(": ") for line in lines if line.startswith(_BELOW)]
    deepest = next((text for _, _, text in reversed(told) if text), said)
    if deepest not in said:
        said = f"{said}: {deepest}"
    return f"{said}; make room there, or choose another place" if _NO_ROOM in deepest else said


def failure(error: BaseException) -> JobError | MessagesError:
    """Return what is to be raised for a job that failed: :class:`MessagesError` where a file of the log could not be read."""
    text, said = str(error), cause(error)
    if f"\n{_OURS}" in text.rpartition(_TRACE)[2]:
        return MessagesError(said)
    if _TRACE not in text and _UNREAD in text:
        return MessagesError(f"{said}; fetch or write that file again, or leave it out")
    return JobError(f"the Spark job failed: {said}")


def _of_python(trace: str) -> str:
    """Return what an exception of Python says, which stands below its frames; those of Java may follow."""
    lines = [line for line in trace.splitlines() if line]
    first = next((number for number, line in enumerate(lines) if not line[0].isspace()), None)
    if first is None:
        return trace.strip()
    said = [lines[first]]
    for line in lines[first + 1 :]:
        if line.startswith("\t") or line.lstrip().startswith(("at ", "SQLSTATE", "JVM stacktrace", _BELOW)):
            break
        said.append(line.strip())
    name, _, text = "\n".join(said).partition(": ")
    return text if text and _speaks_for_itself(name) else "\n".join(said)


def _speaks_for_itself(name: str) -> bool:
    """Tell whether texts of exceptions of this name are sentences, as ours are, Arrow's and those of files; ``KeyError: 3`` is none."""
    module, _, plain = name.rpartition(".")
    if module:
        return module.partition(".")[0] in ("dfa_router", "compiler", "pyarrow")
    kind = getattr(builtins, plain, None)
    return isinstance(kind, type) and issubclass(kind, OSError | RuntimeError)
