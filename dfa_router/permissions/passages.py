"""What rules of access let through, or refuse, against their evident intent: the lines that ``dfa-router permissions`` shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler import CapacityError
from dfa_router.analysis.relations import relation
from dfa_router.language.dialects import MQTT, NATS
from dfa_router.permissions.dialect import UnsupportedRegexError
from dfa_router.permissions.emqx import TEXTS, Client, EmqxRule, EmqxRules, as_text, from_text
from dfa_router.permissions.files import access_list, broker_of, emqx_rules, nats_users, topic_permissions
from dfa_router.permissions.ladders import beyond, ladder_of
from dfa_router.permissions.leaks import Leak
from dfa_router.permissions.mosquitto import AccessList
from dfa_router.permissions.nats import asks_at_delivery, may_subscribe
from dfa_router.permissions.nats_users import NatsUser
from dfa_router.permissions.rabbitmq import TopicPermission, read_leak
from dfa_router.permissions.subscriptions import leaking

__all__ = ["Passage", "of_nats", "passages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Something that rules let through, or refuse, against their evident intent."""

    rule: str
    """One of :data:`~dfa_router.lint.findings.PERMISSION_RULES`."""
    place: str
    user: str
    message: str
    binding: str | None = None
    """What gets through, where it is a binding."""
    key: str | None = None
    """A key that shows it."""


def passages(path: Path, broker: str | None = None, *, no_match: bool = True) -> tuple[Passage, ...]:
    """Return what the rules of a file let through against their evident intent.

    ``broker`` is one of :data:`~dfa_router.permissions.files.BROKERS`, and else told from the file; ``no_match`` is what EMQX
    does where no rule is about something.

    Raises ``InputError`` for a file that cannot be read as rules, and ``EnvironmentLacksError`` without greenery.
    """
    kind = broker or broker_of(path)
    if kind == "rabbitmq":
        return tuple(_of_topics(topic_permissions(path)))
    if kind == "emqx":
        return tuple(_of_emqx(emqx_rules(path, no_match=no_match)))
    if kind == "nats":
        return tuple(one for user in nats_users(path) for one in of_nats(user))
    return tuple(_of_list(access_list(path)))


def _of_topics(permissions: tuple[TopicPermission, ...]) -> Iterator[Passage]:
    for number, one in enumerate(permissions):
        place = f"topic_permissions[{number}]"
        try:
            found = read_leak(one)
        except (UnsupportedRegexError, CapacityError) as error:
            message = f"nothing can be proven of the read permission for {one.exchange!r}: {error}"
            yield Passage(rule="unreadable-permission", place=place, user=one.user, message=message)
            continue
        if found is not None:
            yield Passage(
                rule="leaking-permission",
                place=place,
                user=one.user,
                message=f"{one.read!r} is asked about the text of a binding to {one.exchange!r}: it allows {found.binding!r}, which gets "
                f"{found.key!r}, though it does not match that key; anchor it (^...$), and leave '#' and '*' out of its classes",
                binding=found.binding,
                key=found.key,
            )


def _of_list(rules: AccessList) -> Iterator[Passage]:
    """Yield rules that others of the same user make useless: what is denied anyhow, or allowed already."""
    for number, one in enumerate(rules.rules):
        if one.pattern:
            continue
        for other_number, other in enumerate(rules.rules):
            same = other.user == one.user and not other.pattern and other_number != number
            denied = other.access == "deny"
            wider = one.access != "deny" and other.access in (one.access, "readwrite")
            if not same or not (denied or wider):
                continue
            told = relation(other.topic, one.topic, MQTT)
            alike = told.only_first is None and other.access == one.access  # then the first of them stays
            if told.only_second is None and not (alike and number < other_number):
                why = "denies all of it" if denied else "allows all of it already"
                message = (
                    f"{one.access} {one.topic!r} does nothing: line {other.line}, {other.access} {other.topic!r}, {why}"
                )
                yield Passage(
                    rule="useless-rule", place=str(one.line), user=one.user or "", message=message, key=told.both
                )
                break


