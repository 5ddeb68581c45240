"""What is said of lines that could not be read, or not as they are; the same, whoever reads them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "NO_CHARACTER",
    "NO_FIELDS",
    "NO_JSON",
    "NO_RECORD",
    "NO_UTF8",
    "OTHER_CASE",
    "READ_PROBLEM",
    "TWICE",
    "UNREADABLE",
    "free_name",
]

READ_PROBLEM = "read problem"
"""The column that says what was wrong with a line; it is dropped once its text is part of ``problem``."""

UNREADABLE = "unreadable_line"
"""The column that keeps the text of lines that could not be read in full; a log without such lines does not get it."""

NO_UTF8 = "the line is not valid UTF-8: each bad byte was read as U+FFFD"
NO_JSON = "the line is no JSON object"
NO_RECORD = "this is no record of a trace log"
NO_CHARACTER = r"the line has half of a character (\ud800 to \udfff): it was read as U+FFFD"
TWICE = "a key stands twice in the line: its last value was read"
OTHER_CASE = "a key of the line differs from one of the log by its case alone: it was not read"
NO_FIELDS = "the line has another number of fields than the header, or a stray quotation mark"


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with underscores behind it where it is taken; Spark's column names ignore case.

    >>> free_name("file", ["File", "n"])
    'file_'
    """
    lower = {other.lower() for other in taken}
    while name.lower() in lower:
        name += "_"
    return name
