"""Compiled kernels in files, for the processes that come after.

Machine code must go with the sources that it was compiled of, and with all of them: a kernel is compiled together with the
helpers that it calls, whatever file they are in. So it lies in a folder that is named after the content of this package. A
changed file means another folder, and one that is changed back finds the old one again; checkouts of the same content share
one. numba's own cache looks at the file that defines a kernel and at no other, and would run old helpers after an update.

Of the places of :func:`places` the first that has a file is read, and the first that can be written is written. Nothing here
ends a process: what cannot be read is compiled again, what cannot be kept is used all the same, and either is said in the
log ``dfa_router.kernels``. Each file has a checksum, since a file that is cut short is what a full disk or a loss of power
leaves, and machine code is run as it is.

A place keeps the :data:`KEPT` folders that were used last. Others are removed when a new one is made, though a process may
be using one: it has read its kernels, or compiles those that it misses.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import shutil
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

__all__ = ["CONTENT", "KEPT", "digest_of", "folder", "places", "read", "write"]

KEPT = 16
"""The most folders in a place: of 3 MB, if little was asked for, to 11 MB."""

_SUM = hashlib.sha256().digest_size
_FOLDERS, _REMOVED = "kernels-", ".removed-"

_log = logging.getLogger("dfa_router.kernels")


def places() -> list[Path]:
    """Return the folders in which folders of kernels may lie.

    Where ``NUMBA_CACHE_DIR`` is set, it is the only one; else it is the user's cache directory, and then this package's own
    ``__pycache__``, for users who have no home.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return [Path(named, "dfa-router")]
    users = os.environ.get("XDG_CACHE_HOME", "")
    if not Path(users).is_absolute():  # then it does not count, its specification says
        users = os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises where there is none
    found = [Path(users, "dfa-router")] if Path(users).is_absolute() else []
    return [*found, Path(__file__).with_name("__pycache__") / "dfa-router"]


def digest_of(sources: Traversable) -> str:
    """Return a digest of the sources in a folder, which may lie in an archive; it is empty where there are none."""
    digest = hashlib.sha256()
    found = False
    with suppress(OSError):  # a program that was frozen into one file has no folder
        for source in sorted(sources.iterdir(), key=lambda source: source.name):
            if source.name.endswith((".py", ".pyc")):  # the latter where a program is delivered without its sources
                data = source.read_bytes()
                digest.update(b"%s\0%d\0" % (os.fsencode(source.name), len(data)) + data)
                found = True
    return digest.hexdigest()[:32] if found else ""


CONTENT = digest_of(files(__package__))
"""Of the sources as they were imported, not as they may be by the time that a kernel is compiled; it takes a millisecond."""


def folder(place: Path) -> Path:
    """Return the folder in a place for kernels of this content; it need not exist."""
    return place / f"{_FOLDERS}{CONTENT}"


def read(name: str) -> bytes | None:
    """Return what was written under a name, or None where that is nowhere, or nowhere whole."""
    for place in places() if CONTENT else ():
        file = folder(place) / name
        try:
            data = file.read_bytes()
        except OSError:  # mostly there is none; what else it is shows when it is to be written
            continue
        if hashlib.sha256(data[_SUM:]).digest() == data[:_SUM]:
            _mark_used(file.parent)
            return data[_SUM:]
        _log.warning("%s is damaged or incomplete: the kernel is compiled again, and the file replaced", file)
    return None


def write(name: str, data: bytes) -> None:
    """Keep data under a name, as a whole or not at all; where that is impossible, the log says so, once."""
    if digest_of(files(__package__)) != CONTENT:
        return  # it was compiled of what was imported, and the files have another content now
    problem, remedy = "their sources are not to be found", "deliver the folder compiler/kernels with the program"
    for place in places() if CONTENT else ():
        try:
            _write(folder(place) / name, hashlib.sha256(data).digest() + data)
        except OSError as error:
            problem = f"{folder(place)}: {error.strerror or error}"
            remedy = "make room there, or set NUMBA_CACHE_DIR to a folder that can be written"
        else:
            return
    _say_once(problem, remedy)


@cache
def _mark_used(used: Path) -> None:
    """Set the time of a folder's last use, once in a process; in a place that cannot be written nothing is removed either."""
    with suppress(OSError):
        os.utime(used)


@cache
def _say_once(problem: str, remedy: str) -> None:
    _log.warning("compiled kernels cannot be kept (%s): each process compiles them again; %s", problem, remedy)


def _write(file: Path, data: bytes) -> None:
    if not file.parent.is_dir():
        file.parent.mkdir(parents=True, exist_ok=True)
        _remove_old(file.parent)
    temporary = file.with_name(f"{secrets.token_hex(8)}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(file)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _remove_old(made: Path) -> None:
    """Remove the folders of a place that were not used for the longest time."""
    times = {}
    for other in made.parent.glob(f"{_FOLDERS}*"):
        with suppress(OSError):  # another process removes it
            times[other] = other.stat().st_mtime_ns
    times.pop(made, None)
    for old in sorted(times, key=times.__getitem__, reverse=True)[KEPT - 1 :]:
        with suppress(OSError):
            # Renamed first: a process that writes there meanwhile makes a new folder, and loses none of its files.
            old.replace(made.parent / f"{_REMOVED}{secrets.token_hex(8)}")
    for removed in made.parent.glob(f"{_REMOVED}*"):  # also those of a process that was killed here
        shutil.rmtree(removed, ignore_errors=True)
