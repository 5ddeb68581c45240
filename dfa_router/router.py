"""The router: bindings compiled by an engine, which match single keys or whole columns of keys.

A router adds to an engine what all engines have in common: destinations, Arrow columns, checks of the input, and the
bindings themselves. The work is done in the engine: a batch goes from the router straight to the compiler's machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from compiler.kernels.tables import frozen
from compiler.notebook import mimebundle
from compiler.prepare import jit_enabled
from compiler.values import CacheStats, Int32s
from dfa_router.arrow import key_array, key_columns
from dfa_router.arrow.dictionaries import KEYS_PER_ROW, dictionary_of, row_numbers
from dfa_router.arrow.lists import texts_from
from dfa_router.arrow.sets import NameTable, name_table, names_of_members
from dfa_router.blocks import BLOCK_BYTES, block_rows
from dfa_router.counted import counted
from dfa_router.engines.automaton import Automaton, Sealable
from dfa_router.engines.key_by_key import with_batches
from dfa_router.engines.live import LiveMatcher
from dfa_router.engines.protocol import (
    NO_OPTIONS,
    Detector,
    EngineInfo,
    FewMatcher,
    Matcher,
    SnapshotView,
)
from dfa_router.engines.registry import restorer
from dfa_router.errors import BindingError, OptionError
from dfa_router.few import few_keys
from dfa_router.file_names import given_path
from dfa_router.key_bytes import key_bytes
from dfa_router.language.bindings import Binding, FirstBindings, pattern_bytes
from dfa_router.language.dialects import Dialect
from dfa_router.language.one_binding import one_binding
from dfa_router.language.rules import compile_nfa
from dfa_router.learning import learn
from dfa_router.results import Matches
from dfa_router.single import LEFT, SingleAnswers
from dfa_router.storage.compiled import Compiled
from dfa_router.storage.files import write_compiled
from dfa_router.storage.flat_bindings import FlatBindings
from dfa_router.whole_numbers import whole_number

__all__ = ["Router"]

_DRAWN = 200
"""The most bindings that are drawn in a picture of a router."""


class Router:
    """Bindings compiled by an engine; made by :func:`compile`.

    It may be used from several threads at once. It is pickled in its compiled form, without the content of its cache.
    """

    def __init__(
        self,
        bindings: Sequence[Binding],
        matcher: Matcher,
        info: EngineInfo,
        dialect: Dialect,
        options: Any = NO_OPTIONS,
    ) -> None:
        """Take an engine that was built from the bindings; ``options`` are those to be saved (``EngineSpec.options``)."""
        if isinstance(matcher, LiveMatcher):
            bindings = matcher.bindings
        self._matcher = matcher
        # Asked once and kept, as testing for a protocol takes 50 us.
        self._batches = with_batches(matcher)
        self._few = matcher if isinstance(matcher, FewMatcher) else None
        self._detector = matcher if isinstance(matcher, Detector) else None
        self._info = info
        self._dialect = dialect
        self._options = options
        self._table = name_table(())
        # Engines that are there to be measured, or whose bindings change, remember no answers.
        self._single = SingleAnswers(bindings, matcher, remembers="cache_bytes" in info.options)
        self._settled = False
        """Whether it was decided if this router has a function in place of its method match()."""

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_settled": False}
        state.pop("match", None)
        return state

    def __repr__(self) -> str:
        if isinstance(self._matcher, LiveMatcher):
            count = self._matcher.live_count()
        else:
            count = len(self.subscriptions() if isinstance(self._matcher, SnapshotView) else self._single.bindings)
        return f"<Router: {counted(count, 'binding')}, dialect {self._dialect.name}, engine {self._info.name}>"

    def __len__(self) -> int:
        return len(self._single.bindings)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the picture that a notebook shows: the NFA of the live bindings, whatever the engine."""
        bindings = list(self.subscriptions().values())
        if len(bindings) > _DRAWN:
            return {"text/plain": f"{self!r}\n(no picture: {len(bindings):,} bindings are too many for one)"}
        patterns = [pattern_bytes(binding.pattern, i, self._dialect) for i, binding in enumerate(bindings)]
        names = [f"{binding.pattern} → {binding.destination}" for binding in bindings]
        return mimebundle(compile_nfa(patterns, self._dialect), repr(self), names=names)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The bindings in the order of their positions; with a dynamic engine, also those that were unsubscribed."""
        single = self._single
        if isinstance(single.bindings, FlatBindings):
            single.bindings = tuple(single.bindings)  # decoded once, in case that they are asked for again
        return tuple(single.bindings)

    @property
    def engine(self) -> EngineInfo:
        """What the engine of this router can do."""
        return self._info

    @property
    def dialect(self) -> Dialect:
        """The pattern language."""
        return self._dialect

    def match(self, key: str | bytes) -> tuple[str, ...]:
        """Return the destinations of the key, once each, in order of their first matching binding.

        A router with the engine ``dfa`` remembers about a thousand answers of this method, beside its ``cache_bytes``; none
        under ``python -b``.
        """
        try:
            return self._single.recent[key]
        except LEFT:
            pass
        if not self._settled:
            self._settle()
        return self._single.match(key)

    def _settle(self) -> None:
        """Take a function of machine code in place of :meth:`match`, if that one is nobody else's.

        Not before the first key that is asked for: loading it takes milliseconds.
        """
        if type(self).match is _MATCH:
            function = self._single.function(_MATCH)
            if function is not None:
                self.match = function  # type: ignore[method-assign]
        self._settled = True

    def match_bindings(self, key: str | bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match the key, ascending."""
        return self._matcher.match(key_bytes(key))

    def any(self, key: str | bytes) -> bool:
        """Tell whether any binding matches the key."""
        if self._detector is None:
            return bool(self._matcher.match(key_bytes(key)))
        return self._detector.any(key_bytes(key))

    def match_batch(self, keys: Any, *, threads: int = 1) -> Matches:
        """Match a column of keys.

        ``keys`` is an Arrow column of text or bytes, which may be dictionary-encoded; or anything that hands one over by
        Arrow's PyCapsule interface, such as a polars or pandas Series, a DuckDB relation or a table of one column; or a
        list of str, bytes and None. A dictionary column is matched once per distinct key. A null key has a null row in the
        result.

        ``threads`` is the number of threads that the engines ``dfa`` and ``nfa`` may use for a large batch. Each thread
        has its own cache, which is a share of ``cache_bytes``. Other engines use one thread.
        """
        return self._matched(keys, threads, KEYS_PER_ROW)

    def _matched(self, keys: Any, threads: int, keys_per_row: int) -> Matches:
        """Match a column; of a dictionary at most so many keys for each row, or those that rows name."""
        threads = whole_number("threads", threads, 1, "a number of threads from 1 up")
        if self._few is not None:
            few = few_keys(self._few, keys)
            if few is not None:
                return Matches(few, self._destinations)
        column = key_array(keys)
        encoded = dictionary_of(column, keys_per_row)
        if encoded is None:
            return Matches(self._batches.match_batch(key_columns(column), threads=threads), self._destinations)
        distinct, runs = encoded
        batch = self._batches.match_batch(key_columns(distinct), threads=threads)
        return Matches(batch._replace(set_ids=row_numbers(batch.set_ids, runs)), self._destinations)

    def match_blocks(self, keys: Any, *, most_bytes: int = BLOCK_BYTES, threads: int = 1) -> Iterator[Matches]:
        """Match a column in blocks: yield the answers for consecutive rows, each of ``most_bytes`` at most.

        That holds whatever the keys are, as a block has so few rows that even different answers for all of them fit; a single
        key's answer may be larger. Making an answer takes twice its size. Blocks of an automaton are sized by how many bindings one key
        can match, those of other engines by how many there are. ``keys`` and ``threads`` are as in :meth:`match_batch`.

        >>> import dfa_router as dr
        >>> router = dr.compile([("#.a.#", "x"), ("#.b.#", "y")])
        >>> [len(block) for block in router.match_blocks(["a", "b.a", "c"], most_bytes=160)]
        [2, 1]
        """
        column = key_array(keys)
        rows = block_rows(self._matcher, len(self._single.bindings), most_bytes)
        # The keys of a dictionary that are matched are no more than the rows, or their sets would be more than there is room for.
        return (self._matched(column.slice(row, rows), threads, 1) for row in range(0, len(column), rows))

    def subscribe(self, pattern: str, destination: str) -> int:
        """Add a binding and return its position, which is never used for another one.

        An equal binding that is there already stays, and the new one has a position of its own: two bindings of a queue
        that differ only in their arguments are two. The router keeps each binding that it ever had, also those that were unsubscribed.
        Raises :class:`OptionError` if the engine is not dynamic.

        >>> import dfa_router as dr
        >>> router = dr.compile([("forex.*", "fx")], engine="trie")
        >>> router.subscribe("#", "audit"), router.match("forex.usd")
        (1, ('fx', 'audit'))
        """
        return self._changeable().subscribe(one_binding(pattern, destination))

    def unsubscribe(self, pattern: str, destination: str) -> int:
        """Remove a binding, the oldest of several equal ones, and return its position.

        Raises :class:`BindingError` if there is none, and :class:`OptionError` if the engine is not dynamic.
        """
        return self._changeable().unsubscribe(one_binding(pattern, destination))

    def subscriptions(self) -> dict[int, Binding]:
        """Return the live bindings by position, ascending.

        An engine that has snapshots (``cstrie``) returns those of one moment, even if other threads change them meanwhile.
        """
        if isinstance(self._matcher, LiveMatcher):
            live: Iterable[int] = self._matcher.live_positions()
        elif isinstance(self._matcher, SnapshotView):
            live = sorted(position for _, position in self._matcher.subscriptions())
        else:
            live = range(len(self._single.bindings))
        return {position: self._single.bindings[position] for position in live}

    def topics(self, destination: str) -> tuple[str, ...]:
        """Return the patterns that are bound to a destination, once each, the oldest first; none for one that has no binding.

        Raises :class:`BindingError` for what is no text.
        """
        if not isinstance(destination, str):
            raise BindingError(f"the destination is {destination!r} ({type(destination).__name__}): expected str")
        bound = (binding.pattern for binding in self.subscriptions().values() if binding.destination == destination)
        return tuple(dict.fromkeys(bound))

    def snapshot(self) -> Router:
        """Return a router of the present bindings, in constant time; later changes do not affect it.

        Raises :class:`OptionError` if the engine has no snapshots.
        """
        view = self._changeable().snapshot()
        growing = self._single.bindings
        # Counted after the view was taken: what that knows stands in the list by then.
        first = FirstBindings(growing, len(growing))
        return Router(first, view, replace(self._info, dynamic=False, concurrent=False), self._dialect)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the compiled form to a file, for :func:`load`; of the cache only what is sealed (:meth:`seal`).

        The file appears complete or not at all, and replaces an older one in a single step. Raises
        :class:`OptionError` unless the engine is one of ``dfa`` and ``nfa``, and ``OSError`` if the path cannot be
        written, or is that of a device, pipe or socket; an :class:`InputError` for what is no path.
        """
        write_compiled(given_path(path), self.compiled())

    def compiled(self) -> Compiled:
        """Return the form that is saved; raises :class:`OptionError` if the engine has no such form."""
        restorer(self._info.name)
        assert isinstance(self._matcher, Automaton)
        return Compiled(
            nfa=self._matcher.nfa,
            bindings=self._single.bindings,
            dialect=self._dialect,
            engine=self._info.name,
            options=self._options,
            seal=self._matcher.sealed if isinstance(self._matcher, Sealable) else None,
        )

    def seal(self, keys: Any = None) -> Router:
        """Return a router that has what the cache knows now in tables that never change.

        All threads read one copy of them, :meth:`save` writes them, and a process that loads the file is warm at once; with
        ``load(path, mapped=True)`` all processes share them. Keys that lead beyond them are matched by a cache beside them, which
        begins empty. Both together take at most ``cache_bytes``. Keys that recur are looked up whole in front of the tables, as the option
        ``key_cache`` says. Where over an eighth of the keys lead beyond the tables, these are not asked for a while, and the cache
        gets all keys: then seal again, with keys like those that come.

        ``keys``, a column as of :meth:`match_batch`, are matched first, up to eight times, until the cache has what it takes to
        answer them; they should be like those to come. This router stays as it is, but for what it learns by that. If it is
        sealed itself, ``keys`` alone make the new tables. Raises :class:`OptionError` if the engine is not ``dfa``, kernels are not
        compiled (``NUMBA_DISABLE_JIT``), or its cache knows nothing yet.

        >>> import dfa_router as dr
        >>> sealed = dr.compile([("forex.*", "fx"), ("#", "audit")]).seal(["forex.usd", "weather.fra"])
        >>> sealed.match("forex.usd"), sealed.stats().sealed_states > 0
        (('fx', 'audit'), True)
        """
        matcher = self._matcher
        # Asked by name, too: what screens the keys of a dialect could be sealed whatever engine is behind it.
        if not isinstance(matcher, Sealable) or self._info.name != "dfa" or not jit_enabled():
            raise OptionError(
                f"the engine {self._info.name!r} has no cache to seal here: compile the bindings with engine='dfa', and without "
                "NUMBA_DISABLE_JIT"
            )
        if matcher.sealed is not None:
            return self._with(matcher.with_seal(None)).seal(keys)
        given = False
        if keys is not None:
            # Once: some give their rows a single time. Of a set no answer has to follow the order.
            column = key_array(list(keys) if isinstance(keys, set | frozenset) else keys)
            given = len(column) > 0
            with matcher.learning():
                learn(lambda: self.match_batch(column), self.stats)
        sealed = matcher.seal()
        if sealed is None:
            raise OptionError(
                "the cache knows nothing that could be sealed: give keys, or match some first"
                if not given
                else "the cache has no room for what these keys need, and so nothing that could be sealed: compile with more "
                "cache_bytes, or give keys that need less"
            )
        return self._with(sealed)

    def _with(self, matcher: Matcher) -> Router:
        return Router(self._single.bindings, matcher, self._info, self._dialect, self._options)

    def stats(self) -> CacheStats:
        """Return the counters of the engine's cache: its size, hits, clears, and keys that went to the NFA instead."""
        return self._batches.stats()

    def _changeable(self) -> LiveMatcher:
        if not isinstance(self._matcher, LiveMatcher):
            raise OptionError(
                f"the bindings of this router never change ({self._info.name!r} is not dynamic, or this is a snapshot): "
                "compile a new one, or use an engine whose engine_info(name).dynamic is true"
            )
        return self._matcher

    def _destinations(self, positions: Int32s) -> NameTable:
        """Return a name table of the bindings at these positions at least: of all, which is made once, where they never change."""
        table, bindings = self._table, self._single.bindings
        if isinstance(bindings, list | FirstBindings):  # of which there may be more, and other ones, at the next call
            return names_of_members(positions, lambda position: bindings[position].destination)
        if isinstance(bindings, FlatBindings) and not len(table.codes):
            codes, names = bindings.codes, bindings.names
            table = self._table = NameTable(frozen(codes), texts_from(names.offsets, names.data, 0))
        elif len(table.codes) < len(bindings):
            table = self._table = name_table(binding.destination for binding in bindings)
        return table


_MATCH = Router.match
"""As it is written above: whoever puts another one in its place wants that to be called for each key."""
