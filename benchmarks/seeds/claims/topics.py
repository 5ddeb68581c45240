"""The claims of Tyler Treat's "Fast Topic Matching"."""

from __future__ import annotations

from benchmarks.seeds.claims.claim import Document, Figures, Verdict, judged
from benchmarks.seeds.memory import BY_SUBSCRIPTIONS, LITERAL, OVER_TOPICS
from benchmarks.seeds.threads.interpreters import FREE

__all__ = ["TOPICS"]

TOPICS = Document("topics", 'Tyler Treat, "Fast Topic Matching"')
NAIVE = "scan, split every time"
"""What stands for his naive matcher, which splits both sides again for each pair."""


@TOPICS.measured("latency")
def naive_subscribe(f: Figures) -> Verdict:
    """Subscribing to the naive map takes the same time however many subscriptions it has."""
    times = f.lookup(NAIVE, "hot", "subscribe") / f.lookup(NAIVE, "cold", "subscribe")
    return judged(times < 2, f"{times:.1f} times as long with 1,000")


@TOPICS.measured("growth")
def naive_linear(f: Figures) -> Verdict:
    """A look-up of the naive map takes time in proportion to the subscriptions, and grows with the words."""
    subscriptions = f.growth(NAIVE, "look-up", "10,000 subscriptions", "100 subscriptions")
    words = f.growth(NAIVE, "look-up", "10 words", "2 words")
    return judged(
        subscriptions > 50 and words > 1.3,
        f"{subscriptions:.0f} times as long with 100 times the subscriptions, {words:.1f} with 5 times the words",
        "the first word differs mostly, so of more words only the splitting is paid",
    )


@TOPICS.measured("latency")
def naive_thousandfold(f: Figures) -> Verdict:
    """With 1,000 subscriptions a look-up of the naive map is about three orders of magnitude slower than without any."""
    times = f.lookup(NAIVE) / f.lookup(NAIVE, "cold")
    return judged(times > 10**2.5, f"{times:,.0f} times (published: 1,037)")


@TOPICS.measured("latency")
def bitmap_lookup(f: Figures) -> Verdict:
    """A look-up of the inverted bitmap takes well below half a microsecond, however many subscriptions there are."""
    cold, hot = f.lookup("inverted", "cold"), f.lookup("inverted")
    return judged(hot < 500 and hot < 2 * cold, f"{cold:.0f} ns cold, {hot:.0f} ns hot (published: 380, 395)")


@TOPICS.measured("latency")
def bitmap_writes(f: Figures) -> Verdict:
    """Subscribing to the inverted bitmap and unsubscribing are expensive beside the naive map."""
    ratios = [f.lookup("inverted", "hot", what) / f.lookup(NAIVE, "hot", what) for what in ("subscribe", "unsubscribe")]
    return judged(
        min(ratios) > 2,
        f"{ratios[0]:,.0f} and {ratios[1]:,.0f} times (published: 17 and 3.6)",
        "each tests or clears all of 1,000 topics here; the source's space had a handful",
    )


@TOPICS.measured("growth")
def bitmap_reindexing(f: Figures) -> Verdict:
    """The inverted bitmap pays for the search space with each change: without a known, small one it is too expensive."""
    times = f.growth("inverted", "subscribe", "10,000 topics", "100 topics")
    return judged(times > 50, f"{times:.0f} times as long to subscribe over 100 times the topics")


@TOPICS.measured("memory")
def bitmap_memory(f: Figures) -> Verdict:
    """With many topics and subscriptions the inverted bitmap's memory is too much, although most bitmaps are sparse."""
    series = f.series("memory", "inverted", OVER_TOPICS)
    (small, first), (large, last) = next(iter(series.items())), list(series.items())[-1]
    return judged(last > 10 * first, f"{first:,.0f} KB over {small}, {last:,.0f} KB over {large}")


@TOPICS.measured("latency")
def optimised_subscribe(f: Figures) -> Verdict:
    """Subscribing to the optimised inverted bitmap is significantly faster than to the plain one."""
    times = f.lookup("inverted", "hot", "subscribe") / f.lookup("inverted_opt", "hot", "subscribe")
    return judged(times > 2, f"{times:.0f} times as fast (published: 3.6)")


@TOPICS.measured("latency")
def optimised_lookup(f: Figures) -> Verdict:
    """Its look-ups are much slower than the plain one's."""
    times = f.lookup("inverted_opt") / f.lookup("inverted")
    return judged(times > 2, f"{times:.0f} times as long (published: 8.4)")


