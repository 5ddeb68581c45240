"""Run a command, and print what it and all its descendants cost, also those that outlive it: Spark's Java does.

    python -m benchmarks.pipeline.tree COMMAND ...

Orphans become this process's children (``PR_SET_CHILD_SUBREAPER`` of Linux), which waits for them. Ten times a second the time
of each descendant is read from ``/proc``, and the last figure of each counts: what a process does in its last tenth of a second is
missed. Prints a line of JSON: seconds elapsed, seconds of processors, and the bytes of the largest process.

Rejected: the time of children as the system adds it up. It has only those that were waited for, and Spark's Python workers are
not: of a job of ten million messages it had a tenth.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

__all__ = ["main"]

_PR_SET_CHILD_SUBREAPER = 36
_SECONDS = 0.1


def main(command: list[str]) -> int:
    """Run the command and return its exit code."""
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise SystemExit("tree: needs Linux, whose processes can adopt orphans")
    ticks: dict[tuple[str, str], int] = {}
    over = Event()

    def watch() -> None:
        while not over.wait(_SECONDS):
            _look(ticks)

    watcher = Thread(target=watch)
    watcher.start()
    try:
        started = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        seconds = time.perf_counter() - started
        while True:
            try:
                os.wait()
            except ChildProcessError:  # all have ended
                break
    finally:
        over.set()
        watcher.join()
    cpu = sum(ticks.values()) / os.sysconf("SC_CLK_TCK")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "cpu": cpu, "largest": largest, "said": done.stdout.decode()}))
    return done.returncode


def _look(ticks: dict[tuple[str, str], int]) -> None:
    """Note the time of each descendant, by its number and when it began."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended since
            _, _, rest = (entry / "stat").read_text().rpartition(")")
            fields = rest.split()
            found[entry.name] = (fields[1], fields[19], int(fields[11]) + int(fields[12]))
    below = {str(os.getpid())}
    while more := {number for number, (parent, *_) in found.items() if parent in below} - below:
        below |= more
    for number in below & found.keys() - {str(os.getpid())}:
        _, began, used = found[number]
        ticks[number, began] = used


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
