"""The claims of Tyler Treat's "Breaking and Entering: Lose the Lock While Embracing Concurrency"."""

from __future__ import annotations

from benchmarks.seeds.claims.claim import Document, Figures, Verdict, judged
from benchmarks.seeds.memory import LITERAL
from benchmarks.seeds.threads.interpreters import FREE

__all__ = ["LOCKS"]

LOCKS = Document("locks", 'Tyler Treat, "Breaking and Entering"')
TESTS = "tests/reference/test_cstrie_concurrency.py::"


@LOCKS.measured("growth")
def trie_logarithmic(f: Figures) -> Verdict:
    """A trie of subscriptions is fast in spite of backtracking, as its depth grows at most with the logarithm."""
    times = f.growth("trie", "look-up", "10,000 subscriptions", "100 subscriptions")
    return judged(times < 1.5, f"{times:.2f} times as long with 100 times the subscriptions")


@LOCKS.measured("threads", f"threads{FREE}")
def lock_limits(f: Figures) -> Verdict:
    """A lock around the trie severely limits its throughput."""
    work = "1:1 inserts to lookups"
    times = {
        condition: f(f"inserts{FREE}", "trie", work, condition)
        / f(f"inserts{FREE}", "trie", work, f"1 thread, the work of {condition}")
        for condition in ("2 threads", "16 threads")
    }
    return judged(
        min(times.values()) > 1,
        " and ".join(f"{value:.1f} times as long in {condition}" for condition, value in times.items())
        + " as the same work in one, without the interpreter's lock",
    )


def _inserts(f: Figures, measure: str, threads: tuple[str, ...]) -> Verdict:
    texts, ratios = [], []
    for suffix in ("", FREE):
        ratios = [
            f(f"inserts{suffix}", "trie", measure, one) / f(f"inserts{suffix}", "cstrie", measure, one)
            for one in threads
        ]
        listed = ", ".join(f"{ratio:.1f} in {one}" for ratio, one in zip(ratios, threads, strict=True))
        texts.append(f"{'without' if suffix else 'with'} the interpreter's lock the locked trie takes {listed}")
    return judged(
        sum(ratio > 1 for ratio in ratios) > len(ratios) / 2,
        "; ".join(texts) + " times the CS-trie's time",
        "without the interpreter's lock, and with fewer threads most; a trie behind a lock stands in for gnatsd's",
        otherwise="a trie behind a lock stands in for gnatsd's. An insert copies a node here, which grows with the structure, and "
        "two cores are few to make up for that",
    )


@LOCKS.measured("threads", f"threads{FREE}")
def one_to_one(f: Figures) -> Verdict:
    """At one look-up for an insert the lock-free trie scales a lot better than gnatsd's, which has a mutex."""
    return _inserts(f, "1:1 inserts to lookups", ("2 threads", "4 threads", "8 threads", "16 threads"))


@LOCKS.measured("threads", f"threads{FREE}")
def one_to_three(f: Figures) -> Verdict:
    """At three look-ups for an insert it does, too."""
    return _inserts(f, "1:3 inserts to lookups", ("4 threads", "8 threads", "16 threads", "32 threads"))


@LOCKS.measured(f"threads{FREE}")
def lookups_at_once(f: Figures) -> Verdict:
    """Without a lock look-ups go on at the same time, with one they wait for each other."""
    times = {
        name: f(f"reads{FREE}", name, "look-ups alone", "2 threads")
        / f(f"reads{FREE}", name, "look-ups alone", "1 thread")
        for name in ("cstrie", "trie")
    }
    return judged(
        times["cstrie"] < 1.5 < times["trie"],
        f"two threads take {times['cstrie']:.1f} times as long as one for twice the look-ups, with the trie {times['trie']:.1f} times, "
        "without the interpreter's lock",
    )


@LOCKS.measured("growth")
def snapshot_constant(f: Figures) -> Verdict:
    """A snapshot takes constant time."""
    times = f.growth("cstrie", "snapshot", "10,000 subscriptions", "100 subscriptions")
    return judged(0.5 < times < 2, f"{times:.2f} times as long with 100 times the subscriptions")


