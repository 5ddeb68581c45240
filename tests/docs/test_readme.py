"""The README says what happens: its sessions are run. And the commands and links of all pages lead somewhere."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
README = REPOSITORY / "README.md"
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "tests/*.md", "benchmarks/**/*.md")
    for page in REPOSITORY.glob(pattern)
)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))


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


@each_page
def test_every_command_and_option_exists(page: Path) -> None:
    """The options of each ``dfa-router`` line are those of the command."""
    from click import Group

    from dfa_router.cli.app import app

    text = page.read_text("utf-8")
    lines = re.findall(r"^(?:\$ | +)?(?:\.venv/bin/)?dfa-router ((?:.*\\\n)*.*)", text, re.MULTILINE)
    lines += re.findall(r"`dfa-router ([^`]+)`", text)
    assert lines or page != README
    for line in lines:
        words = shlex.split(line.replace("\\\n", " "))
        command = app
        while isinstance(command, Group):
            command = command.commands[words.pop(0)]  # type: ignore[assignment]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


@each_page
def test_links_lead_to_files(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r'src="([^":]+)"', text):
        assert (page.parent / target).exists(), target
