"""Arrays in a file: what is written is what is read, and a file is whole or not there."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.automata.nfa import Symbols
from compiler.errors import Defect, FileFormatError
from compiler.storage.sections import read_file, unpack, write_file
from compiler.storage.verify import flaws, misspelt, repeated
from tests.borders import LENGTHS, between

SCHEMA = {"numbers": "i8", "none": "i4", "bytes": "u1"}
SECTIONS: dict[str, npt.NDArray[Any]] = {
    "numbers": np.arange(1000, dtype=np.int64) - 500,
    "none": np.zeros(0, np.int32),
    "bytes": np.frombuffer(b"some text", np.uint8),
}
ONE, MANY = Wildcard.ONE, Wildcard.MANY


@pytest.mark.parametrize("mapped", [False, True])
def test_what_is_written_is_what_is_read(tmp_path: Path, mapped: bool) -> None:
    write_file(tmp_path / "file", SECTIONS)
    found = read_file(tmp_path / "file", SCHEMA, mapped=mapped)
    assert list(found) == list(SECTIONS)
    for name, array in found.items():
        assert array.dtype == SECTIONS[name].dtype
        assert np.array_equal(array, SECTIONS[name])
        assert not array.flags.writeable
        assert array.flags.aligned
        assert array.ctypes.data % 64 == 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    assert unpack((tmp_path / "file").read_bytes(), SCHEMA, "memory")["numbers"][0] == -500


def test_a_file_is_mapped_only_where_that_is_asked_for(tmp_path: Path) -> None:
    write_file(tmp_path / "file", SECTIONS)
    for mapped in (False, True):
        arrays = read_file(tmp_path / "file", SCHEMA, mapped=mapped)
        assert (str(tmp_path / "file") in Path("/proc/self/maps").read_text()) == mapped
        assert np.array_equal(arrays["numbers"], SECTIONS["numbers"])
        del arrays


def test_the_last_section_may_be_empty(tmp_path: Path) -> None:
    write_file(tmp_path / "file", {"a": SECTIONS["none"]})
    assert len(read_file(tmp_path / "file", {"a": "i4"})["a"]) == 0
    write_file(tmp_path / "file", {})
    assert read_file(tmp_path / "file", {}) == {}


def test_a_file_that_is_mapped_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, {"a": np.zeros(5000, np.int64)})
    before = read_file(path, {"a": "i8"}, mapped=True)["a"]
    write_file(path, {"a": np.ones(10, np.int64)})
    assert before.sum() == 0
    assert read_file(path, {"a": "i8"})["a"].sum() == 10
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    write_file(tmp_path / "file", SECTIONS)
    assert (tmp_path / "file").stat().st_mode == other.stat().st_mode
    (tmp_path / "file").chmod(0o640)
    write_file(tmp_path / "file", SECTIONS)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_link_keeps_pointing_where_it_does(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    write_file(tmp_path / "link", SECTIONS)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").is_file()


def test_a_disk_that_is_full_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_file(tmp_path / "file", SECTIONS)
    program = (
        "import resource, sys, numpy as np; from compiler.storage.sections import write_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "write_file(sys.argv[1], {'a': np.zeros(10_000, np.int64)})"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "file")], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "OSError: [Errno 27] File too large" in ended.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
    assert np.array_equal(read_file(tmp_path / "file", SCHEMA)["numbers"], SECTIONS["numbers"])


def test_a_file_ends_where_its_last_section_does(tmp_path: Path) -> None:
    write_file(tmp_path / "file", SECTIONS)
    whole = (tmp_path / "file").read_bytes()
    for content in (whole + b"more", whole[:-1], whole[:100], whole[:32]):
        rest = content[12:24] + struct.pack("=Q", len(content)) + content[32:]
        with pytest.raises(FileFormatError) as refused:
            unpack(content[:8] + struct.pack("=I", zlib.crc32(rest)) + rest, SCHEMA, "memory")
        assert refused.value.kind is Defect.TABLE


READ = """
import os, resource, sys
from compiler.errors import FileFormatError
from compiler.storage.sections import read_file
folder = os.open(sys.argv[1], os.O_RDONLY)
os.fchdir(folder)
{before}
try:
    read_file("file", {{}})
