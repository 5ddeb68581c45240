"""What the tests of pictures and pages share: the four patterns, words that attack, random sets, and what is in a picture."""

from __future__ import annotations

import random
from xml.etree import ElementTree as ET

FOUR = ("a.b.c", "a.*.b.c", "a.#.c", "b.b.c")
KEY = "a.d.d.d.c"
SVG = "{http://www.w3.org/2000/svg}"

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


def content(svg: str) -> dict[str, tuple[str, tuple[str, ...], str]]:
    """Return what is drawn: by id the classes, the lines of text and the tooltip; where it is drawn is left out.

    The picture itself has no id; its texts are its title, and the style sheet that makes it dark.
    """
    root = ET.fromstring(svg)
    texts = (root.findtext(f"{SVG}title", ""), root.findtext(f"{SVG}style", ""))
    drawn: dict[str, tuple[str, tuple[str, ...], str]] = {}
    drawn[""] = (f"{root.get('role')} {root.get('class')}", texts, root.findtext(f"{SVG}desc", ""))
    for group in root.iter(f"{SVG}g"):
        kind = str(group.get("class", ""))
        if kind.startswith(("node", "edge")):
            lines = tuple((text.text or "").strip() for text in group.iter(f"{SVG}text"))
            drawn[str(group.get("id"))] = (kind, lines, group.findtext(f"{SVG}title", ""))
    return drawn
