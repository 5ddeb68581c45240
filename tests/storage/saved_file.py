"""Saved routers taken apart: what a test changes in one place of a file, before it is put together with all sums right."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["File", "set_about", "set_attribute", "set_header", "set_item", "set_section", "text"]


class File:
    """A file's content, taken apart to be damaged in one place and put together with all sums right."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        count = struct.unpack_from("=I", data, 20)[0]
        entries = [struct.unpack_from("=24s8sQQ", data, 32 + 48 * i) for i in range(count)]
        self.header = [data[:8], 0, *struct.unpack_from("=II", data, 12)]
        self.sections = {
            name.rstrip(b"\0").decode(): np.frombuffer(data, kind.rstrip(b"\0").decode(), items, offset).copy()
            for name, kind, offset, items in entries
        }
        self.size = 0
        self.table: Callable[[bytes], bytes] = lambda table: table
        self.fingerprint = True

    def write(self, path: Path) -> None:
        if self.fingerprint and "codes" in self.sections:
            digest = hashlib.blake2b(digest_size=16)
            for name in ("about", "codes", "name_offsets", "name_data"):
                digest.update(len(self.sections[name]).to_bytes(8, "little") + self.sections[name].tobytes())
            self.sections["fingerprint"] = np.frombuffer(digest.digest(), np.uint8)
        table, body = b"", b""
        start = 32 + 48 * len(self.sections)
        for name, array in self.sections.items():
            body += bytes(-(start + len(body)) % 64)
            offset = start + len(body)
            table += struct.pack("=24s8sQQ", name.encode(), array.dtype.str[1:].encode(), offset, len(array))
            body += array.tobytes()
        size = start + len(body) + self.size
        rest = struct.pack("=IIIQ", *self.header[2:4], len(self.sections), size) + self.table(table) + body
        label, checksum = self.header[0], self.header[1] or zlib.crc32(rest)
        path.write_bytes(bytes(label) + struct.pack("=I", checksum) + rest)


def set_item(name: str, index: int, value: int) -> Callable[[File], None]:
    def change(file: File) -> None:
        file.sections[name][index] = value

    return change


def set_section(name: str, array: Any) -> Callable[[File], None]:
    def change(file: File) -> None:
        file.sections[name] = array

    return change


def set_about(**changes: Any) -> Callable[[File], None]:
    def change(file: File) -> None:
        about = json.loads(file.sections["about"].tobytes())
        for record in ("dialect", "options"):
            about[record] |= changes.pop(record, {})
        file.sections["about"] = np.frombuffer(json.dumps(about | changes).encode(), np.uint8)

    return change


def set_attribute(name: str, value: Any) -> Callable[[File], None]:
    return lambda file: setattr(file, name, value)


def set_header(index: int, value: Any) -> Callable[[File], None]:
    return lambda file: file.header.__setitem__(index, value)


def text(content: bytes) -> Any:
    return np.frombuffer(content, np.uint8)
