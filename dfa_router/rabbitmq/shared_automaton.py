"""The automaton that all exchanges of a topology share, and the relay that sends whole columns through it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from compiler import Nfa, build_nfa
from compiler.kernels.relay_tables import CONSTANT, Directory, Network, Texts
from compiler.prepare import jit_enabled
from compiler.relay.plain_batches import ListsOfNames
from compiler.relay.plain_relay import PlainRelay
from compiler.relay.relay import Ask, Relay
from compiler.storage.automata import read_automaton, write_automaton
from compiler.values import CacheStats, Int32s, SetBatch
from dfa_router.arrow import Rows, key_column
from dfa_router.engines.automaton import Automaton
from dfa_router.engines.registry import engine_spec, restorer
from dfa_router.language.dialects import AMQP
from dfa_router.rabbitmq.copies import keys_of_column
from dfa_router.rabbitmq.key_matching import StationMatcher
from dfa_router.rabbitmq.matching import FURTHER_KEYS, HEADERS, ROUTING_KEY, Columns, Matcher
from dfa_router.rabbitmq.nodes import Node
from dfa_router.rabbitmq.plain_columns import PlainColumns
from dfa_router.rabbitmq.stations import Stations, plan
from dfa_router.short_strings import MAX_BYTES

__all__ = ["SharedAutomaton", "compile_shared"]

RELAY_SHARE = 4
"""The relay's cache may have this part of the bytes of all caches."""


