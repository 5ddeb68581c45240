"""Signals that come again and again: the first one interrupts a command, and none after it ends in a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
import os, signal, sys, time
import click
from dfa_router.cli.interrupts import interrupted_once, signal_handlers
from dfa_router.cli.running import run_group

@click.group()
def group(): ...

@group.command()
def work():
    with interrupted_once(signal_handlers(), again=lambda: None):
        os.kill(os.getpid(), signal.{name})
        time.sleep(100)

before = signal_handlers()
code = run_group(group, ["work"], "program", {since})
print(signal_handlers() == before, flush=True)
os.kill(os.getpid(), signal.{name})
os.kill(os.getpid(), signal.SIGINT)
sys.exit(code)
"""


def ran(name: str, since: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(name=name, since=since)
    return subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.parametrize(("name", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_a_process_that_is_ending_takes_no_further_signal(name: str, code: int, said: str) -> None:
    told = ran(name, "time.monotonic()")
    assert (told.returncode, told.stdout, told.stderr.split()) == (code, "False\n", [said])


def test_a_program_that_runs_a_command_has_its_handlers_back() -> None:
    told = ran("SIGINT", "None")
    assert told.stdout == "True\n"
    assert told.returncode == -signal.SIGINT


@pytest.mark.parametrize("package", ["numpy", "click"])
def test_ctrl_c_while_a_command_imports_ends_it_in_a_word(tmp_path: Path, package: str) -> None:
    """One of what the package imports, and one of what the command does, sends the signal."""
    (tmp_path / f"{package}.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    script = tmp_path / "dfa-router"
    script.write_text("from dfa_router.cli import main\nmain()\n")
    for program in (["-m", "dfa_router"], [str(script)]):
        told = subprocess.run(
            [sys.executable, *program, "--version"],
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"},
            capture_output=True,
            text=True,
            check=False,
            # A process inherits signals that are ignored, as Ctrl-C is where the tests run in a shell's background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert (told.returncode, told.stdout, told.stderr) == (130, "", "interrupted\n")


def test_importing_the_package_changes_no_handler() -> None:
    program = "import signal, dfa_router; print(signal.getsignal(signal.SIGINT) in {signal.default_int_handler, 1})"
    told = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert told.stdout == "True\n"
