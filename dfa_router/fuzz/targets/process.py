"""A process that reads questions, a line each, and writes an answer line to each; it may misbehave in any way.

Lines are written while answers are read, so a whole round is under way at once and no side is blocked by a full pipe.
There are limits: seconds for each answer, bytes for each line, one line for each question, and of stderr only the end is
kept. A process that exceeds a limit, or whose round is interrupted, is killed with its process group, and the next question
starts it again. What it started belongs to that group, unless it left it by a session of its own, as daemons do.

It runs in a session of its own, so Ctrl-C reaches this interpreter alone, which then ends the process. It is also ended
when the interpreter exits. Only if the interpreter itself is killed there is nothing to end it but the end of its input.

Left out: limits on memory and processor time, which a shell around the process can set (``ulimit``).
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["LINE_LIMIT", "STDERR_LIMIT", "LineProcess", "ProcessError"]

LINE_LIMIT = 1 << 20
"""The longest line that a process may answer, in bytes, and the most that it may write unasked."""
STDERR_LIMIT = 4096
"""How many bytes of stderr's end are kept."""
_CHUNK = 1 << 16
_GRACE = 1.0
"""Seconds that a process has to end by itself after its input or its output ended."""
_LOOK = 3600.0
"""Seconds after which is looked at the clock again, at most: of very many, or of endless ones, the system's call makes an error."""
_SETTLE = 0.05
"""Seconds of silence after which no more output is expected: on stderr after a failure, on stdout after surplus lines."""


class ProcessError(Exception):
    """A process did not answer as it must; ``kind`` is ``hung``, ``died``, ``flooded``, ``nonsense`` or ``late``.

    It is late where the deadline passes before it has hung.
    """

    def __init__(self, kind: str, reason: str, silent: float = 0.0) -> None:
        """Take what happened, in words that can follow the process's name, and the seconds since its last answer."""
        super().__init__(reason)
        self.kind, self.reason, self.silent = kind, reason, silent


