"""The answer for one message."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Route"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Who gets one message."""

    queues: tuple[str, ...]
    """The queues that get a copy, sorted."""
    not_simulated: tuple[str, ...] = ()
    """Exchanges on the way whose type is not simulated, sorted: there may be more queues behind them."""
    exchanges: tuple[str, ...] = ()
    """The exchanges that the message visits, in order."""

    @property
    def routed(self) -> bool:
        """Whether any queue gets the message, as far as it is simulated."""
        return bool(self.queues)
