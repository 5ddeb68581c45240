"""Exchanges, queues, bindings and policies that a program hands over, checked as the entries of a file are.

A dataclass holds whatever it is given. A routing key of None matched every message, and a name that is a number, or one that no
broker holds, ended in an error far from where it was made. So a topology that is made of values says which of them is
wrong, what it holds and what to do, before anything is looked up.

What this leaves out: values read from a file. Their entries are checked as they are read (:mod:`dfa_router.rabbitmq.entries`), and loading
a file pays for one check, not two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, TypeVar

from dfa_router.errors import DefinitionsError, OptionError
from dfa_router.rabbitmq.checks import SECTIONS, Findings, section_of
from dfa_router.rabbitmq.declared import ALTERNATE, Binding, Exchange, Policy, Queue
from dfa_router.short_strings import MAX_BYTES, fault_of

__all__ = ["given_name", "given_names", "given_values"]

_Value = TypeVar("_Value", Exchange, Queue, Binding, Policy)

_Rule = Callable[[Any], "str | None"]
"""Says what is wrong with the value of a field and what to do, or None where nothing is."""

_SHOWN = 60
"""How much is shown of a value that is wrong."""

_SUCH_AS = {
    Exchange: "Exchange(name='x', type='topic')",
    Queue: "Queue(name='q')",
    Binding: "Binding(source='x', destination='q', routing_key='a.*')",
    Policy: "Policy(name='p', pattern='^x', definition={'alternate-exchange': 'y'})",
}


def given_values(values: Iterable[_Value], kind: type[_Value], findings: Findings) -> tuple[_Value, ...]:
    """Return values of a kind as a tuple.

    Raises :class:`OptionError` for what is no list of them, and :class:`DefinitionsError` for one of another kind, or with a field that no
    broker could hold; the text names its position, its name and its field.
    """
    section = SECTIONS[kind]
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise OptionError(f"{section} is {_shown(values)}: expected several: give a list, such as [{_SUCH_AS[kind]}]")
    kept = tuple(values)
    rules = tuple(_RULES[kind].items())
    for position, one in enumerate(kept):
        if not isinstance(one, kind):
            raise DefinitionsError(f"{findings.at(f'{section}[{position}]')} {_other_kind(one, kind)}")
        for field, rule in rules:
            fault = rule(getattr(one, field))
            if fault is not None:
                raise DefinitionsError(f"{findings.at(f'{section}[{position}].{field}')} ({_told(one)}) {fault}")
    return kept


def given_names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; raises :class:`OptionError` for what is no list of them, and for one that no broker could hold.

    >>> given_names("vhosts", ["/", 5])
    Traceback (most recent call last):
        ...
    dfa_router.errors.OptionError: vhosts[1] is 5 (int): expected a text
    """
    if isinstance(names, str):  # whose letters would be names
        raise OptionError(f"{what} is {_shown(names)}: expected several names: give a list, such as [{_shown(names)}]")
    if isinstance(names, bytes) or not isinstance(names, Iterable):
        raise OptionError(f"{what} is {_shown(names)}: expected several names: give a list, such as ['/']")
    return tuple(given_name(f"{what}[{position}]", name) for position, name in enumerate(names))


def given_name(what: str, name: str) -> str:
    """Return a name; raises :class:`OptionError` for one that no broker could hold."""
    if (fault := _no_name(name)) is not None:
        raise OptionError(f"{what} {fault}")
    return name


def _other_kind(one: object, kind: type) -> str:
    """Say of a value that it is of another kind than its section holds."""
    own = type(one)
    name = own.__name__ if own.__module__ == "builtins" else f"{own.__module__}.{own.__qualname__}"
    expected = f"is {_shown(one)} ({name}): expected dfa_router.rabbitmq.{kind.__name__}"
    if isinstance(one, Exchange | Queue | Binding | Policy):
        return f"{expected}: give it among the {section_of(one)}"
    return f"{expected}, such as {_SUCH_AS[kind]}"


def _told(one: Exchange | Queue | Binding | Policy) -> str:
    """Name a value as its author knows it."""
    kind = type(one).__name__.lower()
    if isinstance(one, Binding):
        return f"{kind} from {_shown(one.source)} to {_shown(one.destination)}"
    return f"{kind} {_shown(one.name)}"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _wrong(value: object, expected: str) -> str:
    found = "None" if value is None else f"{_shown(value)} ({type(value).__name__})"
    return f"is {found}: expected {expected}"


def _no_name(value: object, expected: str = "a text") -> str | None:
    if not isinstance(value, str):
        return _wrong(value, f"{expected}{', so decode it' if isinstance(value, bytes) else ''}")
    if len(value) <= MAX_BYTES and value.isascii():  # nearly all are, and this takes a fifth of the time
        return None
    fault = fault_of(value)
    return None if fault is None else f"{fault}; no broker can hold it: shorten or correct it"


def _no_key(value: object) -> str | None:
    return _no_name(value, "a text; leave it out for the empty key")


def _no_exchange_type(value: object) -> str | None:
    return None if value is None else _no_name(value, "the name of a type, such as 'topic', or None where nobody knows")


def _no_queue_type(value: object) -> str | None:
    return None if value is None else _no_name(value, "the name of a type, such as 'quorum', or None where nobody says")


def _no_flag(value: object) -> str | None:
    return None if isinstance(value, bool) else _wrong(value, "True or False")


def _no_table(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return _wrong(value, "a mapping of names to values; leave it out for none")
    for name in value:
        if not isinstance(name, str):
            return f"has the name {_wrong(name, 'a text').removeprefix('is ')}"
    return None


def _no_alternate(value: Any) -> str | None:
    fault = _no_table(value)
    if fault is None and ALTERNATE in value:
        wrong = _no_name(value[ALTERNATE], "the name of an exchange; leave it out for none")
        fault = None if wrong is None else f"at {ALTERNATE!r} {wrong}"
    return fault


def _no_destination_type(value: object) -> str | None:
    return None if isinstance(value, str) and value in ("queue", "exchange") else _wrong(value, "'queue' or 'exchange'")


def _no_pattern(value: object) -> str | None:
    # One that cannot be read is a warning, and it may be longer than names are.
    return None if isinstance(value, str) else _wrong(value, "a regular expression as text")


def _no_priority(value: object) -> str | None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return None if whole else _wrong(value, "a whole number")


_RULES: dict[type, dict[str, _Rule]] = {
    Exchange: {
        "vhost": _no_name,
        "name": _no_name,
        "type": _no_exchange_type,
        "internal": _no_flag,
        "arguments": _no_alternate,
    },
    Queue: {"vhost": _no_name, "name": _no_name, "type": _no_queue_type, "arguments": _no_table},
    Binding: {
        "vhost": _no_name,
        "source": _no_name,
        "destination": _no_name,
        "destination_type": _no_destination_type,
        "routing_key": _no_key,
        "arguments": _no_table,
    },
    Policy: {
        "vhost": _no_name,
        "name": _no_name,
        "pattern": _no_pattern,
        "apply_to": _no_name,
        "priority": _no_priority,
        "definition": _no_alternate,
    },
}
"""What each field of a kind has to be: all of them, and a test holds it to that."""
