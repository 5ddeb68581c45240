"""The description of a router in its file: the engine's name and options, and the dialect, as JSON.

Options and dialects are frozen dataclasses, and how they are written and read follows from the types of their fields. A
new field therefore needs no change here, unless its type is new: then :func:`record` raises ``TypeError``.

Reading accepts only what :func:`describe` can have written, now or before: a field that is unknown is an error, and one
that is missing has its default, since the release that wrote the file did not know the field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from dfa_router.engines.protocol import EngineSpec
from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect

__all__ = ["Description", "describe", "from_record", "read_description", "record"]

T = TypeVar("T")
Reader = Callable[[object], Any]

_MOST_BYTES = 1 << 16
"""The longest description that is read: a real one has less than a thousand bytes beside ``Dialect.forbidden``."""


class Description(NamedTuple):
    """What a file says of a router beside its automaton and its bindings."""

    engine: str
    options: Any
    """The engine's options: a value of ``EngineSpec.options``."""
    dialect: Dialect


def describe(description: Description) -> bytes:
    """Return a description as JSON; raises :class:`OptionError` for a value that its field's type does not allow."""
    about = {
        "engine": description.engine,
        "options": record(description.options),
        "dialect": record(description.dialect),
    }
    return json.dumps(about).encode()


def read_description(data: bytes, engines: Mapping[str, EngineSpec]) -> Description:
    """Read a description; raises ``ValueError`` with what is wrong. ``engines`` are those that a file may name."""
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it has {len(data):,} bytes, expected at most {_MOST_BYTES:,}")
    try:
        about = _renewed(json.loads(data))
        if set(about) != {"engine", "options", "dialect"}:
            raise ValueError("a field too many or too few")
        engine = _text(about["engine"])
        if engine not in engines:
            raise ValueError(f"its engine is {engine!r}, expected one of {', '.join(engines)}")
        options = from_record(engines[engine].options, about["options"])
        dialect = from_record(Dialect, about["dialect"])
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"expected engine, options and dialect as JSON ({type(error).__name__}: {error})") from None
    if not engines[engine].info.speaks(dialect):
        raise ValueError(f"its engine {engine!r} does not speak the rules of its dialect {dialect.name!r}")
    return Description(engine, options, dialect)


def _renewed(about: Any) -> Any:
    """Bring a description into today's form: before options were a record, ``cache_bytes`` was the only one."""
    if isinstance(about, dict) and set(about) == {"engine", "cache_bytes", "dialect"}:
        size = about["cache_bytes"]
        options = {} if size is None else {"cache_bytes": size}
        return {"engine": about["engine"], "options": options, "dialect": about["dialect"]}
    return about


def record(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dictionary for JSON; bytes become the characters of the same numbers.

    Raises :class:`OptionError` for a value that its field's type does not allow, and ``TypeError`` for a field of a type
    that no reader is known for.

    >>> from dfa_router.language.dialects import NATS
    >>> found = record(NATS)
    >>> found["some"], found["max_words"], from_record(Dialect, found) == NATS
    ('>', None, True)
    """
    kind: Any = type(value)
    readers = _readers(kind)
    found = {name: getattr(value, name) for name in readers}
    found = {name: item.decode("latin-1") if isinstance(item, bytes) else item for name, item in found.items()}
    for name, read in readers.items():
        try:
            read(found[name])
        except (ValueError, TypeError) as error:
            raise OptionError(f"{name} of {value!r} cannot be saved: {error}") from None
    return found


def from_record(kind: Callable[..., T], found: Any) -> T:
    """Return the dataclass of a dictionary that :func:`record` made; raises ``ValueError`` or ``TypeError``."""
    if not isinstance(found, dict):
        raise TypeError(f"{found!r} is no record")
    cls: Any = kind
    readers = _readers(cls)
    required = {one.name for one in fields(cls) if one.init and one.default is one.default_factory is MISSING}
    if found.keys() - readers.keys() or required - found.keys():
        raise ValueError("a field too many or too few")
    values = {}
    for name, item in found.items():
        try:
            values[name] = readers[name](item)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{cls.__name__}.{name}: {error}") from None
    return kind(**values)


@cache
def _readers(cls: Any) -> dict[str, Reader]:
    """Return what reads each field of a dataclass; kept, as finding the types takes a millisecond."""
    types = get_type_hints(cls)
    return {one.name: _reader(types[one.name], f"{cls.__name__}.{one.name}") for one in fields(cls) if one.init}


def _reader(kind: Any, field: str) -> Reader:
    """Return the function that reads a value of a type from JSON."""
    if get_origin(kind) is Literal:
        return partial(_one_of, get_args(kind))
    if get_origin(kind) in (Union, UnionType):
        inner = [part for part in get_args(kind) if part is not NoneType]
        if len(inner) == 1:
            return partial(_optional, _reader(inner[0], field))
    read = _OF_TYPE.get(kind)
    if read is None:
        raise TypeError(f"{field} is of the type {kind}, which cannot be saved: enter a reader for it in {__name__}")
    return read


def _optional(read: Reader, value: object) -> Any:
    return None if value is None else read(value)


def _one_of(values: tuple[object, ...], value: object) -> object:
    if value not in values:
        raise ValueError(f"{value!r} is none of {', '.join(map(str, values))}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _bytes(value: object) -> bytes:
    return _text(value).encode("latin-1")


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63:
        raise ValueError(f"{value!r} is no number of bytes or words")
    return value


_OF_TYPE: dict[Any, Reader] = {str: _text, bytes: _bytes, bool: _flag, int: _count}
"""What reads a value of each type. Every number in a description counts something."""
