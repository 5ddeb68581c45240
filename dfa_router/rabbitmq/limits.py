"""What a queue does with messages in time: expiry, length limits and dead-lettering. Shown, and not simulated.

A queue's arguments and the one policy that applies to it may both set a limit; of numbers the smaller one holds, and of names
the argument's. A queue whose messages live 0 ms, or of which it may have none, holds none: a message that nobody consumes when it
comes is gone, refused, or goes to the dead-letter exchange.

What this leaves out: operator policies, which may set smaller limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["QueueLimits", "limits_of", "limits_refused"]

_OVERFLOWS = ("drop-head", "reject-publish", "reject-publish-dlx")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """The limits of a queue; None where there is none."""

    message_ttl: int | None = None
    """Milliseconds that a message may live in the queue."""
    expires: int | None = None
    """Milliseconds that the queue may be unused before it is removed."""
    max_length: int | None = None
    max_length_bytes: int | None = None
    overflow: str | None = None
    """``drop-head``, ``reject-publish`` or ``reject-publish-dlx``; None is the first."""
    dead_letter_exchange: str | None = None
    """Where messages go that expire, are rejected or are too many; ``""`` is the default exchange."""
    dead_letter_routing_key: str | None = None
    """The key that they have there; None is their own."""

    @property
    def hold_nothing(self) -> bool:
        """Whether no message stays in a classic or quorum queue."""
        return 0 in (self.message_ttl, self.max_length, self.max_length_bytes)

    def lines(self) -> tuple[str, ...]:
        """Return the limits as a picture shows them, such as ``message-ttl 0``."""
        return tuple(
            f"{name.replace('_', '-')} {getattr(self, name)}"
            for name in self.__slots__
            if getattr(self, name) is not None and not name.startswith("dead_letter")
        )


_TEXTS = ("overflow", "dead_letter_exchange", "dead_letter_routing_key")


def limits_of(arguments: Mapping[str, Any], policy: Mapping[str, Any]) -> QueueLimits:
    """Return the limits of a queue with these arguments, to which a policy of this definition applies.

    >>> limits_of({"x-message-ttl": 0, "x-expires": 9}, {"message-ttl": 5, "max-length": 7}).lines()
    ('message-ttl 0', 'expires 9', 'max-length 7')
    """
    found: dict[str, Any] = {}
    for name in QueueLimits.__slots__:
        key = name.replace("_", "-")
        own, general = arguments.get(f"x-{key}"), policy.get(key)
        kind = str if name in _TEXTS else int
        given = [one for one in (own, general) if isinstance(one, kind) and not isinstance(one, bool)]
        if given:
            found[name] = min(given) if kind is int else given[0]
    return QueueLimits(**found)


def limits_refused(given: Mapping[str, Any], prefix: str = "") -> str | None:
    """Return why a broker refuses these arguments of a queue, whose names begin with ``x-``, or this definition of a policy, or None.

    >>> limits_refused({"x-message-ttl": "5000"}, "x-")
    "x-message-ttl is '5000': it takes a whole number of at least 0"
    """
    for slot in QueueLimits.__slots__:
        name = prefix + slot.replace("_", "-")
        if name not in given:
            continue
        value = given[name]
        least = 1 if slot == "expires" else 0
        if slot == "overflow":
            right, taken = value in _OVERFLOWS, f"one of {', '.join(_OVERFLOWS)}"
        elif slot in _TEXTS:
            right, taken = isinstance(value, str), "a text"
        else:
            right = isinstance(value, int) and not isinstance(value, bool) and value >= least
            taken = f"a whole number of at least {least}"
        if not right:
            return f"{name} is {value!r}: it takes {taken}"
    if prefix and f"{prefix}dead-letter-routing-key" in given and f"{prefix}dead-letter-exchange" not in given:
        return f"{prefix}dead-letter-routing-key stands without {prefix}dead-letter-exchange"
    return None
