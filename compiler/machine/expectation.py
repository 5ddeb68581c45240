"""Whether it will pay to store keys: what is spared of the keys to come, beside what storing the new ones among them costs.

How soon keys come again says :mod:`compiler.machine.recurrence`, and what everything takes :mod:`compiler.machine.store_costs`.
"""

from __future__ import annotations

from dataclasses import dataclass

from compiler.machine.recurrence import Recurrence, Sampled
from compiler.machine.store_costs import COPIED, SAMPLED, WORTH, Before, Stretch, bytes_of, looking_up, storing

__all__ = ["NEVER", "NO_ROOM", "Costs", "pays_within"]

NEVER, NO_ROOM = 0, -1
"""Storing keys does not pay, or there is no room for those that have come."""
DOUBLINGS = 12
"""How often the keys that are ahead are doubled to find how many there should be."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The nanoseconds that a key takes.

    >>> costs = Costs(took=40.0, each=10.0, missed=60.0)
    >>> costs.pays(100_000, stored=20_000), costs.pays(100_000, stored=40_000), costs.pays(100_000, stored=20_000, known=0.5)
    (True, False, False)
    """

    took: float
    """Not being stored."""
    each: float
    """Being looked up among those that are."""
    missed: float
    """Being stored."""

    def pays(self, keys: float, *, stored: float, known: float = 1.0) -> bool:
        """Tell whether so many keys are spared more than storing so many costs, where a share of them is ``known`` and the others are not stored."""
        spared = known * self.took - self.each - (1 - known) * COPIED
        return spared * keys > (self.missed + self.took) * stored

    def pay_from(self, curve: Recurrence, come: int, ahead: int) -> int:
        """Return for how many times as many keys as are ``ahead`` storing further ones pays, after those that have ``come``: 1 for these, 0 for never."""
        stored = curve.different(come)
        for doublings in range(DOUBLINGS):
            further = ahead << doublings
            if self.pays(further, stored=curve.different(come + further) - stored):
                return 1 << doublings
        return 0


def pays_within(walked: Stretch, before: Before, sampled: Sampled, *, ahead: int, room: int, word: float) -> int | None:
    """Tell within how many keys storing them will pay; NEVER or NO_ROOM where it will not, and None where that cannot be told yet.

    Those that were ``walked`` last, and took what ``before`` says, were ``sampled`` with others before them; so many more are expected to be ``ahead``,
    and walking a ``word`` takes so long. It pays if what will be spared of these is more than storing those costs that have come, and new ones at the rate at which
    they came last, as far as there is ``room``; or new ones by their curve. Where there is room for some of those that have come, it is for some of what comes again.
    """
    size = walked.size / walked.keys
    took, most = before.took(word=word, size=size), int(room / bytes_of(1, size))
    apart = walked.found / walked.keys

    def with_exact(different: float) -> float:  # as many as of those that are walked, but not more than there are
        return different + min(different * apart / max(before.walked, 1e-3), before.exact)

    def costs(stored: float) -> Costs:
        return Costs(took, WORTH * looking_up(size, stored=int(stored)), storing(size))

    different = with_exact(sampled.different)
    now = costs(different)
    if took <= now.each + SAMPLED:
        return NEVER
    if different > most:  # as many as have room are stored, and the others copied each time
        return sampled.keys if now.pays(ahead, stored=most, known=sampled.share * most / different) else NO_ROOM
    left = different - sampled.different < before.exact  # exact ones that have not come
    new = (1 - sampled.share) * (before.walked + left * apart)
    further = min(ahead, int((most - different) / max(new, 1e-9)))
    if now.pays(further, stored=different + new * further):
        return sampled.keys
    curve = sampled.curve
    if curve is None:
        return None
    stored = with_exact(curve.different(ahead * before.walked))
    then = costs(stored)
    if stored > most or not then.pays(ahead, stored=stored):
        return None
    return int(curve.until((then.each + then.missed) / (took + then.missed)) / (before.walked + apart))
