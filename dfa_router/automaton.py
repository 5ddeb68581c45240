"""The automaton engines: the compiler's machines as engines of this package.

This is where a dialect's pattern becomes the compiler's tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.lazy import LazyDfa, Simulator
from compiler.prepare import compile_kernels
from compiler.sets import Column
from compiler.twin import Twin, jit_enabled
from compiler.walker import Counters
from dfa_router.dialects import Dialect
from dfa_router.errors import OptionError
from dfa_router.matcher import CacheStats, EngineInfo, EngineSpec, KeyColumn, SetBatch

__all__ = ["DFA", "NFA", "AutomatonMatcher", "compile_nfa", "prepare", "tokens"]


def prepare() -> None:
    """Compile all kernels, or load them from disk where that was done before: seconds the first time, then little."""
    if jit_enabled():
        compile_kernels()


def tokens(pattern: bytes, dialect: Dialect) -> list[Token]:
    """Return a pattern as the compiler's tokens.

    >>> from dfa_router.dialects import AMQP
    >>> tokens(b"stock.*.#", AMQP)
    [b'stock', *, #]
    """
    wildcards = {dialect.one: Wildcard.ONE, dialect.many: Wildcard.MANY}
    words = pattern.split(dialect.separator) if pattern else []
    return [wildcards.get(word, word) for word in words]


def compile_nfa(patterns: Iterable[bytes], dialect: Dialect) -> Nfa:
    """Build the NFA of a binding set; accept tags are binding positions."""
    return build_nfa(tokens(pattern, dialect) for pattern in patterns)


class AutomatonMatcher:
    """A machine of the compiler behind the calls that every engine answers."""

    def __init__(self, machine: LazyDfa | Simulator | Twin) -> None:
        self._machine = machine

    @property
    def nfa(self) -> Nfa:
        """The NFA of the binding set."""
        return self._machine.nfa

    def positions(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending."""
        return self._machine.match(key)

    def any(self, key: bytes) -> bool:
        """Tell whether any binding matches."""
        return bool(self._machine.match(key))

    def batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column."""
        return SetBatch(*self._machine.run((Column(*column) for column in columns), threads=threads))

    def stats(self) -> CacheStats:
        """Describe the cache."""
        counters: Counters = self._machine.counters()
        return CacheStats(**counters._asdict())


def _build_dfa(patterns: Sequence[bytes], dialect: Dialect, *, cache_bytes: int) -> AutomatonMatcher:
    return _restore_dfa(compile_nfa(patterns, dialect), dialect, cache_bytes=cache_bytes)


def _restore_dfa(nfa: Nfa, dialect: Dialect, *, cache_bytes: int) -> AutomatonMatcher:
    if cache_bytes < 0:
        raise OptionError(f"cache_bytes is {cache_bytes}: expected a number of bytes from 0 up")
    machine = LazyDfa if jit_enabled() else Twin
    return AutomatonMatcher(machine(nfa, dialect.separator, cache_bytes))


def _build_nfa(patterns: Sequence[bytes], dialect: Dialect) -> AutomatonMatcher:
    return _restore_nfa(compile_nfa(patterns, dialect), dialect)


def _restore_nfa(nfa: Nfa, dialect: Dialect) -> AutomatonMatcher:
    return AutomatonMatcher(Simulator(nfa, dialect.separator) if jit_enabled() else Twin(nfa, dialect.separator, 0))


DFA = EngineSpec(
    info=EngineInfo(
        name="dfa",
        summary="the lazy DFA: states are built as keys need them and cached within cache_bytes",
        options=("cache_bytes",),
    ),
    build=_build_dfa,
    restore=_restore_dfa,
)

NFA = EngineSpec(
    info=EngineInfo(name="nfa", summary="the NFA simulated key by key: active sets, no cache"),
    build=_build_nfa,
    restore=_restore_nfa,
)
