"""Which engines a page measured: a digest of their sources, by which a test knows that the page is older than the checkout.

What counts are the modules that the registry of engines is made of, found by following imports from it, and those of the
reference that are no engines. Comments, docstrings and white space do not count. So a page is out of date when code of an
engine has changed, and only then. A syntax tree would be simpler to hash, but differs between versions of Python.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

__all__ = ["code_of", "digest", "modules"]

ROOT = Path(__file__).parents[2]
STARTS = ("dfa_router.engines.registry", "dfa_router.engines.live", "dfa_router.reference")
PACKAGES = ("compiler", "dfa_router")
ASIDE = {"compiler.automata.dump", "compiler.notebook", "compiler.prepare"}
"""Modules that match nothing: they draw, or call for every kernel there is. They are not followed."""


def digest(root: Path = ROOT) -> str:
    """Return sixteen hexadecimal digits that change when code of an engine does.

    >>> len(digest())
    16
    """
    whole = hashlib.sha256()
    for name in sorted(modules(root)):
        whole.update(f"{name}\n{code_of(_file(root, name).read_text('utf-8'))}\n".encode())
    return whole.hexdigest()[:16]


def code_of(source: str) -> str:
    r"""Return a module's text without comments, docstrings and white space.

    >>> code_of("'Adds.'\n\nx = 1  # one\n")
    'x=1'
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)  # type: ignore[operator]
    return "".join("".join(lines).split())


def modules(root: Path = ROOT) -> set[str]:
    """Return the modules of this checkout that the engines are made of.

    A package's ``__init__`` that is run on the way to one of its modules is not followed: it would lead to everything.
    """
    found: set[str] = set()
    waiting = list(STARTS)
    while waiting:
        name = waiting.pop()
        if name not in found | ASIDE:
            found.add(name)
            waiting += _imported(root, name)
    return found


def _imported(root: Path, name: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_file(root, name).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            submodules = [other for other in inside if _is_module(root, other)]
            yield from submodules
            if len(submodules) < len(inside):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in PACKAGES)


def _is_module(root: Path, name: str) -> bool:
    path = root.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def _file(root: Path, name: str) -> Path:
    path = root.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
