"""Local results, folders or files: written as a draft beside their final path, and moved there when they are complete.

A draft has an owner, the process that writes it, which holds a lock on a file beside it for as long as it lives. So the next
run for the same path can tell a draft that is being written from one whose owner was killed, and removes only the latter.
The kernel gives a lock back however its owner ends; a process number in the draft's name may be that of another process
by then. Where the path is a link, the draft lies beside what it leads to, and the link stays.

Whatever appears at the final path meanwhile stays there, and the result stays beside it, under a name that the error tells.
"""

from __future__ import annotations

import fcntl
import logging
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from dfa_router.errors import JobError, MessagesError

__all__ = ["drafted", "staged"]

_DRAFT, _OLD, _LOCK = ".partial", ".old", ".lock"

_log = logging.getLogger(__name__)


@contextmanager
def staged(out: str, *, overwrite: bool) -> Iterator[str]:
    """Yield the path of a folder to write to; move it to ``out`` at the end, or remove it when something goes wrong.

    Raises :class:`JobError` where something is at ``out`` at the end and must not or cannot be replaced; the text names the
    folder in which the result is. What :func:`drafted` says holds here, too.
    """
    with drafted(out) as (draft, target):
        yield str(draft)
        if overwrite and target.exists():
            target.replace(draft.with_suffix(_OLD))
        _place(draft, target, out)


@contextmanager
def drafted(out: str) -> Iterator[tuple[Path, Path]]:
    """Yield the path of a draft, at which there is nothing yet, and the final one; what is left of the draft at the end is removed.

    Removes what killed runs for the same path have left, and logs a warning that says so. Raises :class:`MessagesError` where
    no draft can be made; the folders above it are made, and removed again if nothing comes into them.
    """
    with ExitStack() as cleaning:
        try:
            target = Path(out).resolve()
            cleaning.callback(_remove_empty, [folder for folder in target.parents if not folder.exists()])
            target.parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(target)
            mark = f".{target.name}.{uuid4().hex}"
            draft, old, lock = (target.with_name(mark + ending) for ending in (_DRAFT, _OLD, _LOCK))
            held = cleaning.enter_context(lock.open("x"))
        except OSError as error:
            said = f"{error.filename} is no folder" if isinstance(error, FileExistsError) else error.strerror
            raise MessagesError(
                f"{out}: cannot be written there: {said}; choose another place, or another name"
            ) from error
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield draft, target
        finally:
            _in_any_case(lambda: _clean(draft, old, target, lock))


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # it was not made, or it holds something
            folder.rmdir()


def _in_any_case(clean: Callable[[], None]) -> None:
    """Clean up, and let an interrupt that comes meanwhile wait for it."""
    try:
        clean()
    except KeyboardInterrupt:
        _in_any_case(clean)  # which may raise the next one
        raise


def _place(draft: Path, target: Path, out: str) -> None:
    try:
        draft.replace(target)
    except OSError as error:
        kept = target.with_name(f"{target.name}.{draft.name.split('.')[-2][:8]}")
        draft.replace(kept)
        raise JobError(
            f"{out}: something appeared there while the job ran ({error.strerror}), and was left as it is; the complete "
            f"result is in {kept}: move it to where you want it"
        ) from None


def _clean(draft: Path, old: Path, target: Path, lock: Path) -> None:
    """Remove what is not needed any more; an old result comes back where there is no new one."""
    if old.exists() and not target.exists():
        with suppress(OSError):  # a result of another run has just taken the place
            old.replace(target)
    for leftover in (draft, old):
        shutil.rmtree(leftover, ignore_errors=True)  # does nothing to a file
        with suppress(OSError):
            leftover.unlink()
    if not draft.exists():  # tasks that still end, as those of a killed run, write into it until then
        lock.unlink(missing_ok=True)


def _remove_abandoned(target: Path) -> None:
    """Remove what runs left that were killed: those whose lock nobody holds."""
    own = re.compile(rf"{re.escape(f'.{target.name}.')}[0-9a-f]{{32}}{re.escape(_LOCK)}")
    for lock in target.parent.iterdir():
        if own.fullmatch(lock.name) is None:  # that of out.v2 is no lock of out
            continue
        with suppress(FileNotFoundError, BlockingIOError), lock.open() as held:  # gone by now, or its owner lives
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft, old = lock.with_suffix(_DRAFT), lock.with_suffix(_OLD)
            if draft.exists():
                _log.warning("removing %s, the unfinished result of a run that was killed", draft)
            _clean(draft, old, target, lock)
