"""The claims of Kevin Burns's article on the skipfilter."""

from __future__ import annotations

from benchmarks.seeds.claims.claim import Document, Figures, Verdict, judged
from benchmarks.seeds.predicates import ALL, BOOLEAN, FRESH, RECURRING, SKIP

__all__ = ["PREDICATES"]

PREDICATES = Document("predicates", "Kevin Burns, skipfilter")
TESTS = "tests/reference/test_skipfilter.py::"


def _factors(f: Figures) -> dict[str, float]:
    cached = f.series("predicates", BOOLEAN, RECURRING)
    return {size: f("predicates", SKIP, RECURRING, size) / value for size, value in cached.items()}


@PREDICATES.measured("predicates")
def twenty_thousand(f: Figures) -> Verdict:
    """A skipfilter makes certain highly selective workloads 20,000 times as fast."""
    factors = _factors(f)
    return judged(
        max(factors.values()) > 20_000,
        ", ".join(f"{factor:,.0f} with {size}" for size, factor in factors.items()),
        "topics recur; the factor grows with the subscribers, and one thread asks",
    )


@PREDICATES.measured("predicates")
def changing_topics(f: Figures) -> Verdict:
    """It answers the complaint that led to it, of a hub whose topics are always different."""
    size = next(iter(f.series("predicates", SKIP, FRESH)))
    times = f("predicates", SKIP, FRESH, size) / f("predicates", BOOLEAN, FRESH, size)
    return judged(
        times > 2,
        f"{times:.1f} times as fast with {size}",
        otherwise="a topic that was never seen asks every subscriber, as before",
    )


@PREDICATES.measured("predicates")
def boolean_cache_first(f: Figures) -> Verdict:
    """The cache of booleans worked well at first."""
    cached, asked = f.series("predicates", BOOLEAN, RECURRING), f.series("predicates", ALL, RECURRING)
    ratios = {size: cached[size] / asked[size] for size in cached}
    return judged(
        next(iter(ratios.values())) > 1.2,
        ", ".join(f"{ratio:.2f} times as fast as asking with {size}" for size, ratio in ratios.items()),
        otherwise="in Python, joining the text that is its key takes as long as the regular expression that it saves",
    )


@PREDICATES.measured("predicates")
def boolean_cache_linear(f: Figures) -> Verdict:
    """With that cache the work for a message still grows with the subscribers."""
    series = f.series("predicates", BOOLEAN, RECURRING)
    sizes = list(series)
    more = _number(sizes[-1]) / _number(sizes[0])
    times = series[sizes[0]] / series[sizes[-1]]
    return judged(times > more / 2, f"{times:.0f} times as long with {more:.0f} times the subscribers")


def _number(size: str) -> int:
    return int(size.split(maxsplit=1)[0].replace(",", ""))


@PREDICATES.measured("predicates")
def asked_once(f: Figures) -> Verdict:
    """Each subscriber is asked about each topic once at most."""
    asked = f("predicates", SKIP, "asked", "100 subscribers, 50 topics ten times")
    return judged(
        asked <= 5_000, f"{asked:,.0f} questions to 100 subscribers about 50 topics, each published ten times"
    )


@PREDICATES.measured("predicates")
def bounded(f: Figures) -> Verdict:
    """Memory is bounded while subscribers and topics come and go."""
    (churned, people), (_, topics) = (
        next(iter(f.series("predicates", SKIP, measure).items())) for measure in ("subscribers kept", "topics kept")
    )
    return judged(people == 100 and topics <= 50, f"{people:.0f} subscribers and {topics:.0f} topics kept {churned}")


PREDICATES.tested(
    "thirty-thousand",
    "5,000 subscribers with three selectors and a message with two topics are 30,000 comparisons.",
    TESTS + "test_mercures_case",
    "10,000 questions of up to three selectors the first time, and none after",
)
PREDICATES.tested(
    "and-of-bitmaps",
    "The answer for a message of several topics is the AND of their bitmaps.",
    TESTS + "test_a_message_of_several_topics_reaches_those_who_want_any_or_all",
    "a message goes to those who want any of its topics, so it is the union; the author's code has both, as we have",
    agrees=False,
)
PREDICATES.tested(
    "new-subscribers",
    "By a cursor for each topic, subscribers that are added later are asked as well.",
    TESTS + "test_the_cursor_asks_new_subscribers_only",
    "",
)
PREDICATES.tested(
    "lazy-removal",
    "Subscribers that were removed are dropped from a topic's bitmap at its next look-up.",
    TESTS + "test_a_removed_subscriber_is_dropped_on_look_up",
    "",
)
PREDICATES.tested(
    "threads", "A skipfilter is safe under threads.", TESTS + "test_threads_add_remove_and_match", "four threads"
)
