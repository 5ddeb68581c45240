"""A walker's cache within its bound: how it begins, grows, is cleared and begins anew, and what is told of it.

An exception, such as that of a signal, may end a call between any two steps. The cache then is *midway*: it may be half cleared or
half copied, so the next call begins with new, empty tables. That is cheap to be right about.
:class:`compiler.machine.walker.Walker` decides when it grows, is cleared, or is left aside.
"""

from __future__ import annotations

from array import array
from typing import Any

from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import (
    BUILDS,
    CLOSED,
    COUNTS,
    CRAMPED,
    DEFAULTS,
    KEY_CACHE_HITS,
    MEMBERS,
    MISSES,
    SEEN,
    SETS,
    SIMULATED,
    START,
    STATES,
    TAGS,
    TRANSITIONS,
    UNJUDGED,
    WORDS,
    Cache,
    Int64s,
)
from compiler.kernels.work import make_work
from compiler.machine.cache import DOORKEEPER_FROM, Snapshot, cleared, empty_cache, nbytes, snapshot
from compiler.machine.closing import CLOSED_FROM, Closing
from compiler.machine.collector import Collector
from compiler.machine.dense_rows import DenseRows
from compiler.machine.exact_keys import ExactFinder
from compiler.machine.growing import grown
from compiler.machine.key_cache import KeyCache
from compiler.machine.key_sample import KeySample
from compiler.machine.key_store import KeyStore
from compiler.machine.lost_keys import LostKeys
from compiler.machine.pace import Counted
from compiler.machine.parts import Parts
from compiler.machine.policy import Policy
from compiler.machine.seals import make_seal
from compiler.machine.simulation import Simulation
from compiler.machine.single_keys import SingleKeys, answer_bytes
from compiler.values import AtOnce, CacheStats

__all__ = ["BoundedCache"]

NONE_AT_ONCE = None, None
"""In place of the functions that answer single keys at once, where none may."""
WORDS_PER_STATE = 10
"""A cache has paid if it read this many words per state it built (the measure and the figure of regex-automata)."""
FAR_BYTES, FAR_WITHIN, NARROW = 4 << 20, 1 << 20, 16
"""An automaton with larger tables than FAR_BYTES gets a doorkeeper: there, building a transition is waiting for memory ten times,
and simulating a word two or three times. Without, the first pass of `fleet` (62 MB) takes 2.3 times as long, as few of its
transitions come again soon (``python -m benchmarks ablations``); with one, that of `stock` (1 MB) took 1.8 times as long.

So does one of more than FAR_WITHIN bytes that takes over one part in NARROW of the cache's: what comes once would fill these, and leave keys no
room. (Eight drawn families of 1 to 4 MB within 1 to 16 MiB took 0.84 of the time in the first pass, 0.79 warm and 0.72 after a change of keys
in the geometric mean, and 1.1 at worst.)"""


