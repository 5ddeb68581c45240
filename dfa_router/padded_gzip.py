"""Files of gzip with zeros behind their end, as tapes, archives and copies by blocks leave them, and as gzip itself takes them.

Arrow takes the zeros for the beginning of another member, and refuses the file at its end. So a file that ends with a zero goes
through Python's decoder. It may have none behind its end: the last member says there how long it is, and that is a zero, too, of one
of less than 16 MiB. Such a file is read as well; the decoder takes 1.1 times as long, of which a large file has nothing.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any

__all__ = ["opened_padded"]

_READ_BYTES = 1 << 20
"""Bytes that are asked of the file at a time: the decoder asks for 8 KiB, each of which is a request to a store that is far away."""


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
    >>> opened_padded(pa.BufferReader(gzip.compress(bytes(1 << 24)))) is None
    True
    """
    file.seek(max(0, file.size() - 1))
    padded = file.read(1) == b"\0"
    file.seek(0)
    return _Members(fileobj=io.BufferedReader(file, _READ_BYTES), mode="rb") if padded else None
