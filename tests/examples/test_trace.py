"""The commands of the trace example's page run in a fresh copy of it, as they stand there."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from dfa_router.cli.app import run

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "trace"
PAGE = (FOLDER / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^dfa-router (.*)$", PAGE, re.MULTILINE)


def test_there_are_commands_and_the_page_says_what_they_need() -> None:
    assert [command.split()[0] for command in COMMANDS] == ["diff", "replay", "audit"]
    assert "dfa-router[cli,report]" in PAGE


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_each_command_runs_to_its_end(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "--html" in command:
        pytest.importorskip("matplotlib")
    shutil.copytree(FOLDER, tmp_path / "examples" / "trace")
    monkeypatch.chdir(tmp_path)
    # The proposal has findings; replay asks the definitions that the broker had, and agrees with it.
    assert run(shlex.split(command)) == (0 if command.startswith("replay ") else 1)
    assert (tmp_path / "audit.html").exists() == ("--html" in command)
