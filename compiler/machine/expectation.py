"""Whether it will pay to store keys: what is spared of the keys to come, beside what storing the new ones among them costs.

How soon keys come again says :mod:`compiler.machine.recurrence`, and what everything takes :mod:`compiler.machine.store_costs`.
"""

from __future__ import annotations

from compiler.machine.recurrence import Recurrence, Sampled
from compiler.machine.store_costs import COPIED, SAMPLED, WORTH, Before, Stretch, bytes_of, looking_up, storing

__all__ = ["NEVER", "NO_ROOM", "pays_from", "pays_within"]

NEVER, NO_ROOM = 0, -1
"""Storing keys does not pay, or there is no room for those that have come."""
DOUBLINGS = 12
"""How often the keys that are ahead are doubled to find how many there should be."""


def pays_within(walked: Stretch, before: Before, sampled: Sampled, *, ahead: int, room: int, word: float) -> int | None:
    """Tell within how many keys storing them will pay; NEVER or NO_ROOM where it will not, and None where that cannot be told yet.

    Those that were ``walked`` last, and took what ``before`` says, were ``sampled`` with others before them; so many more are expected to be ``ahead``,
    and walking a ``word`` takes so long. It pays if what will be spared of these is more than storing those costs that have come, and new ones at the rate at which
    they came last, as far as there is ``room``; or new ones by their curve. Where there is room for some of those that have come, it is for some of what comes again.
    """
    size = walked.size / walked.keys
    took, missed = before.took(word=word, size=size), storing(size)
    apart = walked.found / walked.keys  # exact keys: these would be stored, too, and as many of them are different
    asked = before.walked + apart
    different = int(sampled.different * asked / max(before.walked, 1e-3))
    each = WORTH * looking_up(size, stored=different)
    most = int(room / bytes_of(1, size))
    if took <= each + SAMPLED:
        return NEVER
    if different > most:  # as many as have room are stored, and the others copied each time
        known = sampled.share * most / different
        spared = known * took - each - (1 - known) * COPIED
        return sampled.keys if spared * ahead > (missed + took) * most else NO_ROOM
    new = asked * (1 - sampled.share)
    further = min(ahead, int((most - different) / max(new, 1e-9)))
    if (took - each) * further > (missed + took) * (different + new * further):
        return sampled.keys
    curve = sampled.curve
    if curve is None:
        return None
    stored = curve.different(ahead * asked)
    each = WORTH * looking_up(size, stored=int(stored))
    if stored > most or (took - each) * ahead < (missed + took) * stored:
        return None
    return int(curve.until((each + missed) / (took + missed)) / asked)


def pays_from(curve: Recurrence, come: int, ahead: int, *, took: float, each: float, missed: float) -> int:
    """Return for how many times as many keys as are ``ahead`` storing further ones pays: 1 if it does for these, 0 for never.

    So many keys have ``come``, and are stored; each ``took`` so long without that, looking it up takes ``each``, and storing it ``missed``.
    """
    stored = curve.different(come)
    for doublings in range(DOUBLINGS):
        further = ahead << doublings
        if (took - each) * further > (missed + took) * (curve.different(come + further) - stored):
            return 1 << doublings
    return 0
