"""What CONTRIBUTING.md, SECURITY.md, the guarantees and the glossary name is there: files, folders, recipes of make, and names in modules."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from compiler.kernels.kept import places

REPOSITORY = Path(__file__).parents[2]
PAGES = ("CONTRIBUTING.md", "SECURITY.md", "docs/glossary.md", "docs/guarantees.md")
ROOTS = ("compiler", "dfa_router", "viz", "benchmarks", "tests", "scripts", "docs", "examples")


def _code(page: str) -> list[str]:
    """Return what a page has in backticks, and the lines of its blocks of code."""
    text = (REPOSITORY / page).read_text("utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [*spans, *(line for block in blocks for line in block.splitlines())]


@pytest.mark.parametrize("page", PAGES)
def test_every_path_exists(page: str) -> None:
    named = {
        path.rstrip("/.")
        for code in _code(page)
        for path in re.findall(rf"(?<![\w./-])((?:{'|'.join(ROOTS)})/[\w./-]+|\w[\w.-]*\.(?:md|toml|yaml))", code)
        if "NAME" not in path
    }
    assert len(named) >= 15
    assert sorted(path for path in named if not (REPOSITORY / path).exists()) == []


def test_the_folders_of_trusted_machine_code_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the row of SECURITY.md that says who may write there, since what lies there is unpickled."""
    (row,) = re.findall(r"^\| compiled kernels .*", (REPOSITORY / "SECURITY.md").read_text("utf-8"), re.MULTILINE)
    assert "unpickle" in row
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    in_home, in_package = places()
    assert (in_home, "`~/.cache`" in row) == (Path.home() / ".cache" / "dfa-router", True)
    beside = in_package.parents[1]
    assert f"`{in_package.relative_to(beside)}` beside `{beside.relative_to(REPOSITORY) / 'kept.py'}`" in row
    for variable, shown in (("XDG_CACHE_HOME", "$XDG_CACHE_HOME"), ("NUMBA_CACHE_DIR", "NUMBA_CACHE_DIR")):
        monkeypatch.setenv(variable, "/chosen")
        assert places()[0] == Path("/chosen/dfa-router")
        assert f"`{shown}`" in row


def test_every_recipe_of_make_exists() -> None:
    recipes = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {recipe for code in _code("CONTRIBUTING.md") for recipe in re.findall(r"\bmake ([a-z]+)", code)}
    assert {"check", "test"} <= named <= recipes


def test_the_doors_of_arrow_are_those_that_ruff_leaves_open() -> None:
    """The modules that may import pyarrow."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    doors = set()
    for pattern, codes in settings["per-file-ignores"].items():
        if "TID251" in codes and pattern.startswith("dfa_router/"):
            before, names, after = re.fullmatch(r"([^{]*)\{?([^}]*)\}?(.*)", pattern).groups()  # type: ignore[union-attr]
            doors |= {f"{before}{name}{after}".removesuffix("/**") for name in names.split(",")}
    (told,) = re.findall(r"pyarrow in (.*?)\.\n\n", (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL)
    alone, of_rabbitmq = told.split("and of\n  `dfa_router/rabbitmq` in")
    named = {f"dfa_router/rabbitmq/{name}" for name in re.findall(r"`(.*?)`", of_rabbitmq)}
    assert {*re.findall(r"`(.*?)`", alone), *named} == doors


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("DIALECTS", "dfa_router/language/dialects.py"),
        ("_VALIDITY", "dfa_router/language/dialects.py"),
        ("key_space", "dfa_router/language/rules.py"),
        ("EngineSpec", "dfa_router/engines/protocol.py"),
        ("SIMULATED", "dfa_router/rabbitmq/exchange_types.py"),
        ("CLASSES", "dfa_router/fuzz/generating/classes.py"),
        ("PADDING", "compiler/kernels/tables.py"),
        ("test_kernels_compile_for_one_signature_each", "tests/compiler/kernels/test_signatures.py"),
        ("pinned", "benchmarks/measure.py"),
    ],
)
def test_every_name_is_where_the_recipes_say(name: str, place: str) -> None:
    """The names that a recipe tells to look for."""
    assert any(name in code for code in _code("CONTRIBUTING.md"))
    path = REPOSITORY / place
    sources = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    assert any(re.search(rf"^(def |class |){name}\b", source.read_text("utf-8"), re.MULTILINE) for source in sources)
