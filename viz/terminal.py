"""Automata and matches as text, for people without a browser.

The NFA is a trie, so it is drawn as a tree; a DFA is a table; a match is a row per word. Lines are cut to the width that
is given, and what is cut says so with an ellipsis.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from compiler import Dfa, Nfa
from compiler.errors import InputError
from viz.patterns import words_of
from viz.text import listed, shown, visible
from viz.trie_walk import trie_walk
from viz.walk import Step, failures, members, steps

__all__ = ["show", "show_dfa", "show_match", "show_nfa"]

_MAX_LINES = 400


def show(
    nfa: Nfa,
    key: str | bytes | None = None,
    *,
    dfa: Dfa | None = None,
    names: Sequence[str] | None = None,
    width: int = 80,
) -> str:
    """Return the NFA, then the DFA if one is given, then the match of a key if one is given."""
    parts = [show_nfa(nfa, names=names, width=width)]
    if dfa is not None:
        parts.append(show_dfa(dfa, names=names, width=width))
    if key is not None:
        parts.append(show_match(nfa, key, names=names, width=width))
    return "\n\n".join(parts)


def show_nfa(nfa: Nfa, *, names: Sequence[str] | None = None, width: int = 80) -> str:
    """Return the NFA as a tree.

    >>> from viz.patterns import nfa_of
    >>> print(show_nfa(nfa_of(["a.b", "a.#"]), names=["a.b", "a.#"]))
    NFA: 4 positions, 2 bindings
    (0)
     └─a─(1)
          ├─ε─(2)↻  ✓ a.#
          └─b─(3)  ✓ a.b
    ε reads no word, * any one word, ↻ stays on any word
    """
    head = f"NFA: {_count(len(nfa), 'position')}, {_count(len(nfa.tags), 'binding')}"
    lines = [cut(head, width)]
    for line in _tree(nfa, names):
        if len(lines) > _MAX_LINES:
            lines.append(f"… {len(nfa) - _MAX_LINES:,} positions more: draw a part of the set, or a file with 'render'")
            break
        lines.append(cut(line, width))
    lines.append(cut("ε reads no word, * any one word, ↻ stays on any word", width))
    return "\n".join(lines)


def show_dfa(dfa: Dfa, *, names: Sequence[str] | None = None, width: int = 80) -> str:
    """Return the DFA as a table, a row per state.

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
    for number, state in enumerate(dfa.states[:_MAX_LINES]):
        dead = not state.positions and not state.tags
        moves = [
            f"{shown(dfa.nfa.word(symbol), 16)}→{_target(dfa, to)}" for symbol, to in dfa.successors[number].items()
        ]
        moves.append(f"{'other' if moves else 'any word'}→{_target(dfa, dfa.defaults[number])}")
        rows.append(
            (
                f"{'>' if number == 0 else ' '} {number}",
                "∅" if dead else _set(members(dfa.nfa, state)),
                listed(moves, 9) + " !" * dfa.is_final(number),
                listed((_name(tag, names) for tag in state.tags), 6),
            )
        )
    widths = [min(max(cells(row[column]) for row in rows), limit) for column, limit in enumerate((9, 22, 44, 60))]
    lines = [cut(f"DFA: {_count(len(dfa), 'state')}", width)]
    lines += [
        cut("  ".join(_padded(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip(), width)
        for row in rows
    ]
    if len(dfa) > _MAX_LINES:
        lines.append(f"… {len(dfa) - _MAX_LINES:,} states more")
    lines.append(cut("> start, ∅ the dead state, ! no further word changes the state", width))
    return "\n".join(lines)


def show_match(nfa: Nfa, key: str | bytes, *, names: Sequence[str] | None = None, width: int = 80) -> str:
    """Return a match, a row per word: where the NFA is, which DFA state that is, and what became of each binding.

    >>> from viz.patterns import nfa_of
    >>> print(show_match(nfa_of(["a.b", "a.#"]), "a.x.a", names=["a.b", "a.#"]))
    Match of a.x.a
       word  NFA positions  DFA  transition
       start {0}              0
    1  a     {1,2}            1  built
    2  x     {2}              2  built
    3  a     {2}              2  not read: the state is final
    ✓ a.#  accepts
    ✗ a.b  failed at word 2, x
    The DFA looked up 2 words; a trie with backtracking 4, entering 5 nodes.
    """
    words = words_of(key)
    if len(words) > _MAX_LINES:
        raise InputError(f"the key has {len(words):,} words, more than the {_MAX_LINES} that can be shown: shorten it")
    read = steps(nfa, words)
    size = max([5, *(min(24, cells(shown(_text(word)))) for word in words)])
    sets = [_set(members(nfa, step.state)) if step.state.positions or step.state.tags else "∅" for step in read]
    across = min(32, max(13, *(len(text) for text in sets)))
    lines = [f"Match of {shown(_text(key if isinstance(key, bytes) else key.encode('utf-8', 'surrogatepass')), 60)}"]
    lines.append(f"   {'word':<{size}} {'NFA positions':<{across}}  DFA  transition")
    numbers = {read[0].state: 0}
    built: set[tuple[int, int]] = set()
    looked_up = 0
    for number, step in enumerate(read):
        how = ""
        if step.word is not None:
            before = read[number - 1]
            transition = (numbers[before.state], step.symbol)
            how = "not read: the state is final" if before.final else "cached" if transition in built else "built"
            looked_up += not before.final
            built.add(transition)
        state = numbers.setdefault(step.state, len(numbers))
        word = "start" if step.word is None else shown(_text(step.word))
        place = f"{number:<2}" if number else "  "
        line = f"{place} {_padded(word, size)} {_padded(cut(sets[number], across), across)}  {state:>3}  {how}"
        lines.append(line.rstrip())
    lines += _verdicts(nfa, read, names)
    walk = trie_walk(nfa, words)
    trie = (
        f"{sum(walk.reads):,}, entering {walk.visits:,} nodes"
        if walk.complete
        else f"was stopped after {walk.visits:,} nodes"
    )
    lines.append(f"The DFA looked up {_count(looked_up, 'word')}; a trie with backtracking {trie}.")
    return "\n".join(cut(line, width) for line in lines)


def cut(text: str, width: int) -> str:
    """Return the text in at most ``width`` cells of a terminal."""
    if cells(text) <= width:
        return text
    kept = ""
    for character in text:
        if cells(kept + character) >= width:
            break
        kept += character
    return kept + "…"


def cells(text: str) -> int:
    r"""Count the cells that a text takes in a terminal: two for a wide character, none for one that combines.

    >>> cells("日本"), cells("e\u0301")
    (4, 1)
    """
    return sum(
        0
        if unicodedata.combining(character) or character in "\u200d\ufe0f"
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def _tree(nfa: Nfa, names: Sequence[str] | None) -> Iterator[str]:
    stack = [(root, "", "", True) for root in reversed(nfa.roots)]
    while stack:
        position, lead, branch, last = stack.pop()
        tags = nfa.tags_of(position)
        accepts = f"  ✓ {listed((_name(tag, names) for tag in tags), 6)}" if tags else ""
        yield f"{lead}{branch}({position}){'↻' if nfa.loops(position) else ''}{accepts}"
        children = nfa.successors(position)
        # Children hang under the first digit of their parent's number.
        below = lead + (" " if last else "│") + " " * cells(branch)
        for child in reversed(children):
            label = nfa.label(child)
            word = shown(nfa.word(label)) if label > 0 else nfa.word(label)
            final = child == children[-1]
            stack.append((child, below, f"{'└' if final else '├'}─{word}─", final))


def _verdicts(nfa: Nfa, read: Sequence[Step], names: Sequence[str] | None) -> Iterator[str]:
    failed = failures(nfa, read)
    accepted = read[-1].state.tags
    for tag in accepted[:20]:
        yield f"✓ {_name(tag, names)}  accepts"
    for tag, number in list(failed.items())[: max(0, 20 - len(accepted))]:
        word = read[number].word if number < len(read) else None
        if word is not None:
            yield f"✗ {_name(tag, names)}  failed at word {number}, {shown(_text(word))}"
        else:
            yield f"✗ {_name(tag, names)}  failed: the key ended too soon"
    if len(accepted) + len(failed) > 20:
        yield f"… {len(accepted):,} bindings accept, {len(failed):,} do not"


def _target(dfa: Dfa, number: int) -> str:
    state = dfa.states[number]
    return str(number) if state.positions or state.tags else "∅"


def _set(numbers: Sequence[int]) -> str:
    return (
        "{"
        + (
            ",".join(map(str, numbers))
            if len(numbers) <= 12
            else f"{','.join(map(str, numbers[:10]))},… {len(numbers)}"
        )
        + "}"
    )


def _name(tag: int, names: Sequence[str] | None) -> str:
    return (visible(names[tag]) or '""') if names is not None and tag < len(names) else str(tag)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _text(word: bytes) -> str:
    return word.decode("utf-8", "backslashreplace")
