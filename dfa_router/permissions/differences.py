"""What two versions of rules differ in: for each user what is allowed now and was not, and the other way round.

Each answer is a shortest topic, key, binding or name that shows it. Rules of MQTT's and NATS' brokers are compared as sets of
topics (:mod:`dfa_router.permissions.ladders`), EMQX' for one client of each condition. Regular expressions of RabbitMQ are
compared by reading a text with both of their automata at once.

What this leaves out: ``%c`` of access lists, unless a client is named; users whose rules are in other places than the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compiler.automata.positions import Budget
from dfa_router.errors import OptionError
from dfa_router.language.dialects import NATS
from dfa_router.permissions.emqx import EmqxRules, from_text
from dfa_router.permissions.expressions import Expression, expression, told_apart
from dfa_router.permissions.files import (
    access_list,
    broker_of,
    emqx_rules,
    name_permissions,
    nats_users,
    topic_permissions,
)
from dfa_router.permissions.ladders import Ladder, beyond, ladder_of
from dfa_router.permissions.mosquitto import AccessList
from dfa_router.permissions.nats_users import NatsUser
from dfa_router.permissions.rabbitmq import TopicPermission

__all__ = ["Shift", "shifts"]

_STEPS = 400_000
_ANYONE = "anyone"
"""Stands for the users that no rule names, whom patterns are for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Something that a user may do by one version of the rules and not by the other."""

    user: str
    what: str
    """Such as ``read topics``, or ``publish to exchange 'events'``."""
    gained: str | None
    """A shortest example of what the new rules allow and the old ones do not; None if there is none."""
    lost: str | None
    """A shortest example of what the old rules allow and the new ones do not; None if there is none."""


def shifts(
    old: Path, new: Path, *, client: str = "", broker: str | None = None, no_match: bool = True
) -> tuple[Shift, ...]:
    """Compare two files of one broker; ``broker`` and ``no_match`` are those of :func:`~dfa_router.permissions.passages.passages`.

    Raises :class:`OptionError` for one of each, ``InputError`` for a file that cannot be read as rules, :class:`CapacityError`
    for expressions that are too large to compare, and ``EnvironmentLacksError`` without greenery.
    """
    kinds = {broker or broker_of(path) for path in (old, new)}
    if len(kinds) > 1:
        raise OptionError(
            f"{old} and {new} are of two kinds, {' and '.join(sorted(kinds))}: compare two files of one broker, and name it "
            "with --broker if it is told wrongly"
        )
    (kind,) = kinds
    if kind == "rabbitmq":
        found = _of_definitions(old, new)
    elif kind == "emqx":
        found = _of_emqx(*(emqx_rules(path, no_match=no_match) for path in (old, new)))
    elif kind == "nats":
        found = _of_nats(nats_users(old), nats_users(new))
    else:
        found = _of_lists(access_list(old), access_list(new), client)
    return tuple(one for one in found if one.gained is not None or one.lost is not None)


def _of_lists(old: AccessList, new: AccessList, client: str) -> Iterator[Shift]:
    named = {None, *(rule.user for rules in (old, new) for rule in rules.rules if not rule.pattern)}
    if any(rule.pattern for rules in (old, new) for rule in rules.rules):
        named.add(_ANYONE)
    for user in sorted(named, key=lambda one: one or ""):
        for access in ("read", "write"):
            before, after = (rules.ladder(access, user, client) for rules in (old, new))
            yield _compared(user or "", f"{access} topics", before, after)


def _of_emqx(old: EmqxRules, new: EmqxRules) -> Iterator[Shift]:
    for client in dict.fromkeys((*old.examples(), *new.examples())):
        for action in ("subscribe", "publish"):
            shift = _compared(client.shown, f"{action} to topics", *(one.ladder(action, client) for one in (old, new)))
            yield replace(
                shift,
                gained=None if shift.gained is None else from_text(shift.gained),
                lost=None if shift.lost is None else from_text(shift.lost),
            )


def _of_nats(old: tuple[NatsUser, ...], new: tuple[NatsUser, ...]) -> Iterator[Shift]:
    before, after = ({(one.account or "", one.name): one for one in users} for users in (old, new))
    nothing = ladder_of([], False, NATS)
    for account, name in sorted({*before, *after}):
        pair = [users.get((account, name)) for users in (before, after)]
        who = f"{name} of account {account}" if account else name
        for what, kind in (("publish to subjects", "publish"), ("get subjects", "subscribe")):
            ladders = [nothing if one is None else getattr(one, kind).ladder() for one in pair]
            yield _compared(who, what, *ladders)


def _compared(user: str, what: str, before: Ladder, after: Ladder) -> Shift:
    return Shift(user=user, what=what, gained=beyond(after, before), lost=beyond(before, after))


def _of_definitions(old: Path, new: Path) -> Iterator[Shift]:
    before, after = ({(one.user, one.vhost): one for one in name_permissions(path)} for path in (old, new))
    nothing = expression("^$")
    for user, vhost in sorted({*before, *after}):
        for operation in ("configure", "write", "read"):
            texts = [found.get((user, vhost)) for found in (before, after)]
            pair = [nothing if one is None else expression(getattr(one, operation) or "^$") for one in texts]
            yield _shift(user, f"{operation} names in vhost {vhost!r}", *pair)
    topics = [{(one.user, one.vhost, one.exchange): one for one in topic_permissions(path)} for path in (old, new)]
    anything = expression("")
    for user, vhost, exchange in sorted({*topics[0], *topics[1]}):
        # Whom the vhost does not let in may do nothing there, whatever the topic.
        let_in = [(user, vhost) in names for names in (before, after)]
        entries = [found.get((user, vhost, exchange)) for found in topics]
        for what, asked in (("publish", TopicPermission.writing), ("bind", TopicPermission.reading)):
            pair = [
                nothing if not known else anything if one is None else asked(one)
                for known, one in zip(let_in, entries, strict=True)
            ]
            yield _shift(user, f"{what} to exchange {exchange!r} in vhost {vhost!r}", *pair)


def _shift(user: str, what: str, before: Expression, after: Expression) -> Shift:
    if before.pattern == after.pattern:
        return Shift(user=user, what=what, gained=None, lost=None)
    return Shift(user=user, what=what, gained=_text(after, before), lost=_text(before, after))


def _text(one: Expression, other: Expression) -> str | None:
    """Return a shortest text that one expression finds itself in and the other does not; no name and no key is empty."""
    alphabet = told_apart([one, other])
    begin = (one.begin(), other.begin())
    agenda, left = deque([(begin, "")]), Budget(_STEPS)
    met: set[object] = set()  # without the beginning, to which a text that is not empty may lead as well
    while agenda:
        (ours, theirs), text = agenda.popleft()
        if text and one.ends(ours) and not other.ends(theirs):
            return text
        for character in alphabet:
            left.spend()
            target = (one.step(ours, character), other.step(theirs, character))
            if target not in met:
                met.add(target)
                agenda.append((target, text + character))
    return None
