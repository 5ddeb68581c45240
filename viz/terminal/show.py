"""Automata and a match below each other."""

from __future__ import annotations

from collections.abc import Sequence

from compiler import Dfa, Nfa
from compiler.machine.trace import KeyTrace
from viz.terminal.automata import show_dfa, show_nfa
from viz.terminal.match import show_match

__all__ = ["show"]


def show(
    nfa: Nfa,
    key: str | bytes | None = None,
    *,
    dfa: Dfa | None = None,
    names: Sequence[str] | None = None,
    width: int = 80,
    separator: bytes = b".",
    trace: KeyTrace | None = None,
) -> str:
    """Return the NFA, then the DFA if one is given, then the match of a key if one is given.

    ``names`` are what to call the bindings, such as their patterns; no line is wider than ``width`` cells. ``separator`` stands
    between words; ``trace`` is what an engine has recorded of the key, else it is recorded here. Raises :class:`InputError` for a key of more than 400 words.
    """
    parts = [show_nfa(nfa, names=names, width=width)]
    if dfa is not None:
        parts.append(show_dfa(dfa, names=names, width=width))
    if key is not None:
        parts.append(show_match(nfa, key, names=names, width=width, separator=separator, trace=trace))
    return "\n\n".join(parts)
