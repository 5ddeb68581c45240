"""The two ways to make a router: compile bindings, or load a compiled router from a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

from compiler.errors import Defect
from compiler.machine.seals import SealError
from compiler.storage.sections import refusal
from dfa_router.engines.automaton import DfaOptions, Sealable, bytes_of
from dfa_router.engines.live import live_matcher
from dfa_router.engines.protocol import NO_OPTIONS, DynamicMatcher, EngineInfo
from dfa_router.engines.registry import engine_spec, restorer
from dfa_router.errors import OptionError
from dfa_router.file_names import given_path
from dfa_router.language.bindings import binding_set, pattern_bytes
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.router import Router
from dfa_router.storage.compiled import Compiled
from dfa_router.storage.files import read_compiled

__all__ = ["DEFAULT_CACHE_BYTES", "compile", "load", "restored"]

DEFAULT_CACHE_BYTES = 64 << 20
"""The bound on the caches of a topology where none is given: room for about a million transitions. Memory is taken only as
the caches fill."""

_MOST_BYTES = (1 << 63) - 1
"""The largest bound that a file holds."""


def compile(
    bindings: Iterable[tuple[str, str]],
    *,
    dialect: str | Dialect = "amqp",
    engine: str = "dfa",
    cache_bytes: int | None = None,
    **options: Any,
) -> Router:
    """Compile binding patterns into a router.

    ``bindings`` are (pattern, destination) pairs of strings; results identify a binding by its position among them. ``engine``
    is one of :func:`dfa_router.engines`; all give the same answers. ``cache_bytes`` is the most memory that the cache of the
    lazy DFA takes, of all threads together; a smaller cache changes the speed and never the answers. If it is not given, that
    is 64 MiB and as many bytes as the automaton has itself, but at most an eighth of the memory that is available when the
    router is made (``stats().capacity`` tells). Memory is taken only as the cache fills. In large sets the keys that patterns without
    wildcards spell have tables beside it, which are the automaton's: some 50 bytes for each and its own, and 4 for each pattern that
    matches it, of which there are 64 at most. Further options are those of the
    engine (:func:`dfa_router.engine_info`). The lazy DFA has ``key_cache``: whether batches look a whole key up before they
    read its words, if they have more than 256 keys; so do sealed tables. It is "on", "off", or "auto" (the default), which decides by
    counting how many look-ups find their key.

    Raises :class:`BindingError`, :class:`PatternError` or :class:`OptionError` (all ``RouterError`` and ``ValueError``);
    the text names the binding or the option and says what was expected.

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
    options = _accepted({**_kept(options), "cache_bytes": bytes_of(cache_bytes)}, spec.info)
    checked = binding_set(bindings)
    patterns = [pattern_bytes(binding.pattern, position, language) for position, binding in enumerate(checked)]
    matcher = spec.build(patterns, language, **options)
    if spec.info.dynamic and isinstance(matcher, DynamicMatcher):
        empty: Callable[[], Any] = partial(spec.build, (), language, **options)
        matcher = live_matcher(checked, matcher, language, empty)
    return Router(checked, matcher, spec.info, language, spec.options(**options) if spec.restore else NO_OPTIONS)


def load(
    path: str | os.PathLike[str],
    *,
    engine: str | None = None,
    cache_bytes: int | None = None,
    key_cache: str | None = None,
    mapped: bool = False,
) -> Router:
    """Return the router that :meth:`Router.save` wrote to a file.

    All of it is checked first, whoever wrote it; a few thousand bindings are loaded in milliseconds. Bindings, dialect,
    engine and options are those of the router that was saved. The engine can be changed between those that can be saved
    (``dfa`` and ``nfa``), and the options ``cache_bytes`` and ``key_cache`` of :func:`compile` can be given anew. The cache
    is empty, but the tables of a router that was sealed (:meth:`Router.seal`) are there at once, if ``cache_bytes`` has room for
    them.

    The file is copied into memory of this process, and what is checked is the copy: the file may be changed or removed
    afterwards. With ``mapped=True`` the file itself is used, and all processes that map it share one copy in memory. Then
    the file **must not be changed while the router is in use**: replace it by renaming another one to its path, as
    :meth:`Router.save` does. A write into it gives wrong answers or ends the process, and so does cutting it short.
    Loading takes the same time either way, about a second for a million bindings. What mapping saves is the file's size,
    90 MB of these, in every process but one; the 140 MB that each makes of the file are its own.

    Raises :class:`FileFormatError` if the file is missing or anything in it is wrong (``kind`` and ``section`` say what
    and where), :class:`OptionError` for an engine that cannot be saved, or a wrong option, and an :class:`InputError` for what
    is no path.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     compile([("stock.#", "equities")]).save(folder + "/demo.dfar")
    ...     load(folder + "/demo.dfar").match("stock.nyse.ibm")
    ('equities',)
    """
    if engine is not None:
        restorer(engine)  # refuse it before the file is read
    path = given_path(path)
    compiled = read_compiled(path, mapped=mapped)
    try:
        return restored(compiled, engine=engine, cache_bytes=cache_bytes, key_cache=key_cache)
    except SealError as error:
        raise refusal(path, Defect.SEAL, str(error), section=f"seal_{error.array}") from None


def restored(
    compiled: Compiled, *, engine: str | None = None, cache_bytes: int | None = None, key_cache: str | None = None
) -> Router:
    """Return the router of a compiled form, with an empty cache; the parameters are those of :func:`load`."""
    spec = engine_spec(engine or compiled.engine)
    options: dict[str, Any] = asdict(compiled.options)
    both: dict[str, Any] = {"cache_bytes": bytes_of(cache_bytes), "key_cache": key_cache}
    given = {name: value for name, value in both.items() if value is not None}
    DfaOptions(**given)  # checked whatever the engine: who loads a file need not know which it has
    options |= given
    checked = spec.options(**_accepted(options, spec.info))
    matcher = restorer(spec.info.name)(compiled.nfa, compiled.dialect, checked)
    if compiled.seal is not None and isinstance(matcher, Sealable):
        matcher = matcher.with_seal(compiled.seal)
    return Router(compiled.bindings, matcher, spec.info, compiled.dialect, checked)


def _kept(options: dict[str, Any]) -> dict[str, Any]:
    """Return options that stay as they are: an engine whose bindings change may have to be built a second time."""
    return {name: list(value) if _is_several(value) else value for name, value in options.items()}


def _is_several(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _accepted(options: dict[str, Any], info: EngineInfo) -> dict[str, Any]:
    """Return those of the options that the engine has; a bound that no file could hold, and no machine, is lowered to one that does."""
    found = {name: value for name, value in options.items() if name in info.options}
    size = found.get("cache_bytes")
    return found if size is None else {**found, "cache_bytes": min(size, _MOST_BYTES)}
