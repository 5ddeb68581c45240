"""Names of files, which may be given as addresses, too."""

from __future__ import annotations

__all__ = ["local_name"]


def local_name(path: str) -> str:
    """Return the local path that a URI ``file:///...`` names, in which nothing is encoded, as Spark has it; another path as it is.

    >>> local_name("file:///logs/day 1"), local_name("s3://bucket/log"), local_name("logs")
    ('/logs/day 1', 's3://bucket/log', 'logs')
    """
    return path.removeprefix("file://") if path.startswith("file:///") else path
