"""Content-based routing, as the whitepaper begins: requests with criteria, and messages with fields.

Four ways to find the requests that a message meets. *Each request compared* is the whitepaper's conventional matching; *each
distinct request compared* its remark that many requests are equal; an *SQL selector* is what it holds against both, a clause
that is interpreted for each request, by SQLite here, as the selectors of message services are by theirs; *bitmaps of
criteria* is its technique.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.seeds.clock import per_call
from benchmarks.seeds.rows import Row
from dfa_router.reference.fields import FieldMatcher

__all__ = ["fields"]

Request = tuple[tuple[str, str], ...]
Match = Callable[[dict[str, str]], list[int]]
CURRENCIES = ("USD", "GBP", "EUR", "JPY", "CHF", "AUD", "CAD", "SEK", "NOK", "DKK")
MARKETS = tuple(f"market {number}" for number in range(10))
SIZES = (100, 1_000, 10_000)
"""Requests; however many there are, a hundred are distinct."""


def fields(seconds: float) -> Iterator[Row]:
    """Measure the time per message of each way, with 100, 1,000 and 10,000 requests of two criteria."""
    chance = random.Random(1980)
    messages = [
        {"currency": chance.choice(CURRENCIES), "market": chance.choice(MARKETS), "urgent": "yes"} for _ in range(4)
    ]
    distinct: list[Request] = [
        (("currency", currency), ("market", market)) for currency in CURRENCIES for market in MARKETS
    ]
    for size in SIZES:
        requests = [distinct[number % len(distinct)] for number in range(size)]
        expected: list[list[int]] | None = None
        for way, make in (
            ("each request compared", _compared),
            ("each distinct request compared", _distinct),
            ("SQL selector of each request", _selected),
            ("bitmaps of criteria", _bitmaps),
        ):
            match = make(requests)
            answers = [match(message) for message in messages]
            expected = expected or answers
            assert answers == expected, way
            assert sum(map(len, answers)) == len(messages) * size // len(distinct)
            took = per_call(partial(_each, match, messages), seconds) / len(messages)
            yield Row(
                table="fields",
                matcher=way,
                measure="message",
                condition=f"{size:,} requests",
                value=took * 1e6,
                unit="us",
            )


def _each(match: Match, messages: list[dict[str, str]]) -> None:
    for message in messages:
        match(message)


def _compared(requests: list[Request]) -> Match:
    def match(message: dict[str, str]) -> list[int]:
        return [
            number
            for number, request in enumerate(requests)
            if all(message.get(name) == value for name, value in request)
        ]

    return match


def _distinct(requests: list[Request]) -> Match:
    numbers: dict[Request, list[int]] = {}
    for number, request in enumerate(requests):
        numbers.setdefault(request, []).append(number)

    def match(message: dict[str, str]) -> list[int]:
        met = (request for request in numbers if all(message.get(name) == value for name, value in request))
        return sorted(number for request in met for number in numbers[request])

    return match


def _selected(requests: list[Request]) -> Match:
    database = sqlite3.connect(":memory:", cached_statements=len(set(requests)))
    clauses = ["SELECT " + " AND ".join(f":{name} = '{value}'" for name, value in request) for request in requests]

    def match(message: dict[str, str]) -> list[int]:
        return [number for number, clause in enumerate(clauses) if database.execute(clause, message).fetchone()[0]]

    return match


def _bitmaps(requests: list[Request]) -> Match:
    matcher = FieldMatcher()
    for request in requests:
        matcher.subscribe(dict(request))
    return lambda message: list(matcher.match(message))
