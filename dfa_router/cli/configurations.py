"""Patterns from configuration files of brokers: Mosquitto's access lists and bridges, and what NATS' users may do.

Each pattern has a destination that says whose it is: ``ann read``, ``bridge up, out``, ``bob publish deny``. So a pattern is
compared with those that say the same of the same user.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dfa_router.errors import BindingError, OptionError
from dfa_router.lint.bridges import bridged
from dfa_router.lint.findings import Finding
from dfa_router.lint.linting import lint_bindings
from dfa_router.permissions.files import access_list, broker_of, nats_users, rules_text
from dfa_router.reports import Report

__all__ = ["CONFIGURED", "ENDINGS", "lint_configuration"]

CONFIGURED = {"mosquitto": "mqtt", "nats": "nats"}
"""The brokers whose configuration has patterns, and the dialects of these."""
ENDINGS = {".conf", ".cfg", ".acl"}
"""How names of such files end, where nobody says what they are."""

Entry = tuple[str, str, int]
"""A pattern, whose it is, and its line."""


def lint_configuration(path: Path, broker: str | None = None, report: Report | None = None) -> tuple[Finding, ...]:
    """Return the findings of a file's patterns, each with its line; the broker is told from the file if it is not given.

    Raises an ``InputError`` with line and remedy for a file that cannot be read, and one without patterns.
    """
    entries, language = _configured(path, broker)
    bindings, lines = [(pattern, whose) for pattern, whose, _ in entries], [line for _, _, line in entries]
    return lint_bindings(bindings, language, places=lines, report=report)


def _configured(path: Path, broker: str | None) -> tuple[list[Entry], str]:
    """Return the patterns of a file and their dialect."""
    kind = broker or broker_of(path)
    if kind == "rabbitmq":
        raise OptionError(
            f"{path}: is JSON without access rules or users: name it .json, if it is a broker's definitions"
        )
    if kind not in CONFIGURED:
        raise OptionError(
            f"{path}: holds rules whose order decides: 'dfa-router permissions {path}' tells what they do; lint reads configuration "
            f"of {' and '.join(CONFIGURED)}"
        )
    entries = list(_of_nats(path) if kind == "nats" else _of_mosquitto(path))
    if not entries:
        raise BindingError(f"{path}: has no patterns; name a file with access rules, bridges or users")
    return entries, CONFIGURED[kind]


def _of_mosquitto(path: Path) -> Iterator[Entry]:
    text = rules_text(path)
    if any(line.split()[:1] == ["connection"] for line in text.split("\n")):
        yield from bridged(text, str(path))
        return
    for one in access_list(path).rules:
        owner = "everybody" if one.pattern else one.user or "who gives no name"
        yield one.topic, f"{owner} {one.access}", one.line


def _of_nats(path: Path) -> Iterator[Entry]:
    for user in nats_users(path):
        where = f"{user.name} of account {user.account}" if user.account else user.name
        for kind in ("publish", "subscribe"):
            for verb in ("allow", "deny"):
                for subject in getattr(getattr(user, kind), verb):
                    yield subject, f"{where} {kind} {verb}", user.line
