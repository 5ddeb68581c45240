"""Measures one family in this process: ``python -m benchmarks.regret.child NUMBER SEED SCALE ROUNDS`` prints a JSON line.

In every round each contestant begins with an empty cache, makes a first pass over the keys, then SETTLING passes that are not
timed and a warm one, and then a pass over the keys after the change. They take turns, in an order that is drawn anew for each round, as
memory that is new to the process costs whoever comes first: in an order that stayed, what decides by counting was first in each round, and
took up to 1.5 times as long as choices that do the same. A figure is the median over the rounds of the process's time. What decides by
counting takes part twice, so that the table shows how far two equal contestants are apart.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from benchmarks.regret.draws import draw_family
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import AUTO, Policy
from compiler.prepare import compile_kernels
from compiler.values import KeyColumn, SetBatch
from dfa_router.arrow import key_array, key_columns
from dfa_router.build import DEFAULT_CACHE_BYTES
from dfa_router.language.dialects import AMQP
from dfa_router.language.rules import compile_nfa

__all__ = ["AUTOMATIC", "CONTESTANTS", "MEASURES", "Contest", "measure"]

AUTOMATIC, AGAIN = "auto", "auto, again"
MEASURES = ("first pass", "warm", "after the change")
SETTLING = 2
"""Passes between the first and the warm one."""

_AS_USED = replace(AUTO, key_cache="auto")
CONTESTANTS: dict[str, Policy] = {
    AUTOMATIC: _AS_USED,
    AGAIN: _AS_USED,
    "key cache on": replace(_AS_USED, key_cache="on"),
    "key cache off": replace(_AS_USED, key_cache="off"),
    "key cache of a quarter": replace(_AS_USED, key_cache="on", key_cache_share=4),
    "key cache of a 64th": replace(_AS_USED, key_cache="on", key_cache_share=64),
    "keys stored": replace(_AS_USED, key_store=True),
    "keys not stored": replace(_AS_USED, key_store=False),
    "exact keys looked up": replace(_AS_USED, exact=True),
    "all patterns in the automaton": replace(_AS_USED, exact=False),
    "rows always": replace(_AS_USED, row_bytes=1 << 30),
    "rows never": replace(_AS_USED, row_bytes=0),
    "rows never, key cache off": replace(_AS_USED, row_bytes=0, key_cache="off"),
    "doorkeeper": replace(_AS_USED, doorkeeper=True),
    "no doorkeeper": replace(_AS_USED, doorkeeper=False),
    "no doorkeeper, key cache off": replace(_AS_USED, doorkeeper=False, key_cache="off"),
    "full caches closed": replace(_AS_USED, close=True),
    "full caches cleared": replace(_AS_USED, close=False),
    "simulated always": replace(_AS_USED, simulate=True),
    "simulated never": replace(_AS_USED, simulate=False),
    "simulated never, key cache off": replace(_AS_USED, simulate=False, key_cache="off"),
}
"""What decides by counting, and every fixed choice of each thing that it decides, all else being left to counting; and some
together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What was measured of a family."""

    number: int
    about: str
    keys: int
    ns_per_key: dict[str, dict[str, float]]
    """Measure -> contestant -> median nanoseconds of processor time per key."""
    rounds: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """The same of each round."""

    def best(self, measure: str) -> str:
        """Name the fastest of the fixed choices."""
        times = self.ns_per_key[measure]
        return min((name for name in times if name not in (AUTOMATIC, AGAIN)), key=times.__getitem__)

    def regret(self, measure: str, contestant: str = AUTOMATIC) -> float:
        """Return the time of a contestant, of what decides by counting if none is named, over that of the best fixed choice."""
        times = self.ns_per_key[measure]
        return times[contestant] / times[self.best(measure)]

    def held_out(self, measure: str) -> float:
        """Return the regret where the best fixed choice of a round is that of all other rounds, so that none is best by luck alone.

        It is the median over the rounds; NaN where there are not two at least.
        """
        times = self.rounds.get(measure, {})
        count = len(times.get(AUTOMATIC, ()))
        regrets = []
        for left in range(count if count > 1 else 0):
            others = {name: statistics.median(one[:left] + one[left + 1 :]) for name, one in times.items()}
            best = min((name for name in others if name not in (AUTOMATIC, AGAIN)), key=others.__getitem__)
            regrets.append(times[AUTOMATIC][left] / times[best][left])
        return statistics.median(regrets) if regrets else math.nan

    def noise(self, measure: str) -> float:
        """Return the greater of the times of two equal contestants over the smaller."""
        one, other = (self.ns_per_key[measure][name] for name in (AUTOMATIC, AGAIN))
        return max(one, other) / min(one, other)


def measure(number: int, *, seed: int, scale: float = 1.0, rounds: int = 3) -> Contest:
    """Measure a family; raises ``AssertionError`` if contestants disagree on what matches."""
    compile_kernels()
    family = draw_family(number, seed=seed, scale=scale)
    nfa = compile_nfa([pattern.encode() for pattern in family.patterns], AMQP)
    columns, changed = (list(key_columns(key_array(keys))) for keys in (family.keys, family.changed))
    capacity = family.cache_bytes or DEFAULT_CACHE_BYTES
    times: dict[str, dict[str, list[float]]] = {one: {name: [] for name in CONTESTANTS} for one in MEASURES}
    sums = set()
    for number_of_round in range(rounds):
        order = np.random.default_rng((seed, number, number_of_round)).permutation(list(CONTESTANTS)).tolist()
        for name in order:
            policy = CONTESTANTS[name]
            machine = LazyDfa(nfa, AMQP.separator, capacity, key_cache=policy.key_cache, policy=policy)
            machine.match(b"")
            first = _seconds(machine, columns)
            for _ in range(SETTLING):
                machine.match_batch(columns)
            warm, later = _seconds(machine, columns), _seconds(machine, changed)
            for one, (seconds, _batch) in zip(MEASURES, (first, warm, later), strict=True):
                times[one][name].append(seconds * 1e9 / len(family.keys))
            sums.add((_summed(first[1]), _summed(warm[1]), _summed(later[1])))
    assert len(sums) == 1, f"family {number} of seed {seed}: contestants disagree on (pairs, sum of positions): {sums}"
    medians = {one: {name: statistics.median(each) for name, each in row.items()} for one, row in times.items()}
    return Contest(number=number, about=family.about, keys=len(family.keys), ns_per_key=medians, rounds=times)


def _seconds(machine: LazyDfa, columns: list[KeyColumn]) -> tuple[float, SetBatch]:
    started = time.process_time()
    batch = machine.match_batch(columns)
    return time.process_time() - started, batch


def _summed(batch: SetBatch) -> tuple[int, int]:
    """Return the number of pairs and the sum of their positions."""
    weights = np.bincount(batch.set_ids, minlength=len(batch.offsets) - 1)
    sums = np.concatenate(([0], np.cumsum(batch.positions, dtype=np.int64)))
    offsets = batch.offsets
    return int((np.diff(offsets) * weights).sum()), int(((sums[offsets[1:]] - sums[offsets[:-1]]) * weights).sum())


def main(arguments: list[str]) -> None:
    """Measure the family that the arguments name, and print it."""
    number, seed, scale, rounds = arguments
    print(json.dumps(asdict(measure(int(number), seed=int(seed), scale=float(scale), rounds=int(rounds)))))


if __name__ == "__main__":
    main(sys.argv[1:])
