"""How the time of single operations grows: with subscriptions, words, topics, branches, wildcards.

The sources state most of it as orders of growth, so each is measured at sizes that are far apart. Bare engines, nanoseconds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from functools import partial

from pyroaring import BitMap

from benchmarks.seeds.clock import changes, per_call
from benchmarks.seeds.contestants import contestant, random_topics
from benchmarks.seeds.rows import Row
from dfa_router.engines.protocol import DynamicMatcher
from dfa_router.language.dialects import AMQP
from dfa_router.reference.cstrie import ConcurrentTrie
from dfa_router.reference.cstrie.cell import cell_factory
from dfa_router.reference.filtering import Filter
from dfa_router.reference.words import tokens_of, words_of

__all__ = ["bitmaps", "by_subscriptions", "by_words", "constituents", "filtering", "snapshots", "updates", "wildcards"]

NARROW, WIDE = 10, 10_000
"""Different first words of the subscriptions: the branches of a trie's root."""


def by_subscriptions(seconds: float) -> Iterator[Row]:
    """Measure look-ups of a key that one of 100, 1,000 and 10,000 random subscriptions of five words matches."""
    for label in ("scan, split every time", "inverted", "inverted_opt", "trie", "dfa"):
        for count in (100, 1_000, 10_000):
            patterns = random_topics(count)
            engine = contestant(label).build(patterns, patterns[:100])
            key = patterns[50].encode()
            assert engine.match(key) == (50,)
            yield _row(label, "look-up", f"{count:,} subscriptions", per_call(partial(engine.match, key), seconds))


def by_words(seconds: float) -> Iterator[Row]:
    """Measure look-ups among 1,000 random subscriptions of two, five and ten words."""
    for label in ("scan, split every time", "trie"):
        for words in (2, 5, 10):
            patterns = random_topics(1_000, words)
            engine = contestant(label).build(patterns, [])
            key = patterns[500].encode()
            assert engine.match(key) == (500,)
            yield _row(label, "look-up", f"{words} words", per_call(partial(engine.match, key), seconds))


def updates(seconds: float) -> Iterator[Row]:
    """Measure subscribing: by the number of topics of a topic space, and by the number of branches of a trie's root."""
    for count in (100, 1_000, 10_000):
        yield from _subscribing("inverted", f"{count:,} topics", [], random_topics(count, 2), "*.usd", seconds)
    for label in ("trie", "cstrie"):
        for first_words in (NARROW, WIDE):
            patterns = [f"{number % first_words}.{number}.c" for number in range(WIDE)]
            yield from _subscribing(label, f"{first_words:,} first words", patterns, [], "new.b.c", seconds)


def _subscribing(
    label: str, condition: str, patterns: list[str], topics: list[str], pattern: str, seconds: float
) -> Iterator[Row]:
    engine = contestant(label).build(patterns, topics)
    assert isinstance(engine, DynamicMatcher)
    first, text = len(patterns), pattern.encode()
    adding, _ = changes(
        lambda number: engine.add(first + number, text), lambda number: engine.remove(first + number, text), seconds
    )
    yield _row(label, "subscribe", condition, adding)


def wildcards(seconds: float) -> Iterator[Row]:
    """Measure keys on which a trie must go back: at each level by word and by ``*``, and through several ``#``."""
    for levels in (2, 6, 10):
        patterns = [".".join([*choice, "z"]) for choice in itertools.product("a*", repeat=levels)]
        yield from _both(patterns, ".".join(["a"] * levels + ["y"]), "look-up", f"{levels} levels of *", seconds)
    for words in (8, 16, 32):
        yield from _both(["#.a.#.a.#.a.#.b"], ".".join(["a"] * words), "look-up", f"#, {words} words", seconds)


def _both(patterns: list[str], text: str, measure: str, condition: str, seconds: float) -> Iterator[Row]:
    for label in ("trie", "dfa"):
        engine = contestant(label).build(patterns, [])
        assert engine.match(text.encode()) == ()
        yield _row(label, measure, condition, per_call(partial(engine.match, text.encode()), seconds))


