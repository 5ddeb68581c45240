"""Writes docs/api: a page for each public package, with the signature and the docstring of every name in its ``__all__``.

    python scripts/api_pages.py            # write the pages
    python scripts/api_pages.py --check    # fail if a page is not what would be written

The pages are made of the sources alone: nothing is imported, so that neither the Python version nor an optional package
that is missing changes a page. A name is followed through ``from ... import`` to the module that defines it. Signatures
are shown as they are written there, fields with the docstring below them.

A class has what it inherits from a base that has no entry of its own.

What this leaves out: what a class inherits from bases that have entries (it names them), private names, and what is computed
when a module is imported. Rejected: a documentation site built by Sphinx or MkDocs. Its pages are not readable in the repository, and a
change of the interface would not show in a diff.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from api_examples import imports_for  # type: ignore[import-not-found]  # beside this file, which is run as a program

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "api"
PACKAGES = (
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
OURS = ("dfa_router", "viz", "compiler")
WIDEST = 100
"""Characters of the longest signature that stands on one line."""

Definition = ast.ClassDef | ast.FunctionDef | ast.Assign | ast.AnnAssign


class Found(NamedTuple):
    """Where a public name is defined."""

    module: str
    node: Definition
    doc: str


def page_name(package: str) -> str:
    """Return the file name of a package's page."""
    return f"{package}.md"


@cache
def source_of(module: str) -> str:
    """Return the text of a module or package of this checkout."""
    path = ROOT.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.read_text("utf-8")


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module or package of this checkout."""
    return ast.parse(source_of(module))


def public_names(module: str) -> list[str]:
    """Return the names in ``__all__``."""
    for node in tree_of(module).body:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
            return list(ast.literal_eval(node.value))
    raise SystemExit(f"api_pages: {module} has no __all__")


def statements(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each statement with its docstring: its own, or the string that follows an assignment."""
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node, ast.get_docstring(node) or ""
        elif (
            isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
        ):
            yield node, inspect.cleandoc(after.value.value)
        else:
            yield node, ""


def assigned(node: ast.stmt) -> str | None:
    """Return the name that an assignment of one name binds, or None."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def find(module: str, name: str) -> Found:
    """Follow a name to its definition."""
    for node, doc in statements(tree_of(module).body):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return Found(module, node, doc)
        if isinstance(node, ast.Assign | ast.AnnAssign) and assigned(node) == name:
            return Found(module, node, doc)
    for inner in ast.walk(tree_of(module)):
        if isinstance(inner, ast.ImportFrom) and inner.module:
            for alias in inner.names:
                if (alias.asname or alias.name) == name:
                    return find(inner.module, alias.name)
    raise SystemExit(f"api_pages: {module} names {name} in __all__, and no statement defines or imports it")


# --- Docstrings to Markdown


def anchor(heading: str) -> str:
    """Return the fragment by which GitHub links to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def links() -> dict[str, str]:
    """Return page and fragment of every documented name and method, by the paths under which docstrings mention it."""
    found = {}
    for package in PACKAGES:
        found[package] = page_name(package)
        for name in public_names(package):
            where = find(package, name)
            headings = [name]
            if isinstance(where.node, ast.ClassDef):
                headings += [f"{name}.{method.name}" for method, _ in methods(members(where))]
            for heading in headings:
                # A bare name that several packages export means that of the page which mentions it, else the first one's.
                for path in (f"{where.module}.{heading}", f"{package}.{heading}", heading):
                    found.setdefault(path, f"{page_name(package)}#{anchor(heading)}")
    return found


def reference(role: str, target: str, package: str, within: str) -> str:
    """Return a cross-reference of a docstring as a link, or as code where it leads to no page.

    ``within`` is the class that mentions it, or empty: a method that is named there alone is its own, whatever else has that name.
    """
    target = target.lstrip("~")
    owner = target.rpartition(".")[0]  # of a field, which has no heading of its own
    own = [f"{package}.{within}.{target}"] if within and role in {"meth", "attr"} else []
    places = (*own, f"{package}.{target}", target, f"{package}.{owner}", owner)
    link = next((links()[place] for place in places if place in links()), None)
    shown = re.sub(r"^(dfa_router|viz|compiler)(\.\w+)*\.(?=[A-Z])", "", target)
    return f"[`{shown}`]({link})" if link and "#" in link else f"`{shown}`"


