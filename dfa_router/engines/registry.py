"""The registry of engines: every matcher of this package, by name.

Tests, benchmarks, the fuzz tester and the commands iterate over it, so an engine that is entered here is tested and
measured as all others are.
"""

from __future__ import annotations

from collections.abc import Callable

from dfa_router.engines import automaton, codegen
from dfa_router.engines.protocol import EngineInfo, EngineSpec, Matcher
from dfa_router.errors import OptionError
from dfa_router.reference import cstrie, inverted, inverted_opt, naive, scan, trie, word_cache, word_index

__all__ = ["engine_info", "engine_spec", "engines", "restorer"]

_ENGINES = {
    spec.info.name: spec
    for spec in (
        automaton.DFA,
        automaton.NFA,
        codegen.ENGINE,
        naive.ENGINE,
        scan.ENGINE,
        inverted.ENGINE,
        inverted_opt.ENGINE,
        trie.ENGINE,
        cstrie.ENGINE,
        word_cache.ENGINE,
        word_index.ENGINE,
    )
}


def engines() -> tuple[str, ...]:
    """Return the names of all engines, as ``compile(..., engine=name)`` takes them.

    >>> "dfa" in engines()
    True
    """
    return tuple(_ENGINES)


def engine_info(name: str) -> EngineInfo:
    """Return what the engine of that name can do.

    >>> engine_info("naive").complete_many
    True
    """
    return engine_spec(name).info


def engine_spec(name: str) -> EngineSpec:
    """Return the engine's entry; raises :class:`OptionError` for an unknown name."""
    try:
        return _ENGINES[name]
    except (KeyError, TypeError):
        raise OptionError(f"unknown engine {name!r}: use one of {', '.join(_ENGINES)}") from None


def restorer(name: str) -> Callable[..., Matcher]:
    """Return the function that makes an engine from its compiled form.

    Raises :class:`OptionError` for an engine that has no compiled form.
    """
    restore = engine_spec(name).restore
    if restore is None:
        able = ", ".join(other for other, spec in _ENGINES.items() if spec.restore)
        raise OptionError(
            f"engine {name!r} has no compiled form on disk; {able} have. Keep the bindings instead, "
            "Router.bindings of any router, and compile them"
        )
    return restore
