"""Measures one contestant in the interpreter that runs this file: ``PYTHON child.py LABEL OPERATIONS``.

The last line of its output is JSON: the interpreter, and the figures; or, if the contestant cannot be built there, why not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]
EMPTY = ("compiler", "dfa_router", "dfa_router.reference", "benchmarks.seeds")
"""Packages whose ``__init__`` is not run: it would import numba, or bitmaps that have no build for this interpreter."""
THREADS = (1, 2, 4, 8, 16)
INSERTERS = (1, 2, 4, 8)


def measured(label: str, operations: int) -> Iterator[tuple[object, ...]]:
    """Yield the figures of a contestant."""
    from benchmarks.seeds.threads.contestants import TRIES
    from benchmarks.seeds.threads.work import inserts, mix, reads, tail

    # Each write drops the word cache, and the next read asks every subscription five times: that takes minutes.
    share = 50 if label == "word_cache" else 1
    for reads_in_ten in (5, 9):
        for threads in THREADS:
            yield mix(label, reads_in_ten, threads, operations, share=share)
    if label in TRIES:
        for lookups in (1, 3):
            for inserters in INSERTERS:
                yield from inserts(label, lookups, inserters, operations)
        yield from reads(label, 10 * operations)
        yield from tail(label, 20 * operations)


def main() -> None:
    """Measure what the arguments say, and print it."""
    sys.path[0] = str(ROOT)  # it was this file's folder
    for name in EMPTY:
        package = ModuleType(name)
        package.__path__ = [str(ROOT.joinpath(*name.split(".")))]
        sys.modules[name] = package
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    label, operations = sys.argv[1], int(sys.argv[2])
    answer: dict[str, object] = {"python": sys.version.split()[0], "locked": locked}
    from benchmarks.seeds.threads.contestants import bare

    try:
        bare(label, ["a"], ["a"])
    except ImportError as error:
        answer["missing"] = str(error)
    else:
        answer["figures"] = list(measured(label, operations))
    answer["still locked"] = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
