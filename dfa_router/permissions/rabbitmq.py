"""RabbitMQ's permissions: who may bind what, and so who can get which key.

Names are guarded by three regular expressions for each user and vhost (configure, write, read), topic exchanges by two more
(write, tested on the routing key of a message, and read, tested on the *text* of a binding key). Where a user has none for an
exchange, everything is allowed. All are searched for, not anchored, and the empty one stands for ``^$``: it allows the empty text
alone. In those for topics ``{username}``, ``{vhost}`` and ``{client_id}`` stand for what they say, the last for clients of MQTT only: of
others it is text.

Source: the broker's documentation of access control, and the broker, asked. What this leaves out: tags, other back ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dfa_router.permissions.expressions import Expression, expression
from dfa_router.permissions.leaks import Leak, leak
from dfa_router.rabbitmq.declared import Exchange
from dfa_router.reference.naive import matches

__all__ = ["Permission", "TopicPermission", "may_receive", "read_leak", "refusal"]

_NOTHING = "^$"
"""What the broker reads in place of an empty expression."""

_DEFAULT = "amq.default"
"""What permissions call the default exchange."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What a user may do with names of a vhost."""

    user: str
    vhost: str = "/"
    configure: str
    write: str
    read: str

    def allows(self, operation: str, name: str) -> bool:
        """Tell whether ``configure``, ``write`` or ``read`` of a name is allowed."""
        pattern: str = getattr(self, operation)
        return expression(pattern or _NOTHING).matches(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPermission:
    """What a user may publish to a topic exchange, and bind to it."""

    user: str
    vhost: str = "/"
    exchange: str
    write: str
    read: str

    def may_publish(self, key: str, client_id: str | None = None) -> bool:
        """Tell whether the user may publish with a routing key; ``client_id`` is that of a client of MQTT.

        >>> rule = TopicPermission(user="ann", exchange="events", write="^{client_id}[.]", read="")
        >>> rule.may_publish("c7.on", "c7"), rule.may_publish("c7.on"), rule.may_bind("#")
        (True, False, False)
        """
        return self.writing(client_id).matches(key)

    def may_bind(self, binding: str, client_id: str | None = None) -> bool:
        """Tell whether the user may bind a queue with a binding key."""
        return self.reading(client_id).matches(binding)

    def writing(self, client_id: str | None = None) -> Expression:
        """Return what routing keys are asked."""
        return self._expression(self.write, client_id)

    def reading(self, client_id: str | None = None) -> Expression:
        """Return what binding keys are asked."""
        return self._expression(self.read, client_id)

    def _expression(self, pattern: str, client_id: str | None) -> Expression:
        pattern = pattern or _NOTHING
        # In the broker's order, in which it finds the later names in the earlier values, too.
        values = {"{client_id}": client_id, "{username}": self.user, "{vhost}": self.vhost}
        for name, value in values.items():
            if value is not None:
                pattern = pattern.replace(name, value)
        return expression(pattern)


def refusal(
    names: Sequence[Permission],
    topics: Sequence[TopicPermission],
    user: str,
    exchange: Exchange,
    key: str,
    *,
    operation: Literal["write", "read"] = "write",
    client_id: str | None = None,
) -> str | None:
    """Return why the broker refuses that a user publishes (``write``) or binds (``read``) with a key, or None if it does not.

    ``names`` and ``topics`` are all permissions of the broker. Those for topics are asked of exchanges of type ``topic`` alone,
    delayed ones not among them. Who binds also needs the permission to write to the queue, which is not asked here.
    """
    number = next((i for i, one in enumerate(names) if (one.user, one.vhost) == (user, exchange.vhost)), None)
    if number is None:
        return f"{user!r} has no permissions in vhost {exchange.vhost!r}"
    publishes = operation == "write"
    if not names[number].allows(operation, exchange.name or _DEFAULT):
        may_not = "write to" if publishes else "read from"
        pattern = names[number].write if publishes else names[number].read
        return f"{user!r} may not {may_not} exchange {exchange.name!r}: {pattern!r} (permissions[{number}]) does not match its name"
    place = user, exchange.vhost, exchange.name
    for at, topic in enumerate(topics if exchange.type == "topic" else ()):
        allows = topic.may_publish if publishes else topic.may_bind
        if (topic.user, topic.vhost, topic.exchange) == place and not allows(key, client_id):
            pattern = topic.write if publishes else topic.read
            return (
                f"{user!r} may not {'publish' if publishes else 'bind'} {key!r}: {pattern!r} (topic_permissions[{at}]) does not "
                "match it"
            )
    return None


def may_receive(permission: TopicPermission, key: str, bindings: tuple[str, ...]) -> str | None:
    """Return the first of some binding keys that the user may bind and that gets a key, or None."""
    allowed = (one for one in bindings if permission.may_bind(one))
    return next((one for one in allowed if matches(one.encode(), key.encode())), None)


def read_leak(permission: TopicPermission) -> Leak | None:
    """Return a shortest binding that the user may make, and a key it gets that the read expression does not match."""
    return leak(permission.reading())
