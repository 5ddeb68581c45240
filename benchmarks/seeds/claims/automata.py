"""The claims of RabbitMQ's article on the performance of topic routing (2010)."""

from __future__ import annotations

from pathlib import Path

from benchmarks.seeds.claims.claim import Document, Figures, Verdict, judged
from benchmarks.seeds.memory import LITERAL, WILDCARDS

__all__ = ["AUTOMATA"]

AUTOMATA = Document("automata", "RabbitMQ, on topic routing")
ROOT = Path(__file__).parents[3]


@AUTOMATA.measured("latency")
def split_once(f: Figures) -> Verdict:
    """Not splitting the pattern and the key again for each pair makes the old implementation three times as fast."""
    times = f.lookup("scan, split every time") / f.lookup("scan")
    return judged(times >= 3, f"{times:.1f} times as fast")


@AUTOMATA.measured("throughput")
def many_times_faster(f: Figures) -> Verdict:
    """The solutions that were found are many times faster than the old implementation."""
    times = {name: f.rate(name) / f.rate("scan, split every time") for name in ("trie", "dfa")}
    return judged(min(times.values()) > 10, ", ".join(f"{name} {value:,.0f} times" for name, value in times.items()))


@AUTOMATA.measured("throughput")
def words_slowest(f: Figures) -> Verdict:
    """Of the four approaches, caching words of keys and indexing words of patterns are the slowest."""
    rates = {name: f.rate(name) for name in ("word_cache", "word_index", "trie", "dfa")}
    found = sorted(rates, key=lambda name: rates[name])
    return judged(
        set(found[:2]) == {"word_cache", "word_index"}, " < ".join(f"{name} {rates[name]:,.0f}" for name in found)
    )


AUTOMATA.tested(
    "words-without-many",
    "Caching words of keys and indexing words of patterns cannot be adapted to #.",
    "tests/reference/test_worked_examples.py::test_rabbitmq_articles_hash_in_the_per_word_approaches",
    "patterns with # are narrowed by the words that must stand before it, and those that are left are tested",
    agrees=False,
)


@AUTOMATA.measured("latency", "growth")
def trie_binding(f: Figures) -> Verdict:
    """Adding a binding to a trie is cheap."""
    hot = f.lookup("trie", "hot", "subscribe")
    wide = f.growth("trie", "subscribe", "10,000 first words", "10 first words")
    return judged(
        hot < 2 * f.lookup("trie", "cold", "subscribe") and wide < 2,
        f"{hot / 1000:.1f} us with 1,000 bindings, {wide:.1f} times as long with 10,000 first words as with 10",
    )


@AUTOMATA.measured("growth")
def trie_backtracks(f: Figures) -> Verdict:
    """A trie goes back for ``#``, with all rests of the key."""
    times = f("growth", "trie", "look-up", "#, 32 words") / f("growth", "dfa", "look-up", "#, 32 words")
    longer = f.growth("trie", "look-up", "#, 32 words", "#, 8 words")
    return judged(
        times > 10,
        f"{times:.0f} times a DFA's time for 32 words and #.a.#.a.#.a.#.b; {longer:.1f} times as long as for 8 words",
        "ours remembers which pairs of node and rest it has seen; RabbitMQ did not before 4.3.5, and took 2,350 times as long "
        "for 127 words as for 16",
    )


@AUTOMATA.measured("growth")
def dfa_straight(f: Figures) -> Verdict:
    """A DFA never goes back."""
    words = f.growth("dfa", "look-up", "#, 32 words", "#, 8 words")
    levels = f.growth("dfa", "look-up", "10 levels of *", "2 levels of *")
    return judged(
        words < 4 and levels < 4, f"{words:.1f} times as long for 4 times, {levels:.1f} for 4 times the words"
    )


@AUTOMATA.measured("memory")
def dfa_memory(f: Figures) -> Verdict:
    """A DFA takes significantly more memory than a trie."""
    wild = [f("memory", name, WILDCARDS, "after use") for name in ("dfa", "trie")]
    literal = f("memory", "dfa", LITERAL, "after use") / f("memory", "trie", LITERAL, "as built")
    return judged(
        wild[0] > 2 * wild[1],
        f"{wild[0]:,.0f} KB to {wild[1]:,.0f} for 300 patterns with wildcards after 20,000 keys; {literal:.2f} times for "
        "literal ones",
        "what the lazy DFA may take is bounded by an option, the trie's nodes are Python objects, and still",
    )


@AUTOMATA.measured("latency")
def dfa_binding(f: Figures) -> Verdict:
    """Adding a binding to a DFA is expensive, as all of it is built anew."""
    times = f.lookup("dfa", "hot", "subscribe") / f.lookup("trie", "hot", "subscribe")
    return judged(times > 100, f"{times:,.0f} times the trie's time with 1,000 bindings")


@AUTOMATA.measured()
def dfa_complex(_: Figures) -> Verdict:
    """A DFA is the more complex of the two, and harder to write."""
    folders = [ROOT / "compiler" / name for name in ("automata", "kernels", "machine")]
    automata = sum(_lines(path) for folder in folders for path in folder.rglob("*.py"))
    trie = _lines(ROOT / "dfa_router" / "reference" / "trie.py")
    times = automata // trie // 10 * 10  # roughly, as a line more is no other answer
    return judged(times >= 10, f"over {times} times as many lines as the trie")


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


@AUTOMATA.measured("latency", "throughput")
def dfa_lazily(f: Figures) -> Verdict:
    """Building the DFA on the fly is better than generating source code for it."""
    build = f.lookup("codegen", "hot", "subscribe") / f.lookup("dfa", "hot", "subscribe")
    key, column = (f.rate(name) / f.rate("codegen") for name in ("dfa", "dfa, Arrow column, without the key cache"))
    return judged(
        build > 2 and column > 2,
        f"{build:.0f} times as fast to build; {key:.1f} times as many keys a second one by one, {column:.0f} in a column",
        "a single key pays for the call of a kernel, which generated Python does not",
    )


AUTOMATA.tested(
    "examples",
    "The article's patterns match as it draws them, in the trie and in the NFA.",
    "tests/reference/test_worked_examples.py::test_rabbitmq_articles_trie_and_nfa",
    "every engine",
)