class SharedAutomaton:
    """An automaton, its cache, and the cache of what its accept sets lead to; immutable but for the caches.

    Pickles without what the caches hold.
    """

    def __init__(self, nfa: Nfa, stations: Stations, engine: str, cache_bytes: int) -> None:
        """Make ready for messages; ``cache_bytes`` bounds both caches together."""
        self.nfa = nfa
        self.stations = stations
        self._engine, self._cache_bytes = engine, cache_bytes
        spec = engine_spec(engine)
        own = cache_bytes - cache_bytes // RELAY_SHARE
        options = spec.options(cache_bytes=own) if "cache_bytes" in spec.info.options else spec.options()
        self._machine: Automaton = restorer(engine)(nfa, AMQP, options)  # type: ignore[assignment]
        self._relay: PlainRelay | None = None
        self._blind: PlainRelay | None = None
        """For messages whose headers are not known, where any exchange goes by them; made when the first ones come."""
        self._apart: Relay | None = None
        """For messages with several keys: these may get to an exchange by one key and on by another, so what is narrowed to the
        key that gets there (:mod:`dfa_router.rabbitmq.narrowing`) does not tell enough. It may always have its least bytes."""
        if jit_enabled():
            network = stations.network
            alone = network._replace(group_offsets=np.zeros_like(network.group_offsets), groups=network.groups[:0])
            room = (cache_bytes - own) // (2 if len(stations.by_headers) else 1)
            self._relay = self._relay_of(network, room)
            self._apart = self._relay_of(alone, 0)
            self._room = room

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.nfa, self.stations, self._engine, self._cache_bytes)

    @classmethod
    def read(cls, path: str | os.PathLike[str], stations: Stations, engine: str, cache_bytes: int) -> SharedAutomaton:
        """Map the file of an automaton, which nobody may change afterwards; raises :class:`FileFormatError`."""
        return cls(read_automaton(path, mapped=True), stations, engine, cache_bytes)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the automaton to a file, atomically; raises ``OSError`` if the path cannot be written."""
        write_automaton(path, self.nfa)

    def matcher(self, number: int) -> StationMatcher:
        """Return the matcher of an exchange."""
        network = self.stations.network
        first, last = network.conditions[number : number + 2].tolist()
        return StationMatcher(
            machine=self._machine,
            word=self.stations.word(number),
            tags=self.stations.tags,
            first=first,
            last=last,
            constant=bool(network.kinds[number] == CONSTANT),
        )

    def send(self, starts: Int32s, columns: Columns, ask: Callable[[int], Matcher]) -> SetBatch | None:
        """Send messages from exchanges; None where kernels are not compiled. ``ask`` returns the matcher of an exchange."""
        if self._relay is None or self._apart is None:
            return None
        relay = self._relay_for(columns, ask)
        if FURTHER_KEYS not in columns:
            return self._sent(relay, starts, columns, ask)
        several = np.flatnonzero(np.diff(keys_of_column(columns[FURTHER_KEYS]).offsets))
        single = starts.copy()
        single[several] = -1
        ids, offsets, outputs = self._sent(relay, single, columns, ask)
        others = self._sent(self._apart, starts[several], Rows(columns, several), ask)
        ids[several] = others.set_ids + np.int32(len(offsets) - 1)
        return SetBatch(
            ids,
            np.concatenate([offsets, others.offsets[1:] + offsets[-1]]),
            np.concatenate([outputs, others.positions]),
        )

    def send_plain(
        self, plain: PlainColumns, more: Columns, directory: Directory, ask: Callable[[int], Matcher]
    ) -> SetBatch | None:
        """Send a plain batch of which ``more`` is known; see :meth:`compiler.relay.plain_relay.PlainRelay.run_plain`. None if it must go the
        general way.
        """
        if self._relay is None:
            return None
        columns = {ROUTING_KEY: plain.keys, **more}
        asking = self._asking(columns, ask)
        return self._relay_for(columns, ask).run_plain(plain.places, plain.rows, MAX_BYTES, directory, asking)

    def name_plain(
        self,
        plain: PlainColumns,
        more: Columns,
        directory: Directory,
        texts: tuple[Texts, Texts],
        allocate: Callable[[int], Int32s],
        ask: Callable[[int], Matcher],
    ) -> ListsOfNames | None:
        """Do the same, and return the names of what rows get to, among ``texts``, in what ``allocate`` returns for so many bytes."""
        if self._relay is None:
            return None
        columns = {ROUTING_KEY: plain.keys, **more}
        where = plain.places, plain.rows, MAX_BYTES, directory, texts, allocate, self._asking(columns, ask)
        return self._relay_for(columns, ask).name_plain(*where)

    def _relay_for(self, columns: Columns, ask: Callable[[int], Matcher]) -> PlainRelay:
        """Return the relay for messages with headers, or for those without."""
        assert self._relay is not None
        if HEADERS in columns or not len(self.stations.by_headers):
            return self._relay
        if self._blind is None:  # no lock: several threads may make one, and the last is used from then on
            network = self.stations.without_headers(lambda number: ask(number).match({}))
            self._blind = self._relay_of(network, self._room)
        return self._blind

    def _relay_of(self, network: Network, room: int) -> PlainRelay:
        stations = self.stations
        asked = stations.asked[network.kinds[stations.asked] != CONSTANT]
        return PlainRelay(network, stations.outputs, self._machine, stations.tags, stations.words, room, asked)

    def _sent(self, relay: Relay, starts: Int32s, columns: Columns, ask: Callable[[int], Matcher]) -> SetBatch:
        further = keys_of_column(columns[FURTHER_KEYS]) if relay is self._apart else None
        return relay.run(key_column(columns[ROUTING_KEY]), starts, self._asking(columns, ask), further)

    def _asking(self, columns: Columns, ask: Callable[[int], Matcher]) -> Ask:
        """Return a function that asks the matcher of an exchange for rows of a batch."""
        conditions = self.stations.network.conditions

        def met(number: int, rows: Int32s) -> SetBatch:
            found = ask(number).match_columns(Rows(columns, rows))
            offsets, values = (np.asarray(array, np.int32) for array in found.sets)
            return SetBatch(found.set_ids.astype(np.int32), offsets, values + conditions[number])

        return met

    def stats(self) -> CacheStats:
        """Describe the automaton's cache; messages that were known whole count as keys that its key cache knew."""
        found, known = self._machine.stats(), sum(one.known for one in (self._relay, self._blind) if one is not None)
        return replace(found, keys=found.keys + known, key_cache_hits=found.key_cache_hits + known)


def compile_shared(nodes: Sequence[Node], queues: int, engine: str, cache_bytes: int) -> SharedAutomaton:
    """Compile all exchanges whose type reads the routing key alone."""
    stations, patterns = plan(nodes, queues)
    return SharedAutomaton(build_nfa(patterns), stations, engine, cache_bytes)