def snapshots(seconds: float) -> Iterator[Row]:
    """Measure snapshots of the CS-trie, and the first and the second change of a place after one."""
    for count in (100, 10_000):
        trie = ConcurrentTrie([text.encode() for text in random_topics(count)], AMQP, cell_factory())
        yield _row("cstrie", "snapshot", f"{count:,} subscriptions", per_call(trie.snapshot, seconds))
    path = [".".join([*random_topics(1, 12, seed=7)[0].split(".")[:-1], str(number)]).encode() for number in range(2)]
    trie = ConcurrentTrie(path[:1], AMQP, cell_factory())

    def first(number: int) -> None:
        trie.snapshot()
        trie.add(number + 1, path[1])

    def second(number: int) -> None:
        trie.add(-number - 1, path[1])
        trie.remove(-number - 1, path[1])
        trie.remove(number + 1, path[1])

    with_copies, _ = changes(first, second, seconds)
    taken = per_call(trie.snapshot, seconds)
    again, _ = changes(
        lambda number: trie.add(number + 1, path[1]), lambda number: trie.remove(number + 1, path[1]), seconds
    )
    yield _row("cstrie", "subscribe", "first after a snapshot", max(with_copies - taken, 0.0))
    yield _row("cstrie", "subscribe", "later", again)


def constituents(seconds: float) -> Iterator[Row]:
    """Measure the optimised bitmap's rules: stop at an empty AND, drop what is too long, ignore all nulls but the first."""
    patterns = [f"{number % 10}.{number % 50}.{number}" for number in range(1_000)]
    alone = contestant("inverted_opt").build(patterns, [])
    beside_long = contestant("inverted_opt").build([*patterns, ".".join(["long"] * 100)], [])
    for engine, condition, key in (
        (alone, "three words, match", b"7.7.507"),
        (alone, "no such first word", b"x.7.507"),
        (alone, "more words than any subscription", b"7.7.507" + b".x" * 20),
        (beside_long, "three words, match, beside 100 words", b"7.7.507"),
    ):
        assert bool(engine.match(key)) == ("match" in condition)
        yield _row("inverted_opt", "look-up", condition, per_call(partial(engine.match, key), seconds))


def filtering(seconds: float) -> Iterator[Row]:
    """Measure whether anybody wants a key: against all who do, on the left and on the right, and what covering leaves."""
    many = [f"a.{number}.*" for number in range(1_000)] + ["a.*.*"] * 1_000
    engine = contestant("inverted_opt").build(many, [])
    key = b"a.7.c"
    assert len(engine.match(key)) == 1_001
    yield _row("inverted_opt", "look-up", "1,001 of 2,000 match", per_call(partial(engine.match, key), seconds))
    any_matches: Callable[[bytes], bool] = engine.any  # type: ignore[attr-defined]
    assert any_matches(key)
    yield _row("inverted_opt", "any", "1,001 of 2,000 match", per_call(partial(any_matches, key), seconds))
    tokens = [tokens_of(pattern.encode(), AMQP) for pattern in many]
    yield _row("filter", "subscriptions left", "of 2,000", len(Filter(tokens).columns) / 1e9, unit="subscriptions")
    chance = random.Random(3)
    spread = [f"{number}.b.c" for number in range(20_000)] + ["w.*.*"]
    chance.shuffle(spread)
    index = Filter([tokens_of(pattern.encode(), AMQP) for pattern in spread])
    assert index.columns[0] == tokens_of(b"w.*.*", AMQP)
    for condition, text in (
        ("wildcards, on the left", b"w.b.c"),
        ("literal, on the right", b".".join(word for word in index.columns[-1] if isinstance(word, bytes))),
    ):
        words = words_of(text, AMQP)
        assert index.any(words)
        yield _row("filter", "any", condition, per_call(partial(index.any, words), seconds))


def bitmaps(seconds: float) -> Iterator[Row]:
    """Measure an AND of two bitmaps of 10,000 subscriptions, bit by bit and in batches, and the bytes of a sparse bitmap."""
    left, right = BitMap(range(0, 10_000, 3)), BitMap(range(0, 10_000, 5))
    bits = [[number in one for number in range(10_000)] for one in (left, right)]

    def bit_by_bit() -> list[bool]:
        return [one and other for one, other in zip(*bits, strict=True)]

    assert [number for number, bit in enumerate(bit_by_bit()) if bit] == list(left & right)
    yield _row("bitmap", "AND", "bit by bit", per_call(bit_by_bit, seconds))
    yield _row("bitmap", "AND", "in batches", per_call(lambda: left & right, seconds))
    sparse = BitMap(random.Random(5).sample(range(1_000_000), 1_000))
    yield _row("bitmap", "size", "1,000 of 1,000,000 bits", len(sparse.serialize()) / 1e9, unit="bytes")


def _row(matcher: str, measure: str, condition: str, seconds: float, unit: str = "ns") -> Row:
    return Row(table="growth", matcher=matcher, measure=measure, condition=condition, value=seconds * 1e9, unit=unit)
