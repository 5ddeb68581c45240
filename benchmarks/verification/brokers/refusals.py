"""Patterns asked one by one: whether the broker takes them, whether we do, and the reasons for refusing them.

Brokers say little about their reasons: Mosquitto calls every pattern malformed, NATS an invalid subject. So most patterns
are made from a valid one by a change in one place. If both sides take the valid one and refuse the changed one, both refuse
that place, and our reason names it.

There are three kinds of patterns: valid ones that were changed, of which some stay valid; invalid ones of the fuzzer; and
valid ones as they are. Nothing says beforehand which of them must be refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dfa_router.brokers import Broker
from dfa_router.fuzz.generating.choices import SeededChoices
from dfa_router.fuzz.generating.language import Language, language_of
from dfa_router.fuzz.generating.rounds import Size, refusal_round, round_of
from dfa_router.fuzz.judging.manners import skeleton
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.target import Refused

__all__ = ["LIMITS", "Limit", "Mismatch", "Reason", "Refusals", "ask_refusals", "changed", "doubtful"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit that one product has and its protocol has not."""

    product: str
    """The beginning of the product's description."""
    says: str
    """The limit in words."""
    exceeded: Callable[[str], bool]
    """Whether a pattern is beyond the limit."""
    within: str
    """A pattern that is just within the limit."""
    beyond: str
    """A pattern that is beyond it."""


LIMITS = (
    Limit(
        product="mosquitto",
        says="it takes at most 201 levels (`replace(MQTT, max_words=201)` is that dialect)",
        exceeded=lambda pattern: pattern.count("/") > 200,
        within="a/" * 200 + "a",
        beyond="a/" * 201 + "a",
    ),
    Limit(
        product="NATS",
        says="a line of its protocol has at most 4,096 bytes, unless `max_control_line` says otherwise "
        "(`replace(NATS, max_bytes=4080)` keeps below it)",
        exceeded=lambda pattern: len(f"SUB {pattern} 0".encode()) > 4096,
        within="a" * 4090,
        beyond="a" * 4200,
    ),
)
"""The limits that are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A pattern that one side takes and the other does not."""

    pattern: str
    reason: str
    """Of the side that refuses it."""
    limit: str | None = None
    """The product's limit that explains it, if one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Patterns that both sides refuse, with the same reason of the broker's and the same of ours."""

    theirs: str
    ours: str
    count: int
    """The number of these patterns."""
    changed: int
    """How many of them were made by changing, in one place, a pattern that both sides take."""
    example: str
    made_from: str | None
    """The example before it was changed; None for a pattern that was not made so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """The result of asking a broker about patterns one by one."""

    both_take: int = 0
    both_refuse: int = 0
    not_carried: int = 0
    """Those of ``both_refuse`` that the protocol cannot carry, so that the broker never sees them."""
    only_broker: tuple[Mismatch, ...] = ()
    only_we: tuple[Mismatch, ...] = ()
    reasons: tuple[Reason, ...] = ()

    @property
    def unexplained(self) -> tuple[Mismatch, ...]:
        """Patterns that the broker refuses and we take, and no limit of the product explains it."""
        return tuple(mismatch for mismatch in self.only_broker if mismatch.limit is None)

    @property
    def asked(self) -> int:
        """The number of patterns."""
        return self.both_take + self.both_refuse + len(self.only_broker) + len(self.only_we)


@dataclass(slots=True)
class _Heap:
    """The patterns of one :class:`Reason`, while they are counted."""

    count: int = 0
    changed: int = 0
    example: tuple[str, str | None] | None = field(default=None)


def ask_refusals(
    broker: Broker,
    dialect: Dialect,
    *,
    seed: int,
    doubts: int = 600,
    progress: Callable[[str, int, int], None] | None = None,
) -> Refusals:
    """Ask a broker about :func:`doubtful` patterns one by one, and compare with the dialect's rules."""
    product = broker.describe()
    both_take = both_refuse = not_carried = 0
    only_broker: list[Mismatch] = []
    only_we: list[Mismatch] = []
    heaps: dict[tuple[str, str], _Heap] = {}
    taken: dict[str, bool] = {}
    limits = [limit for limit in LIMITS if product.startswith(limit.product)]
    patterns = doubtful(dialect, seed=seed, count=doubts)
    for limit in limits:
        patterns |= {limit.within: None, limit.beyond: limit.within}
    for number, (pattern, made_from) in enumerate(patterns.items()):
        if progress is not None:
            progress(f"{product}, patterns asked one by one", number, len(patterns))
        theirs, carried = _said(broker, pattern)
        ours = pattern_problem(pattern, dialect)
        if theirs is None and ours is None:
            both_take += 1
        elif theirs is None:
            only_we.append(Mismatch(pattern=pattern, reason=ours or ""))
        elif ours is None:
            known = next((limit.says for limit in limits if limit.exceeded(pattern)), None)
            only_broker.append(Mismatch(pattern=pattern, reason=theirs, limit=known))
        else:
            both_refuse += 1
            not_carried += not carried
            heap = heaps.setdefault((skeleton(theirs) if not carried else theirs, skeleton(ours)), _Heap())
            heap.count += 1
            if made_from is not None and made_from not in taken:
                taken[made_from] = pattern_problem(made_from, dialect) is None and _said(broker, made_from)[0] is None
            sound = made_from if made_from is not None and taken[made_from] else None
            heap.changed += sound is not None
            if heap.example is None or _simple(pattern, sound) < _simple(*heap.example):
                heap.example = (pattern, sound)
    reasons = [
        Reason(
            theirs=theirs,
            ours=ours,
            count=heap.count,
            changed=heap.changed,
            example=heap.example[0] if heap.example else "",
            made_from=heap.example[1] if heap.example else None,
        )
        for (theirs, ours), heap in sorted(heaps.items())
    ]
    return Refusals(
        both_take=both_take,
        both_refuse=both_refuse,
        not_carried=not_carried,
        only_broker=tuple(only_broker),
        only_we=tuple(only_we),
        reasons=tuple(reasons),
    )


