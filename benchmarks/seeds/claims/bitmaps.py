"""The claims of ZeroMQ's whitepaper "High-speed message matching"."""

from __future__ import annotations

from benchmarks.seeds.claims.claim import Document, Figures, Verdict, judged
from benchmarks.seeds.memory import OVER_TOPICS

__all__ = ["BITMAPS"]

BITMAPS = Document("bitmaps", 'ZeroMQ, "High-speed message matching"')
COMPARED, DISTINCT, SELECTED, COUNTED = (
    "each request compared",
    "each distinct request compared",
    "SQL selector of each request",
    "bitmaps of criteria",
)


def _per_message(f: Figures, way: str, requests: str = "10,000") -> float:
    return f("fields", way, "message", f"{requests} requests")


@BITMAPS.measured("fields")
def comparing_linear(f: Figures) -> Verdict:
    """Comparing a message with each request costs the comparison times the number of requests."""
    times = _per_message(f, COMPARED) / _per_message(f, COMPARED, "100")
    return judged(50 < times < 200, f"{times:.0f} times as long with 100 times the requests")


@BITMAPS.measured("fields")
def equal_requests(f: Figures) -> Verdict:
    """Where 10,000 requests are a hundred different ones, comparing each of those once is a hundred times cheaper."""
    times = _per_message(f, COMPARED) / _per_message(f, DISTINCT)
    return judged(
        times > 30,
        f"{times:.0f} times",
        "not quite a hundred, as the numbers of a hundred requests that match are listed",
    )


@BITMAPS.measured("fields")
def selectors_exponential(f: Figures) -> Verdict:
    """The cost of SQL-like selectors grows exponentially with messages and requests."""
    times = _per_message(f, SELECTED) / _per_message(f, SELECTED, "100")
    beside = _per_message(f, SELECTED) / _per_message(f, COMPARED)
    return judged(
        times > 1_000,
        f"{times:.0f} times as long with 100 times the requests, {beside:.1f} times the cost of comparing fields",
        otherwise="it grows in proportion: SQLite interprets one clause after the other",
    )


@BITMAPS.measured("throughput", "latency")
def ten_microseconds(f: Figures) -> Verdict:
    """Topics can be matched in under 10 us each, 100,000 messages a second."""
    names = ("inverted", "inverted_opt", "trie", "cstrie", "dfa")
    rates = {name: f.rate(name) for name in names}
    return judged(
        min(rates["inverted"], rates["inverted_opt"]) >= 100_000,
        ", ".join(f"{name} {1e6 / rate:.1f} us" for name, rate in rates.items()),
        "with 1,000 subscriptions, in Python, as the author wanted it with 10,000 requests in C",
    )


@BITMAPS.measured("fields")
def ten_microseconds_for_fields(f: Figures) -> Verdict:
    """Messages with fields can be matched in under 10 us each with 10,000 requests."""
    series = f.series("fields", COUNTED, "message")
    return judged(
        series["10,000 requests"] < 10,
        ", ".join(f"{value:,.0f} us with {condition}" for condition, value in series.items()),
        otherwise="hits are counted one by one in Python, and each criterion here has a tenth of all requests; it is "
        f"{_per_message(f, COMPARED) / series['10,000 requests']:.0f} times as fast as comparing",
    )


@BITMAPS.measured("latency")
def changed_rarely(f: Figures) -> Verdict:
    """The technique is efficient if and only if requests change rarely beside messages."""
    change = f.lookup("inverted", "hot", "subscribe") - f.lookup("trie", "hot", "subscribe")
    gain = f.lookup("trie") - f.lookup("inverted")
    return judged(
        change > gain > 0,
        f"over 1,000 topics it is ahead of the trie after {change / gain:,.0f} look-ups for each change",
    )


@BITMAPS.measured("memory")
def too_much_memory(f: Figures) -> Verdict:
    """With millions of topics a bitmap for each takes too much memory; tables of constituents take a modest amount."""
    plain, optimised = f.series("memory", "inverted", OVER_TOPICS), f.series("memory", "inverted_opt", OVER_TOPICS)
    least, most = next(iter(plain)), list(plain)[-1]
    million = plain[most] / int(most.split()[0].replace(",", "")) * 1_000
    growth = optimised[most] / optimised[least]
    return judged(
        million > 200 and growth < 2,
        f"{million:,.0f} MB for a million topics at this rate; with the tables {growth:.1f} times from {least} to {most}",
    )


@BITMAPS.measured("growth")
def stops_early(f: Figures) -> Verdict:
    """At an empty bitmap matching can stop."""
    times = f.growth("inverted_opt", "look-up", "no such first word", "three words, match")
    return judged(times < 0.8, f"{times:.2f} times as long as three words that match")


