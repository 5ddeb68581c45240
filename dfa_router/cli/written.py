"""Files that a command is asked to write, and what it says where they cannot be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from dfa_router.errors import EnvironmentLacksError
from dfa_router.file_names import given_path

__all__ = ["GivenPath", "check_place", "written"]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_FOLDER = {errno.ENOENT, errno.ENOTDIR}


class GivenPath(click.Path):
    """The type of an option whose value is a path; raises :class:`InputError` for an empty one, which is the working folder to Python."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, checked as ``click.Path`` does."""
        return Path(os.fsdecode(super().convert(given_path(value), param, ctx)))


def check_place(path: str | Path, option: str) -> None:
    """Raise ``click.FileError`` where a file could not be written later: for what is found before the work, not after it.

    ``-`` is refused as well: as it is standard input elsewhere, no one expects a file of that name.
    """
    if str(path) == "-":
        wrong = f"standard output is not meant by it here: name a file with {option}, such as /dev/stdout"
    elif Path(path).is_dir():
        wrong = f"it is a folder: name a file with {option}"
    elif not Path(path).absolute().parent.is_dir():
        wrong = f"there is no such folder: make it, or choose another with {option}, in a folder that exists"
    else:
        return
    raise click.FileError(str(path), hint=wrong)


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
