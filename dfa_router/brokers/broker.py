"""What the live brokers have in common: their interface, and how a refusal is traced to its pattern or key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import TracebackType
from typing import Protocol, Self

from dfa_router.brokers.address import Address
from dfa_router.brokers.stream import LostError
from dfa_router.errors import EnvironmentLacksError, OptionError
from dfa_router.target import Answers, Refused, Target, TargetFailure

__all__ = ["Asking", "Broker", "encoded", "failure", "gathered", "stray", "unwelcome", "words"]

_NOT_LET_IN = ("ACCESS_REFUSED", "NOT_ALLOWED", "Authorization", "Authentication", "0x86", "0x87", "0x8a")
"""Texts by which the three protocols tell of a wrong password, an unknown vhost, or a user without permission."""


_NO_PERMISSION = re.compile("ACCESS_REFUSED - (\\w+ )?access to (exchange|queue) ")
"""By which RabbitMQ tells that a user may not use what holds a round; of a pattern or key it says ``access to topic``."""


class Broker(Target, Protocol):
    """A running broker as a target."""

    def describe(self) -> str:
        """Return product and version, as the broker reports them."""

    def minds(self, patterns: Sequence[str], keys: Sequence[str]) -> str | None:
        """Offer the broker all of these at once, without consumers; return its words if it refuses any, else None."""

    def refusal(self, pattern: str) -> str | None:
        """Offer the broker one pattern; return its words if it refuses it, else None."""

    def key_refusal(self, key: str) -> str | None:
        """Offer the broker one routing key, topic or subject; return its words if it refuses it, else None."""

    def __enter__(self) -> Self:
        """Return the broker itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""


class Asking:
    """The methods of a broker that follow from its ``minds`` and ``close``."""

    def minds(self, patterns: Sequence[str], keys: Sequence[str]) -> str | None:
        """See :meth:`Broker.minds`; raises Refused for a text that the protocol cannot carry, before anything is sent."""
        raise NotImplementedError

    def close(self) -> None:
        """Remove what is held outside of this process."""
        raise NotImplementedError

    def refusal(self, pattern: str) -> str | None:
        """Offer the broker one pattern; return its words if it refuses it, else None."""
        try:
            return self.minds([pattern], [])
        except Refused as refused:
            return refused.reason

    def key_refusal(self, key: str) -> str | None:
        """Offer the broker one routing key, topic or subject; return its words if it refuses it, else None."""
        try:
            return self.minds([], [key])
        except Refused as refused:
            return refused.reason

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


def failure(broker: Broker, lost: LostError, patterns: Sequence[str], keys: Sequence[str]) -> Refused | TargetFailure:
    """Return why a round failed: which pattern or key the broker refuses, or that it hung or died.

    A round is sent in one piece, so the broker's answer does not tell which of its lines it refused. The answer may even
    be lost: a socket that is closed with unread data resets the connection, and we may see the reset first. So the
    patterns and then the keys are offered again, by halves, until one is left.

    Raises :class:`OptionError` where the user lacks permissions.
    """
    _permitted(broker, lost.reason)
    try:
        if lost.kind == "died":
            position, reason = _first_refused(patterns, lambda some: broker.minds(some, []))
            if reason is not None:
                return Refused(reason, pattern=position)
            position, reason = _first_refused(keys, lambda some: broker.minds([], some))
            if reason is not None:
                return Refused(reason, key=position)
    except TargetFailure as other:
        return TargetFailure(other.kind, other.reason, patterns, keys)
    return TargetFailure(lost.kind, f"{broker.name}: {lost.reason}", patterns, keys)


def _first_refused(texts: Sequence[str], minds: Callable[[Sequence[str]], str | None]) -> tuple[int, str | None]:
    """Return the position of the first text that is refused and the broker's words; (0, None) if none is."""
    if not texts or minds(texts) is None:
        return 0, None
    begin, end = 0, len(texts)
    while end - begin > 1:
        middle = (begin + end) // 2
        begin, end = (middle, end) if minds(texts[begin:middle]) is None else (begin, middle)
    return begin, minds(texts[begin:end])


def words(broker: Broker, lost: LostError, again: Callable[[], object]) -> str:
    """Return the words with which the broker closed the connection, if ``again`` shows that it still runs.

    Raises:
        TargetFailure: it hung or died, so this was no refusal.
        OptionError: the user lacks permissions, so this was no refusal of what was offered.

    """
    _permitted(broker, lost.reason)
    try:
        if lost.kind == "died":
            again()
            return lost.reason
    except LostError as other:
        lost = other
    raise TargetFailure(lost.kind, f"{broker.name}: {lost.reason}") from None


def _permitted(broker: Broker, reason: str) -> None:
    if _NO_PERMISSION.search(reason):
        raise OptionError(
            f"{broker.name} does not let this user ask anything ({reason}): check its permissions to configure, write and read "
            f"dfa-router.*"
        )


def unwelcome(address: Address, lost: LostError, start_it: str) -> OptionError | EnvironmentLacksError:
    """Return the error for a broker to which one cannot connect: it denies access, or nothing speaks the protocol there."""
    if any(saying in lost.reason for saying in _NOT_LET_IN):
        what = "user, password and vhost" if address.scheme == "amqp" else "user and password"
        return OptionError(f"{address} does not let us in ({lost.reason}): check {what}")
    return EnvironmentLacksError(f"no {address.scheme} broker answers at {address} ({lost.reason}): {start_it}")


def encoded(text: str) -> bytes | None:
    r"""Return the text as UTF-8, or None where it has none: a lone surrogate.

    >>> encoded("ü"), encoded("\ud800")
    (b'\xc3\xbc', None)
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def gathered(deliveries: list[list[int]], broker: Broker, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
    """Return the positions of each key ascending; raises TargetFailure where one is no pattern's, or came twice."""
    answers = []
    for key, positions in zip(keys, deliveries, strict=True):
        positions.sort()
        if positions and not 0 <= positions[0] <= positions[-1] < len(patterns):
            raise stray(broker, key, patterns, keys)
        if len(set(positions)) < len(positions):
            twice = next(a for a, b in pairwise(positions) if a == b)
            reason = f"{broker.name}: key {key!r} was delivered twice for the one subscription {patterns[twice]!r}"
            raise TargetFailure("nonsense", reason, patterns, keys)
        answers.append(tuple(positions))
    return answers


def stray(
    broker: Broker, key: str, patterns: Sequence[str], keys: Sequence[str], *, everybody: bool = False
) -> TargetFailure:
    """Return the failure of a broker that delivers for a subscription of an earlier round, or for the one that tells us the end of a round.

    ``everybody`` tells that each key was delivered for each subscription, and for that one.
    """
    if everybody:
        reason = "every key was delivered for every subscription, also for one to another topic: it gives everything to everybody"
    else:
        reason = f"key {key!r} was delivered for a subscription of none of the patterns: one that had ended, or one to another topic"
    return TargetFailure("nonsense", f"{broker.name}: {reason}", patterns, keys)
