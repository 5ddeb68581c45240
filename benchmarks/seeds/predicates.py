"""The case that the skipfilter was made for: 5,000 subscribers with three selectors each, and messages with two topics.

Three ways to find who gets a message: ask every selector of every subscriber about every topic (a regular expression
each); the same behind the cache that Mercure had before, from (selector, topic) to a boolean; and the skipfilter. The caches
help where topics recur; the users who complained had topics that never do.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator

from benchmarks.seeds.rows import Row
from dfa_router.reference.skipfilter import SkipFilter, uri_template

__all__ = ["predicates"]

Subscriber = tuple[int, tuple[tuple[str, re.Pattern[str]], ...]]
"""A number, and selectors as text and as the regular expression of it."""
Hub = Callable[[tuple[str, str]], list[Subscriber]]
"""Returns the subscribers that want a message, by its topics."""


def predicates(subscribers: int, seconds: float) -> Iterator[Row]:
    """Measure the messages per second of each way, with six topics that recur and with topics that never do."""
    population: list[Subscriber] = [
        (number, tuple((text, uri_template(text)) for text in _selectors(number))) for number in range(subscribers)
    ]
    again = list(itertools.pairwise(f"/users/{number}/books/{number}" for number in range(6)))
    expected = [number for number, _ in _asked_all(population)(again[3])]
    for condition in ("six topics again and again", "topics that never come again"):
        for way, make in (
            ("every selector asked", _asked_all),
            ("boolean cache", _boolean_cache),
            ("skipfilter", _skip),
        ):
            hub = make(population)
            assert [number for number, _ in hub(again[3])] == expected
            messages: Iterator[tuple[str, str]]
            if condition.startswith("six"):
                messages = itertools.cycle(again)
                warm = again if way != "every selector asked" else []
            else:
                messages = (
                    (f"/users/{number}/books/1", f"/users/{number}/books/2") for number in itertools.count(10**6)
                )
                warm = []
            for message in warm:
                hub(message)
            done, begun = 0, time.perf_counter()
            while (took := time.perf_counter() - begun) < seconds or done < 2:
                hub(next(messages))
                done += 1
            yield Row(
                table="predicates",
                matcher=way,
                measure="messages",
                condition=condition,
                value=done / took,
                unit="messages/s",
                note=f"{subscribers:,} subscribers of three selectors, two topics a message",
            )


def _selectors(number: int) -> tuple[str, str, str]:
    return f"/users/{number}/books/{{book}}", f"/users/{number}", f"/groups/{number % 50}/{{+rest}}"


def _wants(subscriber: Subscriber, topic: str) -> bool:
    return any(pattern.fullmatch(topic) for _, pattern in subscriber[1])


def _asked_all(population: list[Subscriber]) -> Hub:
    return lambda topics: [one for one in population if any(_wants(one, topic) for topic in topics)]


def _boolean_cache(population: list[Subscriber]) -> Hub:
    """Do as Mercure did before the skipfilter: one string of template and topic is the key, at most 100,000 are kept."""
    cache: dict[str, bool] = {}

    def holds(template: str, pattern: re.Pattern[str], topic: str) -> bool:
        key = f"{template}-{topic}"
        known = cache.get(key)
        if known is None:
            if len(cache) >= 100_000:
                cache.clear()
            known = cache[key] = pattern.fullmatch(topic) is not None
        return known

    return lambda topics: [
        one for one in population if any(holds(text, pattern, topic) for topic in topics for text, pattern in one[1])
    ]


def _skip(population: list[Subscriber]) -> Hub:
    hub: SkipFilter[Subscriber, str] = SkipFilter(_wants)
    for subscriber in population:
        hub.add(subscriber)
    return lambda topics: hub.match(*topics)
