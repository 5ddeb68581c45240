"""Generated code: the DFA as Python source, compiled once.

RabbitMQ's articles on topic routing (2011) tell of trying a DFA "as far as generating source code for the structures
behind the graphs, to make it as fast as possible"; the best they ended up with "was building the DFA on the fly". This
engine does both, so that the two can be compared. Each DFA state becomes a function from a word to the next state's
number::

    def state_2(word):          # for a.b.c, a.*.b.c, a.#.c, b.b.c: after the word a
        if word == b'b':
            return 5
        if word == b'c':
            return 6
        return 4

with a dictionary where a state has more than a few literals. If the complete DFA has at most ``max_states`` states, the
source of all of them is compiled when the engine is built. If it has more (``#.w.#`` for n different words has 2^n), the
source of a state is made and compiled when a key first reaches the state; when there are more than ``max_states`` of
them, all are dropped and the automaton starts again with none.

It shares the NFA and the subset construction with the engine ``dfa``, so it is an engine and not an oracle. Costs: a
function call per word. Compiling takes about 50 microseconds per state, and again for all states when a binding changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from types import CodeType
from typing import Any

from compiler import Nfa
from compiler.automata.powerset import State, default_successor, literal_successors, start
from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import compile_nfa

__all__ = ["ENGINE", "GeneratedCode"]

Step = Callable[[bytes], int]

BY_DICTIONARY = 4
"""A state with more literals than this looks the word up in a dictionary; another compares it with each literal."""


class StateFunctions:
    """The functions of the states that were made since the last time that all were dropped.

    Any number of threads and signal handlers may ask for them, and an exception may end a call at any point. There is no lock, which
    a handler, or a child that was forked meanwhile, would wait for in vain. Instead, what others can find is complete: each step is
    one assignment to a dictionary, and the last one is what makes it known. Two who need the same function both make it, which is as good.
    """

    def __init__(self, nfa: Nfa) -> None:
        self._nfa = nfa
        self._numbers: dict[State, int] = {}
        self._unused = count()
        self._states: dict[int, State] = {}
        """The states by number. A number that was taken by two at once, or by one that was interrupted, is nobody's."""
        self.steps: dict[int, Step] | list[Step] = {}
        """For each state the function to call with a word; at first one that makes the state's code."""
        self.sources: dict[int, str] = {}
        """The source of each state that was made, by its number."""
        self.number(start(nfa))

    def tags(self, state: int) -> tuple[int, ...]:
        """Return the accept tags of a state."""
        return self._states[state].tags

    def number(self, state: State) -> int:
        """Return a state's number; a new state gets the next number, and a function that makes its code."""
        number = self._numbers.get(state)
        if number is None:
            unused = next(self._unused)
            self._states[unused] = state
            self.steps[unused] = partial(self._first_step, unused)
            number = self._numbers.setdefault(state, unused)
        return number

    def make_all(self, most: int) -> bool:
        """Make the source of all states and compile it at once; return False, having compiled none, if there are more than ``most``."""
        number = 0
        while number < len(self._states):  # which grows meanwhile
            if len(self._states) > most:
                return False
            self.sources[number] = self._source(number)
            number += 1
        names: dict[str, Any] = {}
        exec(_compiled("\n".join(self.sources.values())), names)  # noqa: S102 - the words in it are literals, by repr
        self.steps = [names[f"state_{number}"] for number in range(len(self._states))]
        return True

    def _first_step(self, number: int, word: bytes) -> int:
        """Make and compile the function of a state, and call it."""
        source = self._source(number)
        names: dict[str, Any] = {}
        exec(_compiled(source), names)  # noqa: S102 - as above
        self.sources[number] = source
        step: Step = names[f"state_{number}"]
        self.steps[number] = step
        return step(word)

    def _source(self, number: int) -> str:
        nfa, state = self._nfa, self._states[number]
        default = self.number(default_successor(nfa, state))
        targets = {
            nfa.symbols.word(symbol): target
            for symbol, next_state in literal_successors(nfa, state).items()
            if (target := self.number(next_state)) != default
        }
        if len(targets) > BY_DICTIONARY:
            return f"def state_{number}(word, _next={targets!r}.get):\n    return _next(word, {default})\n"
        tests = "".join(f"    if word == {word!r}:\n        return {target}\n" for word, target in targets.items())
        return f"def state_{number}(word):\n{tests}    return {default}\n"


class GeneratedCode:
    """A DFA whose states are Python functions."""

    def __init__(self, nfa: Nfa, separator: bytes, max_states: int) -> None:
        self._nfa = nfa
        self._separator = separator
        self._max_states = max_states
        self._functions = StateFunctions(nfa)
        self.complete = self._functions.make_all(max_states)
        """Whether all states were compiled when the engine was built."""
        if not self.complete:
            self._functions = StateFunctions(nfa)

    def __reduce__(self) -> tuple[type[GeneratedCode], tuple[Any, ...]]:
        return GeneratedCode, (self._nfa, self._separator, self._max_states)

    @property
    def source(self) -> str:
        """The source of all states that were made so far."""
        return "\n".join(self._functions.sources.values())

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that match, ascending: one call per word."""
        functions = self._functions
        if len(functions.sources) > self._max_states:
            functions = self._functions = StateFunctions(self._nfa)
        steps = functions.steps
        state = 0
        for word in key.split(self._separator) if key else ():
            state = steps[state](word)
        return functions.tags(state)


def _compiled(source: str) -> CodeType:
    return compile(source, "<generated states>", "exec")


def _build(patterns: Sequence[bytes], dialect: Dialect, *, max_states: int = 10_000) -> GeneratedCode:
    if isinstance(max_states, bool) or not isinstance(max_states, int) or max_states < 1:
        raise OptionError(f"max_states is {max_states!r}: expected a number of states, 1 or more")
    return GeneratedCode(compile_nfa(patterns, dialect), dialect.separator, max_states)


ENGINE = EngineSpec(
    info=EngineInfo(
        name="codegen",
        summary="the DFA as generated Python functions, compiled once if it is small and state by state if not",
        options=("max_states",),
    ),
    build=_build,
)