def inline(text: str, package: str, within: str = "") -> str:
    """Turn cross-references into links; literals in double backticks are Markdown as they are."""
    return re.sub(r":([a-z]+):`([^`]+)`", lambda match: reference(match[1], match[2], package, within), text)


def markdown(doc: str, package: str, within: str = "", *, module: str) -> str:
    """Return a docstring as Markdown: doctests and literal blocks are fenced, Google's sections are lists.

    Its first example begins with the imports that all of them need.
    """
    parts = []
    imports = [f">>> {line}" for line in imports_for(doc, module, tree_of(module), package, public_names(package))]
    literal = False
    for block in re.split(r"\n\s*\n", doc):
        lines = block.splitlines()
        if block.startswith(">>>"):
            parts.append("\n".join(["```python", *imports, block, "```"]))
            imports = []
        elif literal and all(line.startswith("    ") for line in lines):
            fenced = inspect.cleandoc("\n" + block)
            if parts and parts[-1].endswith("\n```") and not parts[-1].startswith("```python"):
                parts[-1] = f"{parts[-1][:-4]}\n\n{fenced}\n```"
            else:
                parts.append(f"```text\n{fenced}\n```")
            continue
        elif lines and lines[0] in {"Args:", "Raises:", "Returns:", "Yields:"}:
            parts.append(section(lines, package, within))
        elif block.strip() != "::":
            parts.append(inline(re.sub(r"::$", ":", block), package, within))
        literal = block.rstrip().endswith("::")
    return "\n\n".join(parts)


def section(lines: list[str], package: str, within: str) -> str:
    """Return a section of Google's style, such as ``Args:``, as a list."""
    body = inspect.cleandoc("\n" + "\n".join(lines[1:]))
    entries = []
    for entry in re.split(r"\n(?=\S)", body):
        text = " ".join(entry.split())
        entries.append("- " + inline(re.sub(r"^(\w+): ", r"`\1`: ", text), package, within))
    return f"{lines[0][:-1]}:\n\n" + "\n".join(entries)


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring, on one line."""
    text = " ".join(doc.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`])", text)[0].rstrip(":")


# --- Pages


def arguments(node: ast.FunctionDef, *, bound: bool) -> list[str]:
    """Return the parameters as they are written, one each; ``bound`` leaves out the first, which is self or cls."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    shown = [parameter(each, default) for each, default in zip(plain, defaults, strict=True)][bound:]
    if given.vararg:
        shown.append("*" + ast.unparse(given.vararg))
    elif given.kwonlyargs:
        shown.append("*")
    shown += [parameter(each, default) for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [*shown, *(["**" + ast.unparse(given.kwarg)] if given.kwarg else [])]


def parameter(node: ast.arg, default: ast.expr | None) -> str:
    """Return a parameter with its annotation and default."""
    if default is None:
        return ast.unparse(node)
    return f"{ast.unparse(node)}{' = ' if node.annotation else '='}{quoted(default)}"


def quoted(node: ast.expr) -> str:
    """Return a default as it is written, with double quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and '"' not in repr(node.value):
        return repr(node.value).replace("'", '"')
    return ast.unparse(node)


def signature(name: str, node: ast.FunctionDef, *, bound: bool) -> str:
    """Return a call's signature as a block of code."""
    shown = arguments(node, bound=bound)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{name}({', '.join(shown)}){returns}"
    if len(line) > WIDEST:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){returns}"
    return f"```python\n{line}\n```"


@cache
def with_entries() -> frozenset[tuple[str, str]]:
    """Return the names that have entries, and the modules that define them."""
    return frozenset((find(package, name).module, name) for package in PACKAGES for name in public_names(package))


def members(found: Found) -> list[tuple[ast.stmt, str]]:
    """Return the statements of a class with their docstrings, behind those of its bases of ours that have no entry."""
    assert isinstance(found.node, ast.ClassDef)
    own = list(statements(found.node.body))
    again = {called(node) for node, _ in own}
    imported = {
        alias.asname or alias.name: inner.module or ""
        for inner in ast.walk(tree_of(found.module))
        if isinstance(inner, ast.ImportFrom)
        for alias in inner.names
    }
    inherited = []
    for base in map(ast.unparse, found.node.bases):
        if imported.get(base, "").split(".")[0] in OURS:
            where = find(found.module, base)
            if (where.module, base) not in with_entries():
                inherited += [(node, doc) for node, doc in members(where) if called(node) not in again]
    return inherited + own


