"""A file is replaced as a whole or not at all, and nothing but a file is replaced."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from compiler.storage.replacing import replacing

WRITE = """
import os, signal, sys
from compiler.storage import replacing
{before}
with replacing.replacing(sys.argv[1]) as file:
    file.write(b"of the child")
    {during}
"""


def write(path: Path, data: bytes = b"new") -> None:
    with replacing(path) as file:
        file.write(data)


def child(path: Path, *, before: str = "", during: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITE.format(before=before, during=during), str(path)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "folder"])
def test_what_is_no_regular_file_is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "place"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
    elif kind == "folder":
        path.mkdir()
    else:
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # as /dev/null
        except PermissionError:
            pytest.skip("needs the right to make a device")
    before = path.stat()
    (tmp_path / "link").symlink_to(path)
    for name in (path, tmp_path / "link"):
        with pytest.raises(
            OSError, match=f"it is a {kind}, which a file would replace: save to another path: '{name}'"
        ):
            write(name)
    assert (path.stat().st_mode, path.stat().st_ino) == (before.st_mode, before.st_ino)
    assert {one.name for one in tmp_path.iterdir()} == {"place", "link"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to give files away")
@pytest.mark.parametrize("mode", [0o640, 0o400])
def test_what_root_replaces_still_belongs_to_whose_it_was(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    write(path, b"old")
    os.chown(path, 12_345, 54_321)
    path.chmod(mode)
    write(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12_345, 54_321, mode)
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to become another user")
@pytest.mark.parametrize(("group", "kept"), [(54_321, 54_321), (11_111, 22_222)], ids=["one of theirs", "another"])
def test_who_may_not_give_files_away_keeps_the_group_where_it_is_one_of_theirs(group: int, kept: int) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is below one that only its owner may enter
        path = Path(folder, "file")
        write(path, b"old")
        os.chown(path, 12_345, group)
        path.chmod(0o640)
        Path(folder).chmod(0o777)
        other = child(path, before="os.setgroups([54_321]); os.setgid(22_222); os.setuid(22_222)")
        assert other.communicate()[1] == ""
        found = path.stat()
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (22_222, kept, 0o640)
        assert path.read_bytes() == b"of the child"


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, b"old")
    killed = child(path, during="file.flush(); os.kill(os.getpid(), signal.SIGKILL)")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2  # so there is something to be removed
    write(path)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    living = child(path, during="file.flush(); print('writing', flush=True); input()")
    assert living.stdout is not None
    assert living.stdout.readline() == "writing\n"
    write(path)
    assert path.read_bytes() == b"new"
    assert living.communicate("\n")[1] == ""
    assert living.returncode == 0
    assert path.read_bytes() == b"of the child"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path: Path) -> None:
    """What another process does if it looks in the instant between making the file and locking it."""
    before = """
import fcntl
flock, removed = fcntl.flock, []
def look_first(file, how):
    if not removed:
        removed.append(file.name)
        replacing._remove_abandoned(replacing.Path(sys.argv[1]).parent)
    flock(file, how)
fcntl.flock = look_first
"""
    late = child(tmp_path / "file", before=before, during="assert not os.path.exists(removed[0])")
    assert late.communicate()[1] == ""
    assert (tmp_path / "file").read_bytes() == b"of the child"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_full_disk_is_told_with_the_path_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, b"old")

    def write_to_a_full_disk() -> None:
        with replacing(path) as file:
            with Path("/dev/full").open("wb", buffering=0) as full:
                os.dup2(full.fileno(), file.fileno())  # from here on it is as if no byte were left
            file.write(b"new")

    with pytest.raises(OSError, match="make room there") as told:
        write_to_a_full_disk()
    assert str(told.value) == (
        f"[Errno 28] No space left on device: make room there, or save to another disk: '{path}'"
    )
    assert told.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_missing_is_told_with_the_path_that_was_given(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as told:
        write(tmp_path / "missing" / "file")
    assert str(told.value) == f"[Errno 2] No such file or directory: '{tmp_path}/missing/file'"
