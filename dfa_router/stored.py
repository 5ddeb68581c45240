"""Routers in files: one with a file to itself, or all that belong together in one.

Every router is a run of sections (:mod:`dfa_router.compiled`) in a file of :mod:`compiler.wire`. In a file of many,
each section's name begins with its router's number. The checksum is of the whole file and is looked at when it is
mapped; the rest of a router is checked when that router is first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from compiler.wire import map_file, write_file
from dfa_router.compiled import SCHEMA, Compiled, compiled_of, sections_of
from dfa_router.engines import engine_spec, engines, restorer
from dfa_router.matcher import EngineInfo
from dfa_router.router import DEFAULT_CACHE_BYTES, Router, cache_option

__all__ = ["StoredRouters", "load", "save_routers"]

Path = str | os.PathLike[str]


def load(path: Path, *, engine: str | None = None, cache_bytes: int | None = None, key_cache: str = "auto") -> Router:
    """Return the router that :meth:`Router.save` wrote to a file.

    The file is mapped: processes that load the same one share its pages, and a few thousand bindings are ready in
    milliseconds. All of it is checked first, whoever wrote it. Bindings, dialect, engine and ``cache_bytes`` are those
    of the router that was saved; the engine can be changed between those that can be saved (``dfa`` and ``nfa``).
    ``key_cache`` is that of :func:`compile`. The cache is empty. Do not write into the file while it is in use; saving to
    its path again is safe.

    Raises :class:`FileFormatError` if the file is missing or anything in it is not as it should be (``kind`` and
    ``section`` say what and where), and :class:`OptionError` for an engine that has no such files.

    >>> import tempfile
    >>> from dfa_router import compile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     compile([("stock.#", "equities")]).save(folder + "/demo.dfar")
    ...     load(folder + "/demo.dfar").match("stock.nyse.ibm")
    ('equities',)
    """
    if engine is not None:
        restorer(engine)  # refuse it before the file is read
    return _restored(compiled_of(map_file(path, SCHEMA), _readable(), path), engine, cache_bytes, key_cache)


def save_routers(path: Path, routers: Mapping[int, Router]) -> None:
    """Write several routers to one file, atomically; raises as :meth:`Router.save` does."""
    write_file(
        path,
        {
            f"{number}/{name}": section
            for number, router in routers.items()
            for name, section in sections_of(router.compiled()).items()
        },
    )


class StoredRouters:
    """The routers of a file that :func:`save_routers` has written."""

    def __init__(self, path: Path, numbers: Collection[int]) -> None:
        """Map the file; raises :class:`FileFormatError` unless it has routers of just these numbers, in this order."""
        self._path = path
        self._sections = map_file(
            path, {f"{number}/{name}": kind for number in numbers for name, kind in SCHEMA.items()}
        )

    def router(self, number: int) -> Router:
        """Check a router and return it, a new one at each call; raises :class:`FileFormatError`."""
        sections = {name: self._sections[f"{number}/{name}"] for name in SCHEMA}
        return _restored(compiled_of(sections, _readable(), self._path), None, None, "auto")


def _readable() -> dict[str, EngineInfo]:
    """Return the engines that a file may name."""
    specs = {name: engine_spec(name) for name in engines()}
    return {name: spec.info for name, spec in specs.items() if spec.restore}


def _restored(compiled: Compiled, engine: str | None, cache_bytes: int | None, key_cache: str) -> Router:
    name = engine or compiled.engine
    info = engine_spec(name).info
    if cache_bytes is None:
        cache_bytes = DEFAULT_CACHE_BYTES if compiled.cache_bytes is None else compiled.cache_bytes
    options: dict[str, Any] = cache_option(info, cache_bytes)
    if "key_cache" in info.options:
        options["key_cache"] = key_cache
    matcher = restorer(name)(compiled.nfa, compiled.dialect, **options)
    return Router(compiled.bindings, matcher, info, compiled.dialect)
