"""The answer for one message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Candidate", "OneOf", "Route"]


class Candidate(NamedTuple):
    """One of the destinations of which an exchange takes one for each message."""

    destination: str
    destination_type: str
    """``queue`` or ``exchange``; what an exchange then does with the message is not part of the answer."""
    share: float
    """The part of many messages that it gets; the shares of an exchange add up to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf:
    """An exchange that hands the message to one of its destinations, and nobody can tell which."""

    exchange: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Who gets one message."""

    queues: tuple[str, ...]
    """The queues that get a copy, sorted."""
    not_simulated: tuple[str, ...] = ()
    """Exchanges on the way whose type is not simulated, or that go by headers which are not known, sorted: there may be more
    queues behind them."""
    exchanges: tuple[str, ...] = ()
    """The exchanges that the message visits, in order."""
    bindings: tuple[int, ...] = ()
    """The bindings that decided: positions in ``Topology.bindings``, which is the file's order, ascending. Of bindings of
    an exchange that demand the same and lead to the same, the first."""
    one_of: tuple[OneOf, ...] = ()
    """Choices that the broker makes and nobody can foretell; one of the candidates of each gets a copy."""
    unheld: tuple[str, ...] = ()
    """Those of the queues, and of the candidates, that hold no message, as their messages expire at once (``x-message-ttl: 0``) or none may be there (``x-max-length: 0``):
    only who consumes at that moment gets it."""

    @property
    def routed(self) -> bool:
        """Whether any queue gets the message, as far as it is simulated."""
        return bool(
            self.queues or any(one.destination_type == "queue" for choice in self.one_of for one in choice.candidates)
        )
