"""Permissions from files, and what they let through: the lines that ``dfa-router permissions`` shows.

A definitions file of RabbitMQ has its users' topic permissions; any other file is an access list of Mosquitto.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler import CapacityError
from dfa_router.analysis.relations import relation
from dfa_router.errors import InputError
from dfa_router.language.dialects import MQTT
from dfa_router.permissions.dialect import UnsupportedRegexError
from dfa_router.permissions.mosquitto import AccessList, read_access_list
from dfa_router.permissions.rabbitmq import TopicPermission, read_leak
from dfa_router.rabbitmq.document import REMEDY, read_document
from dfa_router.rabbitmq.sources import read_source

__all__ = ["Passage", "passages", "topic_permissions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Something that rules let through, or refuse, against their evident intent."""

    rule: str
    """``leaking-permission``, ``unreadable-permission`` or ``useless-rule``."""
    place: str
    user: str
    message: str
    binding: str | None = None
    """What gets through, where it is a binding."""
    key: str | None = None
    """A key that shows it."""


def topic_permissions(path: Path) -> tuple[TopicPermission, ...]:
    """Read the topic permissions of a definitions file; raises ``InputError`` for an entry that is none."""
    found = []
    for number, entry in enumerate(read_document(read_source(str(path), REMEDY)).get("topic_permissions", [])):
        fields: dict[str, Any] = {name: entry.get(name, "/" if name == "vhost" else None) for name in _FIELDS}
        wrong = [name for name, value in fields.items() if not isinstance(value, str)]
        if wrong:
            raise InputError(f"{path}: topic_permissions[{number}].{wrong[0]}: expected text: correct it there")
        found.append(TopicPermission(**fields))
    return tuple(found)


_FIELDS = ("user", "vhost", "exchange", "write", "read")


def passages(path: Path) -> tuple[Passage, ...]:
    """Return what the rules of a file let through against their evident intent.

    Raises ``InputError`` for a file that cannot be read as rules, and ``EnvironmentLacksError`` without greenery.
    """
    if path.suffix.lower() == ".json":
        return tuple(_of_topics(topic_permissions(path)))
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; name a definitions file or an access list"
        ) from error
    except UnicodeDecodeError:
        raise InputError(f"{path}: no valid UTF-8: save the file as UTF-8") from None
    return tuple(_of_list(read_access_list(text, str(path))))


def _of_topics(permissions: tuple[TopicPermission, ...]) -> Iterator[Passage]:
    for number, one in enumerate(permissions):
        place = f"topic_permissions[{number}]"
        try:
            found = read_leak(one)
        except (UnsupportedRegexError, CapacityError) as error:
            message = f"nothing can be proven of the read permission for {one.exchange!r}: {error}"
            yield Passage(rule="unreadable-permission", place=place, user=one.user, message=message)
            continue
        if found is not None:
            yield Passage(
                rule="leaking-permission",
                place=place,
                user=one.user,
                message=f"{one.read!r} is asked about the text of a binding to {one.exchange!r}: it allows {found.binding!r}, which gets "
                f"{found.key!r}, though it does not match that key; anchor it (^...$), and leave '#' and '*' out of its classes",
                binding=found.binding,
                key=found.key,
            )


def _of_list(rules: AccessList) -> Iterator[Passage]:
    """Yield rules that others of the same user make useless: what is denied anyhow, or allowed already."""
    for number, one in enumerate(rules.rules):
        if one.pattern:
            continue
        for other_number, other in enumerate(rules.rules):
            same = other.user == one.user and not other.pattern and other_number != number
            denied = other.access == "deny" and one.access != "deny"
            wider = other.access in (one.access, "readwrite") and other.access != "deny" and one.access != "deny"
            if not same or not (denied or wider):
                continue
            told = relation(other.topic, one.topic, MQTT)
            if told.only_second is None and (denied or told.only_first is not None or other_number < number):
                why = "denies all of it" if denied else "allows all of it already"
                message = (
                    f"{one.access} {one.topic!r} does nothing: line {other.line}, {other.access} {other.topic!r}, {why}"
                )
                yield Passage(
                    rule="useless-rule", place=str(one.line), user=one.user or "", message=message, key=told.both
                )
                break
