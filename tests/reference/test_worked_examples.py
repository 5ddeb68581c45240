"""The worked examples of the literature, a test for each, named after its source.

Where a source's table contradicts its own text, the test says which is right and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

import dfa_router as dr
from dfa_router.language.dialects import AMQP
from dfa_router.reference.cstrie.cell import cell_factory
from dfa_router.reference.cstrie.nodes import CNode
from dfa_router.reference.cstrie.trie import ConcurrentTrie
from dfa_router.reference.fields import FieldMatcher, parse_fields
from dfa_router.reference.filtering import Filter
from dfa_router.reference.inverted_opt import OptimisedInvertedBitmap
from dfa_router.reference.trie import Trie
from dfa_router.reference.words import ONE, tokens_of
from tests.suite.matrix import CONFIGURATIONS, Configuration

each_engine = pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)


def numbered(patterns: Sequence[str]) -> list[tuple[str, str]]:
    return [(pattern, str(number)) for number, pattern in enumerate(patterns)]


def check(configuration: Configuration, patterns: Sequence[str], answers: Mapping[str, Sequence[int]]) -> None:
    router = configuration.router(numbered(patterns), list(answers))
    assert {key: list(router.match_bindings(key)) for key in answers} == {k: list(v) for k, v in answers.items()}
    assert [router.any(key) for key in answers] == [bool(answer) for answer in answers.values()]


@each_engine
def test_fast_topic_matching_subscribers_and_messages(configuration: Configuration) -> None:
    """The article's opening tables: subscribers 1 to 3 and messages 1 to N (positions count from 0)."""
    answers: dict[str, list[int]] = {
        "forex.gbp": [1],
        "stock.nyse.ibm": [],
        "stock.nyse.ge": [],
        "forex.eur": [1],
        "forex.usd": [0, 1],
        "stock.nasdaq.msft": [2],
    }
    check(configuration, ["forex.usd", "forex.*", "stock.nasdaq.msft"], answers)


@each_engine
def test_fast_topic_matching_inverted_bitmap_table(configuration: Configuration) -> None:
    """Its text says that ``*.*`` "matches everything"; its topics all have two words, and only these does it match."""
    table = {
        "forex.usd": [0, 2],
        "forex.gbp": [0, 2],
        "forex.jpy": [0, 2],
        "forex.eur": [0, 2],
        "stock.nasdaq": [2, 3],
        "stock.nyse": [1, 2, 3],
        "index": [],
        "stock.nyse.ibm": [],
    }
    check(configuration, ["forex.*", "stock.nyse", "*.*", "stock.*"], table)


def test_fast_topic_matching_optimised_inverted_bitmap_tables() -> None:
    """The row ``nyse`` is ``0100`` in its table and ``0101`` in its example.

    The table is as stored, and the example has the row ``other`` ORed in, as its text says. Both are right, and the
    answer needs the second.
    """
    matcher = OptimisedInvertedBitmap([b"forex.*", b"stock.nyse", b"index", b"stock.*"], AMQP)
    assert matcher.rows(0) == {b"forex": (0,), b"stock": (1, 3), b"index": (2,), ONE: (), None: ()}
    assert matcher.rows(1) == {b"nyse": (1,), ONE: (0, 3), None: (2,)}
    assert matcher.match(b"forex.eur") == (0,)
    assert matcher.match(b"stock.nyse") == (1, 3)
    assert matcher.match(b"index") == (2,)
    assert matcher.match(b"stock.nyse.ibm") == ()


@each_engine
def test_fast_topic_matching_trie(configuration: Configuration) -> None:
    answers = {"forex.eur": [0], "stock.nyse": [1, 3], "index": [2], "stock.nasdaq": [3], "forex": [], "stock": []}
    check(configuration, ["forex.*", "stock.nyse", "index", "stock.*"], answers)


def test_fast_topic_matching_trie_figure() -> None:
    """Seven nodes: the root, forex and its star, stock with nyse and its star, index."""
    matcher = Trie([b"forex.*", b"stock.nyse", b"index", b"stock.*"], AMQP)
    assert matcher.node_count() == 7
    matcher.remove(0, b"forex.*")
    assert matcher.node_count() == 5


