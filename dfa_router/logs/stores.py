"""Where logs and results lie: file systems that Arrow reads, the names in them, and patterns of names.

A path without a scheme is a local one. Of the URIs, those are taken whose scheme Arrow itself knows. ``s3a``, ``wasb`` and the
like are names of Hadoop's own connectors, whose credentials stand in Spark's configuration: they stay with Spark.

Rejected: reading every URI by fsspec. Its file systems are Python, and hold the interpreter while they read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import fs

from dfa_router.errors import MessagesError

__all__ = [
    "STORE_ERRORS",
    "Found",
    "Place",
    "exists",
    "found",
    "is_hidden",
    "is_pattern",
    "is_remote",
    "place_of",
    "roots",
    "touches",
    "unwritable",
]

SCHEMES = ("s3", "gs", "gcs", "hdfs", "abfs", "abfss")
"""Of the URIs that Arrow reads."""

STORE_ERRORS = (OSError, pa.ArrowException)
"""What Arrow raises where a store cannot be reached or a file be read."""

_WILD = re.compile(r"[*?\[{]")


class Place(NamedTuple):
    """A path on a file system."""

    store: Any
    """A ``pyarrow.fs.FileSystem``; it can be pickled."""
    path: str
    """Without a scheme, and without a slash at its end."""

    def beside(self, name: str) -> Place:
        """Return the place of this name in this folder."""
        return Place(self.store, f"{self.path}/{name}")


class Found(NamedTuple):
    """A data file of a log."""

    path: str
    size: int
    folders: tuple[str, ...]
    """The folders between the path that was asked for and the file."""


def unwritable(path: str, error: OSError) -> OSError:
    """Return an error of the same kind that names the file that could not be written, which Arrow's do not always, and what to do."""
    return type(error)(f"{path}: cannot be written: {error}; make room there, or choose another place")


def is_remote(path: str) -> bool:
    """Tell whether a path is a URI, such as ``s3://bucket/log``."""
    return "://" in path


def exists(path: str) -> bool:
    """Tell whether something local is called so, also of a text that is too long for a name."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises for such a text


def is_pattern(path: str) -> bool:
    """Tell whether a path is a pattern of names: it has ``*``, ``?``, ``[`` or ``{``, and nothing local is called so."""
    if is_remote(path):
        return _WILD.search(path.partition("?")[0]) is not None  # behind the mark are options of the store
    return _WILD.search(path) is not None and not exists(path)


def place_of(path: str) -> Place | None:
    """Return where a path lies, or None where Arrow does not know its scheme; raises what Arrow raises for a bad URI.

    >>> place_of("/logs/day=1/").path
    '/logs/day=1'
    >>> place_of("s3a://bucket/log") is None
    True
    """
    if not is_remote(path):
        return Place(fs.LocalFileSystem(), str(Path(path).absolute()))
    if path.partition("://")[0] not in SCHEMES:
        return None
    uri, mark, options = path.partition("?")
    start = _WILD.search(uri)
    # The URI of a pattern may hold what no URI holds, so the store is made of what stands before it.
    plain = uri if start is None else uri[: uri.rindex("/", 0, start.start())]
    store, inside = fs.FileSystem.from_uri(plain + mark + options)
    return Place(store, (inside + uri[len(plain) :]).rstrip("/"))


def found(place: Place, *, pattern: bool) -> Iterator[Found]:
    """Yield the data files of a file, a folder with all below it, or a pattern of either, sorted by their paths.

    Names that begin with a dot or an underscore are no data, as Spark has it. Raises ``OSError`` and ``pa.ArrowException``, and
    :class:`MessagesError` for a text that is no pattern.
    """
    return chain.from_iterable(_below(place.store, root) for root in roots(place, pattern=pattern))


def roots(place: Place, *, pattern: bool) -> list[Any]:
    """Return what Arrow knows of a file or a folder, or of each that a pattern names, sorted by their paths; raises as :func:`found`."""
    infos = _matching(place) if pattern else [place.store.get_file_info(place.path)]
    return sorted(infos, key=lambda info: info.path)


def touches(pattern: str, path: str) -> bool:
    """Tell whether a pattern could name a path, something above it or something in it, whatever there is.

    >>> touches("/logs/day=*", "/logs/day=1/out"), touches("/logs/day=*", "/logs"), touches("/logs/day=*", "/logs/out")
    (True, True, False)
    """
    return all(
        part == name or (_WILD.search(part) and not is_hidden(name) and _expression(part).fullmatch(name))
        for part, name in zip(_parts(pattern), path.split("/"), strict=False)
    )


def _below(store: Any, root: Any) -> Iterator[Found]:
    if root.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{root.path}: there is no such file or folder")
    if root.type == fs.FileType.File:
        yield Found(root.path, root.size, ())
        return
    infos = store.get_file_info(fs.FileSelector(root.path, recursive=True))
    for info in sorted(infos, key=lambda info: info.path):
        *folders, name = info.path[len(root.path) :].strip("/").split("/")
        if info.type == fs.FileType.File and not any(map(is_hidden, (*folders, name))):
            yield Found(info.path, info.size, tuple(folders))


def is_hidden(name: str) -> bool:
    """Tell whether a file or a folder of this name is no data, as Spark has it."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _matching(place: Place) -> list[Any]:
    """Return what a pattern names, level by level: a folder is listed only where the path so far matches."""
    first, *rest = _parts(place.path)
    reached = [first]
    for number, part in enumerate(rest, 1):
        if _WILD.search(part) is None:
            reached = [f"{path}/{part}" for path in reached]
            continue
        expression = _expression(part)
        inner = number < len(rest)
        reached = [
            info.path
            for path in reached
            for info in place.store.get_file_info(fs.FileSelector(path or "/", allow_not_found=True))
            if expression.fullmatch(info.base_name)
            and not is_hidden(info.base_name)
            and (not inner or info.type == fs.FileType.Directory)
        ]
    infos = place.store.get_file_info(reached) if reached else []
    return [info for info in infos if info.type != fs.FileType.NotFound]


def _parts(path: str) -> list[str]:
    """Divide a path at its slashes, but not within braces."""
    return re.findall(r"(?:[^/{]|\{[^}]*\}?)+|^(?=/)", path) or [""]


def _expression(part: str) -> re.Pattern[str]:
    r"""Return a part of a pattern as a regular expression.

    >>> _expression("day=[0-2]*.{csv,jsonl}").pattern
    'day=[0-2][^/]*\\.(?:csv|jsonl)'
    """
    text, depth = "", 0
    pieces = re.findall(r"\[[^\]]*\]|.", part, re.DOTALL)
    for piece in pieces:
        if piece == "{":
            text, depth = text + "(?:", depth + 1
        elif piece == "}" and depth:
            text, depth = text + ")", depth - 1
        elif piece == "," and depth:
            text += "|"
        elif piece == "*":
            text += "[^/]*"
        elif piece == "?":
            text += "[^/]"
        elif len(piece) > 1:
            text += _one_of(piece, part)
        else:
            text += re.escape(piece)
    return re.compile(text + ")" * depth)


def _one_of(brackets: str, part: str) -> str:
    """Return characters in brackets as a regular expression has them; raises :class:`MessagesError` where there are none."""
    inside = re.sub(r"[\\\[&~|]", r"\\\g<0>", brackets[1:-1])
    text = f"[{re.sub('^!', '^', inside)}]"
    try:
        re.compile(text)
    except re.error as error:
        raise MessagesError(
            f"{part!r} is no pattern of names, and nothing local is called so: {brackets} names no character; between brackets "
            "stand characters, or ranges such as a-z"
        ) from error
    return text
