"""Bindings of internal exchanges that nothing reaches: clients cannot publish there, so other exchanges feed them, or dead letters.

Each exchange has *ways*: patterns of which the key of a message that gets there matches one. (A message with CC or BCC has several
keys; one may match before the exchange and another behind it, as findings say.) To where clients publish, or the broker does,
every key is a way, and so it is to where queues send dead letters, which a broker hands to internal exchanges, too. Behind a binding from
one exchange to another, the ways are narrowed by its pattern; behind an alternate exchange they stay as they are, since what
is left over may be anything. Where that would take too many patterns, or where an exchange's type does not go by the key
alone, every key is a way: then nothing is reported, and never too much.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler import CapacityError
from dfa_router.analysis.intersections import intersection
from dfa_router.language.convert import without_limits
from dfa_router.language.dialects import AMQP
from dfa_router.lint.findings import RULES, Finding
from dfa_router.rabbitmq import Topology

__all__ = ["lint_internal"]

_MOST_WAYS = 16
_ANY = ("#",)
_DIALECT = {"topic": "amqp", "direct": "exact"}
_UNLIMITED = without_limits(AMQP)
"""Ways of several bindings are patterns that may be longer than any of them."""

Place = tuple[str, str]


def lint_internal(topology: Topology) -> Iterator[Finding]:
    """Yield exchanges that no message reaches, and bindings of them that no message matches."""
    ways = _ways(topology)
    for exchange in topology.exchanges:
        if exchange.internal and not ways[exchange.vhost, exchange.name]:
            yield Finding(
                rule=RULES["unreachable-exchange"],
                place=f"exchanges[{topology.exchange_positions[exchange.vhost, exchange.name]}]",
                vhost=exchange.vhost,
                subject=exchange.name,
                message="it is internal, so no client publishes to it, and no binding, alternate exchange or dead letter "
                "leads to it with a key that can get there, those of CC and BCC left out: bind it, or remove it",
            )
    for number, binding in enumerate(topology.bindings):
        key = (binding.vhost, binding.source)
        reached = ways.get(key, _ANY)
        if reached and reached != _ANY and not _narrowed(topology, number, reached):
            yield Finding(
                rule=RULES["unreachable-binding"],
                place=f"bindings[{number}]",
                vhost=binding.vhost,
                subject=binding.routing_key,
                message=f"messages reach the internal exchange {binding.source!r} only with keys like {', '.join(reached[:4])}, none of "
                f"which it matches: {binding.destination!r} gets nothing by it, but for messages with another key in CC or BCC; correct "
                "the pattern, or one before it, unless CC or BCC is meant",
            )


def _ways(topology: Topology) -> dict[Place, tuple[str, ...]]:
    """Return under which patterns messages reach each exchange; none for what nothing reaches."""
    known = topology.exchanges_by_name
    # Into internal exchanges of its own, such as amq.rabbitmq.trace, the broker publishes itself.
    ways: dict[Place, tuple[str, ...]] = {
        place: () if exchange.internal and not exchange.name.startswith("amq.") else _ANY
        for place, exchange in known.items()
    }
    ways |= {place: _ANY for place in known if place in topology.dead_letter_exchanges}
    leads: dict[Place, list[int]] = {}
    for number, binding in enumerate(topology.bindings):
        if binding.destination_type == "exchange" and binding.source:  # no message follows one of the default exchange
            leads.setdefault((binding.vhost, binding.source), []).append(number)
    agenda = [place for place, found in ways.items() if found]
    while agenda:
        place = agenda.pop()
        targets = [
            ((place[0], topology.bindings[number].destination), _narrowed(topology, number, ways[place]))
            for number in leads.get(place, ())
        ]
        alternate = topology.alternate_exchange(known[place])
        if alternate is not None:
            targets.append(((place[0], alternate), ways[place]))
        for target, found in targets:
            if target in ways and not set(found) <= set(ways[target]) and ways[target] != _ANY:
                both = tuple(dict.fromkeys((*ways[target], *found)))
                ways[target] = both if len(both) <= _MOST_WAYS and "#" not in both else _ANY
                agenda.append(target)
    return ways


def _narrowed(topology: Topology, number: int, ways: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ways behind a binding."""
    binding = topology.bindings[number]
    kind = topology.exchanges_by_name[binding.vhost, binding.source].type
    if kind == "fanout":
        return ways
    if kind not in _DIALECT:
        return _ANY
    wild = {"*", "#"} & set(binding.routing_key.split("."))
    if kind == "direct" and wild:
        return _ANY  # a literal wildcard, which the patterns of a topic exchange cannot say
    try:
        found = [one for way in ways for one in intersection(way, binding.routing_key, _UNLIMITED, most=_MOST_WAYS)]
    except CapacityError:
        return _ANY
    return tuple(dict.fromkeys(found)) if len(found) <= _MOST_WAYS else _ANY
