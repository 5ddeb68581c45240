"""The Spark session of a command: stopped at its end, and interrupted so that nothing is left running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from dfa_router.cli.interrupts import interrupted_once, signal_handlers

if TYPE_CHECKING:
    from dfa_router.cli.terminal import Terminal

__all__ = ["spark_session"]


@contextmanager
def spark_session(terminal: Terminal, master: str, *, app_name: str, ends: bool = False) -> Iterator[Any]:
    """Start Spark for a command and yield its ``SparkSession``.

    The first signal within interrupts it, and a further one ends Java. With ``ends``, the process ends with the command: where that is
    interrupted, Java is left to end by itself, as it does when this process has gone; that takes it half a second.
    """
    from dfa_router.spark.session import end_java, local_session, stop

    with ExitStack() as cleaning:
        before = signal_handlers()
        session = local_session(master, app_name=app_name)
        # Undone in reverse: Java is stopped first, while a further signal still ends it at once; then the handlers go.
        cleaning.enter_context(interrupted_once(before, again=lambda: end_java(session)))

        def leave(kind: type[BaseException] | None, *_: object) -> None:
            if not (ends and kind is not None and issubclass(kind, KeyboardInterrupt)):
                stop(session)

        cleaning.push(leave)
        session.sparkContext.setLogLevel("ERROR" if terminal.verbose else "OFF")  # failures come back as errors
        yield session