def _said(broker: Broker, pattern: str) -> tuple[str | None, bool]:
    """Return the broker's reason to refuse a pattern, None if it takes it, and whether the pattern could be sent."""
    try:
        return broker.minds([pattern], []), True
    except Refused as refused:
        return f"not sent: {refused.reason}", False


def _simple(pattern: str, made_from: str | None) -> tuple[bool, int, str]:
    """Return a sort key: the best example of a reason was made from another pattern, and is short."""
    return made_from is None, len(pattern), pattern


def doubtful(dialect: Dialect, *, seed: int, count: int) -> dict[str, str | None]:
    """Return patterns, each with the one that it was made from, or None.

    These are ``count`` changed patterns, half as many valid ones, and half as many invalid ones of the fuzzer's.

    >>> from dfa_router.language.dialects import NATS
    >>> sum(made_from is not None for made_from in doubtful(NATS, seed=1, count=50).values())
    50
    """
    language, choices = language_of(dialect), SeededChoices(f"{seed}/refusals")
    patterns: dict[str, str | None] = {}
    if language.refused:
        for _ in range(count // 2):
            patterns[refusal_round(choices, language).patterns[0]] = None
    valid = (p for number in itertools.count() for p in round_of(seed, number, dialect, Size(20, 1)).patterns)
    sound = (pattern for pattern in valid if pattern_problem(pattern, dialect) is None)
    for pattern in itertools.islice(sound, count // 2):
        patterns.setdefault(pattern, None)
    made = 0
    while made < count:
        pattern = next(sound)
        for other in changed(pattern, language, choices):
            if other not in patterns and made < count:
                patterns[other] = pattern
                made += 1
    return patterns


def changed(pattern: str, language: Language, choices: SeededChoices) -> Iterator[str]:
    """Yield the pattern changed in one place, in each of the ways that some dialect refuses; others may allow them."""
    dialect, separator = language.dialect, language.separator
    words = pattern.split(separator)

    def inserted(word: str) -> str:
        place = choices.below(len(words) + 1)
        return separator.join([*words[:place], word, *words[place:]])

    def within(text: str) -> str:
        place = choices.below(len(pattern) + 1)
        return pattern[:place] + text + pattern[place:]

    yield inserted("")
    for wildcard in language.wildcards:
        yield inserted(wildcard)
        yield within(wildcard)
    yield within("\ud800")
    yield within(choices.pick((*dialect.forbidden, "\x00", "\x7f")))
    if dialect.shared is not None:
        shared = dialect.shared.decode()
        yield separator.join((shared, choices.pick(("", "g", *language.wildcards)), pattern))
    if dialect.max_bytes is not None:
        yield pattern + separator + "x" * dialect.max_bytes
