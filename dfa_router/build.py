"""The two ways to a router: bindings compiled, and a compiled form read from a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from dfa_router.engines.protocol import EngineInfo
from dfa_router.engines.registry import engine_spec, restorer
from dfa_router.errors import OptionError
from dfa_router.language.bindings import binding_set, pattern_bytes
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.router import Router
from dfa_router.storage.compiled import Compiled
from dfa_router.storage.files import read_compiled

__all__ = ["DEFAULT_CACHE_BYTES", "compile", "load", "restored"]

DEFAULT_CACHE_BYTES = 64 << 20
"""Room for about a million cached transitions; the cache takes it only as it fills."""


def compile(
    bindings: Iterable[tuple[str, str]],
    *,
    dialect: str | Dialect = "amqp",
    engine: str = "dfa",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    **options: Any,
) -> Router:
    """Compile binding patterns into a router.

    ``bindings`` are (pattern, destination) pairs of strings; a binding's position in them is its identity in results.
    ``engine`` is any of :func:`dfa_router.engines`; all answer alike. ``cache_bytes`` bounds the lazy DFA's cache: a
    smaller one is slower, never different. Further options are the engine's own (:func:`dfa_router.engine_info`); the
    lazy DFA has ``key_cache``, "on" or "off", whether batches look keys up whole before they read their words, or
    "auto", the default: as long as that pays with the keys that come.

    Raises :class:`BindingError`, :class:`PatternError` or :class:`OptionError` (all ``RouterError`` and ``ValueError``)
    that name the binding or the option and say what was expected.

    >>> router = compile([("forex.*", "fx"), ("stock.#", "equities"), ("#", "audit")])
    >>> router.match("stock.nyse.ibm")
    ('equities', 'audit')
    """
    language = dialect_named(dialect)
    spec = engine_spec(engine)
    unknown = options.keys() - set(spec.info.options)
    if unknown:
        known = ", ".join(spec.info.options) or "none"
        raise OptionError(f"engine {engine!r} has no option {min(unknown)!r}; its options: {known}")
    if not spec.info.speaks(language):
        raise OptionError(
            f"engine {engine!r} does not speak {language.name!r}: it speaks {', '.join(spec.info.dialects)}; "
            "'dfa' speaks all"
        )
    options |= cache_option(spec.info, cache_bytes)
    checked = binding_set(bindings)
    patterns = [pattern_bytes(binding.pattern, position, language) for position, binding in enumerate(checked)]
    return Router(checked, spec.build(patterns, language, **options), spec.info, language)


def cache_option(info: EngineInfo, cache_bytes: int) -> dict[str, int]:
    """Return the option as the engine takes it, if it does."""
    if isinstance(cache_bytes, bool) or not isinstance(cache_bytes, int):
        raise OptionError(f"cache_bytes is {cache_bytes!r}: expected a number of bytes, such as {DEFAULT_CACHE_BYTES}")
    return {"cache_bytes": cache_bytes} if "cache_bytes" in info.options else {}


def load(
    path: str | os.PathLike[str], *, engine: str | None = None, cache_bytes: int | None = None, key_cache: str = "auto"
) -> Router:
    """Return the router that :meth:`Router.save` wrote to a file.

    The file is mapped: processes that load the same one share its pages, and a few thousand bindings are ready in
    milliseconds. All of it is checked first, whoever wrote it. Bindings, dialect, engine and ``cache_bytes`` are those
    of the router that was saved; the engine can be changed between those that can be saved (``dfa`` and ``nfa``).
    ``key_cache`` is that of :func:`compile`. The cache is empty. Do not write into the file while it is in use; saving to
    its path again is safe.

    Raises :class:`FileFormatError` if the file is missing or anything in it is not as it should be (``kind`` and
    ``section`` say what and where), and :class:`OptionError` for an engine that has no such files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     compile([("stock.#", "equities")]).save(folder + "/demo.dfar")
    ...     load(folder + "/demo.dfar").match("stock.nyse.ibm")
    ('equities',)
    """
    if engine is not None:
        restorer(engine)  # refuse it before the file is read
    return restored(read_compiled(path), engine=engine, cache_bytes=cache_bytes, key_cache=key_cache)


def restored(
    compiled: Compiled, *, engine: str | None = None, cache_bytes: int | None = None, key_cache: str = "auto"
) -> Router:
    """Return the router of a compiled form, with an empty cache; options as for :func:`load`."""
    name = engine or compiled.engine
    info = engine_spec(name).info
    if cache_bytes is None:
        cache_bytes = DEFAULT_CACHE_BYTES if compiled.cache_bytes is None else compiled.cache_bytes
    options: dict[str, Any] = cache_option(info, cache_bytes)
    if "key_cache" in info.options:
        options["key_cache"] = key_cache
    matcher = restorer(name)(compiled.nfa, compiled.dialect, **options)
    return Router(compiled.bindings, matcher, info, compiled.dialect)
