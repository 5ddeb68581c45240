"""What the tests of pictures and pages share: the four patterns, words that attack, and random sets."""

from __future__ import annotations

import random

FOUR = ("a.b.c", "a.*.b.c", "a.#.c", "b.b.c")
KEY = "a.d.d.d.c"

ATTACKS = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    'say "hi"',
    "it's",
    "\\N\\l&lt;&amp;",
    "new\nline",
    "\u202eright-to-left\u202c",
    "\u200b",
    "👩‍👩‍👧‍👦🙂",
    "x" * 200,
    "日本語",
    "@SCRIPT@",
    "${1}{|}<p>",
    "]]>-->",
    "\x01\x7f",
    "\ufdd0\ufffe\uffff",
)
"""Words that would break a picture or a page that takes them as anything but text."""


def random_sets(seed: int, count: int) -> list[tuple[list[str], str]]:
    """Return random (patterns, key) pairs over few words, so that many match."""
    choose = random.Random(seed)
    words = ["a", "b", "c", "", "é", "x"]
    pairs = []
    for _ in range(count):
        patterns = [
            ".".join(choose.choice([*words[:4], "*", "#", "#"]) for _ in range(choose.randint(0, 5)))
            for _ in range(choose.randint(1, 6))
        ]
        pairs.append((patterns, ".".join(choose.choice(words) for _ in range(choose.randint(0, 7)))))
    return pairs