@each_engine
def test_fast_topic_matching_cs_trie(configuration: Configuration) -> None:
    """x = foo, bar, bar.baz; y = foo, bar.qux; z = bar.*."""
    bindings = [("foo", "x"), ("bar", "x"), ("bar.baz", "x"), ("foo", "y"), ("bar.qux", "y"), ("bar.*", "z")]
    keys = {"foo": "xy", "bar": "x", "bar.baz": "xz", "bar.qux": "yz", "bar.other": "z", "foo.bar": ""}
    router = configuration.router(bindings, list(keys))
    assert {key: "".join(router.match(key)) for key in keys} == keys


def test_fast_topic_matching_cs_trie_figure() -> None:
    """An I-node above a C-node with the branches foo and bar, and below bar another with baz, qux and the star."""
    bindings = [("foo", "x"), ("bar", "x"), ("bar.baz", "x"), ("foo", "y"), ("bar.qux", "y"), ("bar.*", "z")]
    trie = ConcurrentTrie([pattern.encode() for pattern, _ in bindings], AMQP, cell_factory())
    top = trie._root.settled(trie._root.read())
    assert isinstance(top, CNode)
    assert set(top.branches) == {b"foo", b"bar"}
    assert top.branches[b"foo"].positions == {0, 3}
    assert top.branches[b"foo"].below is None
    assert top.branches[b"bar"].positions == {1}
    below = top.branches[b"bar"].below
    assert below is not None
    under = trie._root.settled(below)
    assert isinstance(under, CNode)
    assert {token: branch.positions for token, branch in under.branches.items()} == {b"baz": {2}, b"qux": {4}, ONE: {5}}


def test_matchbox_tells_who_is_subscribed_to_what() -> None:
    router = dr.compile([("foo", "x"), ("bar", "x"), ("bar.baz", "x"), ("foo", "y")], engine="cstrie")
    assert router.topics("x") == ("foo", "bar", "bar.baz")
    assert router.topics("z") == ()
    router.subscribe("bar.*", "z")
    assert router.topics("z") == ("bar.*",)


@each_engine
def test_amqp_specification_stock(configuration: Configuration) -> None:
    """``*.stock.#`` in the specification's example, which Treat and RabbitMQ quote (one copy lost its star)."""
    check(configuration, ["*.stock.#"], {"usd.stock": [0], "eur.stock.db": [0], "stock.nasdaq": []})


@each_engine
def test_rabbitmq_articles_trie_and_nfa(configuration: Configuration) -> None:
    """``a.d.d.d.c`` goes through ``#`` with the tails d.d.d.c, d.d.c, d.c, c and the empty one."""
    answers = {
        "a.d.d.d.c": [2],
        "a.b.c": [0, 2],
        "a.b.b.c": [1, 2],
        "a.x.b.c": [1, 2],
        "a.c": [2],
        "b.b.c": [3],
        "a.d.d.d": [],
        "": [],
    }
    check(configuration, ["a.b.c", "a.*.b.c", "a.#.c", "b.b.c"], answers)


def test_rabbitmq_articles_trie_figure() -> None:
    """The root; a with b.c, *.b.c and #.c below it; b with b.c below it."""
    assert Trie([b"a.b.c", b"a.*.b.c", b"a.#.c", b"b.b.c"], AMQP).node_count() == 1 + (1 + 2 + 3 + 2) + 3


@each_engine
def test_rabbitmq_articles_hash_in_the_per_word_approaches(configuration: Configuration) -> None:
    """The articles say of caching and indexing words that they "can not be adapted" to ``#``: here they answer it."""
    check(configuration, ["#.b.#", "a.#", "#"], {"x.b.y": [0, 2], "a": [1, 2], "a.b": [0, 1, 2], "c": [2]})


@each_engine
def test_zeromq_topic_matching_table(configuration: Configuration) -> None:
    """The table and message B let ``forex.*`` match ``forex``.

    This is against "* matches one topic name section" just above it and against the optimised algorithm below it, where
    the row ``null`` of ``forex.*`` is 0. The rule is right and these two are wrong: only ``*`` matches ``forex``.
    """
    table = {
        "forex": [3],  # the source: 0 and 3
        "forex.gbp": [0],
        "forex.eur": [0, 2],
        "forex.usd": [0, 1],
        "trade": [3],
        "trade.usd": [1],
        "trade.jpy": [],
    }
    check(configuration, ["forex.*", "*.usd", "*.eur", "*"], table)


