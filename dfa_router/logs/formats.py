"""The formats of message logs, and which one a log has."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from dfa_router.errors import MessagesError
from dfa_router.logs.stores import STORE_ERRORS, is_hidden, is_pattern, is_remote, place_of, roots
from dfa_router.tables import read_table, table_at

__all__ = ["FORMATS", "format_of"]

FORMATS = {
    "parquet": (".parquet", ".pq"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv",),
    "trace": (".log",),
}
"""The formats, and the file names by which each is known."""

_ONE_READING = (
    "standard input, pipes and devices cannot be read twice, as a log is: save the messages to a file, and name that"
)

_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4", ".snappy")


def format_of(path: str, given: str | None = None) -> str:
    """Return the format of a log: the given one, or the one that its name or the names in its folder tell.

    Raises :class:`MessagesError` where there is nothing to be read at that path or the names do not tell, and for a table that is refused.
    """
    table = None if is_remote(path) else table_at(path)
    if table is not None:
        if given not in {None, "parquet"}:
            raise MessagesError(f"{path}: is a table, whose files are Parquet: leave --format out")
        read_table(
            table
        )  # once more than it is needed, so that nobody waits for Spark to be told that a table is refused
        return "parquet"
    if path == "-":
        raise MessagesError(f"-: {_ONE_READING}")
    try:
        names = set(_names(path))
    except (FileNotFoundError, NotADirectoryError):
        raise MessagesError(f"{path}: there is no such file or folder; name a log that is there") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise MessagesError(f"{path}: there is no such file or folder; name a log that is there") from None
        raise MessagesError(
            f"{error.filename}: cannot be read: {error.strerror}; name a log that you may read"
        ) from error
    if not names:
        where = "whose names match this pattern" if is_pattern(path) else "in this folder"
        raise MessagesError(f"{path}: there are no files {where}; name a log that is there")
    if given is not None:
        return given
    kinds = {kind for name in names if (kind := _known(name)) is not None}
    if len(kinds) == 1:
        return kinds.pop()
    what = (
        f"holds files of several formats ({', '.join(sorted(kinds))})"
        if kinds
        else "has no ending that tells its format"
    )
    endings = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise MessagesError(f"{path}: {what}; known endings: {endings}. Say which with --format {'|'.join(FORMATS)}")


def _names(path: str) -> Iterator[str]:
    """Yield the names that may tell a format: that of the path, or those of the data files in a folder, and links to folders."""
    if not is_remote(path) and is_pattern(path):
        yield from _names_of_pattern(path)
        return
    mode = None if is_remote(path) else Path(path).stat().st_mode
    if mode is None or stat.S_ISREG(mode):
        yield path
        return
    if not stat.S_ISDIR(mode):
        raise MessagesError(f"{path}: {_ONE_READING}")
    for folder, folders, files in os.walk(path, onerror=_raise):
        folders[:] = (name for name in folders if not is_hidden(name))
        links = (name for name in folders if Path(folder, name).is_symlink())  # they are not walked into
        yield from (name for name in (*files, *links) if not is_hidden(name))


def _names_of_pattern(pattern: str) -> Iterator[str]:
    """Yield a local pattern where its ending tells a format, and else the names of what it names: nothing, files or folders."""
    place = place_of(pattern)
    assert place is not None, "a path without a scheme is a local one"
    try:
        named = None if "\\" in pattern else [info.path for info in roots(place, pattern=True)]
    except STORE_ERRORS:  # what cannot be listed is told by whoever reads it
        named = None
    if named is None or (named and _known(pattern)):  # one with a backslash means something to Spark alone
        yield pattern
        return
    for path in named:
        yield from _names(path)


def _raise(error: OSError) -> None:
    raise error


def _known(name: str) -> str | None:
    plain = name.lower()
    for ending in _COMPRESSED:
        plain = plain.removesuffix(ending)
    return next((kind for kind, endings in FORMATS.items() if plain.endswith(endings)), None)
