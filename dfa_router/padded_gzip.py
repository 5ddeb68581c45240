"""Files of gzip with zeros behind their end, as tapes, archives and copies by blocks leave them, and as gzip itself takes them.

Arrow takes the zeros for the beginning of another member, and refuses the file at its end. So a file that ends with four zeros goes
through Python's decoder. These are the bytes in which the last member says how long it is: without zeros behind them they belong to
one of no bytes, or of a multiple of 4 GiB, which that decoder reads as well. What this leaves out: fewer zeros than four.
"""

from __future__ import annotations

import gzip
import zlib
from typing import Any

__all__ = ["opened_padded"]

_LENGTH = 4


class _Members(gzip.GzipFile):
    """Says of each damage that it is an ``OSError``, as readers of files expect."""

    def read(self, size: int | None = -1) -> bytes:
        try:
            return super().read(size)
        except (EOFError, zlib.error) as error:
            raise OSError(str(error)) from error


def opened_padded(file: Any) -> gzip.GzipFile | None:
    r"""Return a file of gzip decoded if zeros may stand behind its end, or else None; ``file`` is one of Arrow's, at its beginning.

    >>> import pyarrow as pa
    >>> opened_padded(pa.BufferReader(gzip.compress(b"a.b") + bytes(512))).read()
    b'a.b'
    >>> opened_padded(pa.BufferReader(gzip.compress(b"a.b"))) is None
    True
    """
    file.seek(max(0, file.size() - _LENGTH))
    padded = file.read(_LENGTH) == bytes(_LENGTH)
    file.seek(0)
    return _Members(fileobj=file, mode="rb") if padded else None
