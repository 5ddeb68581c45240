"""Compiled routers in files: one with a file to itself, or all that belong together in one.

Every router is a run of sections (:mod:`dfa_router.storage.compiled`) in a file of :mod:`compiler.storage.sections`. In a
file of many, each section's name begins with its router's number. The checksum is of the whole file and is looked at when
it is mapped; the rest of a router is checked when that router is first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from compiler.storage.sections import map_file, write_file
from dfa_router.engines.protocol import EngineInfo
from dfa_router.engines.registry import engine_spec, engines
from dfa_router.storage.compiled import SCHEMA, Compiled, compiled_of, sections_of

__all__ = ["CompiledFile", "read_compiled", "write_compiled", "write_several"]

Path = str | os.PathLike[str]


def read_compiled(path: Path) -> Compiled:
    """Map the file of one router, and check all of it; raises :class:`FileFormatError`."""
    return compiled_of(map_file(path, SCHEMA), _readable(), path)


def write_compiled(path: Path, compiled: Compiled) -> None:
    """Write a router to a file of its own, atomically; raises ``OSError`` if the path cannot be written."""
    write_file(path, sections_of(compiled))


def write_several(path: Path, routers: Mapping[int, Compiled]) -> None:
    """Write several routers to one file, atomically; raises ``OSError`` if the path cannot be written."""
    sections = {
        f"{number}/{name}": section
        for number, compiled in routers.items()
        for name, section in sections_of(compiled).items()
    }
    write_file(path, sections)


class CompiledFile:
    """The routers of a file that :func:`write_several` has written."""

    def __init__(self, path: Path, numbers: Collection[int]) -> None:
        """Map the file; raises :class:`FileFormatError` unless it has routers of just these numbers, in this order."""
        self._path = path
        self._sections = map_file(
            path, {f"{number}/{name}": kind for number in numbers for name, kind in SCHEMA.items()}
        )

    def compiled(self, number: int) -> Compiled:
        """Check a router and return it; raises :class:`FileFormatError`."""
        sections = {name: self._sections[f"{number}/{name}"] for name in SCHEMA}
        return compiled_of(sections, _readable(), self._path)


def _readable() -> dict[str, EngineInfo]:
    """Return the engines that a file may name."""
    specs = {name: engine_spec(name) for name in engines()}
    return {name: spec.info for name, spec in specs.items() if spec.restore}
