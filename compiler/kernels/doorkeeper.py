"""The doorkeeper: a transition is built only when it is asked for often, if the automaton's tables are far from the processor or the
cache was full before.

Building one in tables that are far is waiting for memory ten times, and few transitions of such an automaton are asked for again soon. In
a cache that cannot hold all, one that does not come again takes the room of one that does. So requests are counted, in counters of
two bits that several transitions may share, as TinyLFU does (Einziger, Friedman and Manes 2017).
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, prefetch
from compiler.kernels.tables import CLOSED, CRAMPED, DOORKEEPER_ASKS, SEEN, Cache, Int64s, Unsigned
from compiler.kernels.unsigned import ONE, TWO, ZERO

__all__ = ["is_rare", "prefetch_counter"]

LOG_COUNTERS, COUNTER, ASKS = np.uint64(5), np.uint64(3), np.uint64(DOORKEEPER_ASKS)
"""A number of the doorkeeper holds 2 to the power LOG_COUNTERS counters, each as wide as the mask COUNTER."""


@inlined
def is_rare(cache: Cache, mixed: Unsigned, meta: Int64s, new: bool) -> bool:
    """Count a request for a transition that is not built; tell whether it is too early to build it.

    Always, if the cache is closed, and else never, if it has no doorkeeper or the state is ``new``, built for a key of this block: what led
    there was asked for often, and the key would have to come as often again for each of its further words. Not so in a cache that was
    full once: keys of 64 words would fill it again. A counter may stand for several transitions: one is then built too early.
    """
    doorkeeper = cache.doorkeeper
    if meta[CLOSED] != 0:
        return True
    if (new and meta[CRAMPED] == 0) or doorkeeper.size == 0:
        return False
    counter = mixed >> np.uint64(cache.doorkeeper_shift)
    at, shift = counter >> LOG_COUNTERS, TWO * (counter & np.uint64(31))
    count = doorkeeper[at] >> shift & COUNTER
    if count == ASKS:
        return False
    doorkeeper[at] += ONE << shift
    meta[SEEN] += np.int64(count == ZERO)
    return True


@inlined
def prefetch_counter(cache: Cache, mixed: Unsigned) -> None:
    """Ask for the counter of a transition, by its scrambled key, before it is used."""
    prefetch(cache.doorkeeper, mixed >> np.uint64(cache.doorkeeper_shift) >> LOG_COUNTERS)
