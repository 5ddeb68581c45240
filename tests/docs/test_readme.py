"""The README says what happens: its sessions are run. And the commands and links of all pages lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[2]
README = REPOSITORY / "README.md"
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "tests/*.md", "benchmarks/**/*.md")
    for page in REPOSITORY.glob(pattern)
)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))


def sessions(text: str) -> doctest.TestResults:
    """Run every ``>>>`` of a text, one after the other."""
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, "README.md", str(README), 0))
    return runner.summarize(verbose=False)


def on_spark(text: str) -> tuple[str, str]:
    """Return the README's section about Spark, and the rest: its session needs a JVM."""
    before, section = text.split("\n## On Spark\n")
    section, after = section.split("\n## ", 1)
    return section, f"{before}\n## {after}"


def test_the_python_sessions_are_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ``>>>`` of the README gives the output that stands below it."""
    monkeypatch.chdir(REPOSITORY)
    results = sessions(on_spark(README.read_text("utf-8"))[1])
    assert results.attempted >= 9
    assert results.failed == 0


@pytest.mark.spark
def test_the_session_on_spark_is_real(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    results = sessions(on_spark(README.read_text("utf-8"))[0])
    assert results.attempted >= 10
    assert results.failed == 0


def test_the_commands_of_the_section_on_changes_are_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ``$ dfa-router`` of that section writes what stands below it."""
    from dfa_router.cli.app import run

    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("COLUMNS", "80")
    section = README.read_text("utf-8").split("\n## Before a change is deployed\n")[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```console\n\$ dfa-router ([^\n]+)\n(.*?)```", section, re.DOTALL)
    assert [command.split()[0] for command, _ in blocks] == ["diff", "replay", "audit"]
    for command, expected in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            assert run(shlex.split(command)) == 1
        assert said.getvalue().strip() == expected.strip()


def test_the_command_that_finds_where_a_matcher_is_wrong_is_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a matcher that translates patterns into regular expressions, as many do."""
    from dfa_router.cli.app import run

    monkeypatch.chdir(tmp_path)
    section = README.read_text("utf-8").split("\n## Find where a matcher is wrong\n")[1].split("\n## ", 1)[0]
    matcher, _ = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    Path("mymatcher.py").write_text(matcher)
    ((command, expected),) = re.findall(r"```console\n\$ dfa-router ([^\n]+)\n(.*?)```", section, re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert run(shlex.split(command)) == 1
    assert said.getvalue().startswith(expected)


def test_the_licenses_are_those_of_the_package() -> None:
    text = README.read_text("utf-8").split("\n## License\n")[1]
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert all(re.search(rf"\b{re.escape(one)}\b", text) for one in project["license"].split(" AND "))


def test_every_make_target_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z]+)", README.read_text()))
    assert {"demo", "test"} <= named
    assert named <= set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


@each_page
def test_every_command_and_option_exists(page: Path) -> None:
    """The options of each ``dfa-router`` line are those of the command."""
    from click import Context, Group

    from dfa_router.cli.app import app

    text = page.read_text("utf-8")
    lines = re.findall(r"^(?:\$ | +)?(?:\.venv/bin/)?dfa-router ((?:.*\\\n)*.*)", text, re.MULTILINE)
    lines += re.findall(r"`dfa-router ([^`]+)`", text)
    assert lines or page != README
    for line in lines:
        words = shlex.split(line.replace("\\\n", " "))
        command = app
        while isinstance(command, Group):
            command = command.get_command(Context(command), words.pop(0))  # type: ignore[assignment]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


@each_page
def test_links_lead_to_files(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r'src="([^":]+)"', text):
        assert (page.parent / target).exists(), target
