"""What the pages of a site say: five lessons, and an essay of six sections, each with settings that the page then shows."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from viz.examples import FOUR_PATTERNS

__all__ = ["ESSAY", "LESSONS", "Lesson", "Part", "fragment"]


class Part(NamedTuple):
    """A paragraph, and what the page shows with it."""

    text: str
    """Plain text; words between backquotes are set as code."""
    shows: str = ""
    """The fragment of a link to these settings, or nothing."""
    label: str = "Show it"
    answer: str = ""
    """What is folded away until the reader asks for it."""


class Lesson(NamedTuple):
    """A page of a site."""

    title: str
    parts: tuple[Part, ...]


def fragment(patterns: tuple[str, ...], *keys: str, dialect: str = "amqp", cache: int = 64 << 20, step: int = 0) -> str:
    """Return the fragment of a link to these settings.

    >>> fragment(("a.#",), "a.b", step=2)
    '#p=a.%23&k=a.b&d=amqp&c=67108864&s=2'
    """
    settings: list[tuple[str, object]] = [("p", one) for one in patterns] or [("n", 0)]
    settings += [("k", key) for key in keys]
    return "#" + urlencode([*settings, ("d", dialect), ("c", cache), ("s", step)])


_AFTER_ALL = 99
_BLOW_UP = "#.a" + ".*" * 6

LESSONS = (
    Lesson(
        "Patterns",
        (
            Part(
                "A broker delivers a message to every queue whose binding pattern matches the message’s routing key. Both are "
                "words with dots between them. `*` stands for exactly one word, `#` for zero or more; both are wildcards only "
                "as whole words.",
                fragment(FOUR_PATTERNS, "a.d.d.d.c", step=_AFTER_ALL),
            ),
            Part(
                "Before you look: which of the four patterns match `a.c`, which `a..b.c`?",
                fragment(FOUR_PATTERNS, "a.c", "a..b.c"),
                "Step through both",
                "`a.c` matches `a.#.c`, since `#` may be no words at all. `a..b.c` matches `a.*.b.c`, since an empty word is a word.",
            ),
            Part(
                "Find two different patterns that match the same keys.",
                fragment(("#.*", "*.#"), "", "a", "a.b"),
                "Compare two",
                "`#.*` and `*.#` both say: at least one word. They are one path in the automaton.",
            ),
            Part(
                "Other brokers spell it otherwise: MQTT has `+` and `#` and slashes, NATS `*` and `>`.",
                fragment(("home/+/lamp", "home/#"), "home/hall/lamp", "home", dialect="mqtt"),
                "The same in MQTT",
            ),
        ),
    ),
    Lesson(
        "NFA",
        (
            Part(
                "All patterns go into one automaton: a trie of their words. The position where a pattern ends says which "
                "pattern it is. `#` is a position that is entered without reading a word, and that stays on every word.",
                fragment(FOUR_PATTERNS, "a.b"),
            ),
            Part(
                "The automaton may be in several positions at once. Where is it after `a.b`? Switch on Predict, and say it.",
                fragment(FOUR_PATTERNS, "a.b", step=1),
                "Predict",
                "In 3, 4 and 5: the loop of `a.#.c`, the `*` of `a.*.b.c`, and the `b` of `a.b.c`.",
            ),
            Part(
                "Add a pattern that needs only one more position, and one that needs four.",
                fragment((*FOUR_PATTERNS, "b.b.*"), "b.b.x"),
                "One answer",
                "`b.b.*` shares `b.b`; `x.y.z.w` shares nothing.",
            ),
        ),
    ),
    Lesson(
        "DFA",
        (
            Part(
                "Each set of positions that can occur gets a number of its own: that is subset construction, and the result is "
                "deterministic. In every state each word leads to one state; `other` stands for all words that are no literal of the state.",
                fragment(FOUR_PATTERNS, "a.d.d.d.c"),
            ),
            Part(
                "A trie with backtracking tries every tail of the key below a `#`. How does its work grow with the key?",
                fragment(("#.a.#.a.#.b",), ".".join("aaaa"), ".".join("aaaaaaaa"), ".".join("a" * 16)),
                "Three keys",
                "Twice the words take 5.8 times the look-ups, then 6.8, and with longer keys ever nearer to eight: the third power, and the "
                "pattern has three `#`. The DFA reads each word once.",
            ),
            Part(
                "When does the engine stop before the key ends?",
                fragment(("a.#", "b.c"), "a.x.y.z", "c.x.y"),
                "Two keys",
                "When no further word can change the state: only matched `#` are left, or nothing is.",
            ),
        ),
    ),
    Lesson(
        "Lazy cache",
        (
            Part(
                "A complete DFA can be enormous, and most keys need few of its states. So a state and a transition are built "
                "when a key first needs them, and kept.",
                fragment(FOUR_PATTERNS, "a.d.d.d.c", "a.b.c", "a.d.c"),
            ),
            Part(
                "Find a list of keys that builds the whole DFA, all 14 states. How short can it be?",
                fragment(FOUR_PATTERNS, "b.b.c", "a.c.b.c.c", "a.b.c.c", step=_AFTER_ALL),
                "One answer",
                "Three keys: no key is in two of the states after `b`, `a.b` and `a.c`. What other words lead to is built on the way.",
            ),
            Part(
                "Memory is bounded: when the cache is full it is emptied, and filled again by the next words. Answers stay the "
                "same. Move the slider: from which bound on is nothing cleared? (At 0 there is no cache, and each key is simulated.)",
                fragment(FOUR_PATTERNS, "a.d.d.d.c", "a.b.c", "b.b.c.d.e", "a.d.b.c", "a.b.c", cache=1300),
                "1,300 bytes",
            ),
            Part(
                "A key that alone outgrows the cache is simulated: after three clears the engine gives up on states for it.",
                fragment((_BLOW_UP,), ".".join("aababbaababaabb"), cache=1300),
                "See it give up",
            ),
        ),
    ),
    Lesson(
        "Blow-up",
        (
            Part(
                "A set of n positions has 2ⁿ subsets. For `#.a.*.*` a matcher must remember whether each of the last three words "
                "was `a`: three bits, eight states.",
                fragment(("#.a.*.*",), "a.b.a.a.b", "a.a.a", "b.a.b.b"),
            ),
            Part(
                "Each further `*` doubles them. Which keys are the worst for the cache, and which need one state only?",
                fragment((_BLOW_UP,), ".".join("aababbaababaabb"), "b.b.b.b.b.b.b.b"),
                "A random key, and one of b",
                "Random ones need a new state nearly every word; a key without an `a` stays where it is.",
            ),
            Part(
                "Another kind: n bindings `#.w.#` have 2ⁿ sets of bindings that accept.",
                fragment(("#.a.#", "#.b.#", "#.c.#", "#.d.#"), "x.b.d.a.c", "d.c", "a.b.c"),
            ),
        ),
    ),
)
"""The lessons, as the notebooks of the repository have them at greater length."""

ESSAY = Lesson(
    "How a routing key finds its queues",
    (
        Part(
            "A pattern. `a.#.c` matches keys that begin with `a` and end with `c`. A matcher that follows this definition word for "
            "word tries every tail of the key below `#`.",
            fragment(("a.#.c",), "a.d.d.c"),
        ),
        Part(
            "One NFA. Patterns that begin alike share their beginnings, and each ends in a position of its own. Reading a word "
            "moves from some positions to others: there may be several at once.",
            fragment(FOUR_PATTERNS, "a.d.d.d.c", step=2),
        ),
        Part(
            "Subsets. A set of positions gets a number, and then a word leads from number to number. No word is read twice.",
            fragment(FOUR_PATTERNS, "a.d.d.d.c", step=_AFTER_ALL),
        ),
        Part(
            "Laziness. Most sets never occur. So each is built when a key first leads there. The second key finds most of its "
            "way built.",
            fragment(FOUR_PATTERNS, "a.d.d.d.c", "a.d.d.b.c", step=8),
        ),
        Part(
            "Clearing. What is kept takes memory, and memory has a bound. When the next state does not fit, all are thrown away. "
            "It is the simplest rule that is right, and keys are short.",
            fragment(FOUR_PATTERNS, "a.d.d.d.c", "a.b.c", "b.b.c.d.e", cache=1300, step=9),
        ),
        Part(
            "Blow-up. Some patterns need a state for nearly every word. Building then costs more than it saves, and the engine "
            "simulates the NFA instead. That is slower than a look-up, but its work for a word is bounded by the number of positions.",
            fragment((_BLOW_UP,), ".".join("aababbaababaabb"), cache=1300, step=_AFTER_ALL),
        ),
    ),
)
