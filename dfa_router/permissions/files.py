"""Permissions from files, and what they let through: the lines that ``dfa-router permissions`` shows.

A definitions file of RabbitMQ has its users' topic permissions; any other file is an access list of Mosquitto.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler import CapacityError
from dfa_router.analysis.relations import relation
from dfa_router.errors import InputError
from dfa_router.language.dialects import MQTT
from dfa_router.permissions.dialect import UnsupportedRegexError
from dfa_router.permissions.mosquitto import AccessList, read_access_list
from dfa_router.permissions.rabbitmq import Permission, TopicPermission, read_leak
from dfa_router.rabbitmq.document import REMEDY, read_document
from dfa_router.rabbitmq.sources import read_source

__all__ = ["Passage", "access_list", "name_permissions", "passages", "refusal", "topic_permissions"]


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
    names = ("user", "vhost", "exchange", "write", "read")
    return tuple(TopicPermission(**fields) for fields in _entries(path, "topic_permissions", names))


def name_permissions(path: Path) -> tuple[Permission, ...]:
    """Read who may configure, write and read which names; raises ``InputError`` for an entry that is none."""
    names = ("user", "vhost", "configure", "write", "read")
    return tuple(Permission(**fields) for fields in _entries(path, "permissions", names))


def _entries(path: Path, section: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the fields of each entry of a section, which are texts; ``vhost`` may be left out."""
    for number, entry in enumerate(read_document(read_source(str(path), REMEDY)).get(section, [])):
        fields = {name: entry.get(name, "/" if name == "vhost" else None) for name in names}
        wrong = [name for name, value in fields.items() if not isinstance(value, str)]
        if wrong:
            raise InputError(f"{path}: {section}[{number}].{wrong[0]}: expected text: correct it there")
        yield fields


_DEFAULT = "amq.default"
"""What permissions call the default exchange."""


def refusal(path: Path, user: str, exchange: str, key: str, vhost: str = "/") -> str | None:
    """Return why RabbitMQ refuses what a user publishes, by the permissions of a definitions file; None if it does not.

    Raises ``InputError`` for an entry that is none, and ``EnvironmentLacksError`` without greenery.
    """
    found = name_permissions(path)
    number = next((i for i, one in enumerate(found) if (one.user, one.vhost) == (user, vhost)), None)
    if number is None:
        return f"{user!r} has no permissions in vhost {vhost!r}"
    if not found[number].allows("write", exchange or _DEFAULT):
        return (
            f"{user!r} may not write to exchange {exchange!r}: {found[number].write!r} (permissions[{number}]) does not match "
            "its name"
        )
    for at, topic in enumerate(topic_permissions(path)):
        if (topic.user, topic.vhost, topic.exchange) == (user, vhost, exchange) and not topic.may_publish(key):
            return f"{user!r} may not publish {key!r}: {topic.write!r} (topic_permissions[{at}]) does not match it"
    return None


def passages(path: Path) -> tuple[Passage, ...]:
    """Return what the rules of a file let through against their evident intent.

    Raises ``InputError`` for a file that cannot be read as rules, and ``EnvironmentLacksError`` without greenery.
    """
    if path.suffix.lower() == ".json":
        return tuple(_of_topics(topic_permissions(path)))
    return tuple(_of_list(access_list(path)))


def access_list(path: Path) -> AccessList:
    """Read an access list of Mosquitto; raises ``InputError`` for what is none, with the line and what is expected there."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; name a definitions file or an access list"
        ) from error
    except UnicodeDecodeError:
        raise InputError(f"{path}: no valid UTF-8: save the file as UTF-8") from None
    return read_access_list(text, str(path))


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