@TOPICS.measured("memory")
def optimised_memory(f: Figures) -> Verdict:
    """The optimised bitmap takes about 4.5 times less memory for each subscription than the plain one."""
    plain, optimised = f.series("memory", "inverted", OVER_TOPICS), f.series("memory", "inverted_opt", OVER_TOPICS)
    ratios = {size: plain[size] / optimised[size] for size in plain}
    random = f("memory", "inverted", LITERAL, "as built") / f("memory", "inverted_opt", LITERAL, "as built")
    listed = ", ".join(f"{ratio:.1f} over {size}" for size, ratio in ratios.items())
    held = [f.series("memory", matcher, BY_SUBSCRIPTIONS) for matcher in ("inverted", "inverted_opt")]
    fewer = ", ".join(f"{held[0][count] / held[1][count]:.1f} with {count}" for count in held[0])
    added = [list(series.values())[-1] - next(iter(series.values())) for series in held]
    return judged(
        min(*ratios.values(), random) < 4.5 < max(ratios.values()),
        f"{random:.1f} times less for random subscriptions of five words; {listed}; over 9,000 {fewer}; for what further "
        f"subscriptions add {added[0] / added[1]:.1f} times",
        "the article names neither topics nor subscriptions for it, and any factor comes out of some, 4.5 among them: the plain "
        "bitmap grows with the topics, the optimised one with the subscriptions alone",
    )


@TOPICS.measured("latency")
def trie_lookup(f: Figures) -> Verdict:
    """A look-up of the trie is faster than the optimised bitmap's."""
    times = f.lookup("inverted_opt") / f.lookup("trie")
    return judged(times > 1, f"{times:.1f} times as fast (published: 1.5)")


@TOPICS.measured("growth")
def trie_predictable(f: Figures) -> Verdict:
    """The trie's look-ups depend less on the number of subscriptions than the optimised bitmap's."""
    trie, optimised = (
        f.growth(matcher, "look-up", "10,000 subscriptions", "100 subscriptions")
        for matcher in ("trie", "inverted_opt")
    )
    return judged(
        1.1 * trie < optimised,
        f"10,000 in place of 100: {trie:.2f} and {optimised:.2f} times as long",
        otherwise="roaring bitmaps make an AND of sparse rows as good as free, so both hardly depend on it",
    )


@TOPICS.measured("growth")
def trie_backtracking(f: Figures) -> Verdict:
    """For wildcards a trie must go back and try the branch of ``*``, too."""
    trie, dfa = (f.growth(matcher, "look-up", "10 levels of *", "2 levels of *") for matcher in ("trie", "dfa"))
    return judged(trie > 4 * dfa, f"10 levels in place of 2: {trie:,.0f} times as long, a DFA {dfa:.1f}")


@TOPICS.measured("memory")
def trie_memory(f: Figures) -> Verdict:
    """A trie takes less memory than the optimised bitmap."""
    trie, optimised = (f("memory", matcher, LITERAL, "as built") for matcher in ("trie", "inverted_opt"))
    return judged(
        trie < optimised,
        f"{trie:,.0f} bytes a subscription, {optimised:,.0f}",
        otherwise="a node is a Python object with a dictionary, four or five for each of these subscriptions, and a roaring "
        "bitmap of one bit is 14 bytes beside its object",
    )


@TOPICS.measured("latency")
def cstrie_lookup(f: Figures) -> Verdict:
    """Look-ups of the CS-trie are faster than the trie's on average."""
    times = f.lookup("cstrie") / f.lookup("trie")
    return judged(
        times < 1,
        f"{times:.1f} times as long (published: 0.7)",
        otherwise="an I-node and a cell more for each level are calls here; and ours reads all of them twice, as one reading is "
        "not linearizable. His trie takes a lock and merges maps on the way up, which ours does not",
    )


@TOPICS.measured("latency", "growth")
def cstrie_subscribe(f: Figures) -> Verdict:
    """Subscribing to the CS-trie costs about as much as to the trie."""
    times = f.lookup("cstrie", "hot", "subscribe") / f.lookup("trie", "hot", "subscribe")
    wide = f.growth("cstrie", "subscribe", "10,000 first words", "10 first words")
    return judged(
        times < 1.5,
        f"{times:.1f} times as long (published: 1.06); {wide:.0f} times as long again with 10,000 first words as with 10",
        otherwise="an update copies a node with all its branches, and the root has 1,000 here",
    )


@TOPICS.measured("throughput")
def throughput_order(f: Figures) -> Verdict:
    """In messages per second the order is inverted bitmap, CS-trie, trie, optimised bitmap, naive."""
    published = ["inverted", "cstrie", "trie", "inverted_opt", NAIVE]
    found = sorted(published, key=f.rate, reverse=True)
    return judged(
        found == published,
        " > ".join(f"{name} {f.rate(name):,.0f}" for name in found),
        otherwise="only the CS-trie is in another place, for the reasons told at cstrie-lookup"
        if [name for name in found if name != "cstrie"] == [name for name in published if name != "cstrie"]
        else "",
    )


