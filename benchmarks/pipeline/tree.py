"""Run a command, and print what it and all its descendants cost, also those that outlive it: Spark's Java does.

    python -m benchmarks.pipeline.tree COMMAND ...

Orphans become this process's children (``PR_SET_CHILD_SUBREAPER`` of Linux), which waits for them; the system then counts their
time here. Prints a line of JSON: seconds elapsed, seconds of processors, and the bytes of the largest process.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import time

__all__ = ["main"]

_PR_SET_CHILD_SUBREAPER = 36


def main(command: list[str]) -> int:
    """Run the command and return its exit code."""
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise SystemExit("tree: needs Linux, whose processes can adopt orphans")
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - started
    while True:
        try:
            os.wait()
        except ChildProcessError:  # all have ended
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "largest": used.ru_maxrss * 1024}
    print(json.dumps(cost | {"said": done.stdout.decode()}))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
