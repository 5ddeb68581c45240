"""What the page needs to step through matches: pictures laid out once, the NFA as arrays, and a number for each state.

The page's script matches any key itself, with the NFA's arrays. The DFA's picture is laid out here, so that its nodes
never move, and the script shows each state when a key first needs it. Where the complete DFA is too large for a
picture, the picture has only the states that the lesson's key visits, and the page says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import networkx as nx

from compiler import CapacityError, Nfa, build_dfa
from compiler.automata.powerset import State
from compiler.automata.twin import Twin
from viz.examples import EXAMPLES
from viz.formats.files import to_svg
from viz.model.build import drawing
from viz.patterns import MAX_PATTERNS, checked_key, nfa_of

__all__ = ["MAX_STATES", "Lesson", "lesson", "nfa_arrays"]

MAX_STATES = 48
"""The most states of a complete DFA that a page can show at once."""
_MAX_EDGES = 120
"""The most edges between them that a reader can follow and that Graphviz lays out within a second."""


class Lesson(TypedDict):
    """The data of a page; the page's script gets them as JSON."""

    patterns: list[str]
    key: str
    nfa: dict[str, list[int] | list[str]]
    states: list[dict[str, Any]]
    complete: bool
    note: str
    nfaSvg: str
    dfaSvg: str
    editable: bool
    examples: list[dict[str, Any]]


def lesson(patterns: Sequence[str], key: str, *, editable: bool = False) -> Lesson:
    """Prepare the data of a page.

    With ``editable`` the page has a field for the patterns, which needs the server of :mod:`viz.page.server`.

    Raises :class:`PatternError` or :class:`InputError` for what AMQP cannot carry or a page cannot show,
    :class:`DrawingTooLargeError` for an NFA that is too large, :class:`RendererError` where there is no Graphviz.
    """
    checked_key(key)
    nfa = nfa_of(patterns, max_patterns=MAX_PATTERNS)
    nfa_svg = to_svg(nfa, names=patterns, theme="light")  # first: it refuses an NFA for which the DFA would take long
    states, graph, note = _automaton(nfa, key)
    return Lesson(
        patterns=list(patterns),
        key=key,
        nfa=nfa_arrays(nfa),
        states=[
            {
                "number": number,
                "id": f"s{number}" if state.positions or state.tags else None,
                "positions": state.positions,
                "tags": state.tags,
            }
            for number, state in enumerate(states)
        ],
        complete=not note,
        note=note,
        nfaSvg=nfa_svg,
        dfaSvg=to_svg(drawing(graph, nfa=nfa, names=patterns, title="Lazy DFA"), theme="light"),
        editable=editable,
        examples=[example._asdict() for example in EXAMPLES] if editable else [],
    )


def _automaton(nfa: Nfa, key: str) -> tuple[list[State], nx.MultiDiGraph, str]:
    """Return the DFA's states, its graph, and a note: empty, or why only what the key visits is in the graph.

    States have the numbers that a lazy cache gives them: first those that the key visits, in the order of its words.
    """
    cache = Twin(nfa, b".", 64 << 20)
    cache.match(key.encode("utf-8", "surrogatepass"))
    visited = cache.to_networkx()
    found = [State(data["positions"], data["tags"]) for _, data in visited.nodes(data=True)]
    rest = "the picture holds the states that this key visits"
    try:
        dfa = build_dfa(nfa, max_states=MAX_STATES)
    except CapacityError:
        return found, visited, f"the complete DFA has more than {MAX_STATES} states: {rest}"
    edges = len({(i, to) for i, row in enumerate(dfa.successors) for to in (*row.values(), dfa.defaults[i])})
    if edges > _MAX_EDGES:
        return (
            found,
            visited,
            f"the complete DFA has {len(dfa)} states and {edges} edges, too many for a picture: {rest}",
        )
    states = list(dict.fromkeys([*found, *dfa.states]))
    numbers = {state: number for number, state in enumerate(states)}
    renamed = {old: numbers[state] for old, state in enumerate(dfa.states)}
    graph = nx.MultiDiGraph(kind="dfa")
    complete = dfa.to_networkx()
    for old in sorted(complete, key=lambda number: renamed[number]):
        graph.add_node(renamed[old], **complete.nodes[old])
    graph.add_edges_from((renamed[tail], renamed[head], data) for tail, head, data in complete.edges(data=True))
    return states, graph, ""


def nfa_arrays(nfa: Nfa) -> dict[str, list[int] | list[str]]:
    """Return an NFA as the arrays that the page's script reads."""
    return {
        "labels": nfa.labels.tolist(),
        "children": nfa.children.tolist(),
        "tagOffsets": nfa.tag_offsets.tolist(),
        "tags": nfa.tags.tolist(),
        "words": [
            nfa.symbols.word(symbol).decode("utf-8", "surrogatepass") for symbol in range(1, len(nfa.symbols) + 1)
        ],
    }
