"""A router in a file: its automaton, its bindings, its dialect and its options.

What the file has is an NFA as arrays (:mod:`compiler.storage.sections`), the patterns and destinations as text, and a description in
JSON. What the lazy DFA has cached is left out: it depends on the keys that came, and is made again in seconds.

Loading checks everything (the list is :class:`compiler.errors.Defect`), in three layers:

* the checksum, over every byte;
* the structure, array by array, and that the automaton is that of the patterns, binding by binding;
* a fingerprint of what nothing else in the file can confirm: dialect, options and destinations.

So a file with an error in it is refused even if its checksum was recomputed; who changes bindings, automaton and
fingerprint to fit each other has written another router's file, and gets that router. Arrays stay in the mapped file and
bindings are decoded when they are asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from compiler import Nfa, Token, Wildcard, normalize
from compiler.automata.nfa import MANY, ONE, Symbols
from compiler.automata.paths import parents_of, path_to
from compiler.errors import Defect, FileFormatError
from compiler.storage.sections import refusal
from compiler.storage.verify import ascends, flaws, misspelt, repeated
from dfa_router.engines.protocol import EngineInfo
from dfa_router.language.bindings import Binding
from dfa_router.language.dialects import Dialect
from dfa_router.language.rules import tokens
from dfa_router.language.validity import pattern_problem

__all__ = ["SCHEMA", "Compiled", "StoredBindings", "Texts", "compiled_of", "sections_of", "stored"]

Array = npt.NDArray[Any]

SCHEMA = {
    "about": "u1",
    "fingerprint": "u1",
    "labels": "i4",
    "children": "i4",
    "tag_offsets": "i4",
    "tags": "i4",
    "word_offsets": "i4",
    "word_data": "u1",
    "pattern_offsets": "i8",
    "pattern_data": "u1",
    "codes": "i4",
    "name_offsets": "i8",
    "name_data": "u1",
}
"""The sections of a router, and their types."""
_ABOUT_BYTES = 1 << 16
_SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False)
class Texts(Sequence[str]):
    """Many strings as UTF-8 in one array, decoded when asked for: text i is ``data[offsets[i]:offsets[i + 1]]``."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        return self.encoded(range(len(self))[index]).decode()

    def __iter__(self) -> Iterator[str]:
        data = self.data.tobytes()
        return (data[start:stop].decode() for start, stop in pairwise(self.offsets.tolist()))

    def encoded(self, index: int) -> bytes:
        """Return a text as its bytes."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class StoredBindings(Sequence[Binding]):
    """The bindings of a file, decoded when asked for."""

    patterns: Texts
    codes: npt.NDArray[np.int32]
    """The number of each binding's destination among the names."""
    names: Texts
    """The distinct destinations in the order of their first binding."""

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Binding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Binding, ...]: ...
    def __getitem__(self, index: int | slice) -> Binding | tuple[Binding, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        return Binding(self.patterns[index], self.names[int(self.codes[index])])

    def __iter__(self) -> Iterator[Binding]:
        names = tuple(self.names)
        return (Binding(pattern, names[code]) for pattern, code in zip(self.patterns, self.codes.tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compiled:
    """What a router's file holds."""

    nfa: Nfa
    bindings: Sequence[Binding]
    dialect: Dialect
    engine: str
    cache_bytes: int | None
    """The bound on the cache, or None of an engine that has none."""


def stored(bindings: Sequence[Binding]) -> StoredBindings:
    """Return bindings as flat text: what is saved, pickled and loaded a hundred times faster than one by one."""
    if isinstance(bindings, StoredBindings):
        return bindings
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(one.destination, len(numbers)) for one in bindings], np.int32)
    return StoredBindings(_texts(one.pattern for one in bindings), codes, _texts(numbers))


def sections_of(compiled: Compiled) -> dict[str, Array]:
    """Return what a file holds of a router, in the order of ``SCHEMA``."""
    nfa, bindings = compiled.nfa, stored(compiled.bindings)
    sections: dict[str, Array] = {
        "about": np.frombuffer(_described(compiled), np.uint8),
        "fingerprint": np.empty(0, np.uint8),
        "labels": nfa.labels,
        "children": nfa.children,
        "tag_offsets": nfa.tag_offsets,
        "tags": nfa.tags,
        "word_offsets": nfa.symbols.offsets,
        "word_data": nfa.symbols.data,
        "pattern_offsets": bindings.patterns.offsets,
        "pattern_data": bindings.patterns.data,
        "codes": bindings.codes,
        "name_offsets": bindings.names.offsets,
        "name_data": bindings.names.data,
    }
    return {**sections, "fingerprint": _fingerprint(sections)}


def compiled_of(
    sections: Mapping[str, Array], engines: Mapping[str, EngineInfo], path: str | os.PathLike[str]
) -> Compiled:
    """Check a router's sections and put it together; raises :class:`FileFormatError` for whatever is wrong with them.

    ``engines`` are those that a file may name.
    """
    patterns = Texts(sections["pattern_offsets"], sections["pattern_data"])
    names = Texts(sections["name_offsets"], sections["name_data"])
    codes = sections["codes"]
    nfa = Nfa(
        symbols=Symbols(data=sections["word_data"], offsets=sections["word_offsets"]),
        labels=sections["labels"],
        children=sections["children"],
        tag_offsets=sections["tag_offsets"],
        tags=sections["tags"],
    )
    try:
        compiled = _read_about(sections["about"], nfa=nfa, bindings=StoredBindings(patterns, codes, names))
        if compiled.engine not in engines:
            problem = f"its engine is {compiled.engine!r}, expected one of {', '.join(engines)}"
            raise _flaw(Defect.OPTIONS, "about", problem)
        if not engines[compiled.engine].speaks(compiled.dialect):
            problem = (
                f"its engine {compiled.engine!r} does not speak the rules of its dialect {compiled.dialect.name!r}"
            )
            raise _flaw(Defect.OPTIONS, "about", problem)
        nfa = compiled.nfa
        for kind, section, problem in flaws(nfa):
            raise _flaw(kind, section, problem)
        _check_texts("pattern", patterns, len(nfa.tags))
        _check_texts("name", names, None)
        _check_codes(codes, len(nfa.tags), names)
        _check_patterns(nfa, patterns, compiled.dialect)
        if not np.array_equal(sections["fingerprint"], _fingerprint(sections)):
            problem = "it is not that of the dialect, the options and the destinations"
            raise _flaw(Defect.FINGERPRINT, "fingerprint", problem)
    except FileFormatError as error:
        raise refusal(path, error.kind, str(error), section=error.section) from None
    return compiled


def _flaw(kind: Defect, section: str, problem: str) -> FileFormatError:
    """Return an error that lacks the file and the remedy still."""
    return FileFormatError(problem, kind=kind, section=section)


def _texts(texts: Iterable[str]) -> Texts:
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return Texts(offsets, np.frombuffer(b"".join(encoded), np.uint8))


def _fingerprint(sections: Mapping[str, Array]) -> npt.NDArray[np.uint8]:
    digest = hashlib.blake2b(digest_size=16)
    for name in ("about", "codes", "name_offsets", "name_data"):
        digest.update(len(sections[name]).to_bytes(8, "little"))
        digest.update(sections[name].data)
    return np.frombuffer(digest.digest(), np.uint8)


def _described(compiled: Compiled) -> bytes:
    """Describe dialect, engine and options as JSON; bytes as the characters of the same numbers."""
    dialect = {name: getattr(compiled.dialect, name) for name in _DIALECT_FIELDS}
    about = {
        "engine": compiled.engine,
        "cache_bytes": compiled.cache_bytes,
        "dialect": {
            name: value.decode("latin-1") if isinstance(value, bytes) else value for name, value in dialect.items()
        },
    }
    return json.dumps(about).encode()


def _read_about(section: npt.NDArray[np.uint8], *, nfa: Nfa, bindings: Sequence[Binding]) -> Compiled:
    """Read the description, which has exactly the fields that :func:`_described` writes."""
    if len(section) > _ABOUT_BYTES:
        raise _flaw(Defect.OPTIONS, "about", f"it has {len(section):,} bytes, expected at most {_ABOUT_BYTES:,}")
    try:
        about = json.loads(section.tobytes())
        dialect = about["dialect"]
        if set(about) != {"engine", "cache_bytes", "dialect"} or set(dialect) != set(_DIALECT_FIELDS):
            raise ValueError("a field too many or too few")
        language = _dialect(dialect)
        return Compiled(
            nfa=replace(nfa, reserved=language.reserved or b""),
            bindings=bindings,
            engine=_text(about["engine"]),
            cache_bytes=_size(about["cache_bytes"]),
            dialect=language,
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        problem = f"expected dialect, engine and cache_bytes as JSON ({type(error).__name__}: {error})"
        raise _flaw(Defect.OPTIONS, "about", problem) from None


def _dialect(fields: dict[str, object]) -> Dialect:
    values = {}
    for name, read in _DIALECT_FIELDS.items():
        try:
            values[name] = read(fields[name])
        except (ValueError, TypeError) as error:
            raise ValueError(f"the dialect's {name}: {error}") from None
    return Dialect(**values)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _one_of(*values: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in values:
            raise ValueError(f"{value!r} is none of {', '.join(values)}")
        return str(value)

    return read


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _some_bytes(value: object) -> bytes:
    return _text(value).encode("latin-1")


def _bytes(value: object) -> bytes | None:
    return None if value is None else _some_bytes(value)


def _size(value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63):
        raise ValueError(f"{value!r} is no number of bytes")
    return value


_DIALECT_FIELDS: dict[str, Callable[[object], Any]] = {
    "name": _text,
    "separator": _some_bytes,
    "one": _bytes,
    "many": _bytes,
    "some": _bytes,
    "tail_only": _flag,
    "stray_tail": _one_of("literal", "refused"),
    "inner_wildcards": _one_of("literal", "no prefix", "refused"),
    "empty_text": _flag,
    "empty_words": _flag,
    "wildcard_keys": _flag,
    "dropped": _some_bytes,
    "forbidden": _text,
    "reserved": _bytes,
    "unseen": _bytes,
    "shared": _bytes,
    "max_bytes": _size,
    "max_words": _size,
    "max_many": _size,
}
"""What reads each field of a dialect."""


def _check_texts(kind: str, texts: Texts, count: int | None) -> None:
    """Check a section of texts: offsets, and UTF-8 that no offset cuts."""
    offsets, data = texts.offsets, texts.data
    if not ascends(offsets, len(data)):
        raise _flaw(Defect.OFFSETS, f"{kind}_offsets", f"expected offsets that ascend from 0 to {len(data):,}")
    if count is not None and len(texts) != count:
        raise _flaw(Defect.SECTION, f"{kind}_offsets", f"it has {len(texts):,} texts, expected {count:,}")
    if len(data) and data.max() >= 0x80:
        try:
            data.tobytes().decode()
        except UnicodeDecodeError as error:
            problem = f"byte {error.start:,} is no UTF-8 ({error.reason})"
            raise _flaw(Defect.TEXT, f"{kind}_data", problem) from None
        if np.any(data[offsets[offsets < len(data)]] & 0xC0 == 0x80):
            raise _flaw(Defect.TEXT, f"{kind}_offsets", "one lies within a character")


def _check_codes(codes: npt.NDArray[np.int32], bindings: int, names: Texts) -> None:
    if len(codes) != bindings:
        raise _flaw(Defect.SECTION, "codes", f"it has {len(codes):,} items, expected {bindings:,}")
    if np.any(codes < 0) or np.any(codes >= len(names)):
        raise _flaw(Defect.TEXT, "codes", f"one is none of the {len(names):,} destinations")
    used = np.zeros(len(names), np.bool_)
    used[codes] = True
    if not np.all(used):
        raise _flaw(Defect.TEXT, "name_offsets", "a destination has no binding")
    if repeated(names.data, names.offsets):
        raise _flaw(Defect.TEXT, "name_data", "a destination occurs twice")


def _check_patterns(nfa: Nfa, patterns: Texts, dialect: Dialect) -> None:
    """Check that each pattern is one that the dialect can have, and what the path to its tag says."""
    if not dialect.lenient:
        for binding, pattern in enumerate(patterns):
            wrong = pattern_problem(pattern, dialect)
            if wrong is not None:
                raise _flaw(Defect.TEXT, "pattern_data", f"binding {binding} is no pattern of {dialect.name}: {wrong}")
    if dialect.max_bytes is not None and np.any(np.diff(patterns.offsets) > dialect.max_bytes):
        problem = f"a pattern has over {dialect.max_bytes} bytes, which {dialect.name} cannot carry"
        raise _flaw(Defect.TEXT, "pattern_offsets", problem)
    # Words that may mean something else than they say send their patterns to the comparison token by token.
    everywhere = None if dialect.tail_only else dialect.many
    special = [word for word in (dialect.many, dialect.some, dialect.shared) if word is not None and word != everywhere]
    different = misspelt(
        nfa,
        patterns.data,
        patterns.offsets,
        separator=dialect.separator,
        one=dialect.one,
        many=everywhere,
        special=special,
    )
    parents = parents_of(nfa) if different else np.empty(0, np.int32)
    for binding, position in different.items():
        path = tuple(_token(nfa, nfa.label(at)) for at in path_to(parents, position)[1:])
        if normalize(tokens(patterns.encoded(binding), dialect)) != path:
            pattern = patterns[binding] if len(patterns[binding]) <= _SHOWN else patterns[binding][:_SHOWN] + "..."
            problem = f"binding {binding} is {pattern!r}, and the automaton has another pattern for it"
            raise _flaw(Defect.PATTERNS, "pattern_data", problem)


def _token(nfa: Nfa, label: int) -> Token:
    if label in (ONE, MANY):
        return Wildcard.ONE if label == ONE else Wildcard.MANY
    return nfa.symbols.word(label)
