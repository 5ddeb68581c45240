"""When a key store rests, and the key cache is asked instead: where keys are few, or it is full and the key cache knows all others.

The key cache (:mod:`compiler.machine.key_cache`) stands in the processor's second-level cache, and looks some hundred short keys up in half of the time that
the store (:mod:`compiler.machine.key_store`) takes for them.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels.tables import KEY_CACHE_BYTES, Keys
from compiler.machine.store_costs import Stretch

__all__ = ["Rest"]

LOOK, LONGEST_LOOK = 1 << 15, 1 << 17
"""Keys that are looked up before it is looked whether they are few, and the most: twice as many each time that they are not."""
SAMPLE, FEW, KNOWN = 1 << 11, 768, 0.9
"""So many keys are looked at; fewer different ones among them are few, if so large a share is known. The key cache looks up 580 to 1,100 keys
in 8 to 14 ns where the store takes 16 to 20, and 2,000 as soon as the store."""
SHORT = 48
"""The bytes of keys up to which the key cache looks them up sooner: it compares eight bytes after the other, of eight keys at a time, so the longest of
these counts. On an Intel Xeon some hundred keys of 10 to 70 bytes took 20 ns by it, and 12 by the store."""
LEAST = 1024
"""Keys that a full store does not know, by which it is told what the key cache knows of them."""


class Rest:
    """What one store needs to decide that, from look to look.

    >>> rest = Rest()
    >>> full = Stretch(keys=1 << 15, hits=20_000)
    >>> [rest.wins(None, 0, 1 << 15, full, cached=cached, full=True, long=0.0) for cached in (9000, 12_500)]
    [False, False]
    >>> rest.wins(None, 0, 1 << 15, full, cached=12_500, full=True, long=0.0)
    True
    """

    def __init__(self) -> None:
        """Begin without having looked."""
        self._unlooked, self._look = 0, LOOK
        self._marks = np.empty(0, np.uint64)

    def look_soon(self) -> None:
        """Look after as many keys as at first, as other keys may come."""
        self._look = LOOK

    def wins(self, keys: Keys, start: int, stop: int, asked: Stretch, *, cached: int, full: bool, long: float) -> bool:
        """Tell whether the key cache would do better than a store that was ``asked`` for keys ``start`` to ``stop``; look only now and then.

        That is so where the keys are few, no more than a share ``long`` of them too long for the key cache; or the store is ``full``, and nearly
        all keys that it does not know are among the ``cached`` ones, which the key cache has answered.
        """
        self._unlooked += stop - start
        if self._unlooked < self._look:
            return False
        self._unlooked = 0
        self._look = min(2 * self._look, LONGEST_LOOK)
        known = full and cached > max(KNOWN * (asked.keys - asked.hits), LEAST)
        if not (known or self.are_few(keys, start, stop, asked, long=long)):
            return False
        self._look = LOOK
        return True

    def are_few(self, keys: Keys, start: int, stop: int, asked: Stretch, *, long: float = 1.0) -> bool:
        """Tell whether keys of which nearly all are known are so few, and so short, that the key cache looks them up sooner.

        At most the share ``long`` of them may be too long for it.
        """
        from compiler.kernels.key_store import count_different

        if asked.hits < KNOWN * asked.keys or asked.size > SHORT * asked.keys or stop - start < SAMPLE:
            return False
        sizes = np.diff(keys.offsets[start : start + SAMPLE + 1]).reshape(-1, 8)
        if sizes.max(axis=1).mean() > SHORT or np.mean(sizes > KEY_CACHE_BYTES) > long:
            return False
        if not len(self._marks):
            self._marks = np.empty(SAMPLE // 4, np.uint64)
        return int(count_different(keys, start, start + SAMPLE, self._marks)) < FEW
