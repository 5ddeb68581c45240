"""What may happen to a router between and during calls: signals, forks, and files that are damaged or replaced.

Each disturbance leaves the router as it must be afterwards, which the caller then checks like any other. What a disturbance
can see for itself is checked here, and raises AssertionError.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import dfa_router as dr
from benchmarks.verification.soak.answers import Expected, Key, compare
from benchmarks.verification.soak.tally import Tally

__all__ = ["DISTURBANCES", "Disturbed"]

CHILD_SECONDS = 300
"""A child process that has not ended by then is taken for one that waits for ever."""


class Disturbed:
    """A router that is to be disturbed, and what is right for its keys."""

    def __init__(
        self, context: str, router: dr.Router, rows: Sequence[Key | None], column: Any, right: Expected
    ) -> None:
        """Take a column of keys, its rows as Python values, and the right answers."""
        self.context, self.router, self.rows, self.column, self.right = context, router, rows, column, right

    def ask(self, threads: int = 1) -> None:
        """Match the column, and compare."""
        compare(self.context, self.rows, self.router.match_batch(self.column, threads=threads), self.right)


class _Interrupt(Exception):  # noqa: N818 - what a signal handler might raise
    """Ends a call."""


def _broken_off(call: Callable[[], object], delay: float) -> bool:
    """Make a call that a signal breaks off after some seconds, unless it is done by then; return whether it was broken off."""
    armed = [True]

    def handle(_signal: int, _frame: Any) -> None:
        if armed:
            armed.clear()
            raise _Interrupt

    def send() -> None:
        time.sleep(delay)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handle)
    sender = threading.Thread(target=send)
    try:
        sender.start()
        call()
        armed.clear()
        broken = False
    except _Interrupt:
        broken = True
    sender.join()
    signal.signal(signal.SIGUSR1, before)
    return broken


def interrupts(rng: random.Random, it: Disturbed, tally: Tally) -> dr.Router:
    """Raise exceptions from a signal's handler at random moments of calls."""
    if threading.current_thread() is not threading.main_thread():
        return it.router  # handlers run in the main thread alone
    some = [row for row in it.rows[:200] if row is not None]
    began = time.monotonic()
    it.ask()
    longest = max(1e-4, time.monotonic() - began)
    for _ in range(rng.randint(1, 12)):
        calls: list[Callable[[], object]] = [
            partial(it.router.match_batch, it.column, threads=rng.randint(1, 4)),
            lambda: [it.router.match_bindings(key) for key in some],
            lambda: [it.router.match(key) for key in some],
        ]
        tally.interrupts += _broken_off(rng.choice(calls), longest * rng.random())
    return it.router


def fork(rng: random.Random, it: Disturbed, tally: Tally) -> dr.Router:
    """Ask in a child process, which is made while other threads are asking."""
    done = threading.Event()

    def ask_on() -> None:
        while not done.is_set():
            it.router.match_batch(it.column)

    others = [threading.Thread(target=ask_on) for _ in range(rng.randint(0, 2))]
    for other in others:
        other.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # Python's, of forks with threads: it is what is tried here
            child = os.fork()
        if child == 0:
            _answer_in_child(it)
        _wait(child, it.context)
    finally:
        done.set()
        for other in others:
            other.join()
    tally.forks += 1
    return it.router


def _answer_in_child(it: Disturbed) -> None:
    """Compare, and end the process by the exit code alone: nothing of the parent's may be written or closed."""
    code = 1
    try:
        it.ask()
        code = 0
    except BaseException:  # noqa: BLE001 - this process has no caller that it could be raised to
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)


def _wait(child: int, context: str) -> None:
    """Wait until a child ends, which must be in time and with success."""
    until = time.monotonic() + CHILD_SECONDS
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            assert code == 0, f"{context}: a forked process ended with {code}; its traceback is on stderr"
            return
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"{context}: a forked process did not answer within {CHILD_SECONDS} seconds")
        time.sleep(0.001)


def damaged_file(rng: random.Random, it: Disturbed, tally: Tally) -> dr.Router:
    """Save the router, damage copies of the file, each of which must be refused, and go on with what the file holds."""
    with tempfile.TemporaryDirectory() as folder:
        path, copy = Path(folder, "router"), Path(folder, "copy")
        it.router.save(path)
        whole = path.read_bytes()
        for _ in range(rng.randint(1, 8)):
            copy.write_bytes(_damage(rng, whole))
            with suppress(dr.FileFormatError):
                dr.load(copy)
                raise AssertionError(f"{it.context}: a damaged file was loaded")
            tally.refused_files += 1
        return dr.load(path)


def _damage(rng: random.Random, whole: bytes) -> bytes:
    """Return the bytes of a file with a fault in them: a bit, a stretch of them, the end, or something behind it."""
    at = rng.randrange(len(whole))
    way = rng.randrange(4)
    if way == 0:
        return whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]
    if way == 1:
        stretch = bytes(byte ^ 0xA5 for byte in whole[at : at + rng.randint(1, 64)])
        return whole[:at] + stretch + whole[at + len(stretch) :]
    return whole[:at] if way == 2 else whole + bytes(rng.randint(1, 64))


def replaced_file(rng: random.Random, it: Disturbed, _tally: Tally) -> dr.Router:
    """Replace the file of a loaded router, once and again, by another router's or by nothing: the first one stays as it was."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "router")
        it.router.save(path)
        loaded = dr.load(path)
        for _ in range(rng.randint(1, 3)):
            if rng.random() < 0.5:
                dr.compile([("#", "another")]).save(path)
                assert dr.load(path).match("a.b") == ("another",), (
                    f"{it.context}: the file that replaced it is not read"
                )
            else:
                path.unlink(missing_ok=True)
            gc.collect()
            Disturbed(f"{it.context}, its file replaced", loaded, it.rows, it.column, it.right).ask()
        return loaded


DISTURBANCES: dict[str, Callable[[random.Random, Disturbed, Tally], dr.Router]] = {
    "interrupts": interrupts,
    "a fork": fork,
    "damaged files": damaged_file,
    "a file replaced": replaced_file,
}
"""By name; each returns the router to go on with."""
