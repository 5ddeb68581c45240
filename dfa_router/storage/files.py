"""Files of compiled routers: a router is a run of sections (:mod:`dfa_router.storage.compiled`) in a file of
:mod:`compiler.storage.sections`, which is copied into the process unless the caller wants it mapped.
"""

from __future__ import annotations

import os

from compiler.storage.sections import read_file, write_file
from dfa_router.engines.protocol import EngineSpec
from dfa_router.engines.registry import engine_spec, engines
from dfa_router.storage.compiled import SCHEMA, SEALED, Compiled, compiled_of, sections_of

__all__ = ["read_compiled", "write_compiled"]

Path = str | os.PathLike[str]


def read_compiled(path: Path, *, mapped: bool = False) -> Compiled:
    """Read the file of one router and check all of it; raises :class:`FileFormatError`.

    A file that is ``mapped`` must not be changed while the router is in use.
    """
    return compiled_of(read_file(path, SCHEMA, further=SEALED, mapped=mapped), _readable(), path)


def write_compiled(path: Path, compiled: Compiled) -> None:
    """Write one router to a file, atomically; raises ``OSError`` if the path cannot be written."""
    write_file(path, sections_of(compiled))


def _readable() -> dict[str, EngineSpec]:
    """Return the engines that a file may name."""
    specs = {name: engine_spec(name) for name in engines()}
    return {name: spec for name, spec in specs.items() if spec.restore}
