"""Names of files, which may be given as addresses, too, or as ``-`` for standard input."""

from __future__ import annotations

import errno
import os
import sys

__all__ = ["local_name", "standard_input"]


def local_name(path: str) -> str:
    """Return the local path that a URI ``file:///...`` names, in which nothing is encoded, as Spark has it; another path as it is.

    >>> local_name("file:///logs/day 1"), local_name("s3://bucket/log"), local_name("logs")
    ('/logs/day 1', 's3://bucket/log', 'logs')
    """
    return path.removeprefix("file://") if path.startswith("file:///") else path


def standard_input() -> bytes:
    """Return all that comes by standard input; raises :class:`OSError` where it is closed, which Python has as None."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdin.buffer.read()
