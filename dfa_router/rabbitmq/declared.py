"""What a RabbitMQ broker has been told: exchanges, queues, bindings and policies of all vhosts, as plain values.

:class:`Declarations` holds what a definitions file says, in its order, and what every broker has without saying so (the
predeclared exchanges). It keeps names that are used but declared nowhere: real exports have them, because a broker
leaves internal exchanges and exclusive queues out of an export but not the bindings that use them. It answers what can be
looked up without routing anything: which exchange has a name, which policy applies to it, which alternate exchange it has.

What this leaves out: users, permissions, parameters and limits are never read into it, nor anything that does not
decide who gets a message (durability, TTLs, dead-lettering after delivery).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from compiler.once import once
from dfa_router.counted import counted
from dfa_router.errors import OptionError, UnknownNameError
from dfa_router.rabbitmq.limits import QueueLimits, limits_of
from dfa_router.rabbitmq.names import no_exchange, no_name
from dfa_router.rabbitmq.policy_patterns import PolicyPattern, PolicyPatternError
from dfa_router.rabbitmq.rules import NEWEST

__all__ = [
    "ALTERNATE",
    "APPLIES_TO",
    "Binding",
    "Declarations",
    "Exchange",
    "Policy",
    "Queue",
    "TopologyWarning",
    "predeclared_exchanges",
]

ALTERNATE = "alternate-exchange"
"""The argument of an exchange, and the key of a policy's definition, that names an alternate exchange."""


APPLIES_TO = ("all", "exchanges", "queues", "classic_queues", "quorum_queues", "streams")
"""What a policy may apply to; the last three since RabbitMQ 3.12."""

NO_LIMITS = QueueLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An exchange of a vhost."""

    vhost: str = "/"
    name: str
    type: str | None
    """The exchange type, or None for an exchange that bindings use and nobody declares."""
    internal: bool = False
    """Whether the broker refuses publications to it (bindings from other exchanges still reach it)."""
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue of a vhost."""

    vhost: str = "/"
    name: str
    type: str | None = None
    """``classic``, ``quorum``, ``stream``, or None where the file does not say."""
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A binding of a broker: from an exchange to a queue, or to another exchange, of the same vhost.

    Not to be confused with :class:`dfa_router.Binding`, a pattern and a destination: that is what a router of one
    exchange is compiled from, whichever broker the pattern is of.
    """

    vhost: str = "/"
    source: str
    destination: str
    destination_type: Literal["queue", "exchange"] = "queue"
    routing_key: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy: of those that match an object, the one with the highest priority applies, and it alone."""

    vhost: str = "/"
    name: str
    pattern: str
    """A regular expression of PCRE that is searched for in the object's name, byte by byte."""
    apply_to: str = "all"
    priority: int = 0
    definition: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def decides_exchanges(self) -> bool:
        """Tell whether it can apply to exchanges, and not to queues alone."""
        return self.apply_to in {"all", "exchanges"}

    def decides_queues(self, queue_type: str | None) -> bool:
        """Tell whether it can apply to queues of a type; None is that of classic ones."""
        kinds = {"quorum": "quorum_queues", "stream": "streams"}
        return self.apply_to in {"all", "queues", kinds.get(queue_type or "", "classic_queues")}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyWarning:
    """An entry of a definitions file that no broker would hold, or that a broker would treat in another way than it says."""

    kind: str
    """``undeclared-queue``, ``undeclared-exchange``, ``undeclared-vhost``, ``undeclared-alternate-exchange``,
    ``default-alternate-exchange``, ``repeated-declaration``, ``default-exchange-binding``, ``refused-binding``,
    ``refused-declaration``, ``ambiguous-argument``, ``null-argument``, ``unreadable-policy``, ``costly-policy`` or ``tied-policies``."""
    vhost: str
    name: str
    place: str
    """The file and the first place in it, such as ``defs.json: bindings[17].destination``."""
    count: int = 1
    """How many entries of the file are concerned."""
    advice: str
    """What it means for routing, and what to do; the detail at its end."""
    detail: str = ""
    """What in particular is odd, where the kind alone does not say it."""

    def place_in(self, source: str) -> str:
        """Return the place without the name of the file that it is in, where a topology's ``source`` says that."""
        return self.place.removeprefix(f"{source}: ")

    @property
    def others(self) -> str:
        """How many other places are concerned, as it stands behind the first one or what is said of it; nothing if there are none."""
        return f" (and {counted(self.count - 1, 'more place')})" if self.count > 1 else ""

    def __str__(self) -> str:
        return f"{self.place}{self.others}: {self.kind} {self.name!r} in vhost {self.vhost!r}: {self.advice}"


