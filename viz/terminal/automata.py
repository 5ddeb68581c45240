"""An NFA as a tree, and a DFA as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler import Dfa, Nfa
from viz.terminal.fit import MAX_LINES, binding_name, cut, number_set, padded
from viz.text import cells, counted, listed, shown
from viz.walk import members

__all__ = ["show_dfa", "show_nfa"]


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
    lines = [cut(head, width)]
    for line in _tree(nfa, names):
        if len(lines) > MAX_LINES:
            more = (
                f"… {counted(len(nfa) - MAX_LINES, 'position')} more: draw a part of the set, or a file with 'render'"
            )
            lines.append(cut(more, width))
            break
        lines.append(cut(line, width))
    lines.append(cut("ε reads no word, * any one word, ↻ stays on any word", width))
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
    widths = [min(max(cells(row[column]) for row in rows), limit) for column, limit in enumerate((9, 22, 44, 60))]
    lines = [cut(f"DFA: {counted(len(dfa), 'state')}", width)]
    lines += [
        cut("  ".join(padded(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip(), width)
        for row in rows
    ]
    if len(dfa) > MAX_LINES:
        lines.append(cut(f"… {counted(len(dfa) - MAX_LINES, 'state')} more", width))
    lines.append(cut("> start, ∅ the dead state, ! no further word changes the state", width))
    return "\n".join(lines)


def _tree(nfa: Nfa, names: Sequence[str] | None) -> Iterator[str]:
    """Yield a line per position, depth first."""
    stack = [(root, "", "", True) for root in reversed(nfa.roots)]
    while stack:
        position, lead, branch, last = stack.pop()
        tags = nfa.tags_of(position)
        accepts = f"  ✓ {listed((binding_name(tag, names) for tag in tags), 6)}" if tags else ""
        yield f"{lead}{branch}({position}){'↻' if nfa.loops(position) else ''}{accepts}"
        children = nfa.successors(position)
        # The lines to the children begin below the first digit of their parent's number.
        below = lead + (" " if last else "│") + " " * cells(branch)
        for child in reversed(children):
            label = nfa.label(child)
            word = shown(nfa.word(label)) if label > 0 else nfa.word(label)
            final = child == children[-1]
            stack.append((child, below, f"{'└' if final else '├'}─{word}─", final))


def _target(dfa: Dfa, number: int) -> str:
    state = dfa.states[number]
    return str(number) if state.positions or state.tags else "∅"
