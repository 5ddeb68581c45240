"""The case that the skipfilter was made for: subscribers with three selectors each, and messages with two topics.

Three ways to find who gets a message: ask every selector of every subscriber about every topic (a regular expression
each); the same behind the cache that Mercure had before, from (selector, topic) to a boolean; and the skipfilter. The caches
help where topics recur; the users who complained had topics that never do. What the skipfilter gains where they do recur
grows with the number of subscribers, so it is measured for several numbers.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator
from functools import cache

from benchmarks.seeds.rows import Row
from dfa_router.reference.skipfilter import SkipFilter, uri_template

__all__ = ["FRESH", "RECURRING", "churn", "predicates", "recurring"]

Subscriber = tuple[int, tuple[tuple[str, re.Pattern[str]], ...]]
"""A number, and selectors as text and as the regular expression of it."""
Hub = Callable[[tuple[str, str]], list[Subscriber]]
"""Returns the subscribers that want a message, by its topics."""

RECURRING, FRESH = "six topics again and again", "topics that never come again"
ALL, BOOLEAN, SKIP = "every selector asked", "boolean cache", "skipfilter"
BOOLEANS = 100_000
"""Answers that Mercure's cache kept at most."""


def predicates(subscribers: int, condition: str, seconds: float) -> Iterator[Row]:
    """Measure the messages per second of each way, with six topics that recur or with topics that never do.

    With topics that recur, the caches have seen each before, and nobody is asked without a cache: that would be as above.
    """
    people = population(subscribers)
    again = recurring()
    expected = [number for number, _ in _asked_all(people)(again[3])]
    ways = {ALL: _asked_all, BOOLEAN: _boolean_cache, SKIP: _skip}
    for way, make in ways.items():
        hub = make(people)
        assert [number for number, _ in hub(again[3])] == expected
        if condition == RECURRING:
            messages: Iterator[tuple[str, str]] = itertools.cycle(again)
            for message in again if way != ALL else ():
                hub(message)
        else:
            messages = ((f"/users/{number}/books/1", f"/users/{number}/books/2") for number in itertools.count(10**6))
        done, begun = 0, time.thread_time()
        while (took := time.thread_time() - begun) < seconds or done < 2:
            hub(next(messages))
            done += 1
        yield Row(
            table="predicates",
            matcher=way,
            measure=condition,
            condition=f"{subscribers:,} subscribers",
            value=done / took,
            unit="messages/s",
        )


def recurring() -> list[tuple[str, str]]:
    """Return the messages that recur, two topics each."""
    return list(itertools.pairwise(f"/users/{number}/books/{number}" for number in range(6)))


def churn(changes: int) -> Iterator[Row]:
    """Count what a skipfilter asks for, and what it keeps while subscribers come and go."""
    asked = 0

    def wants(subscriber: int, topic: int) -> bool:
        nonlocal asked
        asked += 1
        return (subscriber + topic) % 7 == 0

    hub: SkipFilter[int, int] = SkipFilter(wants, max_topics=50)
    numbers = [hub.add(one) for one in range(100)]
    for _ in range(10):
        for topic in range(50):
            hub.match(topic)
    yield _counted("asked", "100 subscribers, 50 topics ten times", asked)
    for change in range(changes):
        hub.remove(numbers[change])
        numbers.append(hub.add(change))
        hub.match(change % 200)
    yield _counted("subscribers kept", f"after {changes:,} have come and gone", len(hub))
    yield _counted("topics kept", "of 200, with room for 50", hub.topics_cached)


def _counted(measure: str, condition: str, value: float) -> Row:
    return Row(table="predicates", matcher=SKIP, measure=measure, condition=condition, value=value, unit="")


@cache
def _selector(text: str) -> re.Pattern[str]:
    return uri_template(text)


def population(subscribers: int) -> list[Subscriber]:
    """Return subscribers with three selectors each."""
    return [(number, tuple((text, _selector(text)) for text in _selectors(number))) for number in range(subscribers)]


def _selectors(number: int) -> tuple[str, str, str]:
    return f"/users/{number}/books/{{book}}", f"/users/{number}", f"/groups/{number % 50}/{{+rest}}"


def _wants(subscriber: Subscriber, topic: str) -> bool:
    return any(pattern.fullmatch(topic) for _, pattern in subscriber[1])


def _asked_all(people: list[Subscriber]) -> Hub:
    return lambda topics: [one for one in people if any(_wants(one, topic) for topic in topics)]


def _boolean_cache(people: list[Subscriber]) -> Hub:
    """Do as Mercure did before the skipfilter: one string of template and topic is the key; when it is full, it begins anew."""
    known_answers: dict[str, bool] = {}

    def holds(template: str, pattern: re.Pattern[str], topic: str) -> bool:
        key = f"{template}-{topic}"
        known = known_answers.get(key)
        if known is None:
            if len(known_answers) >= BOOLEANS:
                known_answers.clear()
            known = known_answers[key] = pattern.fullmatch(topic) is not None
        return known

    return lambda topics: [
        one for one in people if any(holds(text, pattern, topic) for topic in topics for text, pattern in one[1])
    ]


def _skip(people: list[Subscriber]) -> Hub:
    hub: SkipFilter[Subscriber, str] = SkipFilter(_wants)
    for subscriber in people:
        hub.add(subscriber)
    return lambda topics: hub.match(*topics)
