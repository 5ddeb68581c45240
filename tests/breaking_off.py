"""Calls that are broken off between two steps of the interpreter, as a signal's handler may do at any moment."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

__all__ = ["Broken", "everywhere", "folders"]


class Broken(Exception):  # noqa: N818 - what a signal handler might raise
    """Ends a call."""


def folders(*packages: ModuleType) -> tuple[str, ...]:
    """Return where packages lie."""
    return tuple(str(Path(package.__file__).parent) for package in packages if package.__file__)


@contextmanager
def broken_at(
    step: int, within: tuple[str, ...], *, threads: bool, spared: Collection[str] = ()
) -> Iterator[list[int]]:
    """Raise an exception at this step of the interpreter, counted in functions of files that begin with ``within``.

    Functions of the names that are ``spared`` are not broken off themselves, but what they call is.
    """
    steps = [0]

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(within) or frame.f_code.co_name in spared:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps[0] += 1
            if steps[0] == step:
                raise Broken
        return trace

    before = sys.gettrace()
    if threads:
        threading.settrace(trace)
    sys.settrace(trace)
    try:
        yield steps
    finally:
        sys.settrace(before)
        threading.settrace(before)


def everywhere(
    call: Callable[[], Any],
    check: Callable[[int], None],
    within: tuple[str, ...],
    *,
    stride: int = 1,
    threads: bool = False,
    spared: Collection[str] = (),
) -> int:
    """Break a call off at every ``stride``-th of its steps, and check after each; return how many steps there are.

    Which of them is drawn anew by each call; ``check`` is told the step, to name it where it fails. Functions that are ``spared``
    are only broken off within what they call.
    """
    step = 1 + random.randrange(stride)
    while True:
        broken = False
        with broken_at(step, within, threads=threads, spared=spared) as steps:
            try:
                call()
            except Broken:
                broken = True
        check(step)
        if not broken and steps[0] < step:
            return steps[0]
        step += stride
