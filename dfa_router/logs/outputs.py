"""Where a result and its counts may be written: never over the messages, nor over what is no earlier one.

Paths are compared by their true names, as a folder has as many names as there are links to it. In a store only names are
looked at, without asking it: keys of objects are no links.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from dfa_router.errors import MessagesError
from dfa_router.logs.counts_file import is_replaceable
from dfa_router.logs.drafts import drafted
from dfa_router.logs.stores import STORE_ERRORS, Place, found, is_pattern, is_remote, place_of, roots, touches
from dfa_router.tables import table_at

__all__ = ["check_output"]

_ALIKE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb"}
"""Schemes that are other names for the same store."""


def check_output(messages: str, out: str, *, overwrite: bool, counts: str | None = None) -> None:
    """Raise :class:`MessagesError` where the result, or a file of counts, must not or cannot be written; looks at local files only.

    Whether a draft can be made there is tried, as permissions do not tell of disks that nobody may write to, or names that are too long.

    What :func:`~dfa_router.tables.table_at` refuses of ``messages`` is refused as well.
    """
    try:
        if counts is not None:
            _check_counts(messages, counts, out)
        _check_result(messages, out, overwrite=overwrite)
        for path in (out, counts):
            if path is not None and not is_remote(path):
                with drafted(path):
                    pass
    except OSError as error:  # such as for a name that is too long
        raise MessagesError(f"{error.filename}: {error.strerror}; choose another name") from error


def _check_result(messages: str, out: str, *, overwrite: bool) -> None:
    target = _local(out)
    if target is None:
        if not _local(messages) and _is_among_remote(out, messages):
            raise _among(out, messages, "folder with --out")
        return
    if _is_among(target, messages, overwrite=overwrite):
        raise _among(out, messages, "folder with --out")
    if target.exists() and not overwrite:
        raise MessagesError(
            f"{out}: exists already; choose another folder with --out, or pass --overwrite to replace it"
        )
    if target.exists() and not target.is_dir():
        raise MessagesError(f"{out}: is a file, and the result is a folder; choose another name with --out")
    if target.exists() and Path.cwd().resolve().is_relative_to(target):
        raise MessagesError(
            f"{out}: is the working folder, or holds it, and would be replaced with all that is in it; choose another folder "
            "with --out"
        )


def _check_counts(messages: str, counts: str, out: str) -> None:
    if is_remote(counts):
        raise MessagesError(f"{counts}: counts are written to a local file only; give a path with --counts")
    path, result = Path(counts).resolve(), _local(out)
    if not path.parent.is_dir():
        raise MessagesError(f"{counts}: there is no folder {path.parent}; make it, or choose another with --counts")
    if path.is_dir():
        raise MessagesError(f"{counts}: is a folder, and the counts are a file; choose another name with --counts")
    if result is not None and result in (path, *path.parents):
        raise MessagesError(f"{counts}: lies in the result, which appears as a whole; choose another with --counts")
    if _is_among(path, messages, overwrite=True):
        raise _among(counts, messages, "file with --counts")
    if not is_replaceable(path):
        raise MessagesError(f"{counts}: is there, and is no file of counts; choose another name with --counts")


def _among(path: str, messages: str, what: str) -> MessagesError:
    return MessagesError(f"{path}: lies in, or holds, the messages in {messages}; choose another {what}")


def _local(path: str) -> Path | None:
    """Return the true name of a local path, or None for one in a store."""
    if not is_remote(path):
        return Path(path).resolve()
    scheme, _, rest = path.partition("://")
    return Path(unquote(rest)).resolve() if scheme == "file" and rest.startswith("/") else None


def _is_among(target: Path, messages: str, *, overwrite: bool) -> bool:
    """Tell whether a local path is, holds or lies in messages; what links in their folders lead to is one of them."""
    source = _local(messages)
    if source is None:
        return False
    table = table_at(messages)  # "table@v3" is no path, and a table's metadata are only a part of it
    path = str(source) if is_remote(messages) else messages if table is None else table.root
    pattern, place = is_pattern(path), place_of(path)
    assert place is not None, "a path without a scheme is a local one"
    if pattern and _could_be_named(place, target):
        return True
    with suppress(*STORE_ERRORS):  # what cannot be listed is told by whoever reads it
        for root in [Path(info.path).resolve() for info in roots(place, pattern=pattern)]:
            if target == root or target in root.parents or root in target.parents:
                return True
        return (
            overwrite
            and target.exists()
            and any(target in (held, *held.parents) for held in _linked(place, pattern=pattern))
        )
    return False


def _could_be_named(place: Place, target: Path) -> bool:
    """Tell whether a pattern would name a local path, or a folder above it, once it is there."""
    fixed = Path(place.path)
    while is_pattern(str(fixed)):
        fixed = fixed.parent
    pattern = str(fixed.resolve() / Path(place.path).relative_to(fixed))
    return len(target.parts) >= pattern.count("/") + 1 and touches(pattern, str(target))


def _linked(place: Place, *, pattern: bool) -> Iterator[Path]:
    """Yield the true names of the messages' files that are links, and of the folders that hold the others."""
    folders = set()
    for file in found(place, pattern=pattern):
        path = Path(file.path)
        folders.add(path.parent)
        if path.is_symlink():
            yield path.resolve()
    for folder in folders:
        yield folder.resolve()


def _is_among_remote(out: str, messages: str) -> bool:
    (store, target), (other, source) = _address(out), _address(messages)
    if store != other:
        return False
    if is_pattern(messages):
        return touches(source, target)
    return f"{source}/".startswith(f"{target}/") or f"{target}/".startswith(f"{source}/")


def _address(uri: str) -> tuple[str, str]:
    """Return the store of a URI, and the path in it; who asks for it, and how, is no part of either."""
    scheme, _, rest = uri.partition("?")[0].partition("://")
    authority, _, path = rest.partition("/")
    store = _ALIKE.get(scheme.lower(), scheme.lower())
    return f"{store}://{authority.rpartition('@')[2] if store == 's3' else authority}", f"/{path.strip('/')}"
