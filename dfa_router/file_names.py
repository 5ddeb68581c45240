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

    Raises :class:`InputError` for an empty one, which Python would take for the working folder, and for what no file can be called.

    >>> local_name("file:///logs/day 1"), local_name("s3://bucket/log"), local_name("logs")
    ('/logs/day 1', 's3://bucket/log', 'logs')
    """
    _check_name(path)
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
        _check_name(text)
        return text
    remedy = "decode bytes with os.fsdecode" if isinstance(text, bytes) else "give the name of a file"
    raise PathTypeError(f"the path is {_shown(path)}: expected text or a pathlib.Path; {remedy}")


def _check_name(text: str) -> None:
    if not text:
        raise InputError(_EMPTY)
    if "\0" in text:
        raise InputError(f"the path is {_shown(text)}: no name of a file has a zero; leave it out")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise InputError(
            f"the path is {_shown(text)}: no name of a file has its character {error.start}, {text[error.start]!r}; leave it out"
        ) from None


def _shown(path: object) -> str:
    shown = repr(path)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def standard_input() -> bytes:
    """Return all that comes by standard input; raises :class:`OSError` where it is closed, which Python has as None."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdin.buffer.read()
