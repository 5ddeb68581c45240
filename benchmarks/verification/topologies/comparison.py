"""The broker's answer for each message held to ours."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.verification.topologies.drawing import (
    FEATURES,
    MESSAGES,
    Drawn,
    Published,
    draw,
    draw_policies,
    features_of,
)
from benchmarks.verification.topologies.live import Live
from dfa_router.brokers.address import Address
from dfa_router.rabbitmq import Policy, Route

__all__ = ["Compared", "Difference", "compare"]

VHOSTS = ["first.v", "second v", "dritter-ü"]
TOGETHER = 50
"""So many topologies have the same policies."""
WAYS = ("single", "relay", "hops")
LEAST = 0.1
"""The part of the topologies that each feature must be in."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A message that the broker handed to other queues than we say."""

    number: int
    """Of the topology."""
    message: Published
    way: str
    broker: tuple[str, ...]
    ours: str


@dataclass(kw_only=True)
class Compared:
    """What was compared."""

    product: str
    types: tuple[str, ...]
    seed: int
    topologies: int = 0
    messages: int = 0
    copies: int = 0
    unroutable: int = 0
    chosen: int = 0
    """Messages that met an exchange which takes one of its destinations."""
    features: Counter[str] = field(default_factory=Counter)
    """In how many topologies each is."""
    differences: list[Difference] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def rare(self) -> list[str]:
        """The features that are in too few topologies."""
        return sorted(name for name, count in self.features.items() if count < LEAST * self.topologies)


@contextmanager
def _live(address: Address) -> Iterator[Live]:
    live = Live(address, VHOSTS)
    try:
        yield live
    finally:
        live.close()


def compare(
    address: Address,
    *,
    topologies: int,
    seed: int,
    first: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Compared:
    """Declare ``topologies`` topologies, from number ``first`` on, and publish to each; the broker must be on this machine."""
    started = time.monotonic()
    with _live(address) as live:
        found = Compared(product=f"RabbitMQ {live.version}", types=tuple(live.types), seed=seed)
        found.features.update(dict.fromkeys((*FEATURES, *live.types), 0))
        policies: list[Policy] = []
        for number in range(first, first + topologies):
            if number % TOGETHER == 0 or number == first:
                policies = draw_policies(random.Random(f"{seed} {number // TOGETHER}"), live.vhosts, live.tag)
                live.set_policies(policies)
            drawn = draw(
                number,
                seed,
                vhosts=live.vhosts,
                policies=policies,
                types=live.types,
                tag=live.tag,
                broker=live.version,
            )
            _add(found, number, drawn, live.answer(drawn))
            if progress is not None:
                progress("topologies", number - first + 1, topologies)
    found.seconds = time.monotonic() - started
    return found


def _add(found: Compared, number: int, drawn: Drawn, answers: Sequence[tuple[str, ...]]) -> None:
    found.topologies += 1
    found.messages += MESSAGES
    found.features.update(features_of(drawn, found.types))
    topology, messages = drawn.topology, drawn.messages
    routes = [topology.route(one.exchange, one.key, vhost=one.vhost, headers=one.headers or None) for one in messages]
    columns = (
        [one.exchange for one in messages],
        [one.key for one in messages],
        [one.vhost for one in messages],
    )
    headers = [one.headers for one in messages]
    ways = {
        engine: topology.compile(engine=engine).route_columns(*columns, headers=headers) for engine in ("dfa", "naive")
    }
    for row, (message, route, got) in enumerate(zip(messages, routes, answers, strict=True)):
        found.copies += len(got)
        found.unroutable += not route.routed
        found.chosen += bool(route.one_of)
        said = {"single": _agrees(route, got)}
        for way, engine in (("relay", "dfa"), ("hops", "naive")):
            row_of = ways[engine]
            same = (
                tuple(row_of.queues[row].as_py()) == route.queues
                and [one["exchange"] for one in row_of.one_of[row].as_py()] == [one.exchange for one in route.one_of]
                and row_of.not_simulated[row].as_py() == list(route.not_simulated)
                and row_of.problem[row].as_py() is None
            )
            said[way] = None if same else f"{row_of.queues[row].as_py()} {row_of.problem[row].as_py()}"
        found.differences += [
            Difference(number=number, message=message, way=way, broker=got, ours=text)
            for way, text in said.items()
            if text is not None
        ]


def _agrees(route: Route, got: tuple[str, ...]) -> str | None:
    """Return what we say where the broker says otherwise, and else None."""
    sure = {name for name in route.queues if name not in route.unheld}
    chances = [{one.destination for one in choice.candidates} for choice in route.one_of]
    more = set(got) - sure
    agrees = (
        len(set(got)) == len(got)
        and sure <= set(got)
        and more <= set().union(*chances)
        and len(more) <= len(chances)
        and all(chance & {*got, *route.unheld} for chance in chances)
        and not route.not_simulated
    )
    return None if agrees else repr(route)
