"""Whether there is a table at a path: by the names in its folders, without any library.

Names are looked up by a function that is handed in, so that a table may lie wherever somebody can do that; it is asked for
as few of them as tell, as the folder itself may have a hundred thousand.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dfa_router.errors import MessagesError

__all__ = ["Found", "Names", "local_names", "table_at"]

Names = Callable[[str, str], Sequence[str]]
"""Returns the names in a folder that a pattern such as ``*.json`` matches; none where there is no such folder."""

_VERSION = re.compile(r"(?P<root>.+)@v(?P<version>[0-9]+)")
_METADATA = re.compile(r"v?(?P<number>[0-9]+)(-.*)?(\.gz)?\.metadata\.json")
_WILDCARD = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A table that lies at a path."""

    format: str
    """``"delta"`` or ``"iceberg"``."""
    root: str
    """The folder of the table, or its URI."""
    version: int | None = None
    """The version or snapshot that was asked for, or None for the present one."""
    metadata: str | None = None
    """Of an Iceberg table, the file that describes it."""


def local_names(folder: str, pattern: str) -> Sequence[str]:
    """Return the names in a folder of this machine that a pattern matches; none where the folder may not be looked at."""
    if "*" not in pattern:
        return [pattern] if os.path.lexists(f"{folder}/{pattern}") else ()
    if not os.path.isdir(folder):  # noqa: PTH112 - also where no folder can be called so, which Path raises for
        return ()
    try:
        return fnmatch.filter(os.listdir(folder), pattern)  # noqa: PTH208 - only names are asked for
    except (
        FileNotFoundError,
        NotADirectoryError,
        PermissionError,
    ):  # a folder above a log may be closed to its readers
        return ()


def table_at(path: str, names: Names = local_names) -> Found | None:
    """Return the table at a path, or None for a path where there is none.

    ``path`` is the folder of a table, which ``@v3`` may follow for version 3 of a Delta table or snapshot 3 of an Iceberg
    table; or the file ``metadata/....metadata.json`` of an Iceberg table. Raises :class:`MessagesError` for a folder or a
    pattern inside of a table, for a Hudi table, and where it is not certain which version is the present one.

    >>> def names(folder, pattern):
    ...     return ["_delta_log"] if (folder, pattern) == ("logs", "_delta_log") else []
    >>> table_at("logs@v3", names)
    Found(format='delta', root='logs', version=3, metadata=None)
    """
    found = _table(path, None, names)
    if found is not None:
        return found
    named = _VERSION.fullmatch(path)
    if named is not None:
        found = _table(named["root"], int(named["version"]), names)
    if found is None:
        _check_around(path, names)
    return found


def _table(path: str, version: int | None, names: Names) -> Found | None:
    root = path.rstrip("/") or path
    if path.endswith(".metadata.json"):
        return Found(format="iceberg", root=_parent(_parent(root)), version=version, metadata=path)
    kind = _format(root, names)
    if kind == "hudi":
        raise MessagesError(
            f"{path}: is a Hudi table, which is not read: read it in Spark and hand the DataFrame to "
            "dfa_router.spark.route, or write it as Parquet first"
        )
    if kind is None:
        return None
    return Found(
        format=kind, root=root, version=version, metadata=_metadata(root, names) if kind == "iceberg" else None
    )


def _format(root: str, names: Names) -> str | None:
    if names(root, "_delta_log"):
        return "delta"
    if names(root, ".hoodie"):
        return "hudi"
    return "iceberg" if _numbered(root, names) else None


def _numbered(root: str, names: Names) -> dict[str, int]:
    """Return the metadata files of an Iceberg table, and their numbers."""
    found = map(_METADATA.fullmatch, names(f"{root}/metadata", "*.metadata.json"))
    return {match[0]: int(match["number"]) for match in found if match}


def _metadata(root: str, names: Names) -> str:
    """Return the newest metadata file. Whoever loses a race for a version leaves a file, too; a catalog would tell."""
    numbers = _numbered(root, names)
    newest = sorted(name for name, number in numbers.items() if number == max(numbers.values()))
    if len(newest) > 1:
        raise MessagesError(
            f"{root}: has several newest versions ({', '.join(newest)}), and only its catalog knows which one counts: give "
            f"that file, {root}/metadata/..., in place of the folder"
        )
    return f"{root}/metadata/{newest[0]}"


def _check_around(path: str, names: Names) -> None:
    """Refuse a folder or a pattern inside of a table. A single file is taken: whoever names one means it."""
    wildcard = _WILDCARD.search(path)
    start = path[: wildcard.start()] + "*" if wildcard else path.rstrip("/")
    folder = start if "://" in start else str(Path(start).absolute())
    while (parent := _parent(folder)) not in {folder, ""} and not parent.endswith(":/"):
        folder = parent
        kind = _format(folder, names)
        if kind is not None and (wildcard is not None or names(start, "*")):
            raise MessagesError(
                f"{path}: lies in the {kind.capitalize()} table {folder}, and files there may have been replaced: "
                "give the folder of the table"
            )


def _parent(path: str) -> str:
    head, slash, _ = path.rpartition("/")
    return head or slash
