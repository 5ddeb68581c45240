"""What PySpark raises, and the line of it that says what happened."""

from __future__ import annotations

import re
from importlib.util import find_spec

from pyspark.errors import PySparkException

__all__ = ["SPARK_ERRORS", "cause"]

SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, ConnectionError)
"""What PySpark raises: its own exceptions, those of its bridge to Java for exceptions of Java that it does not translate,
and connection errors where the Java process has ended. The client of Spark Connect alone has no such bridge."""

if find_spec("py4j") is not None:
    from py4j.protocol import Py4JError

    SPARK_ERRORS = (*SPARK_ERRORS, Py4JError)


def cause(error: BaseException) -> str:
    """Return the line of a Spark error that says what happened; the other lines say where."""
    lines = [
        line.strip() for line in str(error).splitlines() if line.strip() and not line.strip().startswith("SQLSTATE")
    ]
    if not lines:
        return type(error).__name__
    if lines[0].startswith("An error occurred while calling") and len(lines) > 1:  # py4j's text of an exception of Java
        return re.sub(r"^: (?:[\w.$]+: )?", "", lines[1])
    return lines[-1] if any(line.startswith("Traceback") for line in lines) else lines[0]
