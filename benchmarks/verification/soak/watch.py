"""What is watched beside the answers: whether a round ends."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["watched"]


@contextmanager
def watched(dump: Path | None, seconds: float, what: str) -> Iterator[None]:
    """End the process if the block takes longer than that, after writing ``what`` and the stacks of all threads to a file.

    The watch is kept by :mod:`faulthandler`, which needs no interpreter: a thread of Python would wait as well for a lock that
    is never given back. A block that raises or ends leaves no file.
    """
    if dump is None:
        yield
        return
    dump.parent.mkdir(parents=True, exist_ok=True)
    with dump.open("w", encoding="utf-8") as file:
        file.write(f"{what} took longer than {seconds:g} seconds; the stacks of all threads:\n\n")
        file.flush()
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
    dump.unlink()
