"""What is public exists and is documented: every ``__all__``, and the pages of docs/api that are written from it."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dfa_router.logs.trace_records import TRACE

REPOSITORY = Path(__file__).parents[2]
API = REPOSITORY / "docs" / "api"
PACKAGES = ("compiler", "dfa_router", "viz")
NEEDS = {
    "dfa_router.spark": "pyspark",
    "dfa_router.brokers.amqp": "pamqp",
    "dfa_router.tables.delta": "deltalake",
    "dfa_router.tables.iceberg": "pyiceberg",
    "dfa_router.cli": "click",
}
"""Optional packages, without which a module and those below it cannot be imported."""

DOCUMENTED = (
    "dfa_router",
    "dfa_router.analysis",
    "dfa_router.lint",
    "dfa_router.rabbitmq",
    "dfa_router.spark",
    "dfa_router.sql",
    "dfa_router.tables",
    "dfa_router.reference",
    "dfa_router.fuzz",
    "dfa_router.brokers",
    "viz",
    "compiler",
)


def _public_modules() -> list[str]:
    """Return the modules whose names have no underscore in front, except packages that hold a docstring alone."""
    found = []
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            parts = path.relative_to(REPOSITORY).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if any(part.startswith("_") for part in parts) or path.name == "serve.py":  # a program, run by its path
                continue
            if len(ast.parse(path.read_text("utf-8")).body) > 1:
                found.append(".".join(parts))
    return found


def _imported(module: str) -> ModuleType:
    for needing, package in NEEDS.items():
        if (module + ".").startswith(needing) and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    return importlib.import_module(module)


@pytest.mark.parametrize("module", _public_modules())
def test_every_public_name_exists(module: str) -> None:
    imported = _imported(module)
    names = getattr(imported, "__all__", None)
    assert names is not None, f"{module} has no __all__"
    assert len(set(names)) == len(names), f"a name occurs twice in {module}.__all__"
    assert [name for name in names if not hasattr(imported, name)] == []


@pytest.mark.parametrize("package", DOCUMENTED)
def test_every_public_name_has_an_entry_with_a_docstring(package: str) -> None:
    page = (API / f"{package}.md").read_text("utf-8")
    entries = dict(re.findall(r"^## (\w+)\n\n```python\n.*?\n```\n\n(.*?)^Defined in", page, re.MULTILINE | re.DOTALL))
    assert set(_imported(package).__all__) == entries.keys()
    assert [name for name, text in entries.items() if not text.strip()] == []


def test_what_the_pages_tell_to_import_has_an_entry() -> None:
    """Other modules may change at any time, as docs/api says, so a user is told to import from none of them."""
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    told = [line for page in pages for line in page.read_text("utf-8").splitlines()]
    matched = [
        re.match(r"(?:>>> |\.\.\. )?\s*from ((?:dfa_router|viz|compiler)[\w.]*) import (.+)", line) for line in told
    ]
    imports = {(one[1], name.strip()) for one in matched if one for name in one[2].split(",")}
    assert len(imports) >= 8
    assert {package for package, _ in imports} <= set(DOCUMENTED)
    assert {
        (package, name) for package, name in imports if f"## {name}\n" not in (API / f"{package}.md").read_text("utf-8")
    } == set()


def test_the_pages_are_what_the_docstrings_say() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/api_pages.py", "--check"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", DOCUMENTED)
def test_examples_need_nothing_but_the_names_of_their_page(package: str) -> None:
    """Whoever copies an example of an entry has to import what the page describes, and the example the rest."""
    page = (API / f"{package}.md").read_text("utf-8")
    lacking = []
    for entry in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        examples = doctest.DocTestParser().get_examples(re.sub(r"^```$", "", entry, flags=re.MULTILINE))
        names = [node for one in examples for node in ast.walk(ast.parse(one.source))]
        made = {node.id for node in names if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        made |= {node.arg for node in names if isinstance(node, ast.arg)}
        made |= {node.name for node in names if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        made |= {
            one.asname or one.name
            for node in names
            if isinstance(node, ast.Import | ast.ImportFrom)
            for one in node.names
        }
        read = {node.id for node in names if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        known = made | set(_imported(package).__all__) | vars(builtins).keys()
        lacking += [(entry.partition("\n")[0], name) for name in sorted(read - known)]
    assert lacking == []


@pytest.mark.parametrize("package", [one for one in DOCUMENTED if one != "dfa_router.spark"])
def test_an_example_runs_where_it_is_copied(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entry in a namespace of its own, in which nothing is imported; those of Spark would need a session of their own."""
    monkeypatch.chdir(REPOSITORY)
    page = (API / f"{package}.md").read_text("utf-8")
    for entry in re.split(r"\n##+ ", page):
        code = "\n".join(re.findall(r"```python\n(>>> .*?)```", entry, re.DOTALL))
        test = doctest.DocTestParser().get_doctest(code, {}, entry.partition("\n")[0], package, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        said: list[str] = []
        runner.run(test, out=said.append)
        assert "".join(said) == ""


@pytest.mark.parametrize("page", sorted(API.glob("*.md")), ids=lambda page: page.name)
def test_every_fragment_is_a_heading(page: Path) -> None:
    """Links between the pages lead to headings, as GitHub names them."""
    for target in re.findall(r"\]\(([^)]*#[^)]+)\)", page.read_text("utf-8")):
        name, _, fragment = target.partition("#")
        headings = re.findall(r"^#+ (.+)$", (API / (name or page.name)).read_text("utf-8"), re.MULTILINE)
        assert fragment in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, target


def test_a_method_that_a_class_mentions_is_its_own() -> None:
    """``save`` in a docstring of Router is Router's, though viz has a function of that name."""
    page = (API / "dfa_router.md").read_text("utf-8")
    sections = dict(re.findall(r"^### (\w+\.\w+)\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL))
    assert "[`save`](dfa_router.md#routersave) writes them" in sections["Router.seal"]
    assert "see [`compile`](dfa_router.md#topologycompile)" in sections["Topology.route"]
    assert "for [`load`](dfa_router.md#load)" in sections["Router.save"]  # a function, and no method


def test_what_a_class_inherits_from_a_base_without_an_entry_is_in_its_own() -> None:
    """What a topology holds stands in such a base: whoever reads of ``Topology.limits`` or ``warnings`` finds them here."""
    page = (API / "dfa_router.rabbitmq.md").read_text("utf-8")
    entry = page.partition("\n## Topology\n")[2].partition("\n## ")[0]
    assert {"exchanges", "queues", "bindings", "warnings", "broker"} <= set(
        re.findall(r"^- `(\w+): ", entry, re.MULTILINE)
    )
    assert {"limits", "exchange", "route"} <= set(re.findall(r"^### Topology\.(\w+)$", entry, re.MULTILINE))


def test_the_columns_of_a_trace_are_told_in_their_order() -> None:
    page = (API / "dfa_router.spark.md").read_text("utf-8")
    told = page.partition("The columns before these two are ")[2].partition("\n\n")[0]
    assert [name for name in re.findall(r"``(\w+)``", told) if name not in {"published", "received"}] == TRACE.names
