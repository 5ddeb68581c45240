"""Standard output and standard error of a command: what cannot be written, and what an encoding has not.

A result that a full disk does not take, or a standard output that is closed, is an error of the machine, and told as one. A reader that has ended, as ``head`` does, is
none: what follows is dropped, and the exit code is the result's. Standard error is for people, and nobody can be told that
they were not reached. Where the encoding lacks a character, its escape of JSON is written, which any reader of the result takes.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from dfa_router.errors import EnvironmentLacksError

__all__ = ["guarded_streams"]

_ESCAPED = "dfa_router.escaped"


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Write to the process's own streams by these rules within; streams that somebody has put in their place are left alone."""
    codecs.register_error(_ESCAPED, _escaped)
    before = sys.stdout, sys.stderr
    closed: TextIO | None = None
    for name, needed in (("stdout", True), ("stderr", False)):
        stream: TextIO | None = getattr(sys, name)
        if stream is not None and stream is getattr(sys, f"__{name}__"):
            setattr(sys, name, _guarded(stream, needed=needed))
    if sys.stdout is None:  # as Python has it where the descriptor is closed, and then drops what is written
        sys.stdout = closed = _refusing()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        if closed is not None:
            with suppress(EnvironmentLacksError):  # it was told, or another error
                closed.close()


def _guarded(stream: TextIO, *, needed: bool) -> TextIO:
    stream.flush()
    buffer = io.BufferedWriter(_Descriptor(stream.fileno(), needed=needed))
    return io.TextIOWrapper(buffer, stream.encoding, _ESCAPED, line_buffering=not needed or stream.isatty())


def _refusing() -> TextIO:
    """Return what takes no result. It has the lowest free descriptor, so that no file is opened as standard output and taken for it."""
    unwritable = os.open(os.devnull, os.O_RDONLY)
    return io.TextIOWrapper(io.BufferedWriter(_Descriptor(unwritable, needed=True, closefd=True)), "utf-8", _ESCAPED)


class _Descriptor(io.FileIO):
    """A file descriptor that drops what comes after the first error."""

    def __init__(self, number: int, *, needed: bool, closefd: bool = False) -> None:
        super().__init__(number, "w", closefd=closefd)
        self._needed, self._lost = needed, False

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]  # the stubs know no None
        if not self._lost:
            try:
                return super().write(data)
            except OSError as error:
                self._lost = True
                if self._needed and not isinstance(error, BrokenPipeError):
                    raise EnvironmentLacksError(
                        f"cannot write the result to standard output: {error.strerror}"
                    ) from error
        return len(data)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
