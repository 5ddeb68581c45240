"""What exports leave unsaid about the arguments of headers exchanges' bindings, and how it is read.

JSON has fewer values than AMQP, and a broker writes some that it lacks as text. What such a text stands for decides who gets a message:

- A header without a value is written as ``undefined``. A binding for that text itself is far rarer, so it is read as none.
- Binary that is no UTF-8 says so, with its bytes in base64 behind that. They are read as what they were.
- Both stand within arrays and tables, too.
- Null is what no broker writes, and an import ends at it. It is read as no value, which is what its author means.

Each is a warning of the topology. What cannot be seen at all: a decimal is written as a number, with its
places before its digits (1.5 as 1.15), and timestamps as whole numbers, which is what they are compared as.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Any

from dfa_router.rabbitmq.checks import Findings
from dfa_router.rabbitmq.declared import Binding, Exchange, Queue, predeclared_exchanges
from dfa_router.rabbitmq.exchange_types import simulated_type
from dfa_router.rabbitmq.headers.matching import asked
from dfa_router.rabbitmq.rules import BrokerRules

__all__ = ["as_bound", "note_nulls"]

_VOID = "undefined"
_BINARY = "Not UTF-8, base64 is: "


def as_bound(
    bindings: Sequence[Binding], exchanges: Iterable[Exchange], rules: BrokerRules, findings: Findings
) -> list[Binding]:
    """Return bindings of an export with the arguments that the broker had, and note those that can be read in two ways."""
    known = {(one.vhost, one.name): one for one in exchanges}
    for vhost in {binding.vhost for binding in bindings}:
        known = {(vhost, one.name): one for one in predeclared_exchanges(vhost)} | known
    headers = {place for place, one in known.items() if (simulated_type(one, rules) or "").startswith("headers")}
    read = []
    for position, binding in enumerate(bindings):
        place = f"bindings[{position}].arguments"
        if _has_null(binding.arguments):
            findings.add("null-argument", binding.vhost, binding.source, place)
        in_question = binding.arguments and (binding.vhost, binding.source) in headers
        read.append(_read(binding, place, findings) if in_question else binding)
    return read


def note_nulls(section: str, declared: Iterable[Exchange | Queue], findings: Findings) -> None:
    """Note null in the arguments of exchanges or queues, at which an import ends, too."""
    for position, one in enumerate(declared):
        if _has_null(one.arguments):
            findings.add("null-argument", one.vhost, one.name, f"{section}[{position}].arguments")


def _has_null(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(_has_null, inner))


def _read(binding: Binding, place: str, findings: Findings) -> Binding:
    changed: dict[str, Any] = {}
    for name in asked(binding):
        value = binding.arguments[name]
        meant = _meant(value)
        if meant is not value:
            changed[name] = meant
            kinds = {type(None): "without a value", bytes: "of binary"}
            kind = kinds.get(type(meant), "with such values within")
            detail = f"first {name}: {str(value)[:40]!r}, read as a header {kind}"
            findings.add("ambiguous-argument", binding.vhost, binding.source, place, detail)
    if not changed:
        return binding
    arguments: Mapping[str, Any] = {**binding.arguments, **changed}
    return replace(binding, arguments=arguments)


def _meant(value: Any) -> Any:
    """Return what a broker had that wrote a value; the value itself where nothing else is written so."""
    if isinstance(value, list | dict):
        written = list(value.values()) if isinstance(value, dict) else value
        within = list(map(_meant, written))
        if all(map(is_, within, written)):
            return value
        return dict(zip(value, within, strict=True)) if isinstance(value, dict) else within
    if value == _VOID:
        return None
    if not isinstance(value, str) or not value.startswith(_BINARY):
        return value
    try:
        binary = base64.b64decode(
            "".join(value.removeprefix(_BINARY).split()), validate=True
        )  # in lines, if it is long
    except ValueError:
        return value
    try:
        binary.decode()
    except UnicodeDecodeError:
        return binary
    return value
