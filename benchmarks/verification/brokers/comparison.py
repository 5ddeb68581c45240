"""One broker, asked everything: a campaign, patterns that may be refused, and shared subscriptions where it has them.

A case counts when the broker has answered it. A campaign counts all cases of its rounds, also those of keys that the broker
may decline, which it is not asked. Here the first answer in each round is counted, and nothing that the shrinker asks about a
disagreement.

Cases recur, as words are few on purpose. The number of distinct cases is estimated from a sample: each case has a hash of 64
bits, and the distinct hashes below 2**58, one in 64, are kept. For 5 million cases that is right to about half a percent,
and costs a few megabytes.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from benchmarks.verification.brokers.refusals import Refusals, ask_refusals
from benchmarks.verification.brokers.shared import SharedAnswer, ask_shared
from dfa_router.brokers import Broker
from dfa_router.errors import RouterError
from dfa_router.fuzz.campaign import work
from dfa_router.fuzz.findings import Finding
from dfa_router.fuzz.generating.rounds import Size
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.tally import Campaign, Plan, Tally
from dfa_router.language.dialects import AMQP_4_3_5, MQTT, Dialect
from dfa_router.target import Answers, Target

__all__ = ["SIZE", "Compared", "Counted", "compare", "dialect_of"]

SIZE = Size(50, 400)
"""Patterns and keys of a round. RabbitMQ 3.10.8, Mosquitto 2.0.11 and NATS 2.9.10 answer 110, 770 and 1,610 thousand cases
a second in such rounds, and 150, 1,530 and 3,330 in rounds of 100x500. With these, 5 million cases of each take about a
minute, and the smaller the rounds, the more of them there are, and the more kinds of patterns come together."""

_SAMPLE_BITS = 6
"""One case in 2**6 is in the sample of distinct cases."""
_ROUNDS_TOO_MANY = 2
"""A campaign ends when its rounds hold this many times the wanted cases: a broker that refuses everything answers none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The result of asking one broker."""

    broker: str
    """Its address."""
    product: str
    """Product and version, as the broker names them."""
    dialect: str
    wanted: int
    """The cases that were to be answered."""
    cases: int
    """(pattern, key) pairs that the broker answered."""
    distinct: int
    """About how many of these were distinct."""
    matches: int
    """The number of cases that match, by the broker's answers."""
    keys: int
    patterns: int
    """Distinct patterns."""
    rounds: int
    disagreements: int
    findings: tuple[Finding, ...]
    declined: tuple[str, ...]
    """Kinds of keys that the broker does not take, as it may."""
    seconds: float
    """Of the campaign alone."""
    ended: str | None = None
    """Why the comparison ended early; None if it did not."""
    refusals: Refusals = field(default_factory=Refusals)
    shared: tuple[SharedAnswer, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether all cases were asked, no answer differed, and we refuse whatever the broker refuses."""
        return not (self.findings or self.disagreements or self.ended or self.refusals.unexplained) and (
            self.cases >= self.wanted
        )


class Counted:
    """A target whose first answer after each :meth:`begin` is counted."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.name, self.dialect = target.name, target.dialect
        self.cases = self.matches = self.keys = 0
        self.patterns: set[str] = set()
        self._sample: set[int] = set()
        self._counts = True

    @property
    def distinct(self) -> int:
        """An estimate of how many of the cases were distinct."""
        return min(self.cases, len(self._sample) << _SAMPLE_BITS)

    def begin(self) -> None:
        """Count the next answer."""
        self._counts = True

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Ask the target; see :class:`dfa_router.target.Target`."""
        answers = self._target.answer(patterns, keys)
        if self._counts:
            self._counts = False
            self.cases += len(patterns) * len(keys)
            self.keys += len(keys)
            self.matches += sum(map(len, answers))
            self.patterns.update(patterns)
            mixed = _digests(patterns, b"pattern")[:, None] ^ _digests(keys, b"key")
            self._sample.update(mixed[mixed < np.uint64(1 << 64 - _SAMPLE_BITS)].tolist())
        return answers

    def close(self) -> None:
        """Do nothing: whoever opened the target closes it."""


def _digests(texts: Sequence[str], role: bytes) -> NDArray[np.uint64]:
    """Return a hash of 64 bits for each text; a pattern and a key with the same text have different ones. Shape (texts,)."""
    digests = [blake2b(text.encode(), digest_size=8, person=role).digest() for text in texts]
    return np.frombuffer(b"".join(digests), np.uint64)


def dialect_of(broker: Broker) -> Dialect:
    """Return the dialect that a broker is compared in.

    RabbitMQ refuses patterns of more than two ``#`` from 4.3.5 on. Shared subscriptions are left out for MQTT and asked
    by themselves, as Mosquitto 2.0.11 takes some that the specification forbids.
    """
    if broker.dialect == MQTT:
        return replace(MQTT, name="mqtt without shared subscriptions", shared=None)
    version = re.fullmatch(r"RabbitMQ ([0-9]+)\.([0-9]+)\.([0-9]+).*", broker.describe())
    if version is not None and tuple(map(int, version.groups())) >= (4, 3, 5):
        return AMQP_4_3_5
    return broker.dialect


def compare(
    broker: Broker,
    *,
    cases: int,
    seed: int,
    size: Size = SIZE,
    doubts: int = 600,
    progress: Callable[[str, int, int], None] | None = None,
) -> Compared:
    """Ask a broker ``cases`` cases, some ``doubts`` patterns that it may refuse, and shared subscriptions if it has them.

    ``progress`` is called with the name of a part, how much of it is done, and how much there is. If the broker stops
    answering, the result has what it answered until then, and ``ended`` says why.
    """
    dialect, product = dialect_of(broker), broker.describe()
    counted = Counted(broker)
    plan = Plan(dialect=dialect, seed=seed, size=size, keep_going=True, validity=True)
    manners = Manners(patterns=True, keys=True)
    tally, ended = Tally(), None
    refusals = Refusals()
    shared: tuple[SharedAnswer, ...] = ()
    started = time.monotonic()
    seconds = 0.0

    def going_on(so_far: Tally) -> bool:
        nonlocal seconds
        seconds = time.monotonic() - started
        counted.begin()
        if progress is not None:
            progress(f"{product}, thousands of cases", min(counted.cases, cases) // 1000, max(1, cases // 1000))
        return counted.cases < cases and so_far.cases < _ROUNDS_TOO_MANY * cases

    try:
        work(counted, plan, itertools.count(), manners=manners, going_on=going_on, tally=tally)
        seconds = time.monotonic() - started
        ended = tally.given_up
        if ended is None:
            # In the whole dialect: a shared subscription may be refused like any other pattern.
            whole = broker.dialect if dialect.shared != broker.dialect.shared else dialect
            refusals = ask_refusals(broker, whole, seed=seed, doubts=doubts, progress=progress)
            shared = ask_shared(broker) if whole.shared is not None else ()
    except RouterError as error:  # the broker does not answer any more: what it has answered is kept
        ended = str(error)
    campaign = Campaign(target=broker.name, plan=plan, tally=tally, manners=manners, seconds=seconds)
    return Compared(
        broker=broker.name.partition(" ")[0],
        product=product,
        dialect=dialect.name,
        wanted=cases,
        cases=counted.cases,
        distinct=counted.distinct,
        matches=counted.matches,
        keys=counted.keys,
        patterns=len(counted.patterns),
        rounds=tally.rounds,
        disagreements=max(
            tally.disagreements, len(campaign.findings)
        ),  # a mistake of our own is a finding and no disagreement
        findings=tuple(campaign.findings),
        declined=tuple(sorted(tally.declined)),
        seconds=seconds,
        ended=ended,
        refusals=refusals,
        shared=shared,
    )
