"""NATS' permissions: subjects that a user may subscribe to, and which messages reach the subscription.

A server asks twice. When a client subscribes, an allowed subject must match the *text* of the subscription, if any are given,
and no denied one may; ``*`` and ``>`` in that text are words like any other. So a subscription ``a.b.>`` is made where ``a.*.*`` is
allowed, and gets more than that. A subscription that overlaps a denied subject is made as well, and
messages are asked again when they are delivered. Servers that forget the second question let a subscription ``foo.*`` get
``foo.secret`` against ``deny: *.secret``. :mod:`dfa_router.permissions.passages` finds both.

Source: the server's documentation of authorization, and the server, asked. What this leaves out: queue groups, accounts, and
permissions to reply.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dfa_router.analysis.relations import RelationKind, relation
from dfa_router.language.dialects import NATS
from dfa_router.permissions.ladders import Ladder, ladder_of
from dfa_router.reference.naive import matches

__all__ = [
    "Subjects",
    "asks_at_delivery",
    "may_publish",
    "may_receive",
    "may_subscribe",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """What is allowed and what is denied; nothing allowed means that everything is."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def ladder(self) -> Ladder:
        """Return what subjects are told, as texts: ``*`` and ``>`` in them are words like any other."""
        return ladder_of([(False, self.deny), (True, self.allow)], not self.allow, NATS)


def may_subscribe(subjects: Subjects, subscription: str) -> bool:
    """Tell whether a server accepts a subscription.

    >>> rules = Subjects(allow=("foo.>",), deny=("*.secret",))
    >>> may_subscribe(rules, "foo.*"), may_subscribe(rules, "foo.secret"), may_subscribe(rules, "bar")
    (True, False, False)
    """
    return may_publish(subjects, subscription)  # the server asks the same: wildcards of a subscription are words to it


def may_publish(subjects: Subjects, subject: str) -> bool:
    """Tell whether a client may publish to a subject."""
    return subjects.ladder().allows(subject)


def may_receive(subjects: Subjects, subscription: str, subject: str) -> bool:
    """Tell whether a message reaches a client by a subscription.

    >>> rules = Subjects(allow=("foo.>",), deny=("*.secret",))
    >>> may_receive(rules, "foo.*", "foo.public"), may_receive(rules, "foo.*", "foo.secret")
    (True, False)
    """
    return (
        may_subscribe(subjects, subscription)
        and _matches(subscription, subject)
        and not any(_matches(one, subject) for one in subjects.deny)
    )


def asks_at_delivery(subjects: Subjects, subscriptions: Iterable[str]) -> bool:
    """Tell whether an older server asks again at delivery, for a client with these subscriptions.

    Servers such as 2.9.10 do so only if a denied subject lies wholly within a subscription with a wildcard. Where it merely
    overlaps, the client gets what is denied: that is their bypass, and newer servers ask whenever the two overlap.

    >>> rules = Subjects(deny=("*.secret",))
    >>> asks_at_delivery(rules, ["foo.*"]), asks_at_delivery(rules, ["foo.*", "*.*"])
    (False, True)
    """
    inside = (RelationKind.EQUAL, RelationKind.COVERS)
    wild = [one for one in subscriptions if {"*", ">"} & set(one.split(".")) and may_subscribe(subjects, one)]
    return any(relation(one, denied, NATS).kind in inside for one in wild for denied in subjects.deny)


def _matches(pattern: str, subject: str) -> bool:
    return matches(pattern.encode(), subject.encode(), NATS)
