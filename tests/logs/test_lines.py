"""Lines of text files: each is read once, wherever a file is divided and whatever its ends of lines and its codec are."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise
from pathlib import Path

import pytest
from pyarrow import fs

from dfa_router.logs import lines
from dfa_router.logs.parts import TextPiece

STORE = fs.LocalFileSystem()


def read(path: Path, start: int = 0, end: int | None = None) -> list[bytes]:
    return list(lines.blocks(STORE, TextPiece(str(path), start, end, 0, 0)))


@pytest.mark.parametrize("block", [1, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_every_line_is_in_one_range_wherever_a_file_is_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: bytes
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", block)
    chance = random.Random(block)
    for last in (b"", end):
        text = end.join(b"%d" % 10 ** chance.randrange(12) * chance.randrange(2) for _ in range(15)) + last
        log = tmp_path / "log"
        log.write_bytes(text)
        for _ in range(30):
            cuts = sorted({0, len(text), *(chance.randrange(len(text)) for _ in range(3))})
            found = [b"".join(read(log, start, stop)) for start, stop in pairwise(cuts)]
            assert b"".join(found) == text
            assert all(not one or one.endswith(b"\n") for one in found[:-1] if b"".join(found[found.index(one) + 1 :]))


def test_blocks_end_where_lines_end_and_a_long_line_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 8)
    log = tmp_path / "log"
    log.write_bytes(b"\xef\xbb\xbfab\ncd\n" + b"x" * 30 + b"\nlast")
    assert read(log) == [b"ab\n", b"cd\n", b"x" * 30 + b"\n", b"last"]
    assert b"".join(read(log, 0, 2)) == b"ab\n", "a mark of the order of bytes is no part of a line"


def test_compressed_files_of_several_members_are_read_to_their_end(tmp_path: Path) -> None:
    log = tmp_path / "log.gz"
    log.write_bytes(gzip.compress(b"a\nb") + gzip.compress(b"c\nd\n"))
    assert b"".join(read(log)) == b"a\nbc\nd\n"
    log.write_bytes(gzip.compress(bytes(random.Random(1).randbytes(50_000)))[:-100])
    with pytest.raises(OSError, match=r"(?i)truncated|invalid|zlib|compressed"):
        read(log)
