"""Arrays in a file: a label, a checksum, a table of named sections, and the sections as they are in memory.

A file is read into memory of the process, and an array is a read-only view of that memory: nothing is converted. Therefore
numbers have the byte order of the machine that wrote them, and a machine of the other byte order refuses the file.

::

    offset 0    label (8 bytes), CRC-32 of all that follows (4), byte-order mark (4),
                format version (4), number of sections (4), size of the file (8)
           32   the table: for each section its name (24), type (8), offset (8) and number of items (8)
           ...  the sections in the table's order, each at the next multiple of 64, with zeros between them

Writing is atomic (:mod:`compiler.storage.replacing`): a reader sees the old file or the new one.

What is checked must be what is used, and a file can change after it was checked. So the memory is private by default: the
file is copied once, the copy is checked, and whatever happens to the file does not matter any more. On request a file is
mapped instead: all processes that map it share its pages, and a page that nobody asks for is not even read. Then the file
itself is what kernels read, without another check. One that is overwritten in place changes under them, and one that is
truncated ends the process with SIGBUS. Whoever maps a file promises that nobody does that; replacing it by :func:`write_file`
is harmless, since a process that has the old file mapped keeps it.

This module checks that the table is the one that the reader expects and that the sections fit it;
:mod:`compiler.storage.verify` checks their content. A size that the file states is compared with the file's real size
before anything is allocated by it.

Rejected: pickle (loading runs code), NumPy's ``.npz`` (not mapped, no checksum of the whole), Arrow IPC (mapped, but
without a checksum, and its reader's validation is not meant for hostile input), and a cryptographic digest instead of the
CRC (four times the time, and whoever forges a file can recompute that as well: see :mod:`compiler.storage.verify`).
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import struct
import sys
import zlib
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.errors import Defect, FileFormatError
from compiler.storage.replacing import replacing

__all__ = ["VERSION", "Sections", "read_file", "refusal", "unpack", "write_file"]

LABEL = b"\x89DFAR\r\n\x1a"
"""Has a byte that is not ASCII, and both kinds of line end, so that every transfer as text damages it (as PNG's does)."""
VERSION = 1
"""The version of the layout above; what the sections of a file mean is their schema's matter."""
BYTE_ORDER = 0x01020304
"""A number that reads differently in the other byte order."""

_HEADER = struct.Struct("=8sIIIIQ")
_ENTRY = struct.Struct("=24s8sQQ")
_CHECKED_FROM = 12
"""The offset from which on the checksum covers the file: all that follows the checksum itself."""
_ALIGN = 64
_CHUNK = 1 << 20

Array = npt.NDArray[Any]
Sections = Mapping[str, Array]

NOTHING: Mapping[str, str] = {}
"""No sections."""


class _Entry(NamedTuple):
    name: str
    dtype: str
    offset: int
    items: int


def write_file(path: str | os.PathLike[str], sections: Sections) -> None:
    """Write one-dimensional arrays to a file, as :func:`compiler.storage.replacing.replacing` does, and with its errors.

    Names of sections are ASCII of up to 24 characters.
    """
    arrays = [np.ascontiguousarray(array) for array in sections.values()]
    offset = _HEADER.size + _ENTRY.size * len(arrays)
    table = b""
    places = []
    for name, array in zip(sections, arrays, strict=True):
        offset = _aligned(offset)
        places.append(offset)
        table += _ENTRY.pack(name.encode("ascii"), array.dtype.str[1:].encode(), offset, len(array))
        offset += array.nbytes
    with replacing(path) as file:
        file.write(_HEADER.pack(LABEL, 0, BYTE_ORDER, VERSION, len(arrays), offset))
        file.write(table)
        for place, array in zip(places, arrays, strict=True):
            file.write(bytes(place - file.tell()))
            file.write(array.data)
        file.seek(_CHECKED_FROM)
        checksum = 0
        while chunk := file.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
        file.seek(_CHECKED_FROM - 4)
        file.write(struct.pack("=I", checksum))


def read_file(
    path: str | os.PathLike[str],
    schema: Mapping[str, str],
    *,
    further: Mapping[str, str] = NOTHING,
    mapped: bool = False,
) -> dict[str, Array]:
    """Read a file and return its sections, as :func:`unpack` does.

    They are views of a copy in the memory of this process, or with ``mapped`` of the file's own pages; either stays as long
    as one of the arrays exists. A mapped file must not be changed while it is in use.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise OSError("not a regular file")
        with Path(path).open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            _check_head(file.read(_HEADER.size), size, path)  # before memory is taken for something else's gigabytes
            pages = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) if mapped else _copy(file, size)
    except FileFormatError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        remedy = _REMEDIES.get(error.errno, _LACKING) if isinstance(error, OSError) and error.errno else _NOT_OURS
        raise refusal(path, Defect.UNREADABLE, f"cannot be read ({reason})", remedy=remedy) from None
    return unpack(pages, schema, path, further=further)


def _copy(file: FileIO, size: int) -> memoryview:
    """Return the content of a file, up to a size, in memory of its own: fewer bytes where it ends before."""
    room = np.empty(size + _ALIGN, np.uint8)
    start = -room.ctypes.data % _ALIGN
    view = memoryview(room)[start : start + size]  # type: ignore[arg-type]  # NumPy's arrays are buffers
    file.seek(0)
    filled = 0
    while count := file.readinto(view[filled:]):  # the system hands over 2 GB at a time
        filled += count
    room.flags.writeable = False  # so no view of it can be made writable
    return view[:filled]


def unpack(
    data: bytes | memoryview,
    schema: Mapping[str, str],
    path: str | os.PathLike[str],
    *,
    further: Mapping[str, str] = NOTHING,
) -> dict[str, Array]:
    """Return the sections of a file's content, as read-only views of it, in the order of the schema.

    ``schema`` maps each section's name to its type in NumPy's notation without byte order (``"i4"``); those of ``further`` may
    follow, all or none. Raises
    :class:`FileFormatError`, with ``path`` in its text, if the content is not a file with just these sections.
    """
    checksum, count, size = _check_head(bytes(data[: _HEADER.size]), len(data), path)
    view = memoryview(data)
    found = zlib.crc32(view[_CHECKED_FROM:])
    if found != checksum:
        problem = f"its checksum is {found:#010x}, and says {checksum:#010x}"
        raise refusal(path, Defect.CHECKSUM, problem, remedy=_DAMAGED)
    if count == len(schema) + len(further):
        schema = {**schema, **further}
    elif count != len(schema):
        raise refusal(path, Defect.TABLE, f"it has {count:,} sections, expected {len(schema):,}")
    if _HEADER.size + count * _ENTRY.size > size:
        raise refusal(path, Defect.TABLE, "its table of sections goes beyond its end")
    entries = _entries(view[_HEADER.size : _HEADER.size + count * _ENTRY.size])
    _check_table(entries, schema, size, path)
    arrays = {entry.name: np.ndarray((entry.items,), entry.dtype, view, entry.offset) for entry in entries}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def _check_head(head: bytes, length: int, path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Check the header of a file of so many bytes; return its checksum, the number of its sections, and its size."""
    if len(head) < len(LABEL) or head[: len(LABEL)] != LABEL:
        raise refusal(path, Defect.LABEL, "it does not begin with the label of a compiled router", remedy=_NOT_OURS)
    if len(head) < _HEADER.size:
        raise refusal(path, Defect.SIZE, f"it ends after {len(head)} bytes, within its header", remedy=_DAMAGED)
    _, checksum, order, version, count, size = _HEADER.unpack(head)
    if order == int.from_bytes(BYTE_ORDER.to_bytes(4, "little"), "big"):
        other = "big" if sys.byteorder == "little" else "little"
        raise refusal(path, Defect.BYTE_ORDER, f"its numbers are {other}-endian, this machine's are not")
    if order != BYTE_ORDER:
        raise refusal(path, Defect.BYTE_ORDER, f"its byte-order mark is {order:#010x}, not {BYTE_ORDER:#010x}")
    if version != VERSION:
        raise refusal(path, Defect.VERSION, f"its format version is {version}, this release reads version {VERSION}")
    if size != length:
        raise refusal(path, Defect.SIZE, f"it has {length:,} bytes, and says {size:,}", remedy=_DAMAGED)
    return checksum, count, size


_AGAIN = "compile the bindings again with this release, and save them"
_DAMAGED = "copy it again from where it was written, or compile the bindings again and save them"
_NOT_OURS = "give the path of a file that Router.save has written"
_FORBIDDEN = "give the user of this process the right to read it, and to enter the folders above it"
_LACKING = "the file may be whole; load it again when the system can read it"  # descriptors, memory, a disk
_REMEDIES = {
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG), _NOT_OURS),
    **dict.fromkeys((errno.EACCES, errno.EPERM), _FORBIDDEN),
}
"""What to do about the system's reasons not to read a file; :data:`_LACKING` for others."""


