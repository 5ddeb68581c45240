"""What answers single keys: a matcher, the names of destinations, and the last answers.

It knows nothing of its router, for the sake of the function that a router gets in place of its method ``match``: that one is written in
C's terms (:mod:`compiler.kernels.remembered`), and keeps what it needs. Were the router among that, it would be kept by its own attribute, and
a large one would stay until the garbage collector comes.
"""

from __future__ import annotations

import inspect
import sys
from array import array
from collections.abc import Callable, Sequence
from ctypes import c_void_p
from typing import Any, Final

import numpy as np

from compiler.prepare import jit_enabled
from dfa_router.engines.automaton import Automaton
from dfa_router.engines.live import LiveMatcher
from dfa_router.engines.protocol import Matcher, ReadyMatcher, TextMatcher
from dfa_router.key_bytes import key_bytes
from dfa_router.language.bindings import Binding
from dfa_router.storage.flat_bindings import FlatBindings, flat

__all__ = ["SingleAnswers"]

_RECENT, _RECENT_BYTES, _RECENT_NAMES = 1024, 255, 1 << 14
"""How many answers are remembered, the characters of the longest key, and the most destinations of all: beside the names of destinations
0.75 MB at most where keys are ASCII. Other texts take up to four bytes a character, and Python keeps their UTF-8 with them: 2.6 MB."""
_MIXED = not sys.flags.bytes_warning
"""Whether text and bytes may be keys of one dictionary. Looking one up there compares it with its equal of the other type, of
which ``python -bb`` makes an error; two dictionaries, or types in the keys, would take a sixth more time for each hit."""
_BINDINGS, _NAMES = 1 << 20, 1 << 16
"""The most bindings of a loaded router, and distinct destinations, that the function for single keys is made for: it takes 8 bytes for each of the
former, 0.2 KB for each of the latter, and 0.1 s at the first key. Then a key takes 0.6 us in place of 4, and one of ten thousand queues 0.4 ms in place of 3."""
_LOCKED = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether a dictionary's value stays until a reference to it is taken: without the interpreter's lock it may be gone by then."""
LEFT: Final = (KeyError, TypeError)
"""The errors of a look-up that mean that there is no answer: the key was not remembered; or it is not hashable, and then key_bytes says what
is wrong."""


class SingleAnswers:
    """A matcher's answers as names."""

    def __init__(self, bindings: Sequence[Binding], matcher: Matcher, *, remembers: bool) -> None:
        """Answer by the destinations of ``bindings``, to which the matcher's positions refer."""
        self.bindings = bindings
        """They may be replaced by the same ones in another form."""
        self._matcher = matcher
        self._text = matcher if isinstance(matcher, TextMatcher) else None
        self.recent: dict[str | bytes, tuple[str, ...]] = {}
        """The last answers."""
        self._left = array("q", [_RECENT_NAMES])
        """How many more destinations may be remembered, about: threads that answer at once may each take the same ones."""
        self._remembers = remembers and _MIXED

    def __getstate__(self) -> dict[str, Any]:
        # The other engines pickle their patterns one by one anyway.
        bindings: Sequence[Binding] | None = (
            flat(self.bindings) if isinstance(self._matcher, Automaton) else self.bindings
        )
        if isinstance(self._matcher, LiveMatcher):
            bindings = None  # another thread may have added some since the matcher was asked for its state
        return {**self.__dict__, "bindings": bindings, "recent": {}, "_left": array("q", [_RECENT_NAMES])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self._matcher, LiveMatcher):
            self.bindings = self._matcher.bindings

    def match(self, key: str | bytes) -> tuple[str, ...]:
        """Return the destinations of a key, and remember them; it is not looked up among the last answers."""
        positions = None if self._text is None or type(key) is not str else self._text.match_text(key)
        if positions is None:
            positions = self._matcher.match(key_bytes(key))
        bindings = self.bindings
        if isinstance(bindings, FlatBindings):  # each of which would be decoded, its pattern, too
            answer = bindings.destinations_of(positions)
        elif len(positions) > 1:
            answer = tuple(dict.fromkeys([bindings[position].destination for position in positions]))
        else:  # the most frequent cases: 0.1 us instead of 0.5
            answer = (bindings[positions[0]].destination,) if positions else ()
        if self._remembers and len(key) <= _RECENT_BYTES and len(answer) <= _RECENT_NAMES:
            recent = self.recent
            left = self._left[0] - len(answer)
            if left < 0 or len(recent) >= _RECENT:
                recent.clear()  # as the automaton's cache is: there is no order to keep and nothing to lock
                left = _RECENT_NAMES - len(answer)
            recent[key] = answer
            self._left[0] = left
        return answer

    def function(self, method: Callable[..., Any]) -> Callable[..., tuple[str, ...]] | None:
        """Return a function that answers as ``method`` does, the method of an object that has this one, and knows nothing of that object.

        None where answers are not remembered, kernels are not compiled, or several threads may run at once.
        """
        if not self._remembers or not _LOCKED or not jit_enabled():
            return None
        from compiler.kernels.remembered import ask_remembered  # as late as all kernels

        name = method.__name__
        doc = f"{name}($self, key)\n--\n\n{inspect.getdoc(method)}"  # what inspect.signature() and help() read
        return ask_remembered.make(_state_of(self), name, doc)


SingleAnswers.match.__qualname__ = "Router.match"  # which is what Python says to a wrong number of arguments


class _State(tuple[Any, ...]):
    """What such a function keeps. Python takes it for a method of this, and pickles it so."""

    __slots__ = ()

    @property
    def match(self) -> Callable[[str | bytes], tuple[str, ...]]:
        """The method that is asked for other keys."""
        found: Callable[[str | bytes], tuple[str, ...]] = self[1]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _state_of, (self[1].__self__,)


def _state_of(answers: SingleAnswers) -> _State:
    """Return the state of a function that has these answers. One that is pickled becomes the method of the same name again."""
    from compiler.kernels.remembered import TYPE  # as late as all kernels

    state = answers.recent, answers.match, LEFT, sys.intern("key")
    matcher, bindings = answers._matcher, answers.bindings  # noqa: SLF001 - of this module
    at_once = matcher.answer_at_once() if isinstance(matcher, ReadyMatcher) else None
    if at_once is None or c_void_p.from_address(id("") + TYPE).value != id(str):
        return _State(state)
    values = _values_of(bindings)
    if values is None:
        return _State(state)
    loans, finders, counts = at_once
    left = answers._left  # noqa: SLF001
    places = counts.buffer_info()[0], left.buffer_info()[0]
    ready = loans, 0, finders, places[0], values, None, str, bytes, places[1], _RECENT, _RECENT_BYTES, _RECENT_NAMES
    return _State((*state, *ready, counts, left))  # the last two are what the addresses are of


def _values_of(bindings: Sequence[Binding]) -> tuple[tuple[Any, str], ...] | None:
    """Return tuples with the destination of each binding as item 1; None where bindings would be decoded one by one."""
    if type(bindings) is tuple:
        return bindings
    if not isinstance(bindings, FlatBindings) or len(bindings) > _BINDINGS or len(bindings.names) > _NAMES:
        return None
    values = np.empty(len(bindings.names), object)
    for number, name in enumerate(bindings.names):
        values[number] = None, name
    return tuple(values[bindings.codes])
