"""Files that appear complete or not at all: a temporary file is written beside the old one, and takes its name.

A process that is killed meanwhile leaves its temporary file behind, and the next one that writes to the folder removes it. It
can tell from that of a living process, as a writer holds a lock on its file, which the system takes back when it ends.

Rejected: ``O_TMPFILE``, a file without a name, of which a kill leaves nothing. Linking it to a name that exists is not
possible, so it needs a temporary name as well, and many file systems have no such files.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

__all__ = ["replacing"]

_BEGINS, _ENDS = ".dfa-router-", ".part"
"""How the names of temporary files begin and end."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_OTHERS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BufferedRandom]:
    """Yield a file to write and to read, which gets the name ``path`` when the block ends.

    If the block raises, the old file stays and the new one is removed. If ``path`` is a symbolic link, the file that it
    points to is replaced, and the link stays. A new version keeps the permissions of the old one, and its owner and group where
    this process may give files away. Raises ``OSError``, with the path and the errno of the cause, if the file cannot be written,
    and for anything but a regular file: a file in the place of a device or pipe would be of no use to those who have it open, and
    lost to those who open it next.
    """
    target = Path(os.path.realpath(path))
    try:
        with suppress(FileNotFoundError):
            if (kind := stat.S_IFMT(target.stat().st_mode)) != stat.S_IFREG:
                number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
                what = f"it is {_OTHERS.get(kind, 'no regular file')}, which a file would replace"
                raise OSError(number, f"{what}: save to another path")
        _remove_abandoned(target.parent)
        temporary, file = _temporary(target.parent)
        try:
            with file:
                yield file
                with suppress(FileNotFoundError):
                    _become_like(file.fileno(), target.stat())
                file.flush()
                os.fsync(file.fileno())
                temporary.replace(target)  # while it is locked
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        remedy = ": make room there, or save to another disk" if error.errno in _NO_ROOM else ""
        raise OSError(error.errno, f"{error.strerror or error}{remedy}", os.fspath(path)) from None


def _temporary(folder: Path) -> tuple[Path, BufferedRandom]:
    """Make a temporary file and lock it, where the file system has locks."""
    while True:
        path = folder / f"{_BEGINS}{secrets.token_hex(8)}{_ENDS}"
        file = path.open("xb+")
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # it was taken for an abandoned one in the instant before it was locked


def _become_like(descriptor: int, old: os.stat_result) -> None:
    """Give a file the owner, group and permissions of an older one: written by root, it could not be read by whose it was."""
    for owner in (old.st_uid, -1):  # the group alone, where only that may be given
        try:
            os.fchown(descriptor, owner, old.st_gid)
        except OSError:  # others may not, or the file system has no owners
            continue
        break
    os.fchmod(descriptor, old.st_mode & 0o777)


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of processes that have ended; those that may not be removed stay."""
    for path in folder.glob(f"{_BEGINS}*{_ENDS}"):
        with suppress(OSError), path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the renaming survive a loss of power; file systems that cannot synchronise a folder are left as they are."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