def refusal(
    path: str | os.PathLike[str], kind: Defect, problem: str, *, section: str = "", remedy: str = _AGAIN
) -> FileFormatError:
    """Return the error for a file; its text has the path, the section, the problem and the remedy."""
    place = f"{os.fspath(path)}, section {section!r}" if section else os.fspath(path)
    return FileFormatError(f"{place}: {problem}: {remedy}", kind=kind, section=section)


def _entries(table: memoryview) -> list[_Entry]:
    """Read the table; a name that is not ASCII becomes escapes, which equal no expected name."""
    return [
        _Entry(
            name.rstrip(b"\0").decode("ascii", "backslashreplace"),
            dtype.rstrip(b"\0").decode("ascii", "backslashreplace"),
            offset,
            count,
        )
        for name, dtype, offset, count in _ENTRY.iter_unpack(table)
    ]


def _check_table(entries: list[_Entry], schema: Mapping[str, str], size: int, path: str | os.PathLike[str]) -> None:
    """Compare the table with the schema, and its offsets with the only layout that :func:`write_file` makes."""
    end = _HEADER.size + len(entries) * _ENTRY.size
    for entry, (name, dtype) in zip(entries, schema.items(), strict=True):
        if entry.name != name:
            raise refusal(path, Defect.SECTION, f"expected section {name!r} in this place", section=entry.name)
        if entry.dtype != dtype:
            raise refusal(path, Defect.SECTION, f"its type is {entry.dtype!r}, expected {dtype!r}", section=name)
        if entry.offset != _aligned(end):
            problem = f"it begins at {entry.offset:,}, expected {_aligned(end):,}"
            raise refusal(path, Defect.TABLE, problem, section=name)
        end = entry.offset + entry.items * np.dtype(dtype).itemsize
        if end > size:
            problem = f"its {entry.items:,} items end at {end:,}, but the file has {size:,} bytes"
            raise refusal(path, Defect.TABLE, problem, section=name)
    if end != size:
        raise refusal(path, Defect.TABLE, f"its sections end at {end:,}, but it has {size:,} bytes")


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN
