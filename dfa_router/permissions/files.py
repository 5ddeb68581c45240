"""Rules of access from files: RabbitMQ's definitions, access lists of Mosquitto, EMQX' terms, NATS' configuration.

A file says by its text whose it is (:func:`broker_of`), unless the caller does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dfa_router.errors import InputError
from dfa_router.no_text import no_text
from dfa_router.permissions.emqx import EmqxRules, read_emqx_rules
from dfa_router.permissions.mosquitto import AccessList, read_access_list
from dfa_router.permissions.nats_users import NatsUser, read_nats_users
from dfa_router.permissions.rabbitmq import Permission, TopicPermission
from dfa_router.rabbitmq.document import KNOWN_KEYS, REMEDY, read_document
from dfa_router.rabbitmq.entries import Entries
from dfa_router.rabbitmq.sources import read_source
from dfa_router.strict_json import first_key

__all__ = [
    "BROKERS",
    "access_list",
    "broker_of",
    "emqx_rules",
    "name_permissions",
    "nats_users",
    "rules_text",
    "topic_permissions",
]

BROKERS = ("rabbitmq", "mosquitto", "emqx", "nats")
"""Whose rules can be read."""

_COMMENT = re.compile(r"^\s*(#|//|%).*$", re.MULTILINE)
_SIGNS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("emqx", re.compile(r"\s*\{\s*(allow|deny)\s*,").match),
    ("mosquitto", re.compile(r"\s*(user|topic|pattern)[ \t]+[^\s{:=]").match),
    ("rabbitmq", lambda text: first_key(text) in KNOWN_KEYS),
    ("nats", re.compile(r"""[\s\S]*?\b(authorization|accounts)\b["']?\s*[:={]""").match),
    ("rabbitmq", first_key),
)
"""How the text of a file begins that is a broker's, the first that fits deciding; NATS' entries have any order, and may be JSON."""


def broker_of(path: Path) -> str:
    """Tell whose rules a file holds: by the name's end ``.json`` RabbitMQ's, else by its text, Mosquitto's if nothing else fits."""
    if path.suffix.lower() == ".json":
        return "rabbitmq"
    text = _COMMENT.sub("", rules_text(path))
    return next((broker for broker, is_meant in _SIGNS if is_meant(text)), "mosquitto")


def topic_permissions(path: Path) -> tuple[TopicPermission, ...]:
    """Read the topic permissions of a definitions file; raises ``InputError`` for an entry that is none."""
    names = ("user", "vhost", "exchange", "write", "read")
    return tuple(TopicPermission(**texts) for texts in _texts(path, "topic_permissions", names))


def name_permissions(path: Path) -> tuple[Permission, ...]:
    """Read who may configure, write and read which names; raises ``InputError`` for an entry that is none."""
    names = ("user", "vhost", "configure", "write", "read")
    return tuple(Permission(**texts) for texts in _texts(path, "permissions", names))


def _texts(path: Path, section: str, names: Sequence[str]) -> list[dict[str, str]]:
    """Return the fields of each entry of a section, which are texts; ``vhost`` may be left out."""

    def fields(entry: dict[str, Any], place: str) -> dict[str, str]:
        found: dict[str, Any] = {name: entry.get(name, "/" if name == "vhost" else None) for name in names}
        wrong = [name for name, value in found.items() if not isinstance(value, str)]
        if wrong:
            raise InputError(f"{path}: {place}.{wrong[0]}: expected text: correct it there")
        return found

    return Entries(str(path), "/").read(read_document(read_source(str(path), REMEDY)), section, fields)


def access_list(path: Path) -> AccessList:
    """Read an access list of Mosquitto; raises ``InputError`` for what is none, with the line and what is expected there."""
    return read_access_list(rules_text(path), str(path))


def emqx_rules(path: Path, *, no_match: bool = True) -> EmqxRules:
    """Read a file of EMQX' rules; raises ``InputError`` for what is none, with the line and what is expected there."""
    return read_emqx_rules(rules_text(path), str(path), no_match=no_match)


def nats_users(path: Path) -> tuple[NatsUser, ...]:
    """Read the users of a configuration of NATS; raises ``InputError`` with the line and what is expected there."""
    return read_nats_users(rules_text(path), str(path))


def rules_text(path: Path) -> str:
    """Return the text of a file of rules; raises ``InputError`` for a file that cannot be read."""
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; name a definitions file, an access list or a configuration"
        ) from error
    except UnicodeDecodeError:
        meaning = no_text(path.read_bytes()) or "no valid UTF-8: save the file as UTF-8"
        raise InputError(f"{path}: {meaning}") from None
