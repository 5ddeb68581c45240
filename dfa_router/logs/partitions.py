"""Folders named ``column=value``: which columns they give to the files below them, and of which types, as Spark has it.

A column is an int, a bigint, a double or a date where every value is one, and text otherwise; ``__HIVE_DEFAULT_PARTITION__`` is
null. Where no folder is named so, folders say nothing. What this leaves out: times, whose reading depends on Spark's time zone.
Spark reads such logs itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

__all__ = ["OtherWayError", "Partition", "UnreadableError", "partition_types", "partitions_of"]

Partition = tuple[tuple[str, str | None], ...]
"""The columns that a file's folders name, with their values as text."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")

_ODD = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?[dDfF]?|\d{4}-\d\d?(-\d\d?)?([T ].*)?|T?\d\d?:\d\d?.*")
"""What Spark may take for a number, a date or a time. A column with a value that is none of these is text."""

_NULL = "__HIVE_DEFAULT_PARTITION__"


class OtherWayError(Exception):
    """A log that Arrow would not read as Spark does; the text says why. It is left to Spark."""


class UnreadableError(OtherWayError):
    """A log of which there is nothing to read, or that cannot be opened or is damaged; only of a store may Spark know more."""


def partitions_of(files: Sequence[Sequence[str]]) -> list[Partition]:
    """Return what the folders of each file say: nothing, where no folder of any file is a ``column=value``.

    Raises :class:`OtherWayError` where some folders are partitions, and others are not.

    >>> partitions_of([["day=1", "shop=a%20b"]])
    [(('day', '1'), ('shop', 'a b'))]
    >>> partitions_of([[], ["2024", "old"]])
    [(), ()]
    """
    if not any("=" in folder for folders in files for folder in folders):
        return [()] * len(files)
    return list(map(_partition, files))


def _partition(folders: Sequence[str]) -> Partition:
    named = []
    for folder in folders:
        name, equals, value = folder.partition("=")
        if not (name and equals and value):
            raise OtherWayError(f"it has the folder {folder!r}, which is no column=value")
        named.append((unquote(name), None if value == _NULL else unquote(value)))
    if len({name.lower() for name, _ in named}) < len(named):
        raise OtherWayError("its folders name a column twice")
    return tuple(named)


def partition_types(partitions: Sequence[Partition]) -> dict[str, tuple[pa.DataType, dict[str | None, Any]]]:
    """Return the type of each column that the folders name, and its values by their text.

    Raises :class:`OtherWayError` where the files' folders do not name the same columns.
    """
    names = {tuple(name for name, _ in partition) for partition in partitions}
    if len(names) > 1:
        raise OtherWayError("its files do not lie equally deep in folders")
    return {
        name: _typed(name, {partition[place][1] for partition in partitions})
        for place, name in enumerate(next(iter(names), ()))
    }


def _typed(name: str, texts: set[str | None]) -> tuple[pa.DataType, dict[str | None, Any]]:
    known = [text for text in texts if text is not None]
    if all(re.fullmatch(r"-?\d{1,18}", text) for text in known) and known:
        numbers: dict[str | None, Any] = {text: int(text) for text in known}
        wide = any(not -(2**31) <= number < 2**31 for number in numbers.values())
        return pa.int64() if wide else pa.int32(), numbers | {None: None}
    if known and all(re.fullmatch(r"-?(\d+\.\d+|\d{1,15})", text) for text in known):
        return pa.float64(), {text: float(text) for text in known} | {None: None}
    if known and all(map(_ODD.fullmatch, known)) and not all(map(_DATE.fullmatch, known)):
        raise OtherWayError(f"the folders' column {name!r} holds times, or numbers of other forms")
    if known and all(map(_DATE.fullmatch, known)):
        try:
            return pa.date32(), {text: date.fromisoformat(text) for text in known} | {None: None}
        except ValueError:  # no such day: text
            pass
    return pa.string(), {text: text for text in texts} | {None: None}