def _of_emqx(rules: EmqxRules) -> Iterator[Passage]:
    """Yield rules that others decide before, and subscriptions that get what the rules refuse."""
    for number, one in enumerate(rules.rules):
        before = [
            other
            for other in rules.rules[:number]
            if set(one.actions) <= set(other.actions) and (other.who.kind == "all" or other.who == one.who)
        ]
        anybody = Client(user="\ue012", client="\ue013")  # names that stand for any
        covered, by = (
            ladder_of([(True, part)], False, TEXTS) for part in (one.patterns(anybody), _all(before, anybody))
        )
        if covered.rungs and beyond(covered, by) is None:
            lines = ", ".join(str(other.line) for other in before)
            message = f"the rule does nothing: those before it decide about all of its topics (line {lines})"
            yield Passage(
                rule="useless-rule", place=str(one.line), user=(one.who.example() or Client()).shown, message=message
            )
    met = set()
    for client in rules.examples():
        for leak in _leaks_of_emqx(rules, client):
            if (leak.place, leak.binding, leak.key) not in met:
                met.add((leak.place, leak.binding, leak.key))
                yield leak


def _leaks_of_emqx(rules: EmqxRules, client: Client) -> Iterator[Passage]:
    about = [(rule, rule.patterns(client)) for rule in rules.about("subscribe", client)]
    topics = ladder_of(((rule.allowed, _plain(patterns)) for rule, patterns in about), rules.no_match, TEXTS)
    refused = [one for rule, patterns in about if not rule.allowed for one in _plain(patterns)]
    texts = [(rule, ladder_of([(True, patterns)], False, TEXTS)) for rule, patterns in about]

    def deciding(subscription: str) -> EmqxRule | None:
        text = as_text(subscription)
        return next((rule for rule, ladder in texts if ladder.allows(text)), None)

    allowing = [(rule, [from_text(one) for one in patterns]) for rule, patterns in about if rule.allowed]
    for rule, patterns in [*allowing, *([(None, ["#"])] if rules.no_match else [])]:
        found = leaking(patterns, refused, topics, lambda text, rule=rule: deciding(text) is rule)  # type: ignore[misc]
        if found is not None:
            by = "no rule is about its text" if rule is None else "its text is allowed"
            message = (
                f"the subscription {found.binding!r} is accepted, as {by}, and gets {found.key!r}, to which a subscription is "
                "refused; deny such subscriptions before, or allow topics by name and deny the rest"
            )
            place = str(rule.line if rule is not None else rules.rules[-1].line if rules.rules else 1)
            yield _leaked("leaking-subscription", place, client.shown, message, found)


def _leaked(rule: str, place: str, user: str, message: str, found: Leak) -> Passage:
    return Passage(rule=rule, place=place, user=user, message=message, binding=found.binding, key=found.key)


def _all(rules: list[EmqxRule], client: Client) -> tuple[str, ...]:
    return tuple(one for rule in rules for one in rule.patterns(client))


def _plain(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what can be about topics: no texts with wildcards that stand for themselves."""
    return tuple(one for one in texts if as_text(from_text(one)) != one or from_text(one) == one)


def of_nats(user: NatsUser) -> Iterator[Passage]:
    """Yield what a user of NATS gets past its rules, and allowances that are denied as a whole."""
    rules = user.subscribe
    for what, subjects in (("publish", user.publish), ("subscribe", rules)):
        denied = ladder_of([(True, subjects.deny)], False, NATS)
        for one in subjects.allow:
            if subjects.deny and beyond(ladder_of([(True, (one,))], False, NATS), denied) is None:
                message = f"{what} {one!r} is allowed and does nothing: all of it is denied"
                yield Passage(rule="useless-rule", place=str(user.line), user=user.name, message=message)
    allow = rules.allow or (">",)
    stopped = ladder_of([(True, allow + rules.deny)], False, NATS)  # what is denied is not delivered
    found = leaking(rules.allow, (), stopped, lambda text: may_subscribe(rules, text))
    if found is not None:
        message = (
            f"the subscription {found.binding!r} is accepted, as '>' in it is a word to what is allowed, and gets {found.key!r}, which "
            f"nothing allows; deny what is longer, {found.binding[:-1] + '*.>'!r}"
        )
        yield _leaked("leaking-subscription", str(user.line), user.name, message, found)
    told = leaking(
        allow,
        rules.deny,
        ladder_of([(False, rules.deny)], True, NATS),
        lambda text: may_subscribe(rules, text) and not asks_at_delivery(rules, [text]),
    )
    if told is not None:
        message = (
            f"the subscription {told.binding!r} overlaps what is denied, and servers such as 2.9.10 hand it {told.key!r} all the same; "
            "run a newer server, or allow what is meant instead of denying what is not"
        )
        yield _leaked("overlapped-denial", str(user.line), user.name, message, told)