def called(node: ast.stmt) -> str | None:
    """Return the name of a method or field."""
    return node.name if isinstance(node, ast.FunctionDef) else assigned(node)


def methods(inside: list[tuple[ast.stmt, str]]) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Yield the public methods and properties among the members of a class with their docstrings."""
    for method, doc in inside:
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
            yield method, doc


def field_text(node: ast.stmt) -> str:
    """Return a field with its annotation and default."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)} = {quoted(node.value)}"
    return ast.unparse(node)


def decorators(node: ast.ClassDef | ast.FunctionDef) -> set[str]:
    """Return the last names of the decorators, such as ``dataclass`` and ``once``."""
    return {ast.unparse(each).split("(")[0].rpartition(".")[2] for each in node.decorator_list}


def class_parts(name: str, found: Found, package: str) -> Iterator[str]:
    """Yield the parts of a class: its bases, docstring, fields and methods."""
    node = found.node
    assert isinstance(node, ast.ClassDef)
    inside = members(found)
    made = next((one for one, _ in inside if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    line = f"class {name}({bases})" if bases else f"class {name}"
    yield f"```python\n{line}\n```" if made is None else signature(line, made, bound=True).replace(" -> None", "")
    yield markdown(found.doc, package, name, module=found.module)
    fields = []
    for field, doc in inside:
        called = assigned(field)
        if called is not None and not called.startswith("_"):
            text = inline(" ".join(doc.split()), package, name)
            fields.append(f"- `{field_text(field)}`" + (f": {text}" if text else ""))
    if fields:
        yield "Fields:\n\n" + "\n".join(fields)
    for method, doc in methods(inside):
        kinds = decorators(method)
        yield f"### {name}.{method.name}"
        if kinds & {"property", "once"}:
            yield f"```python\n{method.name}: {ast.unparse(method.returns) if method.returns else 'Any'}\n```"
        else:
            yield signature(method.name, method, bound="staticmethod" not in kinds)
        yield markdown(doc, package, name, module=found.module)


def entry(name: str, package: str) -> Iterator[str]:
    """Yield the parts of a public name's entry."""
    found = find(package, name)
    yield f"## {name}"
    if isinstance(found.node, ast.ClassDef):
        yield from class_parts(name, found, package)
    elif isinstance(found.node, ast.FunctionDef):
        yield signature(name, found.node, bound=False)
        yield markdown(found.doc, package, module=found.module)
    else:
        yield f"```python\n{ast.get_source_segment(source_of(found.module), found.node)}\n```"
        yield markdown(found.doc, package, module=found.module)
    yield f"Defined in `{found.module}`."


def page(package: str) -> str:
    """Return the page of a package."""
    names = sorted(public_names(package), key=str.casefold)
    contents = []
    for name in names:
        said = inline(first_sentence(find(package, name).doc), package)
        contents.append(f"- [`{name}`](#{anchor(name)})" + (f": {said}" if said else ""))
    parts = [
        f"# {package}",
        f"<!-- Written by scripts/api_pages.py from the docstrings of {package}: change those, and run it again. -->",
        markdown(ast.get_docstring(tree_of(package)) or "", package, module=package),
        "\n".join(contents),
    ]
    for name in names:
        parts += entry(name, package)
    return "\n\n".join(part for part in parts if part) + "\n"


def index() -> str:
    """Return the page that lists the others."""
    lines = []
    for package in PACKAGES:
        said = inline(first_sentence(ast.get_docstring(tree_of(package)) or ""), package)
        lines.append(f"- [{package}]({page_name(package)}): {said}")
    return (
        "# The public interface\n\n"
        "<!-- Written by scripts/api_pages.py. -->\n\n"
        "Each page has the signature and the docstring of every public name of a package. Other modules may change at any\n"
        "time. The option `--help` describes the commands.\n\n" + "\n".join(lines) + "\n"
    )


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    return {"README.md": index(), **{page_name(package): page(package) for package in PACKAGES}}


def main() -> int:
    """Write the pages, or compare them; return 1 if one differs."""
    parser = argparse.ArgumentParser(description="Write docs/api from the docstrings.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a page differs")
    options = parser.parse_args()
    made = pages()
    there = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
    if options.check:
        stale = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
        if stale:
            print(f"docs/api is not what the docstrings say: {', '.join(stale)}; run python scripts/api_pages.py")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in there.keys() - made.keys():
        (FOLDER / name).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
