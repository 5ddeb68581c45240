"""The files of a log, and what is read of each of them before the log can be planned, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa

from dfa_router.errors import MessagesError
from dfa_router.logs.partitions import OtherWayError, UnreadableError
from dfa_router.logs.stores import STORE_ERRORS, Found, Place, found

__all__ = ["files_of", "of_each"]

T = TypeVar("T")

READERS = 16
"""Files that are read at a time."""


def files_of(place: Place, *, pattern: bool) -> list[Found]:
    """List the data files of a log; raises :class:`UnreadableError` where there are none, or the store does not answer."""
    try:
        files = list(found(place, pattern=pattern))
    except STORE_ERRORS as error:
        raise UnreadableError(str(error)) from error
    if not files:
        raise UnreadableError("there are no files")
    return files


def of_each(files: Sequence[Found], read: Callable[[Found], T]) -> list[T]:
    """Return what ``read`` says of each file, in their order.

    After an error or an interrupt, nobody waits for the files that were not begun. What the store raises becomes
    :class:`UnreadableError`, with the file's path, or :class:`OtherWayError` for what Arrow alone does not know; a
    :class:`MessagesError` says which file it is itself.
    """

    def told(file: Found) -> T:
        try:
            return read(file)
        except MessagesError:
            raise
        except (OSError, pa.ArrowInvalid) as error:
            raise UnreadableError(f"{file.path}: {error}") from error
        except (*STORE_ERRORS, ValueError) as error:
            raise OtherWayError(f"{file.path}: {error}") from error

    readers = ThreadPoolExecutor(max(1, min(READERS, len(files))))
    try:
        return list(readers.map(told, files))
    finally:
        readers.shutdown(cancel_futures=True)
