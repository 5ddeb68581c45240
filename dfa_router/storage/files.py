"""Files of compiled routers: of one router, or of several that belong together.

A router is a run of sections (:mod:`dfa_router.storage.compiled`) in a file of :mod:`compiler.storage.sections`. In a file
of several routers, the name of each section begins with the number of its router. The checksum covers the whole file and
is checked when the file is read; the rest of a router is checked when that router is asked for.

The file of one router is copied into the process unless the caller wants it mapped. A file of several is mapped always: it
exists for the workers of one executor, who share its pages, and most of them need few of its routers.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from compiler.storage.sections import read_file, write_file
from dfa_router.engines.protocol import EngineSpec
from dfa_router.engines.registry import engine_spec, engines
from dfa_router.storage.compiled import SCHEMA, Compiled, compiled_of, sections_of

__all__ = ["CompiledFile", "read_compiled", "write_compiled", "write_several"]

Path = str | os.PathLike[str]


def read_compiled(path: Path, *, mapped: bool = False) -> Compiled:
    """Read the file of one router and check all of it; raises :class:`FileFormatError`.

    A file that is ``mapped`` must not be changed while the router is in use.
    """
    return compiled_of(read_file(path, SCHEMA, mapped=mapped), _readable(), path)


def write_compiled(path: Path, compiled: Compiled) -> None:
    """Write one router to a file, atomically; raises ``OSError`` if the path cannot be written."""
    write_file(path, sections_of(compiled))


def write_several(path: Path, routers: Mapping[int, Compiled]) -> None:
    """Write several routers by number to one file, atomically; raises ``OSError`` if the path cannot be written."""
    sections = {
        f"{number}/{name}": section
        for number, compiled in routers.items()
        for name, section in sections_of(compiled).items()
    }
    write_file(path, sections)


class CompiledFile:
    """A file of several routers, which :func:`write_several` wrote, mapped: nobody may change it while it is in use."""

    def __init__(self, path: Path, numbers: Collection[int]) -> None:
        """Map the file; raises :class:`FileFormatError` unless it has the routers of these numbers, in this order."""
        self._path = path
        schema = {f"{number}/{name}": kind for number in numbers for name, kind in SCHEMA.items()}
        self._sections = read_file(path, schema, mapped=True)

    def compiled(self, number: int) -> Compiled:
        """Check the router of that number and return it; raises :class:`FileFormatError`."""
        sections = {name: self._sections[f"{number}/{name}"] for name in SCHEMA}
        return compiled_of(sections, _readable(), self._path)


def _readable() -> dict[str, EngineSpec]:
    """Return the engines that a file may name."""
    specs = {name: engine_spec(name) for name in engines()}
    return {name: spec for name, spec in specs.items() if spec.restore}
