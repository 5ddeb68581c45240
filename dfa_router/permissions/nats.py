"""NATS' permissions: subjects that a user may subscribe to, and which messages reach the subscription.

A server asks twice. When a client subscribes, the subject of the subscription must be covered by an allowed one, if any are
given, and must not be *covered* by a denied one. A subscription that only overlaps a denied subject is made, and messages are asked again
when they are delivered, if the subject of the subscription overlaps a denied one. Servers that forget the second question let a
subscription ``foo.*`` get ``foo.secret`` against ``deny: *.secret``; :func:`denied_keys` finds such keys.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.questions import Question
from dfa_router.analysis.relations import RelationKind, relation
from dfa_router.language.dialects import NATS
from dfa_router.reference.naive import matches

__all__ = ["Subjects", "denied_keys", "may_publish", "may_receive", "may_subscribe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """What is allowed and what is denied; nothing allowed means that everything is."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


def may_subscribe(subjects: Subjects, subscription: str) -> bool:
    """Tell whether a server accepts a subscription.

    >>> rules = Subjects(allow=("foo.>",), deny=("*.secret",))
    >>> may_subscribe(rules, "foo.*"), may_subscribe(rules, "foo.secret"), may_subscribe(rules, "bar")
    (True, False, False)
    """
    inside = (RelationKind.EQUAL, RelationKind.COVERS)
    allowed = not subjects.allow or any(relation(one, subscription, NATS).kind in inside for one in subjects.allow)
    return allowed and not any(relation(one, subscription, NATS).kind in inside for one in subjects.deny)


def may_publish(subjects: Subjects, subject: str) -> bool:
    """Tell whether a client may publish to a subject."""
    allowed = not subjects.allow or any(_matches(one, subject) for one in subjects.allow)
    return allowed and not any(_matches(one, subject) for one in subjects.deny)


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


def denied_keys(subjects: Subjects, subscription: str) -> tuple[tuple[str, ...], str | None]:
    """Return what a subscription that is accepted would get of denied subjects, if nobody asked at delivery.

    As patterns, and a shortest subject of them; none if the subscription is refused, or overlaps nothing that is denied.

    >>> denied_keys(Subjects(deny=("*.secret",)), "foo.*")
    (('foo.secret',), 'foo.secret')
    """
    if not subjects.deny or not may_subscribe(subjects, subscription):
        return (), None
    found = [one for denied in subjects.deny for one in intersection(denied, subscription, NATS)]
    question = Question((subscription, *subjects.deny), NATS)
    return tuple(dict.fromkeys(found)), question.meeting([0], range(1, len(subjects.deny) + 1))


def _matches(pattern: str, subject: str) -> bool:
    return matches(pattern.encode(), subject.encode(), NATS)
