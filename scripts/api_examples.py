"""The imports that an example of a docstring needs: its own module's names are there when it is tested, and not where it is copied."""

from __future__ import annotations

import ast
import doctest
from collections import defaultdict
from collections.abc import Collection, Iterator

__all__ = ["imports_for"]


def imports_for(doc: str, module: str, tree: ast.Module, package: str, public: Collection[str]) -> list[str]:
    r"""Return statements that import what the examples of a docstring use and do not make themselves.

    >>> tree = ast.parse("import numpy as np\ndef double(x): ...")
    >>> imports_for(">>> y = double(np.ones(2))", "pack.inner", tree, "pack", ["double"])
    ['import numpy as np', 'from pack import double']
    """
    needed = set(_needed(doc))
    known = dict(_imported(tree))
    defined = {name for node in tree.body for name in _names(node)}
    whole = []
    taken: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(needed):
        if name in public:
            taken[package].append(name)
        elif name in known:
            source, text = known[name]
            if source is None:
                whole.append(f"import {text}")
            else:
                taken[source].append(text)
        elif name in defined:
            taken[module].append(name)
    return [*whole, *(f"from {source} import {', '.join(names)}" for source, names in sorted(taken.items()))]


def _needed(doc: str) -> Iterator[str]:
    code = ast.parse("".join(example.source for example in doctest.DocTestParser().get_examples(doc)))
    nodes = list(ast.walk(code))
    made = {name for node in nodes for name in _names(node)} | {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in made:
            yield node.id


def _names(node: ast.AST) -> Iterator[str]:
    """Yield what a statement or an assigned name defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _imported(tree: ast.Module) -> Iterator[tuple[str, tuple[str | None, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            source = node.module if isinstance(node, ast.ImportFrom) else None
            for alias in node.names:
                text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                yield alias.asname or alias.name.split(".")[0], (source, text)
