"""Draws the reference pictures of this folder: ``python -m examples.pictures.make`` in the repository's folder.

The tests draw them again and compare what is drawn, not the bytes, because versions of Graphviz place nodes a little
differently.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx

from compiler import build_dfa
from compiler.automata.minimize import minimize
from compiler.automata.twin import Twin
from viz import drawing, save
from viz.examples import FOUR_PATTERNS
from viz.patterns import nfa_of

KEY = "a.d.d.d.c"
"""The key that RabbitMQ's articles follow through their trie."""


def _cache() -> Twin:
    cache = Twin(nfa_of(FOUR_PATTERNS), b".", 1 << 20)
    for key in [KEY] * 20 + ["a.b.c"]:
        cache.match(key.encode())
    return cache


def _drawing(make: Callable[[], Any], **options: Any) -> Callable[[], nx.DiGraph]:
    return lambda: drawing(make(), names=FOUR_PATTERNS, **options)


PICTURES: dict[str, Callable[[], nx.DiGraph]] = {
    "four-patterns-nfa": _drawing(lambda: nfa_of(FOUR_PATTERNS), title="NFA of a.b.c, a.*.b.c, a.#.c and b.b.c"),
    "four-patterns-dfa": _drawing(
        lambda: build_dfa(nfa_of(FOUR_PATTERNS)), title="DFA of a.b.c, a.*.b.c, a.#.c and b.b.c"
    ),
    "four-patterns-nfa-match": _drawing(lambda: nfa_of(FOUR_PATTERNS), key=KEY, title=f"The match of {KEY} in the NFA"),
    "four-patterns-dfa-match": _drawing(
        lambda: build_dfa(nfa_of(FOUR_PATTERNS)), key=KEY, title=f"The match of {KEY} in the DFA"
    ),
    "four-patterns-cache": _drawing(_cache, title=f"The lazy DFA's cache after twenty keys {KEY} and one a.b.c"),
    "minimal-dfa": lambda: drawing(
        minimize(build_dfa(nfa_of(["#.a.*.#"]))), names=["#.a.*.#"], title="The minimal DFA of #.a.*.#"
    ),
}
"""The pictures by the names of their files, without ``.svg``."""


def main() -> None:
    """Write all pictures."""
    for name, make in PICTURES.items():
        print(save(make(), Path(__file__).parent / f"{name}.svg"))


if __name__ == "__main__":
    main()
