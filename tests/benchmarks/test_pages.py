"""The pages in ``benchmarks/results``: their prose is what the code writes today, and their links and commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click import Context, Group, Option

from benchmarks.__main__ import benchmarks
from benchmarks.ablations import ABLATIONS
from benchmarks.ablations import page as ablations
from benchmarks.engine import page as engine
from benchmarks.seeds.pages import claims as seeds_claims
from benchmarks.seeds.pages import prose as seeds
from benchmarks.verification.brokers import page as brokers
from benchmarks.verification.findings import page as findings

REPOSITORY = Path(__file__).parents[2]
ROOM = REPOSITORY / "benchmarks"
RESULTS = ROOM / "results"
PAGES = [*sorted(ROOM.glob("*.md")), *sorted(RESULTS.glob("*.md"))]
SOURCES = sorted(
    path
    for folder in ("", "benchmarks", "compiler", "dfa_router", "docs", "examples", "tests", "viz")
    for path in (REPOSITORY / folder).glob("**/*" if folder else "*")
    if path.suffix in (".md", ".py") or path.name in ("Makefile", "pyproject.toml")
)
PROSE = {
    "ablations": [ablations.METHOD, *(ablation.choice for ablation in ABLATIONS)],
    "brokers": [brokers.METHOD, brokers.REFUSALS, brokers.SHARED],
    "engine": [engine.BIAS, *(about for name, about in engine.ABOUT.items())],
    "findings": [findings.METHOD],
    "seeds": [getattr(seeds, name) for name in seeds.__all__],
    "seeds-claims": [seeds_claims.ABOUT],
}

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOM)))


@pytest.mark.parametrize("name", PROSE)
def test_a_page_has_the_prose_that_is_written_today(name: str) -> None:
    text = (RESULTS / f"{name}.md").read_text("utf-8")
    assert [part for part in PROSE[name] if part not in text] == []


@each_page
def test_links_and_pictures_lead_to_files(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target


def test_the_readme_links_every_page_table_and_plot() -> None:
    linked = set()
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            linked.add((page.parent / target).resolve())
    assert [path.name for path in sorted(RESULTS.iterdir()) if path not in linked] == []


def test_every_command_that_is_named_exists() -> None:
    """``python -m benchmarks NAME --option``: the command and its options, wherever a page or a docstring names them."""
    named = set()
    for path in SOURCES:
        for line in re.findall(r"python -m benchmarks ([a-z][^`\n#;|]*)", path.read_text("utf-8")):
            words = shlex.split(line.partition("{")[0].replace('"', " ").replace("'", " "))
            command = benchmarks.get_command(Context(benchmarks), words[0].rstrip(".,:)"))
            assert command is not None, (path, line)
            known = {option for parameter in command.params for option in parameter.opts}
            assert {word.rstrip(".,:)") for word in words if word.startswith("--")} <= known, (path, line)
            named.add(command.name)
    assert named == set(benchmarks.commands)


def test_the_readme_names_every_command() -> None:
    assert isinstance(benchmarks, Group)
    text = (ROOM / "README.md").read_text("utf-8")
    assert [name for name in benchmarks.commands if f"`{name}`" not in text] == []


def test_the_help_names_the_commands_that_write_no_figures() -> None:
    written = {
        name: option.help or ""
        for name, command in benchmarks.commands.items()
        for option in command.params
        if isinstance(option, Option) and option.name == "out"
    }
    without = {name for name, files in written.items() if ".csv" not in files}
    told = re.search(r"all but (.+?) write", " ".join((benchmarks.help or "").split()))
    assert told is not None
    assert set(re.findall(r"\w+", told[1])) - {"and"} == without != set()
