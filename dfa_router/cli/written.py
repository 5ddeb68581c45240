"""What a command says where the file that it was asked for cannot be written."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dfa_router.errors import EnvironmentLacksError

__all__ = ["written"]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_FOLDER = {errno.ENOENT, errno.ENOTDIR}


@contextmanager
def written(path: str | Path, option: str) -> Iterator[None]:
    """Tell of a file that cannot be written: as of a wrong ``option``, or of a machine that has no room for it.

    Raises :class:`EnvironmentLacksError` where there is no room, and ``click.FileError`` otherwise.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise EnvironmentLacksError(
                f"cannot write {path}: {error.strerror}; what is there now is not whole: make room, or choose another place "
                f"with {option}"
            ) from error
        remedy = f"choose another with {option}" + (", in a folder that exists" * (error.errno in _NO_FOLDER))
        raise click.FileError(str(path), hint=f"{error.strerror}: {remedy}") from error
