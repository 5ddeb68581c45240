"""A match as text, a row per word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler import Nfa
from compiler.automata.powerset import State
from compiler.errors import InputError
from compiler.machine.trace import KeyTrace, TracedDfa
from viz.terminal.fit import MAX_LINES, binding_name, number_set, padded
from viz.text import cells, counted, cut, folded, shown
from viz.trie_walk import trie_walk
from viz.walk import Step, failures, members, steps

__all__ = ["show_match"]

CACHE_BYTES = 64 << 20
_LEAST_SET = 32
"""Cells up to which a set of positions is shown in the narrowest terminal; a wider one shows what it has room for."""
_VERDICTS = 20
"""Bindings of which it is told whether they match; the others are counted."""


_HOWS = {
    "start": "",
    "built": "built",
    "cached": "cached",
    "stray": "kept: no literal here",
    "stopped": "not read: the state is final",
    "cleared": "the cache was full and is empty now",
    "simulated": "simulated on the NFA",
}


def show_match(
    nfa: Nfa,
    key: str | bytes,
    *,
    names: Sequence[str] | None = None,
    width: int = 80,
    separator: bytes = b".",
    trace: KeyTrace | None = None,
) -> str:
    """Return a match, a row per word: where the NFA is, which DFA state that is, and what became of each binding.

    Numbers and transitions are those of the engine's cache: of ``trace``, or of a cache that is empty before this key. Raises
    :class:`InputError` for a key of more than 400 words.

    >>> from viz.patterns import nfa_of
    >>> print(show_match(nfa_of(["a.b", "a.#"]), "a.x.a", names=["a.b", "a.#"]))
    Match of a.x.a
       word  NFA positions  DFA  transition
       start {0}              0
    1  a     {1,2}            2  built
    2  x     {2}              3  built
    3  a     {2}              3  not read: the state is final
    ✓ a.#  accepts
    ✗ a.b  failed at word 2, x
    The cache has 4 states and 3 transitions.
    The DFA looked up 2 words; a trie with backtracking 4, entering 5 nodes.
    """
    data = key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass")
    words = data.split(separator) if data else []
    if len(words) > MAX_LINES:
        raise InputError(f"the key has {len(words):,} words, more than the {MAX_LINES} that can be shown: shorten it")
    told = trace if trace is not None else TracedDfa(nfa, separator, CACHE_BYTES).trace(data)
    read = steps(nfa, words)
    size = max([5, *(min(24, cells(shown(_text(word)))) for word in words)])
    sets = [number_set(members(nfa, State(frame.positions, frame.tags))) for frame in told.frames]
    beside = 3 + size + len("   DFA  ") + max(len("transition"), *(len(_HOWS[frame.how]) for frame in told.frames))
    across = min(max(_LEAST_SET, width - beside), max([13, *map(len, sets)]))
    lines = [f"Match of {shown(_text(data), 60)}", f"   {'word':<{size}} {'NFA positions':<{across}}  DFA  transition"]
    for frame, positions in zip(told.frames, sets, strict=True):
        word = shown(_text(words[frame.word - 1])) if frame.word else "start"
        place, state = str(frame.word or ""), "" if frame.state is None else frame.state
        line = (
            f"{place:<2} {padded(word, size)} {padded(cut(positions, across), across)}  {state:>3}  {_HOWS[frame.how]}"
        )
        lines.append(line.rstrip())
    lines += _verdicts(nfa, read, names)
    walk = trie_walk(nfa, words)
    trie = (
        f"{sum(walk.reads):,}, entering {counted(walk.visits, 'node')}"
        if walk.complete
        else f"was stopped after {counted(walk.visits, 'node')}"
    )
    size_now = f"{counted(told.stats.states, 'state')} and {counted(told.stats.transitions, 'transition')}"
    looked_up = next((number for number, step in enumerate(read) if step.final), len(words))
    lines.append(f"The cache has {size_now}.")
    lines.append(f"The DFA looked up {counted(looked_up, 'word')}; a trie with backtracking {trie}.")
    return "\n".join(part for line in lines for part in folded(line, width, "" if line.startswith("The ") else "   "))


def _verdicts(nfa: Nfa, read: Sequence[Step], names: Sequence[str] | None) -> Iterator[str]:
    """Yield a line per binding: that it accepts, or at which word it failed."""
    failed = failures(nfa, read)
    accepted = read[-1].state.tags
    for tag in accepted[:_VERDICTS]:
        yield f"✓ {binding_name(tag, names)}  accepts"
    for tag, number in list(failed.items())[: max(0, _VERDICTS - len(accepted))]:
        yield f"✗ {binding_name(tag, names)}  {_failure(read, number)}"
    if len(accepted) + len(failed) > _VERDICTS:
        yield f"… {counted(len(accepted), 'binding')} of {len(accepted) + len(failed):,} accept{'s' * (len(accepted) == 1)}"


def _failure(read: Sequence[Step], number: int) -> str:
    """Return how a binding failed at a step, whose number may be one past the last of them."""
    if number == len(read):
        return "failed: the key ended too soon"
    word = read[number].word
    # Before the first word only the root tells: that of keys which begin with a reserved byte has not every pattern.
    return "cannot match" if word is None else f"failed at word {number}, {shown(_text(word))}"


def _text(word: bytes) -> str:
    return word.decode("utf-8", "backslashreplace")
