"""The README says what happens: its sessions are run, and its commands exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
README = REPOSITORY / "README.md"


def test_the_python_sessions_are_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ``>>>`` of the README gives the output that stands below it."""
    monkeypatch.chdir(REPOSITORY)
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted >= 9
    assert results.failed == 0


def test_every_make_target_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z]+)", README.read_text()))
    assert {"demo", "test"} <= named
    assert named <= set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


def test_every_command_and_option_exists() -> None:
    """The options of each ``dfa-router`` line are those of the command."""
    from click import Group

    from dfa_router.cli.app import app

    lines = re.findall(r"\$ dfa-router ((?:.*\\\n)*.*)", README.read_text())
    assert lines
    for line in lines:
        words = line.replace("\\\n", " ").split()
        command = app
        while isinstance(command, Group):
            command = command.commands[words.pop(0)]  # type: ignore[assignment]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (REPOSITORY / target).exists(), target
