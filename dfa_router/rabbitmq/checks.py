"""What is odd about declarations, but can be routed: names that nobody declares, policies that contradict each other.

Real exports have such entries, so they are kept, and listed as warnings.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any, TypeVar

from dfa_router.errors import DefinitionsError
from dfa_router.rabbitmq.declared import (
    ALTERNATE,
    APPLIES_TO,
    Binding,
    Declarations,
    Exchange,
    Policy,
    Queue,
    TopologyWarning,
)
from dfa_router.rabbitmq.exchange_types import refusal_of
from dfa_router.rabbitmq.limits import limits_refused
from dfa_router.rabbitmq.policy_patterns import PolicyPattern, PolicyPatternError

__all__ = [
    "ADVICE",
    "SECTIONS",
    "Findings",
    "check_alternates",
    "check_bindings",
    "check_limits",
    "check_vhosts",
    "declared_once",
    "section_of",
]

SECTIONS: dict[type, str] = {Exchange: "exchanges", Queue: "queues", Binding: "bindings", Policy: "policies"}
"""The key of a definitions file under which values of a type stand."""

ADVICE = {
    "undeclared-vhost": "used, but not declared; it is routed in as if it were",
    "undeclared-queue": "bound, but not declared (an exclusive queue, or a typing error?); its copies are counted, "
    "but the default exchange does not know it; declare it to be sure",
    "undeclared-exchange": "used by a binding, but not declared (exports leave internal exchanges out); its type is "
    "unknown, so routes that reach it name it as not simulated; add it to the file with its type",
    "undeclared-alternate-exchange": "named as alternate exchange, but not declared; the broker drops what would go there",
    "repeated-declaration": "declared more than once; the first declaration is used, and of policies the last, as on import",
    "default-exchange-binding": "a binding from or to the default exchange, which takes none: the broker refuses to make it, and one to it "
    "that an import has made leads nowhere; remove it, and bind to an exchange of your own",
    "refused-binding": "a binding that the broker refuses, so it cannot be there; it is routed by as if it were: "
    "correct it, or remove it",
    "refused-declaration": "the broker refuses to declare it, so it cannot be there, and an import ends at it; what it says of messages is "
    "passed over: correct it, or remove it",
    "ambiguous-argument": "an export writes a header without a value as the text 'undefined', and binary as text, too; it is taken "
    "for that, but a broker that imports the file has the text: bind with a program where it shall be imported",
    "null-argument": "null in arguments, which no broker writes and at which an import ends; it is read as no value: "
    "take it out; a binding for a header without a value is made with a program",
    "default-alternate-exchange": "the alternate exchange has no name; the broker does not take that for the default exchange, "
    "and drops what would go there: name an exchange, or leave the entry out",
    "unreadable-policy": "its pattern is no regular expression that can be read here as the broker reads it; "
    "the policy is ignored: rewrite the pattern",
    "costly-policy": "its pattern takes more steps than the broker's PCRE allows, which a broker takes for no match; so "
    "it is taken here: rewrite the pattern so that no part of a name can match it in many ways, as in (a+)+",
    "tied-policies": "several policies of one priority match it and differ in the alternate exchange; the first in the "
    "file is used, but a broker may choose another: give them different priorities",
}
"""What each kind of warning means for routing, and what to do. Each is a rule of lint, too."""


class Findings:
    """Collects warnings: one per (kind, vhost, name), with what was found first and the number of places."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: dict[tuple[str, str, str], list[Any]] = {}

    def add(self, kind: str, vhost: str, name: str, place: str, detail: str = "") -> None:
        """Note that a place of the file has something odd, of a kind that has an advice, to which a detail is added."""
        entry = self._found.setdefault((kind, vhost, name), [place, 0, detail])
        entry[1] += 1

    def at(self, place: str) -> str:
        """Return a place with the name of its file, where it is known."""
        return f"{self.source}: {place}" if self.source else place

    def warnings(self) -> tuple[TopologyWarning, ...]:
        """Return what was noted, in the order in which it was first noted."""
        return tuple(
            TopologyWarning(
                kind=kind,
                vhost=vhost,
                name=name,
                place=self.at(place),
                count=count,
                advice=f"{ADVICE[kind]} ({detail})" if detail else ADVICE[kind],
                detail=detail,
            )
            for (kind, vhost, name), (place, count, detail) in self._found.items()
        )


_Declared = TypeVar("_Declared", Exchange, Queue)


def section_of(value: Exchange | Queue | Binding | Policy) -> str:
    """Return the section that a value stands in, also one of a derived type."""
    return next(section for kind, section in SECTIONS.items() if isinstance(value, kind))


def check_vhosts(
    sections: Sequence[Sequence[Exchange | Queue | Binding | Policy]], declared: Collection[str], findings: Findings
) -> None:
    """Note values of vhosts that are not declared."""
    for values in sections:
        for position, value in enumerate(values):
            if value.vhost not in declared:
                findings.add("undeclared-vhost", value.vhost, value.vhost, f"{section_of(value)}[{position}].vhost")