class BoundedCache:
    """The tables of one walker, and what was counted with them."""

    _at_once: AtOnce | None = None
    """Where single keys are answered without this walker being lent, as long as it is not midway."""

    def __init__(self, parts: Parts, capacity: int, policy: Policy) -> None:
        """Begin with an empty cache, or with none where not even an empty one fits into ``capacity`` bytes.

        The key cache takes its room from the same capacity.
        """
        self._program = program = parts.program
        self._bits = bits = parts.bits
        self._exact_keys = parts.exact
        self._exact = None if parts.exact is None else ExactFinder(parts.exact)
        self._capacity = capacity
        self._policy = policy
        size = program.nodes.nbytes + program.edges.nbytes
        self._doorkeeper = policy.keeps_door(far=size > min(FAR_BYTES, max(FAR_WITHIN, capacity // NARROW)))
        self._was_full = False
        """Whether it has a doorkeeper because it was full."""
        self._key_cache = KeyCache(policy.key_cache, int(program.separator), policy.key_cache_share)
        self._pace = policy.pace(None if bits is None else len(bits.loops))
        self.stores = True
        """Whether keys may be looked up in the key store, and put there."""
        self._keys = self._clears = self._fallbacks = 0
        self._cache: Cache | None = None
        self._used_bytes = 0
        """The bytes of the cache's tables."""
        self._numbering: object
        """Another one whenever accept sets are numbered anew."""
        self._start_over()

    def stats(self) -> CacheStats:
        """Describe the cache."""
        cache = self._cache
        if cache is None:
            return CacheStats(
                capacity=self._capacity, keys=self._asked, fallbacks=self._simulated, key_cache_hits=self._found
            )
        meta = cache.meta
        # In this order: another thread may be counting, which adds words before those that were misses.
        misses = int(meta[MISSES])
        words = int(meta[WORDS])
        return CacheStats(
            states=int(meta[STATES]) - 1,
            transitions=int(meta[TRANSITIONS] + meta[DEFAULTS]),
            accept_sets=int(meta[SETS]) - 1,
            bytes=self._used_bytes + self._dense_rows.nbytes + self._keys_bytes,
            capacity=self._capacity,
            keys=self._asked,
            words=words,
            hits=words - misses,
            misses=misses,
            clears=self._clears,
            closed=int(meta[CLOSED]),
            fallbacks=self._simulated,
            key_cache_hits=int(meta[KEY_CACHE_HITS]) + self._found,
        )

    def snapshot(self) -> Snapshot | None:
        """Return what the cache knows now; None where there is no cache."""
        if self._midway:
            self._start_over()
        return None if self._cache is None else snapshot(self._cache)

    def seal(self, most_bytes: int) -> Seal | None:
        """Return a copy of what the cache knows now, sealed, which should take ``most_bytes`` at most; None where that is nothing."""
        if self._midway:
            self._start_over()
        return None if self._cache is None else make_seal(self._cache, self._program, most_bytes)

    def bound(self, capacity: int) -> None:
        """Bound the cache anew, throwing away what it holds if that is too large already."""
        self._begin()
        self._capacity = capacity
        self._key_cache.drop()
        self._key_store = self._new_store(capacity)
        self._single.bound(self._answer_bytes)
        self._lost.drop()
        self._dense_rows.note(0, built=True)
        if self._cache is None or self._used_bytes > capacity:
            self._start_over()
        self._end()

    def _new_store(self, capacity: int) -> KeyStore:
        sample = KeySample(self._work.sample, self._work.sample_counts)
        return KeyStore(capacity, wanted=self._policy.stores_keys, sample=sample)

    def _begin(self) -> None:
        """Begin a call that changes the cache."""
        if self._midway:
            self._start_over()
        self._judge_few()
        self._set_out()

    def _judge_few(self) -> None:
        """End the stretch of single keys and small batches: what it has built is judged now, or batches in between would put that off for ever."""
        if self._cache is not None and self._pace.few[UNJUDGED] and self._policy.simulate is None:
            self._pace.judge(self._counted(self._cache.meta), members=self.live_positions)
        self._pace.few[UNJUDGED] = 0

    def _counted(self, meta: Int64s) -> Counted:
        """Return what was counted so far."""
        return Counted(self._asked, int(meta[WORDS]), int(meta[BUILDS]), int(meta[KEY_CACHE_HITS]))

    def _set_out(self) -> None:
        """Be midway from now on."""
        self._midway = True
        if self._at_once is not None:
            self._at_once.finders[1:] = NONE_AT_ONCE

    def _end(self) -> None:
        """Have nothing half done from now on."""
        if self._at_once is not None:
            self._offer(
                self._at_once
            )  # first, as a signal may end this here: then the next call begins anew, and offers again
        self._midway = False

    def _offer(self, at_once: AtOnce) -> None:
        """Have single keys answered at once by what is ready for the cache as it is."""
        cache, single, lost = self._cache, self._single, self._lost
        at_once.finders[1:] = (
            single.find if cache is single.cache is not None else None,
            lost.find if cache is lost.cache else None,
        )

    def answer_at_once(self, loans: dict[int, Any]) -> AtOnce:
        """Have single keys answered by functions in C's terms, without asking this walker, while ``loans`` are none."""
        # In one step of the interpreter, as this is asked without a lease: a function that got another one would never be told of new tables.
        made: AtOnce = vars(self).setdefault("_at_once", AtOnce(loans, [None] * 3, array("q", [0, 0, 0])))
        return made

    def _start_over(self) -> None:
        """Make all tables anew, whatever is in those that there are; only what has been counted is kept."""
        if self._at_once is not None:
            self._at_once.finders[1:] = NONE_AT_ONCE
        counts = None if self._cache is None else self._cache.meta[COUNTS]
        cache = empty_cache(self._program, self._capacity, doorkeeper=self._doorkeeper)
        if counts is not None:
            cache.meta[COUNTS] = counts
        self._pace.few[UNJUDGED] = 0  # of the stretch that was broken off builds may be counted, and no keys
        self._work = make_work(self._program)
        self._simulation = Simulation(self._program, self._bits, self._work)
        self._dense_rows = DenseRows(self._program, self._policy.row_bytes, self._capacity)
        self._key_cache.drop()
        self._key_store = self._new_store(self._capacity)
        self._single = SingleKeys(self._program, self._exact_keys, self._answer_bytes)
        self._lost = LostKeys(self._program, self._bits, self._work, divided=self._exact is not None)
        self._words_at_clear = int(cache.meta[WORDS])
        self._closing = Closing()
        self._hold(cache if nbytes(cache) <= self._capacity and self._policy.simulate is not True else None)
        self._numbering = object()
        self._midway = False  # whether a call was begun and has not ended: then an exception has ended it

    def _hold(self, cache: Cache | None) -> None:
        """Go on with this cache; what it takes is added up here, as each call of a kernel asks for that."""
        self._cache, self._used_bytes = cache, 0 if cache is None else nbytes(cache)

    def _grow(self, cache: Cache, table: int) -> bool:
        """Give a table of the cache more room; return False where the capacity does not allow it."""
        key_cache, key_store = self._key_cache, self._key_store
        spare = 0 if len(key_cache.table) or key_store.policy.active else key_cache.wanted_bytes(self._capacity)
        larger = grown(cache, table, self._capacity - self._keys_bytes, spare)
        if larger is None:
            if not self._keys_bytes:
                return False
            # What keys take is room for the automaton first, but for a store that is asked: nearly all keys may be there.
            if not key_store.policy.active:
                (key_store if key_store.nbytes else key_cache).drop()
            elif len(key_cache.table):
                key_cache.drop()
            elif self._closes(cache):
                return False
            else:
                key_store.drop()
            return self._grow(cache, table)
        self._hold(larger)
        self._single.drop()
        self._lost.drop()
        return True

    def _clear(self, cache: Cache) -> None:
        """Empty the cache, which is full.

        The first time it gets a doorkeeper, unless that was decided otherwise: of what did not find room, what comes again is kept.
        """
        if self._doorkeeper or self._capacity < DOORKEEPER_FROM or not self._policy.keeps_door(far=True):
            self._hold(cleared(cache))
        else:
            self._doorkeeper = self._was_full = True
            smallest = empty_cache(self._program, self._capacity, doorkeeper=True)
            smallest.meta[COUNTS], smallest.meta[CRAMPED] = cache.meta[COUNTS], 1
            self._hold(smallest)
        self._numbering = object()
        self._key_cache.forget()
        self._key_store.drop()
        self._single.drop()
        self._lost.drop()
        self._words_at_clear = int(cache.meta[WORDS])
        self._closing = Closing()
        self._clears += 1

    def _closes(self, cache: Cache) -> bool:
        """Close the cache, which is full, if that is worth a try; return False if not.

        Where keys are stored it is, whether or not the cache has paid: what is stored is asked for first.
        """
        if self._policy.close is None:
            pays = self._key_store.policy.active or (self._used_bytes >= CLOSED_FROM and self._paid(cache))
            closes = pays and not self._closing.spent and cache.meta[START] != 0
        else:
            closes = self._policy.close and cache.meta[START] != 0
        cache.meta[CLOSED] = closes
        return closes

    def _note_deferred(self, cache: Cache, keys: int, deferred: int) -> None:
        """Take note of keys that were walked, and of those among them that were simulated from some word on."""
        self._fallbacks += deferred
        judged = cache.meta[CLOSED] and self._policy.close is None and not self._key_store.policy.active
        if judged and not self._closing.held(keys=keys, deferred=deferred, guarded=cache.doorkeeper.size > 0):
            cache.meta[CLOSED] = 0
        self._forget_requests(cache)

    def _forget_requests(self, cache: Cache) -> None:
        """Empty the doorkeeper if half of it is in use; what comes often will soon be counted again."""
        if cache.meta[SEEN] > 16 * len(cache.doorkeeper):
            cache.doorkeeper[:] = 0
            cache.meta[SEEN] = 0

    @property
    def _found(self) -> int:
        """The keys that patterns without wildcards spell, and that were answered by looking them up."""
        return 0 if self._exact is None else self._exact.answered

    @property
    def _asked(self) -> int:
        """The keys that the cache, or the simulation, was asked for."""
        return self._keys if self._at_once is None else self._keys + sum(self._at_once.counts[1:])

    @property
    def _simulated(self) -> int:
        """The keys that were simulated, from their first word on or from a later one."""
        return self._fallbacks + int(self._pace.counts[SIMULATED])

    @property
    def live_positions(self) -> float:
        """The positions of the NFA that a state stands for, on average."""
        return 0.0 if self._cache is None else float(self._cache.meta[MEMBERS] / self._cache.meta[STATES])

    @property
    def _answer_bytes(self) -> int:
        """The bytes of answers to single keys that may be kept beside the cache."""
        return answer_bytes(self._capacity)

    @property
    def _keys_bytes(self) -> int:
        """The bytes of whole keys."""
        return self._key_cache.table.nbytes + self._key_store.nbytes

    @property
    def _unused_bytes(self) -> int:
        """The bytes of the capacity that nothing takes."""
        return self._capacity - self._used_bytes - self._dense_rows.nbytes - self._keys_bytes

    def _paid(self, cache: Cache) -> bool:
        return bool(cache.meta[WORDS] - self._words_at_clear >= WORDS_PER_STATE * (cache.meta[STATES] - 1))

    def _hand_over_sets(self, found: Collector, stop: int) -> None:
        """Hand the cache's accept sets over, as the answers up to row ``stop`` refer to them."""
        cache = self._cache
        if cache is not None:
            found.add(cache.set_end[: cache.meta[SETS]], cache.tags[: cache.meta[TAGS]], stop)
