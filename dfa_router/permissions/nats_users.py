"""The users of a NATS server's configuration, and what each may publish and subscribe to.

Users stand in ``authorization { users = [...] }`` and in the ``users`` of each of the ``accounts``; those without
``permissions`` have the ``default_permissions`` beside them, and without these may do everything. An empty list allows
everything, too.

What this leaves out, and refuses with its line: permissions for queue groups (``"jobs workers.*"``). ``allow_responses``, which
lets a service answer for a while, is passed over: replies count as published to no subject.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfa_router.errors import InputError
from dfa_router.language.dialects import NATS
from dfa_router.language.validity import pattern_problem
from dfa_router.permissions.nats import Subjects
from dfa_router.permissions.nats_config import Value, read_nats_config

__all__ = ["NatsUser", "read_nats_users"]

_ALL = Subjects()
_NAMES = ("user", "username", "nkey")
_KINDS = {"publish": "publish", "pub": "publish", "subscribe": "subscribe", "sub": "subscribe"}
_DEFAULTS = ("default_permissions", "default_permission", "permissions")


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsUser:
    """A user, and its rules."""

    name: str
    account: str | None = None
    publish: Subjects = _ALL
    subscribe: Subjects = _ALL
    line: int
    """Where its permissions stand, or itself if it has none of its own."""


def read_nats_users(text: str, source: str = "nats.conf") -> tuple[NatsUser, ...]:
    """Read the users of a configuration; raises ``InputError`` with the line and what is expected there, and for a file without users.

    >>> (ann,) = read_nats_users('authorization { users = [{user: ann, permissions: {sub: {deny: "*.secret"}}}] }')
    >>> ann.name, ann.subscribe
    ('ann', Subjects(allow=(), deny=('*.secret',)))
    """
    found = tuple(_Users(source).of_file(read_nats_config(text, source)))
    if not found:
        raise InputError(
            f"{source}: names no users: expected 'authorization' or 'accounts' with 'users'; rules in other places are not read here"
        )
    return found


class _Users:
    """Reads sections of a file, which errors name."""

    def __init__(self, source: str) -> None:
        self.source = source

    def of_file(self, top: Value) -> Iterator[NatsUser]:
        sections = self.map(top, "a configuration")
        if "authorization" in sections:
            yield from self.of_section(sections["authorization"], None)
        if "accounts" in sections and isinstance(sections["accounts"].content, dict):
            for name, account in sections["accounts"].content.items():
                if isinstance(account.content, dict):  # a list of nothing but keys declares an account without users
                    yield from self.of_section(account, name)

    def of_section(self, section: Value, account: str | None) -> Iterator[NatsUser]:
        entries = self.map(section, "a map with 'users'")
        names = _DEFAULTS if account is None else _DEFAULTS[:1]
        given = next((entries[name] for name in names if name in entries), None)
        default = {} if given is None else self.permissions(given)
        if account is None and isinstance(entries.get("user", section).content, str):
            yield NatsUser(name=str(entries["user"].content), line=entries["user"].line)
        users = entries.get("users")
        if users is None:
            return
        if not isinstance(users.content, list):
            raise self.refused(users, "a list of users, [{user: ...}, ...]")
        for one in users.content:
            fields = self.map(one, "a user, {user: ..., permissions: {...}}")
            name = next((fields[name].content for name in _NAMES if name in fields), None)
            if not isinstance(name, str):
                raise self.refused(one, "a user's name, 'user' or 'nkey'")
            own = fields.get("permissions", fields.get("permission"))
            rules = default if own is None else self.permissions(own)
            line = (one if own is None else own).line
            yield NatsUser(
                name=name,
                account=account,
                publish=rules.get("publish", _ALL),
                subscribe=rules.get("subscribe", _ALL),
                line=line,
            )

    def permissions(self, value: Value) -> dict[str, Subjects]:
        found = {}
        for name, rules in self.map(value, "permissions, {publish: ..., subscribe: ...}").items():
            kind = _KINDS.get(name.lower())
            if kind is not None:
                found[kind] = self.rules(rules)
            elif name.lower() not in ("allow_responses", "allow_response"):
                raise self.refused(rules, f"publish, subscribe or allow_responses instead of {name!r}")
        return found

    def rules(self, value: Value) -> Subjects:
        if not isinstance(value.content, dict):
            return Subjects(allow=self.subjects(value))
        unknown = next((name for name in value.content if name.lower() not in ("allow", "deny")), None)
        if unknown is not None:
            raise self.refused(value.content[unknown], f"'allow' or 'deny' instead of {unknown!r}")
        parts = {name.lower(): self.subjects(one) for name, one in value.content.items()}
        return Subjects(allow=parts.get("allow", ()), deny=parts.get("deny", ()))

    def subjects(self, value: Value) -> tuple[str, ...]:
        return tuple(self.subject(one) for one in (value.content if isinstance(value.content, list) else [value]))

    def subject(self, value: Value) -> str:
        if not isinstance(value.content, str) or not value.text:
            raise self.refused(value, "a subject, in quotes if it looks like a number")
        if " " in value.content.strip():
            raise self.refused(
                value, f"a subject alone: permissions for queue groups such as {value.content!r} are not read here"
            )
        problem = pattern_problem(value.content, NATS)
        if problem is not None:
            raise self.refused(value, f"a subject instead of {value.content[:60]!r}, which is refused: {problem}")
        return value.content

    def map(self, value: Value, what: str) -> dict[str, Value]:
        if not isinstance(value.content, dict):
            raise self.refused(value, what)
        return value.content

    def refused(self, value: Value, expected: str) -> InputError:
        return InputError(f"{self.source}:{value.line}: expected {expected}: correct it there")
