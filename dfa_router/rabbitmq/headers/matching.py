"""The exchange type ``headers``: bindings are demands on the headers of a message.

``x-match`` says how many of a binding's arguments must be met: ``all`` (also where it is missing) or ``any``. Both pass over
arguments that begin with ``x-``; ``all-with-x`` and ``any-with-x`` pass over ``x-match`` alone. An argument without a value asks that
the header is there. Without arguments, ``all`` is met by every message and ``any`` by none.

Where the headers of a message are not known, only demands without arguments are decided. The exchange is then named as not simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from compiler.criteria.counting import Demands
from compiler.criteria.demands import Demand
from compiler.criteria.vocabulary import Vocabulary
from compiler.values import CacheStats
from dfa_router.arrow import Rows
from dfa_router.errors import MessagesError
from dfa_router.rabbitmq.declared import Binding
from dfa_router.rabbitmq.headers.values import fields_of, value_of
from dfa_router.rabbitmq.matching import HEADERS, ROUTING_KEY, Columns, ExchangeType, MatchedColumns, Message
from dfa_router.rabbitmq.traversal import Sets, compact

__all__ = ["LOOSE", "STRICT", "HeadersMatcher", "asked", "demand_of", "unknown_match"]

MATCH = "x-match"
# Tuples: a file may have any JSON there, and sets refuse to be asked for a list.
WITH_X = ("all-with-x", "any-with-x")
KINDS = ("all", "any", *WITH_X)


def demand_of(binding: Binding, *, strict: bool) -> Demand:
    """Return what a binding of a headers exchange demands.

    >>> demand_of(Binding(source="h", destination="q", arguments={"x-match": "any", "a": 1, "x-b": 2}), strict=True)
    Demand(criteria=((b'a', 2, b'1'),), every=False)
    """
    match = binding.arguments.get(MATCH, "all")
    criteria = {
        (name.encode(), *value_of(binding.arguments[name], strict=strict, name=name)) for name in asked(binding)
    }
    return Demand(tuple(sorted(criteria)), every=match not in ("any", "any-with-x"))


def asked(binding: Binding) -> list[str]:
    """Return the arguments of a binding that are demands on headers.

    >>> asked(Binding(source="h", destination="q", arguments={"x-match": "any", "a": 1, "x-b": 2}))
    ['a']
    """
    match = binding.arguments.get(MATCH, "all")
    return [name for name in binding.arguments if name != MATCH and (match in WITH_X or not name.startswith("x-"))]


def unknown_match(binding: Binding) -> str | None:
    """Return what is wrong with a binding's ``x-match``, for which the broker refuses it, or None."""
    match = binding.arguments.get(MATCH, "all")
    if match not in KINDS:
        return f"{MATCH} is {match!r}: the broker takes all, any, all-with-x and any-with-x"
    return None


class HeadersMatcher:
    """The demands of one exchange; condition i is demand i, and the one behind the last says that the headers are not known, if
    any demand asks for one.
    """

    def __init__(self, vocabulary: Vocabulary, demands: Sequence[Demand], *, strict: bool) -> None:
        """Take the demands, whose criteria are in the vocabulary."""
        self._vocabulary, self._strict = vocabulary, strict
        self._demands = Demands(vocabulary, demands)
        asks = any(demand.criteria for demand in demands)
        self._unknown = (*self._demands.always, *([len(demands)] if asks else []))
        self._unknown_set = np.array(self._unknown, np.int32)

    def match(self, message: Message) -> tuple[int, ...]:
        """Return the demands that the message's headers, a mapping, satisfy."""
        headers = message.get(HEADERS)
        if HEADERS not in message:
            return self._unknown
        if headers is not None and not hasattr(headers, "items"):
            raise MessagesError(f"headers is {type(headers).__name__}: expected a mapping of names to values")
        return self._demands.satisfied(self._vocabulary.met(fields_of(headers, strict=self._strict)))

    def match_columns(self, columns: Columns) -> MatchedColumns:
        """Return the demands that the headers of each message satisfy."""
        headers = columns.get(HEADERS)
        unknown = self._unknown_set
        if headers is None:
            rows = len(columns.numbers) if isinstance(columns, Rows) else len(columns[ROUTING_KEY])
            return MatchedColumns(np.zeros(rows, np.int64), Sets(np.array([0, len(unknown)]), unknown))
        ids, ends, members = headers
        used, places = compact(ids)
        known = used[used < len(ends) - 1].astype(np.int32)
        found = self._demands.satisfied_by(ends, members, known)
        if len(known) == len(used):
            return MatchedColumns(places, Sets(found.offsets, found.positions))
        offsets = np.append(found.offsets, found.offsets[-1] + np.int32(len(unknown)))
        return MatchedColumns(places, Sets(offsets, np.concatenate([found.positions, unknown])))

    def stats(self) -> CacheStats:
        """Return zeros: combinations are kept for a batch, and not beyond it."""
        return CacheStats()


def _type(strict: bool) -> ExchangeType:
    def compiled(demands: Sequence[Any], _engine: str, _bytes: int) -> HeadersMatcher:
        return HeadersMatcher(Vocabulary(demands), demands, strict=strict)

    condition: Callable[[Binding], Demand] = lambda binding: demand_of(binding, strict=strict)  # noqa: E731 - typed
    return ExchangeType(condition=condition, compile=compiled, reads=(HEADERS,), strict=strict)


LOOSE, STRICT = _type(strict=False), _type(strict=True)
"""The type up to 3.12, and since 3.13."""
