"""What must be true of the bindings in a file, beside what :mod:`compiler.storage.verify` checks of the automaton.

Each function yields problems as that module's ``flaws`` does: the defect, the section and a text. Every check relies on
those before it, so the caller must stop at the first problem.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from compiler import Nfa, Token, Wildcard, normalize
from compiler.automata.nfa import MANY, ONE
from compiler.automata.paths import parents_of, path_to
from compiler.errors import Defect
from compiler.storage.verify import ascends, misspelt, repeated
from dfa_router.counted import counted
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import spelling, tokens
from dfa_router.language.validity import pattern_problem
from dfa_router.storage.flat_bindings import FlatBindings, Texts

__all__ = ["binding_flaws"]

Flaw = tuple[Defect, str, str]

_SHOWN = 60
"""The most characters of a pattern in a text."""


def binding_flaws(bindings: FlatBindings, nfa: Nfa, dialect: Dialect) -> Iterator[Flaw]:
    """Check the bindings of an automaton that has no flaws of its own, and that it was built from their patterns."""
    count = len(nfa.tags)
    yield from _text_flaws("pattern", bindings.patterns, count)
    yield from _text_flaws("name", bindings.names, None)
    yield from _destination_flaws(bindings, count)
    yield from _pattern_flaws(bindings.patterns, nfa, dialect)


def _text_flaws(kind: str, texts: Texts, count: int | None) -> Iterator[Flaw]:
    """Check a section of texts: its offsets, its number of texts, and that no offset is within a character."""
    offsets, data = texts.offsets, texts.data
    if not ascends(offsets, len(data)):
        yield Defect.OFFSETS, f"{kind}_offsets", f"expected offsets that ascend from 0 to {len(data):,}"
    if count is not None and len(texts) != count:
        yield Defect.SECTION, f"{kind}_offsets", f"it has {counted(len(texts), 'text')}, expected {count:,}"
    if len(data) and data.max() >= 0x80:
        try:
            data.tobytes().decode()
        except UnicodeDecodeError as error:
            yield Defect.TEXT, f"{kind}_data", f"byte {error.start:,} is no UTF-8 ({error.reason})"
        if np.any(data[offsets[offsets < len(data)]] & 0xC0 == 0x80):
            yield Defect.TEXT, f"{kind}_offsets", "one lies within a character"


def _destination_flaws(bindings: FlatBindings, count: int) -> Iterator[Flaw]:
    """Check that each binding has a destination, and that each destination is there once and has a binding."""
    codes, names = bindings.codes, bindings.names
    if len(codes) != count:
        yield Defect.SECTION, "codes", f"it has {counted(len(codes), 'item')}, expected {count:,}"
    if np.any(codes < 0) or np.any(codes >= len(names)):
        yield Defect.TEXT, "codes", f"one is none of the {len(names):,} destinations"
    used = np.zeros(len(names), np.bool_)
    used[codes] = True
    if not np.all(used):
        yield Defect.TEXT, "name_offsets", "a destination has no binding"
    if repeated(names.data, names.offsets):
        yield Defect.TEXT, "name_data", "a destination occurs twice"


def _pattern_flaws(patterns: Texts, nfa: Nfa, dialect: Dialect) -> Iterator[Flaw]:
    """Check that each pattern is valid in the dialect, and that the path to its tag has the same tokens."""
    if not dialect.lenient:
        for binding, pattern in enumerate(patterns):
            wrong = pattern_problem(pattern, dialect)
            if wrong is not None:
                yield Defect.TEXT, "pattern_data", f"binding {binding} is no pattern of {dialect.name}: {wrong}"
    if dialect.max_bytes is not None and np.any(np.diff(patterns.offsets) > dialect.max_bytes):
        problem = f"a pattern has over {dialect.max_bytes} bytes, which {dialect.name} cannot carry"
        yield Defect.TEXT, "pattern_offsets", problem
    one, many, special = spelling(dialect)
    doubtful = misspelt(
        nfa, patterns.data, patterns.offsets, separator=dialect.separator, one=one, many=many, special=special
    )
    parents = parents_of(nfa) if doubtful else np.empty(0, np.int32)
    for binding, position in doubtful.items():
        path = tuple(_token(nfa, nfa.label(at)) for at in path_to(parents, position)[1:])
        if normalize(tokens(patterns.encoded(binding), dialect)) != path:
            pattern = patterns[binding] if len(patterns[binding]) <= _SHOWN else patterns[binding][:_SHOWN] + "..."
            problem = f"binding {binding} is {pattern!r}, and the automaton has another pattern for it"
            yield Defect.PATTERNS, "pattern_data", problem


def _token(nfa: Nfa, label: int) -> Token:
    if label in (ONE, MANY):
        return Wildcard.ONE if label == ONE else Wildcard.MANY
    return nfa.symbols.word(label)
