"""What a broker would say about one key, by the rules of a file: the answers of ``dfa-router permissions --user --key``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dfa_router.errors import InputError, OptionError
from dfa_router.language.dialects import MQTT
from dfa_router.permissions.emqx import Client
from dfa_router.permissions.files import (
    access_list,
    broker_of,
    emqx_rules,
    name_permissions,
    nats_users,
    topic_permissions,
)
from dfa_router.permissions.nats import may_publish, may_receive, may_subscribe
from dfa_router.permissions.rabbitmq import TopicPermission, refusal
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, load_definitions, topology_of
from dfa_router.rabbitmq.names import near
from dfa_router.reference.naive import matches
from dfa_router.short_strings import fault_of

__all__ = ["verdicts"]


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

    Of a definitions file, the permissions for names and topics are asked: of all exchanges that the user has topic permissions
    for, unless ``vhost`` and ``exchange`` name one. Whether the user may write to the queue that is bound is not known.
    ``broker`` and ``no_match`` are those of :func:`~dfa_router.permissions.passages.passages`. Raises ``InputError`` for a file that
    cannot be read as rules, and for a user or an exchange that a definitions file or the configuration of NATS does not name.
    """
    kind = broker or broker_of(path)
    if kind == "rabbitmq":
        return _of_rabbitmq(path, client, key, binding, exchange=exchange, vhost=vhost)
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
    path: Path, client: Client, key: str, binding: str | None, *, exchange: str | None, vhost: str | None
) -> dict[str, bool]:
    user, client_id = client.user or "", client.client or None
    names, topics = name_permissions(path), topic_permissions(path)
    known = [(one.user, one.vhost) for one in names] + [(one.user, one.vhost) for one in topics]
    vhosts = list(dict.fromkeys(place for name, place in known if name == user))
    if not vhosts:
        raise InputError(f"{path}: has no permissions of a user {user!r}{near(user, (name for name, _ in known))}")
    topology = load_definitions(path, vhost or "/")
    found: dict[str, bool] = {}
    for one in _asked(topology, [one for one in topics if one.user == user], exchange, vhost, vhosts):
        where = (one.name or "the default exchange") + (f" in vhost {one.vhost}" if one.vhost != "/" else "")
        refused = refusal(names, topics, user, one, key, client_id=client_id)
        found[f"may publish {key} to {where}"] = refused is None and not one.internal
        if binding is not None:
            refused = refusal(names, topics, user, one, binding, operation="read", client_id=client_id)
            found[f"may bind {binding} to {where}"] = accepted = refused is None and one.name != ""
            gets = _gets(one, binding, key, topology.broker)
            if gets is not None:
                found[f"gets {key} by it from {where}"] = accepted and gets
    return found


def _gets(exchange: Exchange, binding: str, key: str, broker: str) -> bool | None:
    """Tell whether a queue that is bound so gets a key, or None where that hangs on more than the two."""
    if fault_of(binding) is not None:  # such as over 255 bytes: no broker takes it
        return False
    # Of a headers exchange the arguments decide, which nobody has told: with one, it asks for headers that are not known.
    unknown = {"unknown": True}
    bound = Binding(vhost=exchange.vhost, source=exchange.name, destination="q", routing_key=binding, arguments=unknown)
    queue, open_one = Queue(vhost=exchange.vhost, name="q"), replace(exchange, internal=False)
    alone = topology_of(exchanges=[open_one], queues=[queue], bindings=[bound], broker=broker)
    route = alone.route(exchange.name, key, exchange.vhost)
    return None if route.not_simulated or route.one_of else route.routed


def _asked(
    topology: Topology,
    topics: Sequence[TopicPermission],
    exchange: str | None,
    vhost: str | None,
    vhosts: Sequence[str],
) -> list[Exchange]:
    """Return the exchanges that are asked about: the named one, in each of some vhosts, or those that a user's topics are of."""
    if exchange is None:
        places = list(dict.fromkeys((one.exchange, one.vhost) for one in topics if vhost in (None, one.vhost)))
        if not places:
            raise OptionError(
                f"{topology.source}: the user has no topic permissions{'' if vhost is None else f' in vhost {vhost!r}'}: name an "
                "exchange with --exchange"
            )
    elif vhost is not None:
        places = [(exchange, vhost)]
    else:
        having = [one for one in vhosts if (one, exchange) in topology.exchanges_by_name]
        places = [(exchange, one) for one in having or vhosts[:1]]
    return [topology.exchange(name, where) for name, where in places]


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