@BITMAPS.measured("growth")
def too_long(f: Figures) -> Verdict:
    """A message with more parts than any subscription can be dropped straight away."""
    times = f.growth("inverted_opt", "look-up", "more words than any subscription", "three words, match")
    return judged(
        times < 0.8,
        f"{times:.2f} times as long as a match",
        otherwise="with # it cannot: subscriptions that take any rest must be found. The words beyond the tables are not looked up",
    )


@BITMAPS.measured("growth")
def trailing_nulls(f: Figures) -> Verdict:
    """One subscription of 100 parts need not slow down messages of three: only the first null counts."""
    times = f.growth("inverted_opt", "look-up", "three words, match, beside 100 words", "three words, match")
    return judged(times < 1.5, f"{times:.2f} times as long as without it")


@BITMAPS.measured("growth")
def filtering(f: Figures) -> Verdict:
    """To tell whether anybody wants a message is faster than to tell who does."""
    condition = "1,001 of 2,000 match"
    times = f("growth", "inverted_opt", "look-up", condition) / f("growth", "inverted_opt", "any", condition)
    return judged(times > 2, f"{times:.0f} times as fast where 1,001 do")


@BITMAPS.measured("growth")
def bit_by_bit(f: Figures) -> Verdict:
    """An AND bit by bit is terribly slow beside one in batches of a word or a vector."""
    times = f.growth("bitmap", "AND", "bit by bit", "in batches")
    return judged(
        times > 10, f"{times:.0f} times as long", "the one is a loop in Python, the other roaring bitmaps in C"
    )


@BITMAPS.measured("growth")
def covered(f: Figures) -> Verdict:
    """For filtering, subscriptions that others cover can be left out."""
    left = f("growth", "filter", "subscriptions left", "of 2,000")
    return judged(
        left < 2_000, f"{left:.0f} of 2,000 left, and the same answers", "a set made for it: a.*.* covers all others"
    )


@BITMAPS.measured("growth")
def wildcards_left(f: Figures) -> Verdict:
    """Filtering ends early if subscriptions with wildcards stand on the left of the bitmap."""
    times = f.growth("filter", "any", "literal, on the right", "wildcards, on the left")
    return judged(times > 2, f"a match on the right takes {times:.0f} times as long, among 20,000")


@BITMAPS.measured("growth")
def compressible(f: Figures) -> Verdict:
    """Large, sparse bitmaps can be compressed well."""
    size = f("growth", "bitmap", "size", "1,000 of 1,000,000 bits")
    return judged(size < 12_500, f"{size:,.0f} bytes for 1,000 of a million bits, which plainly are 125,000")


@BITMAPS.measured("latency", "growth")
def nanoseconds(f: Figures) -> Verdict:
    """A message is matched or filtered in nanoseconds to a couple of microseconds, with many topics and subscriptions."""
    times = [f.lookup("inverted"), f.lookup("inverted_opt"), f.lookup("inverted_opt", measure="any")]
    return judged(
        max(times) < 10_000,
        f"{times[0] / 1000:.1f} us over a topic space, {times[1] / 1000:.1f} by constituents, {times[2] / 1000:.1f} to filter",
    )


BITMAPS.tested(
    "star-takes-nothing",
    "The subscription forex.* matches the topic forex.",
    "tests/reference/test_worked_examples.py::test_zeromq_topic_matching_table",
    "the whitepaper's first example says so, and its second takes * for exactly one part, as AMQP and all engines here do",
    agrees=False,
)
BITMAPS.tested(
    "constituents",
    "The tables of constituents come out as printed, and give the same subscriptions.",
    "tests/reference/test_worked_examples.py::test_zeromq_optimised_topic_routing_tables",
    "but for a slip of the pen, trade.* where the table has trade",
)
BITMAPS.tested(
    "hits",
    "A subscription has matched on ANY with one hit and on ALL with as many hits as it has criteria.",
    "tests/reference/test_worked_examples.py::test_zeromq_field_matching_tables",
    "subscriptions choose between them here, as with headers exchanges",
)
BITMAPS.tested(
    "or-of-values",
    "Content can be asked for as currency = USD or GBP.",
    "tests/reference/test_fields.py::test_it_agrees_with_testing_every_subscription",
    "a tuple of values is one criterion that any of them meets",
)
BITMAPS.out_of_reach(
    "directory",
    "Inverted bitmaps carried a telephone directory of two million look-ups a day on twenty computers.",
    "a report of 1981",
)
