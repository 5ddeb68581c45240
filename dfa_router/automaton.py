"""The automaton engines: the compiler's machines as engines of this package.

This is where a dialect's pattern becomes the compiler's tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

import numpy as np
import numpy.typing as npt

from compiler import Nfa, Token, Wildcard, build_nfa
from compiler.lazy import LazyDfa, Simulator
from compiler.prepare import compile_kernels
from compiler.recall import KeyCache
from compiler.screen import Screen
from compiler.sets import Column
from compiler.twin import Twin, jit_enabled
from compiler.walker import Counters
from dfa_router.dialects import Dialect
from dfa_router.errors import OptionError
from dfa_router.matcher import CacheStats, EngineInfo, EngineSpec, KeyColumn, SetBatch

__all__ = ["DFA", "NFA", "AutomatonMatcher", "compile_nfa", "prepare", "screen_of", "tokens"]


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
    words = pattern.split(dialect.separator) if pattern else []
    if dialect.plain:
        wildcards = {dialect.one: Wildcard.ONE, dialect.many: Wildcard.MANY}
        return [wildcards.get(word, word) for word in words]
    if dialect.shared is not None and words[1:] and words[0] == dialect.shared:
        words = words[2:]
    spelt: list[Token] = []
    for word in words:
        stray = dialect.tail_only and len(spelt) < len(words) - 1
        if word == dialect.one:
            spelt.append(Wildcard.ONE)
        elif word == dialect.many and not stray:
            spelt.append(Wildcard.MANY)
        elif word == dialect.some and not stray:
            spelt += Wildcard.ONE, Wildcard.MANY
        else:
            spelt.append(word)
    return spelt


def screen_of(dialect: Dialect) -> Screen | None:
    """Return what finds the keys that a dialect does not route, or None where it routes all."""
    screen = Screen(
        separator=dialect.separator,
        empty_text=dialect.empty_text,
        empty_words=dialect.empty_words,
        wrong=dialect.dropped,
        prefix=dialect.unseen or b"",
    )
    return None if screen == Screen(separator=dialect.separator) else screen


def compile_nfa(patterns: Iterable[bytes], dialect: Dialect) -> Nfa:
    """Build the NFA of a binding set; accept tags are binding positions."""
    spelt = _plain(patterns, dialect) if dialect.plain else (tokens(pattern, dialect) for pattern in patterns)
    return build_nfa(spelt, reserved=dialect.reserved or b"")


def _plain(patterns: Iterable[bytes], dialect: Dialect) -> Iterator[Sequence[Token]]:
    """Spell patterns as :func:`tokens` does, those without wildcards by splitting alone: a third of the time of a million."""
    wildcards = [re.escape(token) for token in (dialect.one, dialect.many) if token is not None]
    may_be_wild, separator = re.compile(b"|".join(wildcards) or b"(?!)").search, dialect.separator
    for pattern in patterns:
        if may_be_wild(pattern):
            yield tokens(pattern, dialect)
        else:
            yield pattern.split(separator) if pattern else []


class AutomatonMatcher:
    """A machine of the compiler behind the calls that every engine answers."""

    def __init__(self, machine: LazyDfa | Simulator | Twin, screen: Screen | None) -> None:
        self._machine = machine
        self._screen = screen

    @property
    def nfa(self) -> Nfa:
        """The NFA of the binding set."""
        return self._machine.nfa

    def positions(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending."""
        if self._screen is not None and not self._screen.passes(key):
            return ()
        return self._machine.match(key)

    def any(self, key: bytes) -> bool:
        """Tell whether any binding matches."""
        return bool(self.positions(key))

    def batch(self, columns: Iterable[KeyColumn], *, threads: int = 1) -> SetBatch:
        """Match every key of every column."""
        keys = [Column(*column) for column in columns]
        if self._screen is None:
            return SetBatch(*self._machine.run(keys, threads=threads))
        passing = [self._screen.mask(column, jit=jit_enabled()) for column in keys]
        return _with_screened(self._machine, keys, passing, threads)

    def stats(self) -> CacheStats:
        """Describe the cache."""
        counters: Counters = self._machine.counters()
        return CacheStats(**counters._asdict())


def _with_screened(
    machine: LazyDfa | Simulator | Twin, keys: list[Column], passing: list[npt.NDArray[np.bool_]], threads: int
) -> SetBatch:
    """Match the keys that pass; the others are as null to the machine, and get the empty set afterwards."""
    asked = [
        column._replace(valid=mask if column.valid is None else mask & column.valid)
        for column, mask in zip(keys, passing, strict=True)
    ]
    set_ids, offsets, positions = machine.run(asked, threads=threads)
    stopped = [
        ~mask if column.valid is None else column.valid & ~mask for column, mask in zip(keys, passing, strict=True)
    ]
    screened = np.concatenate([np.zeros(0, np.bool_), *stopped])
    if np.any(screened):
        set_ids[screened] = len(offsets) - 1
        offsets = np.append(offsets, offsets[-1])
    return SetBatch(set_ids, offsets, positions)


def _build_dfa(
    patterns: Sequence[bytes], dialect: Dialect, *, cache_bytes: int, key_cache: KeyCache = "auto"
) -> AutomatonMatcher:
    return _restore_dfa(compile_nfa(patterns, dialect), dialect, cache_bytes=cache_bytes, key_cache=key_cache)


def _restore_dfa(nfa: Nfa, dialect: Dialect, *, cache_bytes: int, key_cache: KeyCache = "auto") -> AutomatonMatcher:
    if key_cache not in get_args(KeyCache):
        raise OptionError(f"key_cache is {key_cache!r}: expected one of {', '.join(map(repr, get_args(KeyCache)))}")
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
