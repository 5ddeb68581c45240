"""How a result appears: attempts write into a folder of their own, and the files of those that came back are published.

In a local folder a file is published by being renamed. The folder is a draft until then (:mod:`dfa_router.logs.drafts`), and is
renamed as a whole.

Stores of objects cannot rename. There attempts write below ``OUT/_temporary/``, which readers pass over; the commit removes
an old result, beginning with its ``_SUCCESS``, copies the files to their places within the store, and writes ``_SUCCESS`` last.
A process that is killed before the commit leaves ``_temporary`` and nothing else; one that is killed during the commit
leaves some of the files and no ``_SUCCESS``. The next run removes attempts whose owner has ended, which it can tell of a
process of its own system (:mod:`dfa_router.logs.owners`); with ``--overwrite`` all but those whose owner is known to live. A run
without it refuses what half a commit left.

Rejected: Spark's committers. They commit what Java writes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from pyarrow import fs

from dfa_router.errors import JobError, MessagesError
from dfa_router.logs.owners import has_ended, mark
from dfa_router.logs.routing import Written
from dfa_router.logs.stores import STORE_ERRORS, Place

__all__ = ["attempts_of", "publish", "staged_remotely"]

SUCCESS = "_SUCCESS"
ATTEMPTS = "_temporary"
_log = logging.getLogger(__name__)

COPIES = 16
"""Files that are copied at a time."""


def attempts_of(draft: Place) -> Place:
    """Make and return the folder for attempts in a local draft."""
    attempts = draft.beside(ATTEMPTS)
    attempts.store.create_dir(attempts.path, recursive=True)
    return attempts


def publish(draft: Place, written: Iterable[Written]) -> None:
    """Move the files of the attempts that came back into the local draft, and remove all that others have left."""
    for one in written:
        draft.store.move(draft.beside(f"{ATTEMPTS}/{one.file}").path, draft.beside(one.file).path)
    # An attempt that still runs, a copy of one that came back, finds no folder any more to make a file in.
    draft.store.delete_dir(draft.beside(ATTEMPTS).path)
    _touch(draft.beside(SUCCESS))


class RemoteDraft:
    """A result on its way into a store that cannot rename; made by :func:`staged_remotely`."""

    def __init__(self, out: str, target: Place, *, overwrite: bool) -> None:
        """Refuse a target that holds something already."""
        self._out, self._target, self._overwrite = out, target, overwrite
        self.attempts = target.beside(f"{ATTEMPTS}/{mark()}-{uuid4().hex}")
        held = _held(target)
        if held and not overwrite:
            what = "exists already" if SUCCESS in held else "holds files, but no complete result"
            raise MessagesError(f"{out}: {what}; choose another folder with --out, or pass --overwrite to replace it")
        self._remove_abandoned()
        target.store.create_dir(self.attempts.path, recursive=True)

    def publish(self, written: Sequence[Written]) -> None:
        """Copy the files of the attempts that came back to their places; raises :class:`JobError` where something appeared."""
        target = self._target
        held = _held(target)
        if held and not self._overwrite:
            target = Place(target.store, f"{target.path}.{self.attempts.path[-8:]}")
        for name in sorted(held if self._overwrite else (), key=lambda name: name != SUCCESS):
            _delete(target.beside(name))

        def copy(one: Written) -> None:
            target.store.copy_file(self.attempts.beside(one.file).path, target.beside(one.file).path)

        target.store.create_dir(target.path, recursive=True)
        with ThreadPoolExecutor(COPIES) as copying:
            list(copying.map(copy, written))
        _touch(target.beside(SUCCESS))
        if target != self._target:
            raise JobError(
                f"{self._out}: something appeared there while the job ran, and was left as it is; the complete result is in "
                f"{target.path}: move it to where you want it"
            )

    def clean(self) -> None:
        """Remove this run's attempts, and the folder of all attempts if it is empty then."""
        folder = self._target.beside(ATTEMPTS)
        with suppress(*STORE_ERRORS):
            folder.store.delete_dir(self.attempts.path)
            if not _names(folder):
                folder.store.delete_dir(folder.path)

    def _remove_abandoned(self) -> None:
        """Remove attempts of runs that were killed; with ``--overwrite`` also where that cannot be told."""
        folder = self._target.beside(ATTEMPTS)
        for name in sorted(_names(folder)):
            ended = has_ended(name.rpartition("-")[0])
            if ended or (ended is None and self._overwrite):
                _log.warning("removing %s, the unfinished result of a run that was killed", folder.beside(name).path)
                _delete(folder.beside(name))
            elif ended is None:
                _log.warning("%s is left by a run elsewhere: if that was killed, remove it", folder.beside(name).path)


@contextmanager
def staged_remotely(out: str, target: Place, *, overwrite: bool) -> Iterator[RemoteDraft]:
    """Yield a draft; removes its attempts at the end, however it ends. Raises :class:`MessagesError` for a result that exists."""
    draft = RemoteDraft(out, target, overwrite=overwrite)
    try:
        yield draft
    finally:
        draft.clean()


def _held(target: Place) -> set[str]:
    return _names(target) - {ATTEMPTS}


def _names(place: Place) -> set[str]:
    infos: list[Any] = place.store.get_file_info(fs.FileSelector(place.path, allow_not_found=True))
    return {info.base_name for info in infos}


def _delete(place: Place) -> None:
    if place.store.get_file_info(place.path).type == fs.FileType.Directory:
        place.store.delete_dir(place.path)
    else:
        place.store.delete_file(place.path)


def _touch(place: Place) -> None:
    with place.store.open_output_stream(place.path):
        pass
