"""Field matching: content-based routing by counting hits in a bitmap for each criterion.

From the second half of ZeroMQ's "High-speed message matching" whitepaper. A message has fields, with a value or without; a
subscription has criteria, each of which asks for the presence of a field or for an exact value. Each criterion has a bitmap
of the subscriptions that have it; a message's criteria are looked up, and the bits counted. For the whitepaper's 0 =
``currency=USD, urgent``, 1 = ``currency=EUR``, 2 = ``market=forex, currency=EUR``, 3 = ``urgent`` and the message
``market=forex, currency=EUR``:

================  =  =  =  =
criterion         0  1  2  3
================  =  =  =  =
``market=forex``  0  0  1  0
``currency=EUR``  0  1  1  0
hits              0  1  2  0
================  =  =  =  =

A subscription matches on ANY with one hit or more (1, 2), and on ALL with as many hits as it has criteria (1 has one
of one, 2 has two of two; 0 has none). In the whitepaper the message decides between them; here each subscription does, as
in RabbitMQ's headers exchange.

Costs: subscribing O(criteria). Matching looks up two rows for each field of the message, its presence and its value,
and counts the bits in them: O(hits), however many subscriptions there are. Space is a compressed bitmap for each distinct
criterion.

A field may have several values. In a subscription they are one criterion, which any of them meets: ``currency=USD,
currency=GBP`` is "USD or GBP". In a message they are all there, and count once for each criterion.

Deviations: values of different types are different, so that ``5``, ``5.0``, ``"5"`` and ``True`` are four values, as in
RabbitMQ. A subscription without criteria matches every message on ALL, and none on ANY. ``any`` stops at the first
subscription that matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from itertools import chain
from typing import TypeGuard

from pyroaring import BitMap

from dfa_router.errors import BindingError, OptionError

__all__ = ["FieldMatcher", "parse_fields"]

Criterion = tuple[str, type | None, Hashable]
"""A field's name, and the type and value that it must have; (name, None, None) for its presence."""


class FieldMatcher:
    """Subscriptions by criteria on fields.

    >>> matcher = FieldMatcher()
    >>> matcher.subscribe({"currency": "USD", "urgent": None}), matcher.subscribe({"urgent": None})
    (0, 1)
    >>> matcher.match({"currency": "JPY", "urgent": None}), matcher.hits({"currency": "USD", "urgent": None})
    ((1,), {0: 2, 1: 1})
    """

    def __init__(self) -> None:
        self._rows: dict[Criterion, BitMap] = {}
        self._criteria: dict[int, tuple[frozenset[Criterion], ...]] = {}
        """Of each criterion the alternatives."""
        self._on_any = BitMap()
        """Subscriptions on ANY."""
        self._without = BitMap()
        """Subscriptions on ALL without criteria, which match every message."""
        self._next = 0

    def __len__(self) -> int:
        return len(self._criteria)

    def subscribe(self, criteria: Mapping[str, object], *, on: str = "all") -> int:
        """Add a subscription and return its number, which is never used again.

        ``criteria`` maps the name of a field to the value that it must have, to a tuple of values of which it must have
        one, or to None if it must only be there. ``on`` is "all" or "any". Raises :class:`BindingError` for a value that cannot be
        looked up, such as a list.
        """
        if on not in ("all", "any"):
            raise OptionError(f"on is {on!r}: expected 'all' or 'any'")
        number = self._next
        entries = tuple(_alternatives(name, value) for name, value in criteria.items())
        self._next += 1
        self._criteria[number] = entries
        for entry in chain.from_iterable(entries):
            self._rows.setdefault(entry, BitMap()).add(number)
        if on == "any":
            self._on_any.add(number)
        elif not entries:
            self._without.add(number)
        return number

    def unsubscribe(self, number: int) -> None:
        """Remove a subscription by its number."""
        try:
            entries = self._criteria.pop(number)
        except KeyError:
            raise BindingError(
                f"there is no subscription {number} to remove: subscribe() returns the numbers"
            ) from None
        for entry in chain.from_iterable(entries):
            row = self._rows[entry]
            row.discard(number)
            if not row:
                del self._rows[entry]
        self._on_any.discard(number)
        self._without.discard(number)

    def hits(self, message: Mapping[str, object]) -> dict[int, int]:
        """Return the number of criteria that each subscription has in common with the message, by number, if it has any."""
        counts: Counter[int] = Counter()
        for row in self._found(message):
            counts.update(row)
        return dict(sorted(counts.items()))

    def match(self, message: Mapping[str, object]) -> tuple[int, ...]:
        """Return the numbers of the subscriptions that match, ascending."""
        matching = set(self._without)
        for number, count in self.hits(message).items():
            if number in self._on_any or count == len(self._criteria[number]):
                matching.add(number)
        return tuple(sorted(matching))

    def any(self, message: Mapping[str, object]) -> bool:
        """Tell whether any subscription matches."""
        if self._without:
            return True
        counts: Counter[int] = Counter()
        for row in self._found(message):
            for number in row:
                counts[number] += 1
                if number in self._on_any or counts[number] == len(self._criteria[number]):
                    return True
        return False

    def _found(self, message: Mapping[str, object]) -> Iterator[BitMap]:
        """Yield the rows of the message's criteria: for each field its presence, and its values together if it has any."""
        for name, value in message.items():
            values = value if isinstance(value, tuple) else (value,)
            looked_up = [one for one in values if one is not None and _can_be_looked_up(one)]
            for entries in ([(name, None, None)], [(name, type(one), one) for one in looked_up]):
                rows = [self._rows[entry] for entry in entries if entry in self._rows]
                if rows:
                    yield BitMap.union(*rows)


def parse_fields(text: str) -> dict[str, str | tuple[str | None, ...] | None]:
    """Read fields in the notation of the whitepaper; a field that comes with several values has a tuple of them.

    >>> parse_fields("currency=JPY, urgent")
    {'currency': 'JPY', 'urgent': None}
    >>> parse_fields("currency=USD, currency=GBP")
    {'currency': ('USD', 'GBP')}
    """
    fields: dict[str, dict[str | None, None]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        fields.setdefault(name.strip(), {})[value.strip() if equals else None] = None
    return {name: tuple(values) if len(values) > 1 else next(iter(values)) for name, values in fields.items()}


def _can_be_looked_up(value: object) -> TypeGuard[Hashable]:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _alternatives(name: str, value: object) -> frozenset[Criterion]:
    """Return the criteria of which one must be met."""
    if not isinstance(value, tuple) or not value:
        return frozenset([_criterion(name, value)])
    found = frozenset(_criterion(name, one) for one in value)
    presence = (name, None, None)
    return frozenset([presence]) if presence in found else found  # whatever the value is


def _criterion(name: str, value: object) -> Criterion:
    if value is None:
        return name, None, None
    if not _can_be_looked_up(value):
        raise BindingError(
            f"the criterion {name!r} has the value {value!r}: a {type(value).__name__} cannot be looked up, "
            "use a string, number or boolean, or None for its presence"
        )
    return name, type(value), value
