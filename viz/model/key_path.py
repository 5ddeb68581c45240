"""Where a key goes in a graph: the nodes it visits, and the edges with the numbers of the words that took them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from compiler import Nfa
from compiler.automata import powerset
from viz.model.unbuilt import unbuilt
from viz.walk import accepted_moves, members, steps

__all__ = ["KeyPath", "key_path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPath:
    """The path of a key; word numbers count from 1."""

    words: tuple[bytes, ...]
    nodes: Mapping[Hashable, tuple[int, ...]]
    """For each node how many words had been read whenever the key was there."""
    edges: Mapping[tuple[Hashable, Hashable], tuple[int, ...]]
    """For each edge the numbers of the words that took it; an epsilon move has the number of the word before it."""
    numbered: bool
    """Whether the key takes one path, or runs of an NFA that accept: word numbers on the edges can then be read."""
    end: Hashable | None
    """The last node of the one path through a DFA; None in an NFA, and where a cache does not hold that node."""
    tags: tuple[int, ...] | None
    """What the key is accepted by; None where the graph does not say."""


def key_path(graph: nx.MultiDiGraph, nfa: Nfa | None, words: Sequence[bytes]) -> KeyPath:
    """Follow a key, given as its words, through an automaton.

    In an NFA the path is all runs that accept or, where none does, all that are tried. In a DFA it is one path, which
    ends early where a cache has not built the next transition. Raises ``TypeError`` for a graph that reads no keys, and for
    one of a DFA that does not tell at which of two nodes this key begins.
    """
    kind = graph.graph.get("kind")
    if kind == "nfa" and nfa is not None:
        return _nfa_path(nfa, words)
    if kind in ("dfa", "cache", "minimal"):
        return _dfa_path(graph, _start(graph, nfa, words), words)
    raise TypeError(f"a key has no path through a {kind or 'graph'}: leave key out, or draw an automaton")


def _nfa_path(nfa: Nfa, words: Sequence[bytes]) -> KeyPath:
    nodes: defaultdict[Hashable, list[int]] = defaultdict(list)
    edges: defaultdict[tuple[Hashable, Hashable], list[int]] = defaultdict(list)
    read = steps(nfa, words)
    for number, moves in enumerate(accepted_moves(nfa, read)):
        if number == 0:
            nodes[_root(nfa, words)].append(0)
        for tail, head in sorted(moves):
            edges[tail, head].append(number)
            nodes[head].append(number)
    if not read[-1].state.tags:
        for number, step in enumerate(read):
            for position in members(nfa, step.state):
                if number not in nodes[position]:
                    nodes[position].append(number)
    return KeyPath(
        words=tuple(words),
        nodes={node: tuple(dict.fromkeys(numbers)) for node, numbers in nodes.items()},
        edges={edge: tuple(numbers) for edge, numbers in edges.items()},
        numbered=bool(read[-1].state.tags),
        end=None,
        tags=read[-1].state.tags,
    )


def _root(nfa: Nfa, words: Sequence[bytes]) -> int:
    return nfa.root(words[0] if words else b"")


def _start(graph: nx.MultiDiGraph, nfa: Nfa | None, words: Sequence[bytes]) -> Hashable | None:
    """Return the node where a key begins; None where a cache does not hold it.

    Where some keys begin at a root of their own, a DFA has two such nodes, and the engine builds that of the others last.
    """
    if nfa is not None and "starts" in graph.graph:
        start: Hashable = graph.graph["starts"][_root(nfa, words)]
        return start
    marked = [(node, data) for node, data in graph.nodes(data=True) if data.get("start")]
    if nfa is not None:
        state = powerset.start(nfa, _root(nfa, words))
        marked = [
            (node, data)
            for node, data in marked
            if "positions" not in data or (data["positions"], data["tags"]) == state
        ]
    if len(marked) > 1:
        raise TypeError(
            "keys begin at several nodes of this graph, and nothing tells at which: draw the automaton itself"
        )
    return marked[0][0] if marked else None


def _dfa_path(graph: nx.MultiDiGraph, node: Hashable | None, words: Sequence[bytes]) -> KeyPath:
    nodes: defaultdict[Hashable, list[int]] = defaultdict(list)
    edges: defaultdict[tuple[Hashable, Hashable], list[int]] = defaultdict(list)
    if node is not None:
        nodes[node].append(0)
    for number, word in enumerate(words, 1):
        if node is None:
            break
        target = _successor(graph, node, word)
        if target is None and not unbuilt(graph, node):
            target = node  # a final state of a cache: no word changes it, so its transitions are never built
        elif target is not None:
            edges[node, target].append(number)
        if target is not None:
            nodes[target].append(number)
        node = target
    return KeyPath(
        words=tuple(words),
        nodes={node: tuple(numbers) for node, numbers in nodes.items()},
        edges={edge: tuple(numbers) for edge, numbers in edges.items()},
        numbered=True,
        end=node,
        tags=graph.nodes[node]["tags"] if node is not None else None,
    )


def _successor(graph: nx.MultiDiGraph, node: Hashable, word: bytes) -> Hashable | None:
    text = word.decode("utf-8", "backslashreplace")
    default: Hashable | None = None
    target: Hashable
    for _, target, data in graph.out_edges(node, data=True):
        # Two words may have one text, such as the byte ff and its spelling; a bare graph has nothing else.
        if data["kind"] == "literal" and (data["word"] == word if "word" in data else data["label"] == text):
            return target
        if data["kind"] == "default":
            default = target
    # A literal whose transition is not built is unknown, even where the default successor is known.
    return None if text in unbuilt(graph, node).words else default