except FileFormatError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("before", "message"),
    [
        pytest.param(
            "os.setgid(22_222); os.setuid(22_222)",
            "Permission denied): give the user of this process the right to read it",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to become another user"),
        ),
        (
            "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
            "Too many open files): the file may be whole; load it again",
        ),
        ("os.unlink('file')", "No such file or directory): give the path of a file that Router.save has written"),
    ],
    ids=["forbidden", "no descriptor", "missing"],
)
def test_what_keeps_a_file_from_being_read_has_its_own_remedy(tmp_path: Path, before: str, message: str) -> None:
    write_file(tmp_path / "file", SECTIONS)
    (tmp_path / "file").chmod(0o600)
    tmp_path.chmod(0o755)
    command = [sys.executable, "-c", READ.format(before=before), str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.startswith(f"file: cannot be read ({message}")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for a writer
    for path in ("missing", ".", "pipe", "with\0zero"):
        with pytest.raises(FileFormatError, match="cannot be read") as refused:
            read_file(tmp_path / path, SCHEMA)
        assert refused.value.kind is Defect.UNREADABLE


def nfa(
    labels: list[int], children: list[int], tag_offsets: list[int], tags: list[int], words: tuple[bytes, ...] = (b"a",)
) -> Nfa:
    offsets = np.cumsum([0, *(len(word) for word in words)])
    symbols = Symbols(data=np.frombuffer(b"".join(words), np.uint8), offsets=offsets.astype(np.int32))
    arrays = (np.array(array, np.int32) for array in (labels, children, tag_offsets, tags))
    fields: dict[str, Any] = dict(zip(("labels", "children", "tag_offsets", "tags"), arrays, strict=True))
    return Nfa(symbols=symbols, **fields)


@pytest.mark.parametrize(
    ("wrong", "kind", "section"),
    [
        (nfa([], [1], [0], []), Defect.SECTION, "labels"),
        (nfa([0, 1], [1, 2], [0, 0, 1], [0]), Defect.SECTION, "children"),
        (nfa([0, 1], [1, 2, 2], [0, 1], [0]), Defect.SECTION, "tag_offsets"),
        (nfa([0, 1], [1, 2, 2], [0, 2, 1], [0]), Defect.OFFSETS, "tag_offsets"),
        (nfa([0, 1], [1, 2, 2], [0, 0, 2], [0]), Defect.OFFSETS, "tag_offsets"),
        (nfa([0, 1], [1, 3, 2], [0, 0, 1], [0]), Defect.TREE, "children"),
        (nfa([0, 1], [0, 2, 2], [0, 0, 1], [0]), Defect.TREE, "children"),
        (nfa([0, 1], [1, 2, 3], [0, 0, 1], [0]), Defect.TREE, "children"),
        (nfa([0, 1, 1], [1, 1, 3, 3], [0, 0, 0, 1], [0]), Defect.TREE, "children"),
        (nfa([1, 1], [1, 2, 2], [0, 0, 1], [0]), Defect.LABELS, "labels"),
        (nfa([0, 2], [1, 2, 2], [0, 0, 1], [0]), Defect.LABELS, "labels"),
        (nfa([0, 0], [1, 2, 2], [0, 0, 1], [0]), Defect.LABELS, "labels"),
        (nfa([0, -3], [1, 2, 2], [0, 0, 1], [0]), Defect.LABELS, "labels"),
        (nfa([0, 1, 1], [1, 3, 3, 3], [0, 0, 1, 2], [0, 1]), Defect.LABELS, "labels"),
        (nfa([0, 1, -1], [1, 3, 3, 3], [0, 0, 1, 2], [0, 1]), Defect.LABELS, "labels"),
        (nfa([0, -2, -1, 1], [1, 2, 4, 4, 4], [0, 0, 0, 1, 2], [0, 1]), Defect.LABELS, "labels"),
        (nfa([0, -2, -2, 1], [1, 2, 4, 4, 4], [0, 0, 0, 1, 2], [0, 1]), Defect.LABELS, "labels"),
        (nfa([0, 1], [1, 2, 2], [0, 0, 1], [1]), Defect.TAGS, "tags"),
        (nfa([0, 1], [1, 2, 2], [0, 0, 1], [-1]), Defect.TAGS, "tags"),
        (nfa([0, 1], [1, 2, 2], [0, 0, 2], [0, 0]), Defect.TAGS, "tags"),
        (nfa([0, 1], [1, 2, 2], [0, 0, 2], [1, 0]), Defect.TAGS, "tags"),
        (nfa([0, 1], [1, 2, 2], [0, 1, 1], [0]), Defect.TAGS, "tag_offsets"),
        (nfa([0, 1], [1, 2, 2], [0, 0, 1], [0], (b"a", b"b")), Defect.WORDS, "word_offsets"),
        (nfa([0, 1, 2], [1, 3, 3, 3], [0, 0, 1, 2], [0, 1], (b"a", b"a")), Defect.WORDS, "word_data"),
        (nfa([0, 1, 2], [1, 3, 3, 3], [0, 0, 1, 2], [0, 1], (b"", b"")), Defect.WORDS, "word_data"),
    ],
)
def test_each_flaw_is_seen(wrong: Nfa, kind: Defect, section: str) -> None:
    assert next(flaws(wrong))[:2] == (kind, section)


def test_equal_words_are_found_whatever_their_length() -> None:
    def twice(*words: bytes) -> bool:
        return repeated(np.frombuffer(b"".join(words), np.uint8), np.cumsum([0, *map(len, words)]))

    for length in (*range(20), *between(LENGTHS, 20, 4097)):
        word = b"x" * length
        assert twice(b"other", word, b"and", word)
        assert not twice(word, word + b"x", word + b"\0", b"y" + word, b"\0y" + word)
    assert not twice()
    assert not twice(b"")


def spelt(patterns: list[list[Token]], text: list[bytes], one: bytes | None = b"*", many: bytes | None = b"#") -> bool:
    automaton = build_nfa(patterns)
    assert not list(flaws(automaton))
    offsets = np.cumsum([0, *map(len, text)])
    wrong = misspelt(automaton, np.frombuffer(b"".join(text), np.uint8), offsets, separator=b".", one=one, many=many)
    return not wrong


def test_a_pattern_is_what_the_path_to_its_tag_says() -> None:
    assert spelt([[b"a", ONE], [b"a", MANY, b"b"], [], [b"", b""], [b"", b"a"]], [b"a.*", b"a.#.b", b"", b".", b".a"])
    wrong: list[tuple[list[Token], bytes]] = [
        ([b"a"], b"b"),
        ([b"a"], b"aa"),
        ([b"a"], b"a.a"),
        ([b"a", b"a"], b"a"),
        ([b"a", b"a"], b"aaa"),
        ([b"aa"], b"a"),
        ([b"a", b"b"], b"b.a"),
        ([b"a", b"b"], b"ab"),
        ([b"a", b"b"], b".b"),
        ([b"", b"b"], b"b"),
        ([b"b", b""], b"b"),
        ([b""], b""),  # no word is not one that is empty
        ([], b"a"),
        ([b"a"], b""),
        ([b"a.b"], b"a.b"),  # no word holds a separator
        ([b"*"], b"*"),  # a wildcard is no word
        ([ONE], b"#"),
        ([MANY], b"*"),
    ]
    for path, text in wrong:
        assert not spelt([path], [text]), (path, text)
        assert not spelt([[b"x"], path, [b"y", b"z"]], [b"x", text, b"y.z"]), (path, text)
    assert spelt([[b"*"]], [b"*"], one=None)
    assert not spelt([[ONE]], [b"*"], one=None)
    assert spelt([[MANY]], [b"*"], one=b"*", many=b"*")
    assert not spelt([[ONE]], [b"*"], one=b"*", many=b"*")
    assert not spelt([[ONE]], [b"a.b"], one=b"a.b")
