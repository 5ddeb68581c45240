"""Sets of patterns to step through on the page, each with a key and a note on what to look for."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EXAMPLES", "FOUR_PATTERNS", "Example"]

FOUR_PATTERNS = ("a.b.c", "a.*.b.c", "a.#.c", "b.b.c")
"""The patterns that RabbitMQ's 2011 articles on topic routing draw as a trie and as an NFA."""


class Example(NamedTuple):
    """A set of patterns, keys that are matched one after the other, and a note for the reader."""

    title: str
    patterns: tuple[str, ...]
    keys: tuple[str, ...]
    note: str
    dialect: str = "amqp"
    capacity: int = 64 << 20
    """The bound on the cache, in bytes."""


EXAMPLES = (
    Example(
        "RabbitMQ’s four patterns (2011)",
        FOUR_PATTERNS,
        ("a.d.d.d.c",),
        "The trie tries five tails of the key below #; the DFA reads each word once.",
    ),
    Example(
        "Foreign exchange and stocks",
        ("forex.*", "stock.#", "*.usd", "stock.nyse.ibm", "#"),
        ("stock.nyse.ibm",),
        "Several bindings accept one key: a state carries a set of accept tags.",
    ),
    Example(
        "The quotes of the AMQP specification",
        ("*.stock.#",),
        ("eur.stock.db",),
        "usd.stock and eur.stock.db match; stock.nasdaq does not.",
    ),
    Example(
        "Blow-up: #.a.*.*",
        ("#.a.*.*",),
        ("a.b.a.a.b",),
        "The DFA must remember which of the last three words were a: 2³ states. Each * more doubles them.",
    ),
    Example(
        "Blow-up: #.a.* with six stars",
        ("#.a.*.*.*.*.*.*",),
        ("a.a.b.a.b.b.a.a",),
        "128 states if complete; for this key the lazy cache builds 13: those on its way, and some where other words lead.",
    ),
    Example(
        "Blow-up: four bindings #.w.#",
        ("#.a.#", "#.b.#", "#.c.#", "#.d.#"),
        ("x.b.d.a.c",),
        "Every set of words met is a state with its own accept set: 2⁴ of them, and minimisation finds nothing to merge.",
    ),
    Example(
        "Backtracking: #.a.#.a.#.b",
        ("#.a.#.a.#.b",),
        ("a.a.a.a.a.a.a.a",),
        "The trie’s visits grow with the cube of the key’s length, and the key does not even match.",
    ),
    Example(
        "NServiceBus’s delayed delivery, three levels",
        ("1.*.*.#", "*.1.*.#", "*.*.1.#", "0.0.0.#", "#.billing", "#.shipping"),
        ("1.0.1.billing",),
        "One word per bit of the delay, then the endpoint. The real topology has 28 levels, spread over as many exchanges; "
        "in one set, nearly every key makes states of its own.",
    ),
    Example(
        "A cache that is too small",
        FOUR_PATTERNS,
        ("a.d.d.d.c", "a.b.c", "b.b.c.d.e", "a.d.b.c", "a.b.c"),
        "1,300 bytes hold seven states. When the next one comes everything is thrown away; answers stay the same.",
        capacity=1300,
    ),
    Example(
        "A key that outgrows its cache",
        ("#.a.*.*.*.*.*.*",),
        ("a.a.b.a.b.b.a.a.b.a.b.a.a.b.b", "b.a.b"),
        "Three clears within one key, and then the engine gives up on states: it simulates the NFA.",
        capacity=1300,
    ),
    Example(
        "RabbitMQ’s worst case: many # in one pattern",
        ("#.a.#.a.#.a.#.b",),
        ("a.a.a.a.a.a.a.a.a.a", "a.a.a.a.a.a.a.a.a.a.b"),
        "The walk with backtracking enters a node for each way to split the key; the DFA reads each word once.",
    ),
    Example(
        "MQTT: topics that begin with $",
        ("#", "+/lamp", "$SYS/#", "home/+/lamp"),
        ("home/hall/lamp", "$SYS/lamp", "kitchen/lamp"),
        "A wildcard at the beginning matches no topic that begins with $: these start at a root of their own.",
        dialect="mqtt",
    ),
    Example(
        "NATS: one or more",
        ("orders.>", "orders.*.paid", ">"),
        ("orders.7.paid", "orders", "orders..paid"),
        "> stands for one word or more, and a subject with an empty word is not routed at all.",
        dialect="nats",
    ),
    Example(
        "Empty words and the empty key",
        ("", "#", "*", "a..b", "a.*.b"),
        ("a..b",),
        "The empty key has no words, and an empty word is a word: a..b has three.",
    ),
)
