"""A match as text, a row per word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler import Nfa
from compiler.errors import InputError
from viz.patterns import words_of
from viz.terminal.fit import MAX_LINES, binding_name, cells, counted, cut, number_set, padded
from viz.text import shown
from viz.trie_walk import trie_walk
from viz.walk import Step, failures, members, steps

__all__ = ["show_match"]

_VERDICTS = 20
"""Bindings of which it is told whether they match; the others are counted."""


def show_match(nfa: Nfa, key: str | bytes, *, names: Sequence[str] | None = None, width: int = 80) -> str:
    """Return a match, a row per word: where the NFA is, which DFA state that is, and what became of each binding.

    Raises :class:`InputError` for a key of more than 400 words.

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
    if len(words) > MAX_LINES:
        raise InputError(f"the key has {len(words):,} words, more than the {MAX_LINES} that can be shown: shorten it")
    read = steps(nfa, words)
    size = max([5, *(min(24, cells(shown(_text(word)))) for word in words)])
    sets = [number_set(members(nfa, step.state)) for step in read]
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
        line = f"{place} {padded(word, size)} {padded(cut(sets[number], across), across)}  {state:>3}  {how}"
        lines.append(line.rstrip())
    lines += _verdicts(nfa, read, names)
    walk = trie_walk(nfa, words)
    trie = (
        f"{sum(walk.reads):,}, entering {walk.visits:,} nodes"
        if walk.complete
        else f"was stopped after {walk.visits:,} nodes"
    )
    lines.append(f"The DFA looked up {counted(looked_up, 'word')}; a trie with backtracking {trie}.")
    return "\n".join(cut(line, width) for line in lines)


def _verdicts(nfa: Nfa, read: Sequence[Step], names: Sequence[str] | None) -> Iterator[str]:
    """Yield a line per binding: that it accepts, or at which word it failed."""
    failed = failures(nfa, read)
    accepted = read[-1].state.tags
    for tag in accepted[:_VERDICTS]:
        yield f"✓ {binding_name(tag, names)}  accepts"
    for tag, number in list(failed.items())[: max(0, _VERDICTS - len(accepted))]:
        word = read[number].word if number < len(read) else None
        if word is not None:
            yield f"✗ {binding_name(tag, names)}  failed at word {number}, {shown(_text(word))}"
        else:
            yield f"✗ {binding_name(tag, names)}  failed: the key ended too soon"
    if len(accepted) + len(failed) > _VERDICTS:
        yield f"… {len(accepted):,} bindings accept, {len(failed):,} do not"


def _text(word: bytes) -> str:
    return word.decode("utf-8", "backslashreplace")