def declared_once(values: Sequence[_Declared], findings: Findings) -> tuple[_Declared, ...]:
    """Return the first declaration of each name, and note the others.

    Raises :class:`DefinitionsError` where two declarations of a name differ in the type.
    """
    first: dict[tuple[str, str], tuple[int, _Declared]] = {}
    for position, value in enumerate(values):
        earlier, kept = first.setdefault((value.vhost, value.name), (position, value))
        if earlier == position:
            continue
        section = section_of(value)
        place = f"{section}[{position}]"
        if kept.type != value.type:
            raise DefinitionsError(
                f"{findings.at(place)}.type: {section[:-1]} {value.name!r} of vhost {value.vhost!r} is {value.type!r} here "
                f"and {kept.type!r} in {section}[{earlier}]; a broker has one of them: remove the other"
            )
        findings.add("repeated-declaration", value.vhost, value.name, place)
    return tuple(value for _, value in first.values())


def check_bindings(declared: Declarations, findings: Findings) -> None:
    """Note exchanges and queues that bindings use and nobody declares, and bindings that the broker would refuse."""
    queues = {(queue.vhost, queue.name) for queue in declared.queues}
    exchanges = {(exchange.vhost, exchange.name) for exchange in declared.exchanges}
    for position, binding in enumerate(declared.bindings):
        vhost = binding.vhost
        if (vhost, binding.source) not in exchanges:
            findings.add("undeclared-exchange", vhost, binding.source, f"bindings[{position}].source")
        elif not binding.source and (binding.routing_key != binding.destination or binding.destination_type != "queue"):
            findings.add("default-exchange-binding", vhost, binding.destination, f"bindings[{position}]")
        elif binding.source and binding.destination_type == "exchange" and not binding.destination:
            findings.add("default-exchange-binding", vhost, binding.source, f"bindings[{position}]")
        source = declared.exchanges_by_name[vhost, binding.source]
        refusal = refusal_of(binding, source.type)
        if refusal is not None:
            findings.add("refused-binding", vhost, binding.source, f"bindings[{position}]", refusal)
        known = queues if binding.destination_type == "queue" else exchanges
        if (vhost, binding.destination) not in known:
            kind = f"undeclared-{binding.destination_type}"
            findings.add(kind, vhost, binding.destination, f"bindings[{position}].destination")


def check_limits(queues: Sequence[Queue], policies: Sequence[Policy], findings: Findings) -> None:
    """Note queues and policies that the broker refuses for their limits, and policies that it refuses for where they apply."""
    for position, queue in enumerate(queues):
        refusal = limits_refused(queue.arguments, "x-")
        if refusal is not None:
            findings.add("refused-declaration", queue.vhost, queue.name, f"queues[{position}].arguments", refusal)
    for position, policy in enumerate(policies):
        refusal, part = limits_refused(policy.definition), "definition"
        if policy.apply_to not in APPLIES_TO:
            refusal, part = f"it takes one of {', '.join(APPLIES_TO)}, and has {policy.apply_to!r}", "apply-to"
        elif not policy.definition:
            refusal = "it is empty"
        if refusal is not None:
            findings.add("refused-declaration", policy.vhost, policy.name, f"policies[{position}].{part}", refusal)


def check_alternates(declared: Declarations, findings: Findings) -> None:
    """Note policies that cannot be read or contradict each other, and alternate exchanges that nobody declares."""
    for position, policy in enumerate(declared.policies):
        if policy.decides_exchanges():
            try:
                PolicyPattern(policy.pattern)
            except PolicyPatternError as error:
                place = f"policies[{position}].pattern"
                findings.add("unreadable-policy", policy.vhost, policy.name, place, str(error))
    places: dict[tuple[str, str], int] = {}
    for position, policy in enumerate(declared.policies):
        if (policy.vhost, policy.name) in places:
            findings.add("repeated-declaration", policy.vhost, policy.name, f"policies[{position}]")
        places[policy.vhost, policy.name] = position
    by_policy = any(ALTERNATE in policy.definition for policy in declared.policies)
    for exchange in declared.exchanges:
        if not exchange.name or (not by_policy and ALTERNATE not in exchange.arguments):
            continue
        if ALTERNATE in exchange.arguments:
            place = f"exchanges[{declared.exchange_positions[exchange.vhost, exchange.name]}].arguments.{ALTERNATE}"
        else:
            for policy in declared.costly_policies(exchange):
                costly = f"policies[{places[policy.vhost, policy.name]}].pattern"
                findings.add("costly-policy", policy.vhost, policy.name, costly, f"first met at {exchange.name!r}")
            tied = next((list(group) for _, group in groupby(declared.matching_policies(exchange), _priority)), None)
            if tied is None:
                continue
            place = f"policies[{places[tied[0].vhost, tied[0].name]}].definition.{ALTERNATE}"
            if len({policy.definition.get(ALTERNATE) for policy in tied}) > 1:
                findings.add("tied-policies", exchange.vhost, exchange.name, place)
        alternate = declared.alternate_exchange(exchange)
        if alternate == "":
            findings.add("default-alternate-exchange", exchange.vhost, exchange.name, place)
        elif alternate is not None and (exchange.vhost, alternate) not in declared.exchanges_by_name:
            findings.add("undeclared-alternate-exchange", exchange.vhost, alternate, place)


def _priority(policy: Policy) -> int:
    return policy.priority
