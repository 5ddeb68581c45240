"""Two processes that map one file of a sealed router and match keys: how many bytes of it they share."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import dfa_router as dr
from benchmarks.workloads import make_workload

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Print how many bytes of the file this process shares with the child that it forks."""
    path, name, scale = arguments
    router = dr.load(path, mapped=True)
    keys = make_workload(name, scale=float(scale)).keys
    matched, waiting = os.pipe(), os.pipe()
    child = os.fork()
    router.match_batch(keys)
    if child == 0:
        os.write(matched[1], b"x")
        os.read(waiting[0], 1)
        os._exit(0)
    os.read(matched[0], 1)
    print(json.dumps(_shared_bytes(path)))
    os.write(waiting[1], b"x")
    os.waitpid(child, 0)


def _shared_bytes(path: str) -> int:
    """Return the resident bytes of a mapped file in this process that another process has, too."""
    total, within = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split()[0]
        if "-" in first and ":" not in first:
            within = line.endswith(str(Path(path).resolve()))
        elif within and first in ("Shared_Clean:", "Shared_Dirty:"):
            total += 1024 * int(line.split()[1])
    return total


if __name__ == "__main__":
    main(sys.argv[1:])
