"""An NFA as a tree, and a DFA as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from compiler import Dfa, Nfa
from viz.terminal.fit import MAX_LINES, binding_name, number_set, padded
from viz.text import cells, counted, folded, listed, shown
from viz.walk import members

__all__ = ["show_dfa", "show_nfa"]

_COLUMNS = (9, 22, 44, 60)
"""Cells of the columns of a DFA's table at most, where a terminal has no room for all that is in them."""


def show_nfa(nfa: Nfa, *, names: Sequence[str] | None = None, width: int = 80) -> str:
    """Return the NFA as a tree; ``names`` are what to call the bindings, such as their patterns.

    >>> from viz.patterns import nfa_of
    >>> print(show_nfa(nfa_of(["a.b", "a.#"]), names=["a.b", "a.#"]))
    NFA: 4 positions, 2 bindings
    (0)
     └─a─(1)
          ├─ε─(2)↻  ✓ a.#
          └─b─(3)  ✓ a.b
    ε reads no word, * any one word, ↻ stays on any word
    """
    head = f"NFA: {counted(len(nfa), 'position')}, {counted(len(nfa.tags), 'binding')}"
    lines = folded(head, width)
    for branch in islice(_tree(nfa, names), MAX_LINES):
        lines += branch.lines(width)
    if len(nfa) > MAX_LINES:
        more = f"… {counted(len(nfa) - MAX_LINES, 'position')} more: draw a part of the set, or a file with 'render'"
        lines += folded(more, width)
    lines += folded("ε reads no word, * any one word, ↻ stays on any word", width)
    return "\n".join(lines)


def show_dfa(dfa: Dfa, *, names: Sequence[str] | None = None, width: int = 80) -> str:
    """Return the DFA as a table, a row per state; ``names`` are what to call the bindings.

    >>> from compiler import build_dfa
    >>> from viz.patterns import nfa_of
    >>> print(show_dfa(build_dfa(nfa_of(["a.#"]))))
    DFA: 3 states
    state  positions  transitions           accepts
    > 0    {0}        a→2, other→∅
      1    ∅          any word→∅ !
      2    {2}        any word→2 !          0
    > start, ∅ the dead state, ! no further word changes the state
    """
    rows = [("state", "positions", "transitions", "accepts")]
    for number, state in enumerate(dfa.states[:MAX_LINES]):
        moves = [
            f"{shown(dfa.nfa.word(symbol), 16)}→{_target(dfa, to)}" for symbol, to in dfa.successors[number].items()
        ]
        moves.append(f"{'other' if moves else 'any word'}→{_target(dfa, dfa.defaults[number])}")
        rows.append(
            (
                f"{'>' if number in dfa.starts else ' '} {number}",
                number_set(members(dfa.nfa, state)),
                listed(moves, 9) + " !" * dfa.is_final(number),
                listed((binding_name(tag, names) for tag in state.tags), 6),
            )
        )
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    if sum(widths) + 2 * len(widths) > width:  # a long cell moves what is beside it, and does not fold all rows
        widths = [min(size, limit) for size, limit in zip(widths, _COLUMNS, strict=True)]
    lines = folded(f"DFA: {counted(len(dfa), 'state')}", width)
    for row in rows:
        line = "  ".join(padded(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip()
        lines += folded(line, width, " " * (widths[0] + 2))
    if len(dfa) > MAX_LINES:
        lines += folded(f"… {counted(len(dfa) - MAX_LINES, 'state')} more", width)
    lines += folded("> start, ∅ the dead state, ! no further word changes the state", width)
    return "\n".join(lines)


class _Branch(NamedTuple):
    """A position of the tree."""

    lead: str
    """The lines of other branches, on the left."""
    text: str
    accepts: str
    below: str
    """The lines that are on the left of what stands under the position."""

    def lines(self, width: int) -> list[str]:
        """Return the position in lines: where it is too deep for them, an ellipsis stands for the left of the lead."""
        room = width - cells(self.text)
        lead = self.lead if len(self.lead) <= room else f"…{self.lead[len(self.lead) - room + 1 :]}" if room > 0 else ""
        line = lead + self.text
        if not self.accepts or cells(line) + 2 + cells(self.accepts) <= width:
            return folded(f"{line}  {self.accepts}".rstrip(), width, "  ")
        indent = max(2, min(len(self.below), width - cells(self.accepts)))
        below = [self.below[:indent] + part for part in folded(self.accepts, width - indent)]
        return [*folded(line, width, "  "), *below]


def _tree(nfa: Nfa, names: Sequence[str] | None) -> Iterator[_Branch]:
    """Yield the positions, depth first."""
    stack = [(root, "", "", True) for root in reversed(nfa.roots)]
    while stack:
        position, lead, branch, last = stack.pop()
        tags = nfa.tags_of(position)
        accepts = f"✓ {listed((binding_name(tag, names) for tag in tags), 6)}" if tags else ""
        children = nfa.successors(position)
        # The lines to the children begin below the first digit of their parent's number.
        below = lead + (" " if last else "│") + " " * cells(branch)
        text = f"{branch}({position}){'↻' if nfa.loops(position) else ''}"
        yield _Branch(lead, text, accepts, f"{below}{'│' if children else ' '} ")
        for child in reversed(children):
            label = nfa.label(child)
            word = shown(nfa.word(label)) if label > 0 else nfa.word(label)
            final = child == children[-1]
            stack.append((child, below, f"{'└' if final else '├'}─{word}─", final))


def _target(dfa: Dfa, number: int) -> str:
    state = dfa.states[number]
    return str(number) if state.positions or state.tags else "∅"