@TOPICS.measured("throughput")
def bitmap_throughput(f: Figures) -> Verdict:
    """The inverted bitmap makes over a million matches per second, some 260 times as many as the naive map."""
    rate = f.rate("inverted")
    return judged(rate > 1e6, f"{rate:,.0f}, {rate / f.rate(NAIVE):,.0f} times as many")


@TOPICS.measured("throughput")
def trie_throughput(f: Figures) -> Verdict:
    """The trie makes about twice as many as the optimised bitmap, and 61 times as many as the naive map."""
    optimised, naive = f.rate("trie") / f.rate("inverted_opt"), f.rate("trie") / f.rate(NAIVE)
    return judged(optimised > 1.3 and naive > 20, f"{optimised:.1f} times, {naive:.0f} times")


@TOPICS.measured("threads")
def tries_under_threads(f: Figures) -> Verdict:
    """With half reads and half writes in many threads, the tries' times hardly show beside the other solutions'."""
    times = f.series("mix", "trie", "50-50 reads and writes")
    most = list(times)[-1]
    others = {name: f("mix", name, "50-50 reads and writes", most) / times[most] for name in ("scan", "inverted")}
    optimised = f("mix", "inverted_opt", "50-50 reads and writes", most) / times[most]
    return judged(
        min(others.values()) > 3,
        f"{most}: "
        + ", ".join(f"{name} {ratio:.1f}" for name, ratio in others.items())
        + f", inverted_opt {optimised:.1f} times as long as the trie",
        otherwise="the scan here splits once, and its hash map is C; waiting for locks is most of every time",
    )


def _scaling(f: Figures, measure: str) -> Verdict:
    texts, better = [], []
    for suffix in ("", FREE):
        trie, concurrent = (f.series(f"mix{suffix}", name, measure) for name in ("trie", "cstrie"))
        ratios = {threads: concurrent[threads] / trie[threads] for threads in trie}
        listed = ", ".join(f"{ratio:.1f} in {threads}" for threads, ratio in ratios.items())
        texts.append(f"{'without' if suffix else 'with'} the interpreter's lock {listed}")
        several = list(ratios.values())[1:]
        better = [ratio < 0.8 * ratios["1 thread"] for ratio in several]
    return judged(
        sum(better) > len(better) / 2,
        f"the CS-trie's time in the trie's: {'; '.join(texts)}",
        "relative to one thread, without the interpreter's lock; with it nothing runs at once",
        otherwise="with the interpreter's lock nothing runs at once; without it each write of the CS-trie allocates copies, "
        "for which the interpreter's own locks are paid, and there are two cores",
    )


@TOPICS.measured("threads", f"threads{FREE}")
def cstrie_half_writes(f: Figures) -> Verdict:
    """With half reads and half writes the CS-trie scales better with threads than the trie behind its lock."""
    return _scaling(f, "50-50 reads and writes")


@TOPICS.measured("threads", f"threads{FREE}")
def cstrie_few_writes(f: Figures) -> Verdict:
    """With nine reads to one write it still does."""
    return _scaling(f, "90-10 reads and writes")


@TOPICS.measured("threads")
def fewer_writes(f: Figures) -> Verdict:
    """Fewer writes make the inverted bitmap's share of the time smaller."""
    last = list(f.series("mix", "inverted", "50-50 reads and writes"))[-1]
    times = f("mix", "inverted", "90-10 reads and writes", last) / f("mix", "inverted", "50-50 reads and writes", last)
    return judged(times < 0.7, f"{times:.2f} times as long at 90-10 as at 50-50, {last}")


@TOPICS.measured("threads", f"threads{FREE}")
def tail_latency(f: Figures) -> Verdict:
    """Freedom of locks gives throughput at the price of longer tails."""
    texts, longer = [], []
    for suffix in ("", FREE):
        slow = [f(f"tail{suffix}", name, "look-up", "slowest of a thousand") for name in ("trie", "cstrie")]
        texts.append(
            f"slowest of a thousand {'without' if suffix else 'with'} the interpreter's lock: trie {slow[0]:,.0f} us, CS-trie {slow[1]:,.0f}"
        )
        longer.append(slow[1] > slow[0])
    return judged(
        all(longer),
        "; ".join(texts),
        otherwise="a reader of the trie waits while a writer that was suspended has the lock",
    )


TOPICS.tested(
    "examples",
    "Its examples of subscriptions, bitmaps and tries come out as printed.",
    "tests/reference/test_worked_examples.py::test_fast_topic_matching_subscribers_and_messages",
    "with the other tests of that file, for every engine",
)
TOPICS.out_of_reach(
    "brokers-use-tries",
    "RabbitMQ and ZeroMQ match topics with tries of this kind.",
    "a statement about the sources of others",
)
