"""The structure of a checkout in figures: circles of imports, modules per folder, long files, and what the wheel holds.

    python scripts/structure.py                 # of this checkout
    python scripts/structure.py --root DIR      # of another one, to compare
    python scripts/structure.py --wheel         # builds the wheel, and tells what it holds
    python scripts/structure.py --check         # fails on a circle: `make check` runs this

A circle is a set of files each of which is reached from every other by imports. Counted are imports at the top of a file
and inside functions, those for type checkers alone, and strings that name a module of the checkout, which is how an import
hides from other tools.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import networkx as nx

PACKAGES = ("compiler", "dfa_router", "viz", "benchmarks")
LONG = 300
"""Lines of a file that is listed as long."""


def modules(root: Path) -> dict[str, Path]:
    """Return the modules of a checkout by dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(tree: ast.AST, known: Iterable[str]) -> Iterator[str]:
    """Yield the modules of the checkout that a file imports, wherever and however it says so."""
    known = set(known)
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            names = [node.value] if node.value in known else []
        for name in names:
            while name and name not in known:
                name = name.rpartition(".")[0]  # noqa: PLW2901 - a name of a module, or of something in one
            if name:
                yield name


def circles(found: dict[str, Path]) -> list[list[str]]:
    """Return the circles, each as its modules in alphabetical order."""
    graph = nx.DiGraph()
    for module, path in found.items():
        tree = ast.parse(path.read_text("utf-8"))
        graph.add_edges_from((module, other) for other in imports(tree, found) if other != module)
    return sorted(sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1)


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text("utf-8").splitlines())


def folders(root: Path, found: dict[str, Path]) -> Iterator[str]:
    """Yield a line for each folder: its modules, and their lines."""
    by_folder: defaultdict[str, list[int]] = defaultdict(list)
    for path in found.values():
        by_folder[str(path.parent.relative_to(root))].append(lines(path))
    for folder, counts in sorted(by_folder.items()):
        yield f"  {folder:42} {len(counts):3} modules, {sum(counts):5,} lines"


def wheel(root: Path) -> Iterator[str]:
    """Build the wheel, and yield what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(root)]
        subprocess.run(command, check=True)
        (path,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(path) as archive:
            held = Counter("/".join(name.split("/")[:2]) for name in archive.namelist() if name.endswith(".py"))
            yield f"wheel: {path.stat().st_size / 1024:,.0f} KiB, {len(archive.namelist())} files"
            for place, count in sorted(held.items()):
                if not place.endswith(".py"):
                    yield f"  {place:42} {count:3} modules"


def main() -> int:
    """Print the figures; return 1 if there is a circle and that is asked."""
    parser = argparse.ArgumentParser(description="The structure of a checkout in figures.")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the checkout")
    parser.add_argument("--check", action="store_true", help="say nothing but circles, and fail if there is one")
    parser.add_argument("--wheel", action="store_true", help="build the wheel, and tell what it holds")
    options = parser.parse_args()
    root = options.root.resolve()
    found = modules(root)
    rounds = circles(found)
    if rounds or not options.check:
        print(f"circles of imports: {len(rounds)}")
        for part in rounds:
            print(f"  {len(part)} files: {', '.join(part)}")
    if options.check:
        return 1 if rounds else 0
    product = {module: path for module, path in found.items() if not module.startswith("benchmarks")}
    long = sorted(((lines(path), path) for path in found.values() if lines(path) > LONG), reverse=True)
    print(f"modules: {len(product)} of the product, {len(found) - len(product)} of benchmarks")
    print("\n".join(folders(root, found)))
    print(f"files over {LONG} lines: {len(long)}")
    for count, path in long:
        print(f"  {count:5} {path.relative_to(root)}")
    if options.wheel:
        print("\n".join(wheel(root)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