class LineProcess:
    """A command as a running process, which is started again after it was killed."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the command without a shell; raises :class:`OSError` if that fails."""
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()
        self._errors = bytearray()
        self._start()

    def _start(self) -> None:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=dict(self._environment),
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._stdout, self._stderr = (
            pipe.fileno() for pipe in (process.stdin, process.stdout, process.stderr)
        )
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._buffer.clear()
        self._errors.clear()
        self._process = process
        self._end_at_exit = weakref.finalize(self, _end, process)

    def ask(
        self, questions: bytes, count: int, timeout: float, ends: float = math.inf, *, first: float | None = None
    ) -> Iterator[bytes]:
        """Write ``count`` lines and yield as many answers, each within ``timeout`` seconds after the one before it.

        ``ends`` is the time, of the monotonic clock, when all of them have to be there; ``first`` are the seconds for the
        first of them, if they are others. Raises :class:`ProcessError`. A caller who stops before the last answer, for any
        reason, must call :meth:`kill`.
        """
        if self._process is None:
            self._start()
        self._expect_silence("before the question")
        yield from self._exchange(memoryview(questions), count, timeout, ends, timeout if first is None else first)
        if self._buffer:
            self._expect_silence("after its last answer")

    def _exchange(self, pending: memoryview, count: int, timeout: float, ends: float, first: float) -> Iterator[bytes]:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._stderr, selectors.EVENT_READ)
            pending = self._write(pending)
            if pending:
                selector.register(self._stdin, selectors.EVENT_WRITE)
            since, patience = time.monotonic(), first
            while count:
                deadline = since + patience
                ready = selector.select(min(max(min(deadline, ends) - time.monotonic(), 0), _LOOK))
                if time.monotonic() >= ends:
                    silent = time.monotonic() - since
                    said = f"had not answered when the time was used up, after {silent:.1f} s"
                    raise ProcessError("late", said, silent)
                if not ready and time.monotonic() >= deadline:
                    raise ProcessError(
                        "hung", self._with_stderr(f"gave no answer within {patience:.3g} s{self._begun()}")
                    )
                for key, _ in ready:
                    if key.fd == self._stdin:
                        pending = self._write(pending)
                        if not pending:
                            selector.unregister(self._stdin)
                    elif key.fd == self._stderr:
                        if not self._read_errors():
                            selector.unregister(self._stderr)
                    elif not self._read():
                        raise ProcessError("died", self._last_words())
                    else:
                        while count and (end := self._buffer.find(b"\n")) >= 0:
                            line = bytes(self._buffer[:end])
                            del self._buffer[: end + 1]
                            count -= 1
                            yield line
                            # The time that the caller took for the answer before does not count.
                            since, patience = time.monotonic(), timeout
                        if len(self._buffer) > LINE_LIMIT and b"\n" not in self._buffer:
                            raise ProcessError(
                                "flooded", f"wrote more than {LINE_LIMIT:,} bytes without an end of line"
                            )

    def _write(self, pending: memoryview) -> memoryview:
        """Write what the pipe takes and return the rest; the rest is dropped if the process has closed its input."""
        while pending:
            try:
                pending = pending[os.write(self._stdin, pending[:_CHUNK]) :]
            except BlockingIOError:
                break
            except BrokenPipeError:
                return pending[:0]  # its last output is read first, and the end of its output then tells how it ended
        return pending

    def _read(self) -> bool:
        """Read what is available into the buffer; return False at the end of the output."""
        try:
            chunk = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return True
        self._buffer += chunk
        return bool(chunk)

    def _read_errors(self) -> bool:
        """Read what is available on stderr and keep the end of it; return False if stderr is closed."""
        try:
            chunk = os.read(self._stderr, _CHUNK)
        except BlockingIOError:
            return True
        self._errors += chunk
        del self._errors[:-STDERR_LIMIT]
        return bool(chunk)

    def _expect_silence(self, when: str) -> None:
        """Raise :class:`ProcessError` if there is output without a question: ``nonsense`` if little, ``flooded`` if much."""
        open_ = self._read()
        if not self._buffer:
            return
        surplus, size = bytes(self._buffer[:80]), len(self._buffer)
        until = time.monotonic() + _GRACE
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while open_ and size <= LINE_LIMIT and time.monotonic() < until and selector.select(_SETTLE):
                self._buffer.clear()
                open_ = self._read()
                size += len(self._buffer)
        if size > LINE_LIMIT:
            raise ProcessError("flooded", f"wrote more than {LINE_LIMIT:,} bytes that nobody asked for, {when}")
        raise ProcessError(
            "nonsense", f"wrote {surplus.decode(errors='replace')!r} {when}: one line for each question is expected"
        )

    def _last_words(self) -> str:
        """Return how the process ended, or that it closed its output and still runs."""
        assert self._process is not None
        status = _ended(self._process.pid, _GRACE)
        if status is None:
            said = "closed its output but did not end"
        elif status.si_code == os.CLD_EXITED:
            said = f"exited with code {status.si_status}"
            if status.si_status == 0:
                said += " (it must go on until its input ends)"
        else:
            said = f"was killed by {signal.Signals(status.si_status).name}"
        return self._with_stderr(said + self._begun())

    def _begun(self) -> str:
        """Return the end of a line that has none, in words that follow what happened."""
        return f", after {bytes(self._buffer[-80:])!r} without an end of line" if self._buffer else ""

    def _with_stderr(self, said: str) -> str:
        until = time.monotonic() + _GRACE
        with selectors.DefaultSelector() as selector:
            selector.register(self._stderr, selectors.EVENT_READ)
            while time.monotonic() < until and selector.select(_SETTLE) and self._read_errors():
                pass
        text = self._errors.decode(errors="replace").strip()
        return f"{said}; the end of its stderr:\n{text}" if text else f"{said}; it wrote nothing to stderr"

    @property
    def running(self) -> bool:
        """Whether it was started and not ended since; it may have ended by itself."""
        return self._process is not None

    def kill(self) -> None:
        """Kill the process and its process group."""
        self._finish(0)

    def close(self) -> None:
        """End the process: close its input, and kill it if it still runs a second later. May be called twice."""
        self._finish(_GRACE)

    def _finish(self, grace: float) -> None:
        process, self._process = self._process, None
        if process is not None:
            self._end_at_exit.detach()
            _end(process, grace)


def _ended(pid: int, grace: float) -> os.waitid_result | None:
    """Wait at most ``grace`` seconds for a child to end; return how it ended, or None if it still runs.

    The child is left as a zombie, so that the number of its process group is not given to another one before it is killed.
    """
    until, pause = time.monotonic() + grace, 0.0005
    while (status := os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)) is None:
        if time.monotonic() >= until:
            return None
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
    return status


def _end(process: subprocess.Popen[bytes], grace: float = 0.0) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        if grace:
            _ended(process.pid, grace)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
