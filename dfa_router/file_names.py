"""Names of files, which may be given as addresses, too, or as ``-`` for standard input."""

from __future__ import annotations

import errno
import os
import sys

from dfa_router.errors import InputError

__all__ = ["PathTypeError", "given_path", "local_name", "standard_input"]


_EMPTY = "the path is empty, as a variable that is not set leaves it: give the name of a file or folder"


class PathTypeError(InputError, TypeError):
    """What was given as a path is none."""


def local_name(path: str) -> str:
    """Return the local path that a URI ``file:///...`` names, in which nothing is encoded, as Spark has it; another path as it is.

    Raises :class:`InputError` for an empty one, which Python would take for the working folder.

    >>> local_name("file:///logs/day 1"), local_name("s3://bucket/log"), local_name("logs")
    ('/logs/day 1', 's3://bucket/log', 'logs')
    """
    if not path:
        raise InputError(_EMPTY)
    return path.removeprefix("file://") if path.startswith("file:///") else path


def given_path(path: object) -> str:
    """Return the text of a path that a caller has given; raises :class:`PathTypeError` for what is none, or :class:`InputError`.

    >>> from pathlib import PurePosixPath
    >>> given_path(PurePosixPath("logs/day"))
    'logs/day'
    """
    try:
        text = os.fspath(path)  # type: ignore[call-overload]  # that is asked here
    except TypeError:
        text = None
    if isinstance(text, str):
        if not text:
            raise InputError(_EMPTY)
        return text
    remedy = "decode bytes with os.fsdecode" if isinstance(text, bytes) else "give the name of a file"
    shown = repr(path)
    raise PathTypeError(
        f"the path is {shown if len(shown) <= 80 else shown[:77] + '...'}: expected text or a pathlib.Path; {remedy}"
    )


def standard_input() -> bytes:
    """Return all that comes by standard input; raises :class:`OSError` where it is closed, which Python has as None."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdin.buffer.read()
