"""What a broker would say about one key, by the rules of a file: the answers of ``dfa-router permissions --user --key``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dfa_router.errors import InputError
from dfa_router.language.dialects import MQTT
from dfa_router.permissions.emqx import Client
from dfa_router.permissions.files import access_list, broker_of, emqx_rules, nats_users, topic_permissions
from dfa_router.permissions.nats import may_publish, may_receive, may_subscribe
from dfa_router.permissions.rabbitmq import TopicPermission
from dfa_router.reference.naive import matches

__all__ = ["verdicts"]

_ANYTHING = ".*"
"""What a user of RabbitMQ may publish and bind that has no topic permission for an exchange."""


def verdicts(
    path: Path,
    client: Client,
    key: str,
    *,
    binding: str | None = None,
    exchange: str | None = None,
    vhost: str | None = None,
    broker: str | None = None,
    no_match: bool = True,
) -> dict[str, bool]:
    """Return what the broker says, by question; ``binding`` is a subscription where the broker is not RabbitMQ.

    Of a definitions file, topic permissions of all vhosts and exchanges are asked unless ``vhost`` and ``exchange`` name one.
    ``broker`` and ``no_match`` are those of :func:`~dfa_router.permissions.passages.passages`. Raises ``InputError`` for a file that
    cannot be read as rules, and for a user that the configuration of NATS does not name.
    """
    kind = broker or broker_of(path)
    if kind == "rabbitmq":
        return _of_rabbitmq(topic_permissions(path), client, key, binding, exchange=exchange, vhost=vhost)
    if kind == "nats":
        return _of_nats(path, client.user or "", key, binding)
    if kind == "emqx":
        rules = emqx_rules(path, no_match=no_match)
        found = {f"may publish to {key}": rules.allows("publish", key, client)}
        asked = key if binding is None else binding
        found[f"may subscribe to {asked}"] = accepted = rules.allows("subscribe", asked, client)
        if binding is not None:
            found[f"gets {key} by it"] = accepted and matches(binding.encode(), key.encode(), MQTT)
        return found
    listed = access_list(path)
    return {
        f"may {what} {key}": listed.allows(what, key, user=client.user, client=client.client)
        for what in ("read", "write")
    }


def _of_rabbitmq(
    permissions: Sequence[TopicPermission],
    client: Client,
    key: str,
    binding: str | None,
    *,
    exchange: str | None,
    vhost: str | None,
) -> dict[str, bool]:
    user = client.user or ""
    named = [one for one in permissions if exchange in (None, one.exchange) and vhost in (None, one.vhost)]
    anything = TopicPermission(
        user=user, exchange=exchange or "any exchange", vhost=vhost or "/", write=_ANYTHING, read=_ANYTHING
    )
    found: dict[str, bool] = {}
    for one in [one for one in named if one.user == user] or [anything]:
        where = one.exchange if one.vhost == "/" else f"{one.exchange} in vhost {one.vhost}"
        found[f"may publish {key} to {where}"] = one.may_publish(key, client.client or None)
        if binding is not None:
            found[f"may bind {binding} to {where}"] = one.may_bind(binding, client.client or None)
    return found


def _of_nats(path: Path, user: str, key: str, binding: str | None) -> dict[str, bool]:
    users = nats_users(path)
    chosen = [one for one in users if one.name == user]
    if not chosen:
        raise InputError(f"{path}: has no user {user!r}: name one of {', '.join(repr(one.name) for one in users[:8])}")
    found: dict[str, bool] = {}
    for one in chosen:
        where = f" in account {one.account}" if one.account else ""
        asked = key if binding is None else binding
        found[f"may publish to {key}{where}"] = may_publish(one.publish, key)
        found[f"may subscribe to {asked}{where}"] = may_subscribe(one.subscribe, asked)
        if binding is not None:
            found[f"gets {key} by it{where}"] = may_receive(one.subscribe, binding, key)
    return found