def test_zeromq_optimised_topic_routing_tables() -> None:
    """The source stores ``eur`` as ``011``, with those that take any word; we store ``010`` and OR the row ``other``.

    Its last example ends with '"trade.*" subscriptions matches': there is none, its table says ``trade``, and so do we.
    """
    matcher = OptimisedInvertedBitmap([b"trade", b"forex.eur", b"forex.*"], AMQP)
    assert matcher.rows(0) == {b"trade": (0,), b"forex": (1, 2), ONE: (), None: ()}
    assert matcher.rows(1) == {b"eur": (1,), ONE: (2,), None: (0,)}
    assert matcher.match(b"forex.eur") == (1, 2)
    assert matcher.match(b"forex.jpy") == (2,)
    assert matcher.match(b"trade") == (0,)
    assert matcher.match(b"forex.eur.now") == ()


def test_zeromq_trailing_nulls_are_not_looked_at() -> None:
    """One subscription of 100 words does not make a message of three words look at 100 tables."""
    deep = b".".join(b"w%d" % level for level in range(100))
    matcher = OptimisedInvertedBitmap([b"stock.nyse.*", b"stock.nyse.ibm", deep], AMQP)
    tables = matcher._front.tables
    assert len(tables) == 100
    tables[4:] = [None] * 96  # type: ignore[list-item]
    assert matcher.match(b"stock.nyse.ibm") == (0, 1)


def test_zeromq_filtering_leaves_out_what_another_covers() -> None:
    """``forex.eur`` beside ``forex.*`` cannot change whether anyone is interested."""
    patterns = [tokens_of(pattern, AMQP) for pattern in (b"trade", b"forex.eur", b"forex.*", b"#.jpy")]
    index = Filter(patterns)
    assert index.columns == [tokens_of(pattern, AMQP) for pattern in (b"#.jpy", b"forex.*", b"trade")]
    assert index.any([b"forex", b"eur"])
    assert index.any([b"a", b"b", b"jpy"])
    assert not index.any([b"forex"])
    assert not index.any([b"trade", b"usd"])


def test_zeromq_filtering_stops_at_the_first_batch_that_matches() -> None:
    """64 subscriptions are evaluated at once, those with wildcards first; the rest is not touched after a match."""
    patterns = [b"stock.%d" % number for number in range(200)] + [b"*.7.*", b"*.8"]
    index = Filter([tokens_of(pattern, AMQP) for pattern in patterns])
    assert [len(row.batches) for row in index._others] == [4, 4, 4]
    for row in (*index._others, *index._nulls, *(row for table in index._words for row in table.values())):
        del row.batches[1:]
    assert index.any([b"stock", b"8"])  # the second column, in the first batch
    with pytest.raises(IndexError):
        index.any([b"stock", b"199"])


@pytest.mark.parametrize(
    ("message", "hits", "matching"),
    [
        ("currency=JPY, market=forex, slow", {2: 1}, ()),
        ("currency=JPY, urgent", {0: 1, 3: 1}, (3,)),
        ("market=forex, currency=EUR", {1: 1, 2: 2}, (1, 2)),
    ],
)
def test_zeromq_field_matching_tables(message: str, hits: dict[int, int], matching: tuple[int, ...]) -> None:
    """Messages A, B and C: the hit counts of the tables, and who matches on all its criteria."""
    subscriptions = ["currency=USD, urgent", "currency=EUR", "market=forex, currency=EUR", "urgent"]
    on_all, on_any = FieldMatcher(), FieldMatcher()
    for criteria in subscriptions:
        on_all.subscribe(parse_fields(criteria))
        on_any.subscribe(parse_fields(criteria), on="any")
    assert on_all.hits(parse_fields(message)) == hits
    assert on_all.match(parse_fields(message)) == matching
    assert on_any.match(parse_fields(message)) == tuple(hits)
    assert on_all.any(parse_fields(message)) is bool(matching)
    assert on_any.any(parse_fields(message)) is bool(hits)
