"""What two versions of rules differ in: for each user what is allowed now and was not, and the other way round.

Each answer is a shortest topic, key, binding or name that shows it. Access lists of Mosquitto are compared as sets of topics:
what a list allows is what its own rules allow and do not deny, or else what everybody's do. Regular expressions of RabbitMQ are
compared by reading a text with both of their automata at once.

What this leaves out: ``%c`` of access lists, unless a client is named; users whose rules are in other places than the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from compiler.automata.positions import Budget
from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.questions import Question
from dfa_router.errors import OptionError
from dfa_router.language.dialects import MQTT
from dfa_router.permissions.expressions import Expression, expression, told_apart
from dfa_router.permissions.files import access_list, name_permissions, topic_permissions
from dfa_router.permissions.mosquitto import AccessList

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


def shifts(old: Path, new: Path, *, client: str = "") -> tuple[Shift, ...]:
    """Compare two definitions files (.json), or two access lists of Mosquitto.

    Raises :class:`OptionError` for one of each, ``InputError`` for a file that cannot be read as rules, :class:`CapacityError`
    for expressions that are too large to compare, and ``EnvironmentLacksError`` without greenery.
    """
    if (old.suffix.lower() == ".json") != (new.suffix.lower() == ".json"):
        raise OptionError(
            f"{old} and {new} are of two kinds: compare two definitions files (.json), or two access lists"
        )
    found = (
        _of_definitions(old, new)
        if new.suffix.lower() == ".json"
        else _of_lists(access_list(old), access_list(new), client)
    )
    return tuple(one for one in found if one.gained is not None or one.lost is not None)


class _Rules(NamedTuple):
    """What an access list says of one kind of access, as patterns."""

    own: tuple[str, ...]
    denied: tuple[str, ...]
    everybody: tuple[str, ...]
    everybody_denied: tuple[str, ...]


def _of_lists(old: AccessList, new: AccessList, client: str) -> Iterator[Shift]:
    named = {None, *(rule.user for rules in (old, new) for rule in rules.rules if not rule.pattern)}
    if any(rule.pattern for rules in (old, new) for rule in rules.rules):
        named.add(_ANYONE)
    for user in sorted(named, key=lambda one: one or ""):
        for access in ("read", "write"):
            before, after = (_rules(rules, user, access, client) for rules in (old, new))
            what = f"{access} topics"
            yield Shift(user=user or "", what=what, gained=_beyond(after, before), lost=_beyond(before, after))


def _rules(rules: AccessList, user: str | None, access: str, client: str) -> _Rules:
    own = [rule for rule in rules.rules if not rule.pattern and rule.user == user]
    everybody = list(rules.expanded(user, client))
    return _Rules(*(
        tuple(rule.topic for rule in listed if rule.access in kinds)
        for listed in (own, everybody)
        for kinds in ((access, "readwrite"), ("deny",))
    ))  # fmt: skip


def _beyond(one: _Rules, other: _Rules) -> str | None:
    """Return a shortest topic that one allows and the other does not."""
    allowed = [(one.own, one.denied), (one.everybody, one.denied + one.everybody_denied)]
    refused = [
        (other.denied, ()),
        (other.everybody_denied, other.own),
        (None, other.own + other.everybody),
    ]
    found = (_shortest(has, only, lacks + without) for has, lacks in allowed for only, without in refused)
    return min(
        (topic for topic in found if topic is not None), key=lambda topic: (topic.count("/"), len(topic)), default=None
    )


def _shortest(has: tuple[str, ...], only: tuple[str, ...] | None, lacks: tuple[str, ...]) -> str | None:
    """Return a shortest topic that both of the first unions match and the third does not; ``only`` may be all topics."""
    common = list(has)
    if only is not None:
        common = list(dict.fromkeys(one for a in has for b in only for one in intersection(a, b, MQTT)))
    if not common:
        return None
    question = Question((*common, *lacks), MQTT)
    return question.escape(range(len(common)), range(len(common), len(common) + len(lacks)))


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
        entries = [found.get((user, vhost, exchange)) for found in topics]
        of = f"exchange {exchange!r} in vhost {vhost!r}"
        yield _shift(user, f"publish to {of}", *(anything if one is None else one.writing() for one in entries))
        yield _shift(user, f"bind to {of}", *(anything if one is None else one.reading() for one in entries))


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
