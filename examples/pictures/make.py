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
from compiler.automata.dfa import Dfa
from compiler.automata.minimize import minimize
from compiler.machine.trace import TracedDfa
from viz import drawing, save
from viz.examples import FOUR_PATTERNS
from viz.formats.film import film
from viz.patterns import nfa_of

KEY = "a.d.d.d.c"
"""The key that RabbitMQ's articles follow through their trie."""


def _cache(*keys: str) -> TracedDfa:
    cache = TracedDfa(nfa_of(FOUR_PATTERNS), b".", 1 << 20)
    for key in keys:
        cache.match(key.encode())
    return cache


def _numbered_by_key() -> Dfa:
    """Return the DFA with the numbers that the engine gives its states while it reads the key."""
    known = _cache(KEY).snapshot()
    assert known is not None
    return build_dfa(nfa_of(FOUR_PATTERNS), first=known.states)


def _drawing(make: Callable[[], Any], **options: Any) -> Callable[[], nx.DiGraph]:
    return lambda: drawing(make(), names=FOUR_PATTERNS, **options)


PICTURES: dict[str, Callable[[], nx.DiGraph]] = {
    "four-patterns-nfa": _drawing(lambda: nfa_of(FOUR_PATTERNS), title="NFA of a.b.c, a.*.b.c, a.#.c and b.b.c"),
    "four-patterns-dfa": _drawing(
        lambda: build_dfa(nfa_of(FOUR_PATTERNS)), title="DFA of a.b.c, a.*.b.c, a.#.c and b.b.c"
    ),
    "four-patterns-nfa-match": _drawing(lambda: nfa_of(FOUR_PATTERNS), key=KEY, title=f"The match of {KEY} in the NFA"),
    "four-patterns-dfa-match": _drawing(_numbered_by_key, key=KEY, title=f"The match of {KEY} in the DFA"),
    "four-patterns-cache": _drawing(
        lambda: _cache(*[KEY] * 20, "a.b.c"), title=f"The lazy DFA's cache after twenty keys {KEY} and one a.b.c"
    ),
    "minimal-dfa": lambda: drawing(
        minimize(build_dfa(nfa_of(["#.a.*.#"]))), names=["#.a.*.#"], title="The minimal DFA of #.a.*.#"
    ),
}
"""The pictures by the names of their files, without ``.svg``."""


FILM = "four-patterns-film"
"""The file of the moving picture, without ``.svg``."""


def moving() -> str:
    """Return the moving picture: the cache while it reads two keys."""
    return film(nfa_of(FOUR_PATTERNS), [KEY, "a.b.c"], names=FOUR_PATTERNS, title=f"The lazy DFA reads {KEY} and a.b.c")


def main() -> None:
    """Write all pictures."""
    (Path(__file__).parent / f"{FILM}.svg").write_text(moving() + "\n", encoding="utf-8")
    for name, make in PICTURES.items():
        print(save(make(), Path(__file__).parent / f"{name}.svg"))


if __name__ == "__main__":
    main()
