"""The automaton engines ``dfa`` and ``nfa``: the compiler's machines are the engines.

:class:`compiler.machine.lazy.LazyDfa`, ``Simulator`` and, without numba's compiler, :class:`compiler.automata.twin.Twin`
implement the protocols of engines as they are. A dialect that does not route some keys puts a :class:`Screened` around
the machine, which gives these keys the empty answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, Protocol, get_args, runtime_checkable

import numpy as np

from compiler import Nfa
from compiler.automata.twin import Twin, TwinSimulator
from compiler.kernels.seal_tables import Seal
from compiler.machine.key_cache import KeyCacheMode
from compiler.machine.lazy import LazyDfa
from compiler.machine.memory import default_capacity
from compiler.machine.screen import Screen
from compiler.machine.simulator import Simulator
from compiler.prepare import jit_enabled
from compiler.values import CacheStats, KeyColumn, SetBatch
from dfa_router.engines.protocol import BatchMatcher, EngineInfo, EngineSpec, NoOptions
from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import compile_nfa, screen_of

__all__ = ["DFA", "NFA", "Automaton", "DfaOptions", "Screened", "Sealable", "bytes_of"]


@runtime_checkable
class Automaton(BatchMatcher, Protocol):
    """An engine that is made of an NFA, and can be made of it again."""

    @property
    def nfa(self) -> Nfa:
        """The NFA of the binding set."""


@runtime_checkable
class Sealable(Automaton, Protocol):
    """An engine that can put what its cache knows into tables that never change."""

    @property
    def sealed(self) -> Seal | None:
        """These tables, or None if nothing is sealed."""

    def learning(self) -> AbstractContextManager[None]:
        """Have the automaton itself get to know the keys that are matched meanwhile, rather than keep them whole."""

    def seal(self) -> Automaton | None:
        """Return an engine with sealed tables of what this one knows now; None if that is nothing."""

    def with_seal(self, seal: Seal | None) -> Automaton:
        """Return an engine with these sealed tables, or with none; raises :class:`compiler.machine.seals.SealError` if they are not its own."""


@dataclass(frozen=True, slots=True)
class Screened:
    """A machine behind a screen: a key that does not pass matches nothing, and the machine is not asked."""

    machine: Automaton
    screen: Screen

    @property
    def nfa(self) -> Nfa:
        """The NFA of the binding set."""
        return self.machine.nfa

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending."""
        return self.machine.match(key) if self.screen.passes(key) else ()

    def match_batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column; keys that do not pass are nulls for the machine, and then the empty set."""
        asked: list[KeyColumn] = []
        stopped = [np.zeros(0, np.bool_)]
        for column in columns:
            passing = self.screen.mask(column, jit=jit_enabled())
            valid = passing if column.valid is None else passing & column.valid
            asked.append(column._replace(valid=valid))
            stopped.append(~passing if column.valid is None else ~passing & column.valid)
        set_ids, offsets, positions = self.machine.match_batch(asked, threads=threads)
        screened = np.concatenate(stopped)
        if np.any(screened):
            set_ids[screened] = len(offsets) - 1
            offsets = np.append(offsets, offsets[-1])
        return SetBatch(set_ids, offsets, positions)

    def stats(self) -> CacheStats:
        """Describe the machine's cache."""
        return self.machine.stats()

    @property
    def sealed(self) -> Seal | None:
        """The machine's sealed tables."""
        return self.machine.sealed if isinstance(self.machine, Sealable) else None

    def learning(self) -> AbstractContextManager[None]:
        """Have the machine's automaton get to know keys."""
        return self.machine.learning() if isinstance(self.machine, Sealable) else nullcontext()

    def seal(self) -> Screened | None:
        """Return the screen around a machine that is sealed."""
        machine = self.machine.seal() if isinstance(self.machine, Sealable) else None
        return None if machine is None else Screened(machine, self.screen)

    def with_seal(self, seal: Seal | None) -> Screened:
        """Return the screen around a machine with these sealed tables, or with none."""
        return Screened(self.machine.with_seal(seal), self.screen) if isinstance(self.machine, Sealable) else self


def _screened(machine: Automaton, dialect: Dialect) -> Automaton:
    screen = screen_of(dialect)
    return machine if screen is None else Screened(machine, screen)


def bytes_of(cache_bytes: int | None) -> int | None:
    """Return a bound on the cache; raises :class:`OptionError` for what is none, whatever the engine."""
    if cache_bytes is None:
        return None
    if not isinstance(cache_bytes, Integral) or isinstance(cache_bytes, bool) or cache_bytes < 0:
        raise OptionError(f"cache_bytes is {cache_bytes!r}: expected a number of bytes from 0 up, or None")
    return int(cache_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class DfaOptions:
    """The options of the engine ``dfa``."""

    cache_bytes: int | None = None
    """The bound on the caches of all threads together, in bytes; None leaves it to the automaton and the machine."""
    key_cache: KeyCacheMode = "auto"
    """Whether batches look whole keys up before they read words; "auto" decides by the keys that come."""

    def __post_init__(self) -> None:
        modes = get_args(KeyCacheMode)
        if self.key_cache not in modes:
            raise OptionError(f"key_cache is {self.key_cache!r}: expected one of {', '.join(map(repr, modes))}")
        bytes_of(self.cache_bytes)


def _build_dfa(patterns: Sequence[bytes], dialect: Dialect, **options: Any) -> Automaton:
    return _restore_dfa(compile_nfa(patterns, dialect), dialect, DfaOptions(**options))


def _restore_dfa(nfa: Nfa, dialect: Dialect, options: DfaOptions) -> Automaton:
    if jit_enabled():
        machine = LazyDfa(nfa, dialect.separator, options.cache_bytes, key_cache=options.key_cache)
        return _screened(machine, dialect)
    capacity = default_capacity(nfa.nbytes) if options.cache_bytes is None else options.cache_bytes
    return _screened(Twin(nfa, dialect.separator, capacity), dialect)


def _build_nfa(patterns: Sequence[bytes], dialect: Dialect) -> Automaton:
    return _restore_nfa(compile_nfa(patterns, dialect), dialect, NoOptions())


def _restore_nfa(nfa: Nfa, dialect: Dialect, _options: NoOptions) -> Automaton:
    return _screened(
        Simulator(nfa, dialect.separator) if jit_enabled() else TwinSimulator(nfa, dialect.separator),
        dialect,
    )


DFA = EngineSpec(
    info=EngineInfo(
        name="dfa",
        summary="the lazy DFA: states are built as keys need them and cached within cache_bytes",
        rules=True,
        options=tuple(one.name for one in fields(DfaOptions)),
    ),
    build=_build_dfa,
    restore=_restore_dfa,
    options=DfaOptions,
)

NFA = EngineSpec(
    info=EngineInfo(name="nfa", summary="the NFA simulated: active positions, no cache", rules=True),
    build=_build_nfa,
    restore=_restore_nfa,
)
