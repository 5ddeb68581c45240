"""The files of a benchmark's result: all values as CSV, a page, and a plot where one is wanted."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

__all__ = ["write_csv", "write_page", "write_result"]


def write_csv(path: Path, kind: type[Any], values: Sequence[Any]) -> None:
    """Write values of a dataclass, a line each below the names of its fields; without values, the names alone."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, [field.name for field in fields(kind)], lineterminator="\n")
        out.writeheader()
        out.writerows(asdict(value) for value in values)


def write_page(folder: Path, name: str, page: str) -> Path:
    """Write ``name.md`` into a folder, which is made; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text(page, "utf-8")
    return path


def write_result(
    folder: Path, name: str, kind: type[Any], values: Sequence[Any], page: str, draw: Callable[[Path], Path] | None
) -> list[Path]:
    """Write ``name.csv``, ``name.md`` and, by ``draw``, ``name.svg`` into a folder, which is made; return their paths."""
    paths = [folder / f"{name}.csv", write_page(folder, name, page)]
    write_csv(paths[0], kind, values)
    if draw is not None:
        paths.append(draw(folder / f"{name}.svg"))
    return paths
