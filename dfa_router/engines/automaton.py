"""The automaton engines: the compiler's machines as engines of this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

import numpy as np
import numpy.typing as npt

from compiler import Nfa
from compiler.automata.twin import Twin
from compiler.machine.key_cache import KeyCacheMode
from compiler.machine.lazy import LazyDfa, Simulator
from compiler.machine.prepare import compile_kernels, jit_enabled
from compiler.machine.screen import Screen
from compiler.values import CacheStats, KeyColumn, SetBatch
from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import compile_nfa, screen_of

__all__ = ["DFA", "NFA", "AutomatonMatcher", "prepare"]


def prepare() -> None:
    """Compile all kernels, or load them from disk where that was done before: seconds the first time, then little."""
    if jit_enabled():
        compile_kernels()


class AutomatonMatcher:
    """A machine of the compiler behind the calls that every engine answers."""

    def __init__(self, machine: LazyDfa | Simulator | Twin, screen: Screen | None) -> None:
        self._machine = machine
        self._screen = screen

    @property
    def nfa(self) -> Nfa:
        """The NFA of the binding set."""
        return self._machine.nfa

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending."""
        if self._screen is not None and not self._screen.passes(key):
            return ()
        return self._machine.match(key)

    def any(self, key: bytes) -> bool:
        """Tell whether any binding matches."""
        return bool(self.match(key))

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column."""
        if self._screen is None:
            return self._machine.match_batch(columns, threads=threads)
        keys = list(columns)
        passing = [self._screen.mask(column, jit=jit_enabled()) for column in keys]
        return _with_screened(self._machine, keys, passing, threads)

    def stats(self) -> CacheStats:
        """Describe the cache."""
        return self._machine.stats()


def _with_screened(
    machine: LazyDfa | Simulator | Twin, keys: list[KeyColumn], passing: list[npt.NDArray[np.bool_]], threads: int
) -> SetBatch:
    """Match the keys that pass; the others are as null to the machine, and get the empty set afterwards."""
    asked = [
        column._replace(valid=mask if column.valid is None else mask & column.valid)
        for column, mask in zip(keys, passing, strict=True)
    ]
    set_ids, offsets, positions = machine.match_batch(asked, threads=threads)
    stopped = [
        ~mask if column.valid is None else column.valid & ~mask for column, mask in zip(keys, passing, strict=True)
    ]
    screened = np.concatenate([np.zeros(0, np.bool_), *stopped])
    if np.any(screened):
        set_ids[screened] = len(offsets) - 1
        offsets = np.append(offsets, offsets[-1])
    return SetBatch(set_ids, offsets, positions)


def _build_dfa(
    patterns: Sequence[bytes], dialect: Dialect, *, cache_bytes: int, key_cache: KeyCacheMode = "auto"
) -> AutomatonMatcher:
    return _restore_dfa(compile_nfa(patterns, dialect), dialect, cache_bytes=cache_bytes, key_cache=key_cache)


def _restore_dfa(nfa: Nfa, dialect: Dialect, *, cache_bytes: int, key_cache: KeyCacheMode = "auto") -> AutomatonMatcher:
    if key_cache not in get_args(KeyCacheMode):
        raise OptionError(f"key_cache is {key_cache!r}: expected one of {', '.join(map(repr, get_args(KeyCacheMode)))}")
    if cache_bytes < 0:
        raise OptionError(f"cache_bytes is {cache_bytes}: expected a number of bytes from 0 up")
    if jit_enabled():
        machine: LazyDfa | Twin = LazyDfa(nfa, dialect.separator, cache_bytes, key_cache=key_cache)
    else:
        machine = Twin(nfa, dialect.separator, cache_bytes)
    return AutomatonMatcher(machine, screen_of(dialect))


def _build_nfa(patterns: Sequence[bytes], dialect: Dialect) -> AutomatonMatcher:
    return _restore_nfa(compile_nfa(patterns, dialect), dialect)


def _restore_nfa(nfa: Nfa, dialect: Dialect) -> AutomatonMatcher:
    machine = Simulator(nfa, dialect.separator) if jit_enabled() else Twin(nfa, dialect.separator, 0)
    return AutomatonMatcher(machine, screen_of(dialect))


DFA = EngineSpec(
    info=EngineInfo(
        name="dfa",
        summary="the lazy DFA: states are built as keys need them and cached within cache_bytes",
        rules=True,
        options=("cache_bytes", "key_cache"),
    ),
    build=_build_dfa,
    restore=_restore_dfa,
)

NFA = EngineSpec(
    info=EngineInfo(name="nfa", summary="the NFA simulated: active positions, no cache", rules=True),
    build=_build_nfa,
    restore=_restore_nfa,
)