@LOCKS.measured("growth")
def snapshot_copies(f: Figures) -> Verdict:
    """After a snapshot a path is copied when it is first changed, and not again."""
    times = f.growth("cstrie", "subscribe", "first after a snapshot", "later")
    return judged(
        times > 1.3, f"the first change of a path of twelve words takes {times:.1f} times as long as the next"
    )


@LOCKS.measured("memory")
def not_compact(f: Figures) -> Verdict:
    """The lock-free trie is a fairly large structure."""
    concurrent, plain = f("memory", "cstrie", LITERAL, "as built"), f("memory", "trie", LITERAL, "as built")
    return judged(
        concurrent > plain,
        f"{concurrent:,.0f} bytes a subscription, the trie {plain:,.0f}",
        otherwise="our trie's nodes have a dictionary for their subscribers each, the CS-trie's branches a frozen set that is "
        "shared while it is empty",
    )


@LOCKS.measured("throughput")
def cache_in_front(f: Figures) -> Verdict:
    """A cache in front of the structure may spare walking it."""
    with_it, without = f.rate("dfa, Arrow column"), f.rate("dfa, Arrow column, without the key cache")
    return judged(
        with_it > without,
        f"{with_it / without:.1f} times as many keys a second where a thousand keys recur",
        "tried on the DFA, whose walk is cheaper than a trie's; where keys hardly recur it is put away",
    )


LOCKS.tested(
    "suspended-thread",
    "While one thread is blocked anywhere in an operation, all others go on.",
    "tests/engines/test_live.py::test_wherever_a_thread_is_suspended_the_others_go_on",
    "a thread is suspended before each line that it runs, and another one subscribes, matches and unsubscribes",
)
LOCKS.tested(
    "linearizable",
    "The lock-free trie is linearizable.",
    TESTS + "test_a_thousand_histories_are_linearizable",
    "of histories that a scheduler interleaves at every access to a cell; tries that are broken on purpose are caught by the same "
    "check",
)
LOCKS.tested(
    "lookups-linearizable",
    "Its look-ups are linearizable as they are.",
    TESTS + "test_a_walk_that_reads_once_returns_a_state_that_never_was",
    "a walk that reads each node once can return the later of two subscriptions without the earlier; ours reads twice",
    agrees=False,
)
LOCKS.tested(
    "plain-copies-lose",
    "With copies of nodes but without I-nodes and compare-and-set, one of two inserts is lost; with them none is.",
    TESTS + "test_two_inserts_with_plain_assignment_lose_one",
    "with test_two_inserts_as_treat_draws_them_lose_nothing beside it",
)
LOCKS.tested(
    "tombs",
    "Without tombs an insert into a node that is being cut off is lost; with them none is.",
    TESTS + "test_an_insert_into_a_node_that_is_being_cut_off_is_not_lost",
    "with a trie without tombs, which test_a_broken_trie_is_caught_by_the_same_check catches",
)
LOCKS.tested(
    "generations",
    "A writer that has read the old root must not change a snapshot, for which the generation is compared with the node.",
    TESTS + "test_without_generations_that_writer_does_change_it",
    "with test_a_writer_that_read_the_old_root_does_not_change_a_snapshot beside it",
)
LOCKS.tested(
    "aba",
    "With garbage collection a node that looks as before is not taken for the one that was read.",
    TESTS + "test_aba_a_node_that_looks_as_before_is_not_the_one_that_was_read",
    "nodes are compared by identity, and one that is referred to is not used again",
)
LOCKS.out_of_reach(
    "cache-lines",
    "The hot paths of a trie fit the processor's cache lines, and an empty hash node shrinks from 264 to 12 bytes.",
    "Python objects have no such layout, and branches are dictionaries here",
)
LOCKS.out_of_reach(
    "matchbox",
    "matchbox itself beats gnatsd itself with 8 processors.",
    "neither program is run here, and there are two cores",
)
