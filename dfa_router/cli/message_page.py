"""A page for a message on its way through a topology: each exchange that it visits opens its automaton."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfa_router.errors import OptionError
from dfa_router.inspection.arrows import destination_of
from dfa_router.inspection.way import language_of, way
from dfa_router.rabbitmq import Route, Topology

if TYPE_CHECKING:
    from viz.page.lessons import Part

__all__ = ["message_parts"]


def message_parts(topology: Topology, exchange: str, vhost: str, key: str, cache_bytes: int) -> list[Part]:
    """Return a paragraph for each exchange that a message visits, with its bindings to step through, and one for who gets it.

    Of an exchange with more patterns than a page can show, those that decided come first and the rest is cut. Raises
    :class:`OptionError` for a message that visits no exchange with patterns, and what :meth:`Topology.route` raises.
    """
    from viz.page.lessons import Part, fragment
    from viz.page.site import as_is
    from viz.patterns import MAX_PATTERNS
    from viz.text import counted, elided, visible

    found = way(topology, exchange, key, vhost)
    route, decided = found.route, set(found.route.bindings)
    parts = []
    for hop in found.hops:
        name, kind = hop.exchange, hop.type
        own = [(i, one) for i, one in enumerate(topology.bindings) if (one.source, one.vhost) == (name, vhost)]
        taken = [
            f"{as_is(destination_of(one))} by `{as_is(_spelt(one.routing_key))}`" for i, one in own if i in decided
        ]
        text = f"{as_is(_named(name))}, of type {as_is(str(kind))}, has {counted(len(own), 'binding')}. "
        if hop.remark is not None:
            text += f"It {as_is(hop.remark)}."
        else:
            text += f"It leads on to {', '.join(taken)}." if taken else "None of them matches."
        language = language_of(topology, name, vhost)
        if language is None or not own:
            parts.append(Part(text if language else f"{text} They are no patterns of the routing key."))
            continue
        own.sort(key=lambda entry: entry[0] not in decided)
        patterns = tuple(dict.fromkeys(one.routing_key for _, one in own))
        if len(patterns) > MAX_PATTERNS:
            text += f" The page shows {MAX_PATTERNS} of its {len(patterns):,} patterns; those that match come first."
        shows = fragment(patterns[:MAX_PATTERNS], key, dialect=language, cache=cache_bytes)
        parts.append(Part(text, shows, f"Open {elided(visible(name), 40) or 'it'}"))
    if not any(part.shows for part in parts):
        visited = ", ".join(map(_named, route.exchanges))
        raise OptionError(f"the message visits no exchange with patterns: {visited}; choose another one")
    unknown = f" Not simulated: {', '.join(route.not_simulated)}." if route.not_simulated else ""
    parts.append(Part(as_is(f"{_held(route)}{unknown}")))
    return parts


def _named(exchange: str) -> str:
    return exchange or "(default)"


def _spelt(routing_key: str) -> str:
    return routing_key or '""'


def _held(route: Route) -> str:
    """Tell which queues have the message, and of which destinations one has it."""
    if not route.one_of:
        return f"The message is in {', '.join(route.queues) or 'no queue'}."
    certain = f"The message is in {', '.join(route.queues)}. " if route.queues else ""
    choices = (
        f"{choice.exchange} hands it to one of {', '.join(map(destination_of, choice.candidates))}."
        for choice in route.one_of
    )
    return certain + " ".join(choices)
