"""What a router does for a stream of keys, one at a time: the engine's own record, for pages that teach and for the curious."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from compiler.machine.trace import KeyTrace, TracedDfa
from compiler.prepare import jit_enabled
from dfa_router.engines.automaton import DFA, DfaOptions, Screened, bytes_of
from dfa_router.errors import KeyTypeError, OptionError
from dfa_router.key_bytes import key_bytes
from dfa_router.language.rules import screen_of
from dfa_router.router import Router

__all__ = ["trace"]


def trace(router: Router, keys: Iterable[str | bytes], *, cache_bytes: int | None = None) -> list[KeyTrace]:
    """Match keys as ``Router.match`` does, one after the other from an empty cache, and return what the engine did for each.

    A router of the same bindings is made for it: the one that is given, its cache and its counters stay as they are, and it is
    as fast as before. ``cache_bytes`` replaces that router's bound. Numbers of states are those of the engine's cache, counters
    those of ``Router.stats()``. What batches and threads do beyond this (keys in blocks, a table of whole keys, a cache for each
    thread) is not told.

    Raises :class:`OptionError` for what is no router, for one whose engine is not ``dfa``, where kernels are not compiled
    (``NUMBA_DISABLE_JIT``), or for a bound that is none; and :class:`KeyTypeError` for one key alone, or what is no key.

    >>> import dfa_router as dr
    >>> router = dr.compile([("a.b.c", "q1"), ("a.#.c", "q2")])
    >>> [(told.route, told.stats.states, told.stats.misses) for told in dr.trace(router, ["a.d.c", "a.b.c", "a.d.c"])]
    [('read', 5, 3), ('read', 7, 5), ('remembered', 7, 5)]
    """
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise KeyTypeError(f"keys is {keys!r}: expected routing keys in a list, such as ['stock.nyse', 'forex.usd']")
    if not isinstance(router, Router):
        raise OptionError(f"router is {repr(router)[:80]}: expected what dfa_router.compile or load has returned")
    if router.engine.name != "dfa" or not jit_enabled():
        raise OptionError(
            f"the engine {router.engine.name!r} keeps no record here: compile with engine='dfa', and without NUMBA_DISABLE_JIT"
        )
    compiled, dialect = router.compiled(), router.dialect
    options = compiled.options
    assert isinstance(options, DfaOptions)
    if cache_bytes is not None:
        options = replace(options, cache_bytes=bytes_of(cache_bytes))
    machine = TracedDfa(compiled.nfa, dialect.separator, options.cache_bytes, key_cache=options.key_cache)
    screen = screen_of(dialect)
    matcher = machine if screen is None else Screened(machine, screen)
    copy = Router(router.bindings, matcher, DFA.info, dialect, options)
    told: list[KeyTrace] = []
    tags_of: dict[bytes, tuple[int, ...]] = {}
    """The answers so far."""
    for key in keys:
        machine.last = None
        copy.match(key)
        if machine.last is not None:
            told.append(machine.last)
            tags_of.setdefault(machine.last.key, machine.last.tags)
            continue
        # The machine was not asked.
        data = key_bytes(key)
        refused = screen is not None and not screen.passes(data)
        first = data not in tags_of
        told.append(
            KeyTrace(
                key=data,
                tags=tags_of.setdefault(data, ()),
                frames=(),
                stats=copy.stats(),
                route="refused" if refused and first else "remembered",
            )
        )
    return told