def predeclared_exchanges(vhost: str) -> tuple[Exchange, ...]:
    """Return the exchanges that every vhost has without their being listed in an export."""
    return (
        Exchange(vhost=vhost, name="", type="direct"),
        Exchange(vhost=vhost, name="amq.direct", type="direct"),
        Exchange(vhost=vhost, name="amq.fanout", type="fanout"),
        Exchange(vhost=vhost, name="amq.headers", type="headers"),
        Exchange(vhost=vhost, name="amq.match", type="headers"),
        Exchange(vhost=vhost, name="amq.rabbitmq.trace", type="topic", internal=True),
        Exchange(vhost=vhost, name="amq.topic", type="topic"),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Declarations:
    """Everything that decides who gets a message. Compares by identity."""

    vhosts: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    """Those that the file declares, then the predeclared ones of every vhost that it does not mention."""
    queues: tuple[Queue, ...]
    bindings: tuple[Binding, ...]
    """In the order of the file, so that ``bindings[17]`` is the file's ``bindings[17]``."""
    policies: tuple[Policy, ...] = ()
    warnings: tuple[TopologyWarning, ...] = ()
    source: str = ""
    """The file that it was read from."""
    broker: str = NEWEST
    """The version of RabbitMQ whose rules hold where versions differ."""
    exchange_positions: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Where the exchanges that the file declares stand in it, by (vhost, name); where several declare the same, the first."""

    @once
    def exchanges_by_name(self) -> Mapping[tuple[str, str], Exchange]:
        """The exchanges by (vhost, name), with those that bindings use and nobody declares (their type is None)."""
        known = {(exchange.vhost, exchange.name): exchange for exchange in self.exchanges}
        for binding in self.bindings:
            ends = [binding.source] + [binding.destination] * (binding.destination_type == "exchange")
            for name in ends:
                if (binding.vhost, name) not in known:
                    known[binding.vhost, name] = Exchange(vhost=binding.vhost, name=name, type=None)
        return known

    def exchange(self, name: str, vhost: str = "/") -> Exchange:
        """Return the exchange of that name.

        Raises :class:`UnknownNameError` where there is none; the text lists near names.
        """
        if no_name(vhost=vhost, exchange=name) is None and (vhost, name) in self.exchanges_by_name:
            return self.exchanges_by_name[vhost, name]
        raise UnknownNameError(no_exchange(name, vhost, self.vhosts, self.exchanges_by_name, self.source))

    def alternate_exchange(self, exchange: Exchange) -> str | None:
        """Return the name of the alternate exchange: the argument's, else that of the policy that applies, else None.

        Raises :class:`OptionError` for what is no exchange, such as its name; so do the methods that tell of policies.
        """
        _check_exchange(exchange)
        argument = exchange.arguments.get(ALTERNATE)
        if argument is not None:
            return str(argument)
        policy = self.policy(exchange)
        named = policy.definition.get(ALTERNATE) if policy else None
        return None if named is None else str(named)

    def policy(self, exchange: Exchange) -> Policy | None:
        """Return the one policy that applies to the exchange; of equal priorities the first in the file."""
        return next(self.matching_policies(exchange), None)

    def matching_policies(self, exchange: Exchange) -> Iterator[Policy]:
        """Yield the policies that match the exchange, the one that applies first."""
        _check_exchange(exchange)
        ranked = self._ranked_policies.get(exchange.vhost, ())
        return (policy for policy, pattern in ranked if pattern.search(exchange.name))

    def costly_policies(self, exchange: Exchange) -> Iterator[Policy]:
        """Yield the policies that would come before the one that applies, had their patterns not taken too many steps."""
        _check_exchange(exchange)
        for policy, pattern in self._ranked_policies.get(exchange.vhost, ()):
            found = pattern.search(exchange.name)
            if found is None:
                yield policy
            elif found:
                return

    def limits(self, vhost: str, queue: str) -> QueueLimits:
        """Return what a queue does with messages in time; nothing for one that nobody declares.

        Raises :class:`UnknownNameError` for what is no name.
        """
        if (wrong := no_name(vhost=vhost, queue=queue)) is not None:
            raise UnknownNameError(wrong)
        return self._limits.get((vhost, queue), NO_LIMITS)

    @once
    def unheld(self) -> frozenset[tuple[str, str]]:
        """The vhosts and names of queues that hold no message; streams keep their last segment whatever their limits are."""
        streams = {(queue.vhost, queue.name) for queue in self.queues if queue.type == "stream"}
        return frozenset(place for place, limits in self._limits.items() if limits.hold_nothing) - streams

    @once
    def dead_letter_exchanges(self) -> frozenset[tuple[str, str]]:
        """The vhosts and names of exchanges to which a queue sends its dead letters, whether or not they are declared."""
        return frozenset(
            (vhost, limits.dead_letter_exchange)
            for (vhost, _), limits in self._limits.items()
            if limits.dead_letter_exchange is not None
        )

    @once
    def _standing(self) -> tuple[Policy, ...]:
        """The policies without those that a later one of the same name replaces, as on import."""
        return tuple({(policy.vhost, policy.name): policy for policy in self.policies}.values())

    @once
    def _limits(self) -> Mapping[tuple[str, str], QueueLimits]:
        """The limits of the queues that have any."""
        ranked: dict[str, list[tuple[Policy, PolicyPattern]]] = {}
        for policy in sorted(self._standing, key=lambda policy: -policy.priority):
            if policy.apply_to != "exchanges":
                with suppress(PolicyPatternError):
                    ranked.setdefault(policy.vhost, []).append((policy, PolicyPattern(policy.pattern)))
        found = {}
        for queue in self.queues:
            applying = (
                policy.definition
                for policy, pattern in ranked.get(queue.vhost, ())
                if policy.decides_queues(queue.type) and pattern.search(queue.name)
            )
            limits = limits_of(queue.arguments, next(applying, {}))
            if limits != NO_LIMITS:
                found[queue.vhost, queue.name] = limits
        return found

    @once
    def _ranked_policies(self) -> Mapping[str, list[tuple[Policy, PolicyPattern]]]:
        ranked: dict[str, list[tuple[Policy, PolicyPattern]]] = {}
        for policy in sorted(self._standing, key=lambda policy: -policy.priority):
            if policy.decides_exchanges():
                with suppress(PolicyPatternError):  # which is a warning of the topology
                    ranked.setdefault(policy.vhost, []).append((policy, PolicyPattern(policy.pattern)))
        return ranked


def _check_exchange(exchange: object) -> None:
    if not isinstance(exchange, Exchange):
        raise OptionError(
            f"exchange is {exchange!r} ({type(exchange).__name__}): expected an Exchange, as topology.exchange(name) returns it"
        )
