"""A live RabbitMQ: topologies are declared there, messages published, and queues read."""

from __future__ import annotations

import json
import secrets
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pamqp import commands

from benchmarks.verification.topologies.drawing import Drawn
from benchmarks.verification.topologies.frames import (
    bind,
    consume,
    declare_exchange,
    declare_queue,
    delete_exchange,
    delete_queue,
    publish,
)
from dfa_router.brokers.address import Address
from dfa_router.brokers.amqp_channel import Channel, method
from dfa_router.brokers.stream import LostError
from dfa_router.errors import EnvironmentLacksError
from dfa_router.rabbitmq import Policy

__all__ = ["Live"]

ALWAYS = ["direct", "fanout", "topic", "headers"]
BY_PLUGIN = ["x-consistent-hash", "x-random", "x-modulus-hash", "x-recent-history"]
LAST = b"end"


class Live:
    """Vhosts of our own on a broker of this machine, with a channel to each; :meth:`close` removes them."""

    def __init__(self, address: Address, names: Sequence[str]) -> None:
        """Make the vhosts; raises :class:`EnvironmentLacksError` where that cannot be done."""
        self._address = address
        self._channels: dict[str, Channel] = {}
        self.tag = f"dfa-{secrets.token_hex(4)}."
        self.vhosts = [f"{self.tag}{name}" for name in names]
        user = address.user or "guest"
        permissions = [
            {"user": user, "vhost": name, "configure": ".*", "write": ".*", "read": ".*"} for name in self.vhosts
        ]
        self._import({"vhosts": [{"name": name} for name in self.vhosts], "permissions": permissions})
        try:
            self.version = self._channel(self.vhosts[0]).product.rpartition(" ")[2]
            self.types = [*ALWAYS, *(kind for kind in BY_PLUGIN if self._has(kind))]
        except BaseException:
            self.close()
            raise

    def set_policies(self, policies: Sequence[Policy]) -> None:
        """Set policies, in place of those of the same names."""
        entries = [
            {
                "vhost": one.vhost,
                "name": one.name,
                "pattern": one.pattern,
                "apply-to": one.apply_to,
                "priority": one.priority,
                "definition": dict(one.definition),
            }
            for one in policies
        ]
        self._import({"policies": entries})

    def answer(self, drawn: Drawn) -> list[tuple[str, ...]]:
        """Return the queues that got each message, a name for each copy, sorted."""
        got: list[list[str]] = [[] for _ in drawn.messages]
        for vhost in dict.fromkeys(one.vhost for one in drawn.topology.queues):
            self._in_vhost(drawn, vhost, got)
        return [tuple(sorted(names)) for names in got]

    def close(self) -> None:
        """Remove the vhosts."""
        for channel in self._channels.values():
            channel.leave()
        for vhost in self.vhosts:
            with suppress(EnvironmentLacksError):
                _ctl("delete_vhost", vhost)

    def _in_vhost(self, drawn: Drawn, vhost: str, got: list[list[str]]) -> None:
        """Declare, publish and read, all in one go; names of the queues go to ``got``."""
        topology = drawn.topology
        exchanges = [one for one in topology.exchanges if one.vhost == vhost and one.name.startswith(self.tag)]
        queues = [one for one in topology.queues if one.vhost == vhost]
        parts = [declare_exchange(one) for one in exchanges]
        parts += [declare_queue(one) for one in queues]
        parts += [bind(one) for one in topology.bindings if one.vhost == vhost]
        parts += [
            publish(message.exchange, message.key, str(number).encode(), message.headers)
            for number, message in enumerate(drawn.messages)
            if message.vhost == vhost
        ]
        parts += [consume(one.name) for one in queues]  # only now: a queue that holds nothing hands on what it gets
        parts += [publish("", one.name, LAST) for one in queues]  # a channel's messages keep their order in a queue
        unfinished = len(queues)

        def deliver(tag: bytes, text: bytes) -> bool:
            nonlocal unfinished
            if text == LAST:
                unfinished -= 1
            else:
                got[int(text)].append(tag.decode())
            return not unfinished

        channel = self._channel(vhost)
        channel.deliveries(b"".join(parts), deliver)
        parts = [delete_queue(one.name) for one in queues]
        parts += [delete_exchange(one.name, nowait=number > 0) for number, one in reversed(list(enumerate(exchanges)))]
        channel.ask(b"".join(parts), commands.Exchange.DeleteOk)

    def _channel(self, vhost: str) -> Channel:
        if vhost not in self._channels:
            self._channels[vhost] = Channel(replace(self._address, vhost=vhost), f"{self.tag}{vhost}")
        return self._channels[vhost]

    def _has(self, kind: str) -> bool:
        """Tell whether the broker has an exchange type; one that it has not ends the connection."""
        name = f"{self.tag}type"
        channel = self._channel(self.vhosts[0])
        try:
            channel.ask(
                method(commands.Exchange.Declare(exchange=name, exchange_type=kind)), commands.Exchange.DeclareOk
            )
            channel.ask(method(commands.Exchange.Delete(exchange=name)), commands.Exchange.DeleteOk)
        except LostError:
            channel.close()
            del self._channels[self.vhosts[0]]
            return False
        return True

    def _import(self, definitions: dict[str, Any]) -> None:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(json.dumps(definitions).encode())
            file.flush()
            Path(file.name).chmod(0o644)  # rabbitmqctl may run as another user
            _ctl("import_definitions", file.name)


def _ctl(*arguments: str) -> None:
    """Run rabbitmqctl, which talks to the node of this machine."""
    try:
        done = subprocess.run(["rabbitmqctl", "-q", *arguments], capture_output=True, timeout=120, check=False)
    except FileNotFoundError:
        raise EnvironmentLacksError("there is no rabbitmqctl here, which makes vhosts and policies") from None
    if done.returncode:
        raise EnvironmentLacksError(f"rabbitmqctl {arguments[0]} fails: {(done.stderr or done.stdout).decode()[-300:]}")
