"""The router: bindings compiled by an engine, asked key by key or column by column."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from compiler.notebook import mimebundle
from compiler.values import CacheStats, Int32s, KeyColumn, SetBatch, key_by_key
from dfa_router.arrow import dictionary_of, key_array, key_columns, row_numbers
from dfa_router.engines.automaton import AutomatonMatcher
from dfa_router.engines.live import LiveMatcher
from dfa_router.engines.protocol import BatchMatcher, DynamicMatcher, EngineInfo, Matcher, SnapshotView
from dfa_router.engines.registry import restorer
from dfa_router.errors import KeyTypeError, OptionError
from dfa_router.language.bindings import Binding, binding_set, pattern_bytes
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import compile_nfa
from dfa_router.results import Matches, name_table
from dfa_router.storage.compiled import Compiled, StoredBindings, stored
from dfa_router.storage.files import write_compiled

__all__ = ["Router"]

_DRAWN = 200
"""Bindings that a picture of a router can show."""
_RECENT, _RECENT_BYTES = 1024, 255
"""How many answers a router remembers, and the longest key that is worth it: a quarter of a megabyte at most."""


class Router:
    """Bindings compiled by an engine; made by :func:`compile`.

    Safe to use from several threads at once. Pickles as its compiled form, without the contents of its cache.
    """

    def __init__(self, bindings: Sequence[Binding], matcher: Matcher, info: EngineInfo, dialect: Dialect) -> None:
        if info.dynamic and isinstance(matcher, DynamicMatcher):
            matcher = LiveMatcher(bindings, matcher, dialect, concurrent=info.concurrent)
            bindings = matcher.bindings
        self._bindings = bindings
        self._matcher = matcher
        self._columns = matcher if isinstance(matcher, BatchMatcher) else None  # asking a protocol takes 50 us
        self._info = info
        self._dialect = dialect
        self._table = name_table(())
        # Answers of match() that were asked for lately; an engine that is to be measured, or may change, has none.
        self._recent: dict[str | bytes, tuple[str, ...]] = {}
        self._remembers = "cache_bytes" in info.options

    def __getstate__(self) -> dict[str, Any]:
        flat = isinstance(self._matcher, AutomatonMatcher)  # the others are asked for their bindings one by one anyway
        return {
            **self.__dict__,
            "_bindings": stored(self._bindings) if flat else self._bindings,
            "_recent": {},
        }

    def __repr__(self) -> str:
        return f"<Router: {len(self._bindings)} bindings, dialect {self._dialect.name}, engine {self._info.name}>"

    def __len__(self) -> int:
        return len(self._bindings)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Show a notebook the NFA of the bindings, whatever the engine: what every engine answers alike."""
        bindings = list(self.subscriptions().values())
        if len(bindings) > _DRAWN:
            return {"text/plain": f"{self!r}\n(no picture: {len(bindings):,} bindings are too many for one)"}
        patterns = [pattern_bytes(binding.pattern, i, self._dialect) for i, binding in enumerate(bindings)]
        names = [f"{binding.pattern} → {binding.destination}" for binding in bindings]
        return mimebundle(compile_nfa(patterns, self._dialect), repr(self), names=names)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The bindings in the order of their positions; with a dynamic engine, those that were unsubscribed as well."""
        if isinstance(self._bindings, StoredBindings):
            self._bindings = tuple(self._bindings)  # who asks once may ask again
        return tuple(self._bindings)

    @property
    def engine(self) -> EngineInfo:
        """What the engine behind this router can do."""
        return self._info

    @property
    def dialect(self) -> Dialect:
        """The pattern language."""
        return self._dialect

    def match(self, key: str | bytes) -> tuple[str, ...]:
        """Return the destinations of the key, once each, in order of their first matching binding.

        The lazy DFA's router remembers its latest answers here, a thousand or so, outside of ``cache_bytes``.
        """
        try:
            return self._recent[key]
        except (KeyError, TypeError):  # not asked for lately; or no key at all, which key_bytes says
            pass
        answer = self._named(self._matcher.match(key_bytes(key)))
        if self._remembers and len(key) <= _RECENT_BYTES:
            if len(self._recent) >= _RECENT:
                self._recent.clear()  # as the automaton's own cache: no order to keep, nothing to lock
            self._recent[key] = answer
        return answer

    def _named(self, positions: tuple[int, ...]) -> tuple[str, ...]:
        """Return the destinations of bindings, once each."""
        if len(positions) == 1:  # as most often: 0.1 us instead of 0.5
            return (self._bindings[positions[0]].destination,)
        if not positions:
            return ()
        return tuple(dict.fromkeys([self._bindings[position].destination for position in positions]))

    def match_bindings(self, key: str | bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match the key, ascending."""
        return self._matcher.match(key_bytes(key))

    def any(self, key: str | bytes) -> bool:
        """Tell whether anyone is interested in the key."""
        return self._matcher.any(key_bytes(key))

    def match_batch(self, keys: Any, *, threads: int = 1) -> Matches:
        """Match a column of keys.

        ``keys`` is an Arrow string, large_string, binary or dictionary Array or ChunkedArray, or a list of str, bytes
        and None. A dictionary column is matched once per distinct key. A null key has a null row in the result.

        ``threads`` is how many threads an engine of kernels may use for a large batch; each has a cache of its own, a
        share of ``cache_bytes``. Other engines use one.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise OptionError(f"threads is {threads!r}: expected a number of threads from 1 up")
        column = key_array(keys)
        encoded = dictionary_of(column)
        if encoded is None:
            return self._matches(self._batch(key_columns(column), threads))
        distinct, indices = encoded
        batch = self._batch(key_columns(distinct), threads)
        return self._matches(batch._replace(set_ids=row_numbers(batch.set_ids, indices)))

    def subscribe(self, pattern: str, destination: str) -> int:
        """Add a binding and return its position, which is never used again.

        A binding that is there already is added once more, at a position of its own: two bindings of one queue that
        differ only in their arguments are two. Raises :class:`OptionError` if the engine is not dynamic.

        >>> router = compile([("forex.*", "fx")], engine="trie")
        >>> router.subscribe("#", "audit"), router.match("forex.usd")
        (1, ('fx', 'audit'))
        """
        return self._changeable().subscribe(binding_set([(pattern, destination)])[0])

    def unsubscribe(self, pattern: str, destination: str) -> int:
        """Remove a binding, the oldest if there are several equal ones, and return its position.

        Raises :class:`BindingError` if there is none, :class:`OptionError` if the engine is not dynamic.
        """
        return self._changeable().unsubscribe(binding_set([(pattern, destination)])[0])

    def subscriptions(self) -> dict[int, Binding]:
        """Return the live bindings by position, ascending.

        With an engine that has snapshots (``cstrie``) they are those of one moment, though others subscribe meanwhile.
        """
        if isinstance(self._matcher, LiveMatcher):
            live: Iterable[int] = self._matcher.live_positions()
        elif isinstance(self._matcher, SnapshotView):
            live = sorted(position for _, position in self._matcher.subscriptions())
        else:
            live = range(len(self._bindings))
        return {position: self._bindings[position] for position in live}

    def topics(self, destination: str) -> tuple[str, ...]:
        """Return the patterns that a destination is subscribed to, once each, the oldest first."""
        bound = (binding.pattern for binding in self.subscriptions().values() if binding.destination == destination)
        return tuple(dict.fromkeys(bound))

    def snapshot(self) -> Router:
        """Return a router over the bindings of this moment, in constant time; later changes do not show in it.

        Raises :class:`OptionError` if the engine has no snapshots.
        """
        view = self._changeable().snapshot()
        return Router(self._bindings, view, replace(self._info, dynamic=False, concurrent=False), self._dialect)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the compiled form to a file, for :func:`load`; what the cache holds is left out.

        The file appears complete or not at all, and takes the place of an older one in a single step. Raises
        :class:`OptionError` unless the engine is one of ``dfa`` and ``nfa``, and ``OSError`` if the path cannot be
        written.
        """
        write_compiled(path, self.compiled())

    def compiled(self) -> Compiled:
        """Return what a file holds of this router; raises :class:`OptionError` if its engine has no such form."""
        restorer(self._info.name)
        assert isinstance(self._matcher, AutomatonMatcher)
        return Compiled(
            nfa=self._matcher.nfa,
            bindings=self._bindings,
            dialect=self._dialect,
            engine=self._info.name,
            cache_bytes=self.stats().capacity if "cache_bytes" in self._info.options else None,
        )

    def stats(self) -> CacheStats:
        """Describe the engine's cache: what it holds, and how often it was hit, cleared and given up on."""
        return CacheStats() if self._columns is None else self._columns.stats()

    def _changeable(self) -> LiveMatcher:
        if not isinstance(self._matcher, LiveMatcher):
            raise OptionError(
                f"the bindings of this router never change ({self._info.name!r} is not dynamic, or this is a snapshot): "
                "compile a new one, or use an engine whose engine_info(name).dynamic is true"
            )
        return self._matcher

    def _matches(self, batch: SetBatch) -> Matches:
        return Matches(batch, self._destinations)

    def _destinations(self) -> tuple[Int32s, Any]:
        """Return the name table, made when it is first needed, and anew if bindings were added since."""
        table = self._table
        if isinstance(self._bindings, StoredBindings) and not len(table[0]):
            table = self._table = (self._bindings.codes, name_table(self._bindings.names)[1])
        elif len(table[0]) < len(self._bindings):
            table = self._table = name_table(binding.destination for binding in list(self._bindings))
        return table

    def _batch(self, columns: Iterable[KeyColumn], threads: int) -> SetBatch:
        if self._columns is not None:
            return self._columns.match_batch(columns, threads=threads)
        return key_by_key(self._matcher.match, columns)


def key_bytes(key: str | bytes) -> bytes:
    """Return a routing key as the bytes that travel; raises :class:`KeyTypeError` for what is no key."""
    if isinstance(key, str):
        try:
            return key.encode()
        except UnicodeEncodeError as error:
            raise KeyTypeError(
                f"the routing key {key!r} has a lone surrogate at character {error.start}: pass the key as bytes"
            ) from None
    if isinstance(key, bytes):
        return key
    raise KeyTypeError(f"the routing key is {key!r} ({type(key).__name__}): expected str or bytes")
