"""No program is left behind, whatever ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.fuzz.targets.asking import RIGHT, alive, failure, gone


def test_a_failure_ends_the_program_and_its_children(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pids = tmp_path / "pids"
    start = (
        "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')"
    )
    target = program("time.sleep(600)", before=start, timeout=4)
    assert failure(target).kind == "hung"
    for pid in map(int, pids.read_text().split()):
        assert gone(pid)


def test_closing_ends_a_program_that_ignores_the_end_of_its_input(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pids = tmp_path / "pids"
    start = (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(pids)!r}, 'w').write(str(os.getpid()))"
    )
    target = program(RIGHT + 'if question.get("key") == "b": time.sleep(600)', before=start)
    assert target.answer(("a",), ("b",)) == [()]
    assert alive(int(pids.read_text()))
    target.close()
    assert gone(int(pids.read_text()))


def test_an_interrupt_ends_the_program(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pids = tmp_path / "pids"
    target = program("time.sleep(600)", before=f"open({str(pids)!r}, 'w').write(str(os.getpid()))", timeout=60)

    def interrupt() -> None:
        while not (pids.exists() and pids.read_text()):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)  # as a terminal sends it: to the process

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):  # and no failure for want of an answer, which comes after a minute
        target.answer(("a",), ("a",))
    thread.join()
    assert gone(int(pids.read_text()))


def test_a_program_that_nobody_closed_ends_with_the_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "forgetful.py"
    script.write_text(
        "from dfa_router.language.dialects import AMQP\nfrom dfa_router.fuzz.targets import open_target\n"
        "target = open_target('cmd:sleep 600', AMQP)\nprint(target._process._process.pid)\n"
    )
    root = Path(__file__).parents[3]
    said = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, check=True
    )
    assert gone(int(said.stdout))
