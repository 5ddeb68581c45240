"""EMQX' access rules: files of Erlang terms such as ``{allow, {user, "ann"}, subscribe, ["a/#", {eq, "b/#"}]}.``

The first rule that is about the client, what it does and the topic decides; where none is, the option ``no_match`` of the
broker does, which is ``allow`` unless somebody changed it. A subscription is asked about as its *text*: to a rule's filter the
words ``+`` and ``#`` of a subscription are words like any other. So ``a/+`` in a rule accepts the subscription ``a/#``, and a
denied ``a/secret`` does not keep anybody from subscribing to ``a/+``. Nothing is asked again when messages arrive.

``${username}`` and ``${clientid}`` in a filter stand for what they say, and so do ``%u`` and ``%c`` of version 4. A filter in
``{eq, ...}`` is a text, whose wildcards stand for themselves. A filter that begins with a wildcard is not about topics that begin
with ``$``, as in version 5.4 and later.

Source: the broker's documentation of the file and its source, read; no broker was asked. What this leaves out: other sources of
rules than the file; places for attributes of the client, its certificate and its zone, which are refused.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dfa_router.errors import InputError
from dfa_router.language.dialects import MQTT
from dfa_router.language.validity import pattern_problem
from dfa_router.permissions.erlang_terms import Atom, Term, read_terms
from dfa_router.permissions.expressions import expression
from dfa_router.permissions.ladders import Ladder, ladder_of

__all__ = ["TEXTS", "Client", "EmqxRule", "EmqxRules", "as_text", "from_text", "read_emqx_rules"]

TEXTS = replace(MQTT, name="emqx", dropped=b"", shared=None)
"""The dialect of texts of topics and of subscriptions, with the wildcards of the latter as words (:func:`as_text`)."""
_WORDS = {"+": "\ue010", "#": "\ue011"}
_MEANT = {ours: theirs for theirs, ours in _WORDS.items()}
_ACTIONS = {"subscribe": ("subscribe",), "publish": ("publish",), "all": ("subscribe", "publish")}
_ACTIONS["pubsub"] = _ACTIONS["all"]  # the name in version 4
_PLACES = re.compile(r"\$\{([^}]*)\}|%[uc]")
_PLACE_NAMES = {"username": "user", "clientid": "client", "%u": "user", "%c": "client"}
_SHARED = re.compile(r"^(\$share/[^/]+/|\$queue/|\$exclusive/)")


def as_text(subscription: str) -> str:
    """Return a subscription with its wildcards as words that no filter takes for wildcards, less its group."""
    return "/".join(_WORDS.get(word, word) for word in _SHARED.sub("", subscription).split("/"))


def from_text(text: str) -> str:
    """Return the subscription that a text stands for."""
    return "/".join(_MEANT.get(word, word) for word in text.split("/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who asks."""

    user: str | None = None
    client: str = ""
    address: str | None = None
    """The IP address that it connects from."""

    @property
    def shown(self) -> str:
        """How it is named in findings."""
        return self.user or self.client or (f"anyone from {self.address}" if self.address else "anyone")


@dataclass(frozen=True, slots=True)
class Who:
    """The clients that a rule is about: all, or those of a name, of an expression, of networks, or of several conditions."""

    kind: str
    """``all``, ``user``, ``client``, ``user-like``, ``client-like``, ``address``, ``and`` or ``or``."""
    value: str = ""
    parts: tuple[Who, ...] = ()

    def is_about(self, client: Client) -> bool:
        """Tell whether a client is one of them; raises :class:`UnsupportedRegexError` for an expression that is none of automata."""
        if self.kind in ("and", "or"):
            return (all if self.kind == "and" else any)(part.is_about(client) for part in self.parts)
        if self.kind == "address":
            return client.address is not None and _address(client.address) in ipaddress.ip_network(self.value, False)
        if self.kind == "all":
            return True
        name = client.user if self.kind.startswith("user") else client.client
        if name is None:
            return False
        return expression(self.value).matches(name) if self.kind.endswith("-like") else name == self.value

    def example(self) -> Client | None:
        """Return a client of them, where one is told without a search."""
        if self.kind == "user":
            return Client(user=self.value)
        if self.kind == "client":
            return Client(client=self.value)
        if self.kind == "address":
            return Client(address=str(ipaddress.ip_network(self.value, False)[0]))
        examples = [one for part in self.parts if (one := part.example()) is not None]
        if not examples or self.kind == "or":
            return examples[0] if examples else None
        return Client(
            user=next((one.user for one in examples if one.user is not None), None),
            client=next((one.client for one in examples if one.client), ""),
            address=next((one.address for one in examples if one.address is not None), None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmqxRule:
    """A term that allows or denies."""

    allowed: bool
    who: Who
    actions: tuple[str, ...]
    filters: tuple[tuple[str, bool], ...]
    """Each filter, and whether it stands for itself alone, ``{eq, ...}``."""
    line: int

    def patterns(self, client: Client) -> tuple[str, ...]:
        """Return its filters for a client, in the dialect :data:`TEXTS`; without those that name what the client lacks."""
        return tuple(one for filter_, exact in self.filters for one in _rendered(filter_, exact, client))


@dataclass(frozen=True, slots=True)
class EmqxRules:
    """The rules of a file, in their order."""

    rules: tuple[EmqxRule, ...]
    no_match: bool = True
    """Whether that is allowed which no rule is about."""

    def about(self, action: str, client: Client) -> Iterator[EmqxRule]:
        """Yield the rules for a client and for ``subscribe`` or ``publish``."""
        return (one for one in self.rules if action in one.actions and one.who.is_about(client))

    def ladder(self, action: str, client: Client) -> Ladder:
        """Return what texts of topics and subscriptions are told."""
        rungs = ((one.allowed, one.patterns(client)) for one in self.about(action, client))
        return ladder_of(rungs, self.no_match, TEXTS)

    def allows(self, action: str, topic: str, client: Client) -> bool:
        r"""Tell whether a client may ``publish`` to a topic, or ``subscribe`` to a topic or a filter.

        >>> rules = read_emqx_rules('{deny, all, subscribe, ["secret/#", {eq, "#"}]}.\n{allow, all}.')
        >>> [rules.allows("subscribe", topic, Client(user="ann")) for topic in ("secret/x", "#", "+/x")]
        [False, False, True]
        """
        return self.ladder(action, client).allows(as_text(topic))

    def examples(self) -> tuple[Client, ...]:
        """Return a client for each condition of the rules, and last one that no name is about."""
        told = (one.who.example() for one in self.rules)
        return tuple(dict.fromkeys([*(one for one in told if one is not None), Client(client="anyone")]))


def read_emqx_rules(text: str, source: str = "acl.conf", *, no_match: bool = True) -> EmqxRules:
    """Read the text of a file of rules; raises ``InputError`` with the line and what is expected there."""
    return EmqxRules(tuple(_rule(term, line, source) for line, term in read_terms(text, source)), no_match)


def _rule(term: Term, line: int, source: str) -> EmqxRule:
    match term:
        case (Atom("allow" | "deny") as verb, Atom("all")):
            return EmqxRule(
                allowed=verb.name == "allow",
                who=Who("all"),
                actions=_ACTIONS["all"],
                filters=(("#", False),),
                line=line,
            )
        case (Atom("allow" | "deny") as verb, who, action, filters):
            listed = [filters] if isinstance(filters, str) else filters
            if isinstance(listed, list):
                return EmqxRule(
                    allowed=verb.name == "allow",
                    who=_who(who, line, source),
                    actions=_actions(action, line, source),
                    filters=tuple(_filter(one, line, source) for one in listed),
                    line=line,
                )
    raise _refused(source, line, "{allow, all}, or {allow or deny, WHO, ACTION, [FILTER, ...]}")


def _who(term: Term, line: int, source: str) -> Who:
    match term:
        case Atom("all"):
            return Who("all")
        case (Atom("user" | "username" | "client" | "clientid") as what, value):
            kind = what.name[:4] if what.name.startswith("user") else "client"
            match value:
                case str(name):
                    return Who(kind, name)
                case (Atom("re"), str(pattern)):
                    return Who(f"{kind}-like", pattern)
        case (Atom("ipaddr"), str(network)):
            return _network(network, line, source)
        case (Atom("ipaddrs"), list(networks)) if all(isinstance(one, str) for one in networks):
            return Who("or", parts=tuple(_network(str(one), line, source) for one in networks))
        case (Atom("and" | "or") as joined, list(parts)):
            return Who(joined.name, parts=tuple(_who(one, line, source) for one in parts))
    expected = 'all, {user, "NAME"}, {clientid, "ID"}, either with {re, "..."}, {ipaddr, "NETWORK"}, {\'and\', [...]} or {\'or\', [...]}'
    raise _refused(source, line, f"as the clients of a rule {expected}")


def _network(text: str, line: int, source: str) -> Who:
    try:
        ipaddress.ip_network(text, False)
    except ValueError:
        raise _refused(source, line, f"an IP address or a network such as 10.0.0.0/8 instead of {text!r}") from None
    return Who("address", text)


def _actions(term: Term, line: int, source: str) -> tuple[str, ...]:
    match term:
        case Atom(name) if name in _ACTIONS:
            return _ACTIONS[name]
        case (Atom(name), list()) if name in _ACTIONS:
            raise _refused(
                source, line, f"{name} without conditions on quality of service or retention, which are not read here"
            )
    raise _refused(source, line, "subscribe, publish, or all as what a rule is about")


def _filter(term: Term, line: int, source: str) -> tuple[str, bool]:
    match term:
        case (Atom("eq"), str(text)):
            return _checked(text, line, source), True
        case str(text) if text.startswith("eq "):
            return _checked(text[3:], line, source), True
        case str(text):
            for place in _PLACES.finditer(text):
                if (place[1] or place[0]) not in _PLACE_NAMES:
                    raise _refused(
                        source, line, f"${{username}} or ${{clientid}} instead of {place[0]}, which is not read here"
                    )
            return _checked(text, line, source, _PLACES.sub("x", text)), False
    raise _refused(source, line, 'as a filter "a/+" or {eq, "a/+"}')


def _checked(text: str, line: int, source: str, example: str | None = None) -> str:
    """Return a filter that clients can subscribe to, as its ``example`` shows, if it has places; raises ``InputError`` for others."""
    problem = pattern_problem(_SHARED.sub("", text) if example is None else example, TEXTS)
    if problem is not None:
        raise InputError(f"{source}:{line}: the filter {text[:60]!r} is refused: {problem}")
    return text


def _rendered(filter_: str, exact: bool, client: Client) -> Iterator[str]:
    if exact:
        yield as_text(filter_)
        return
    values = {"user": client.user, "client": client.client or None}
    lacks = False

    def value(place: re.Match[str]) -> str:
        nonlocal lacks
        found = values[_PLACE_NAMES[place[1] or place[0]]]
        lacks = lacks or found is None
        return found or ""

    text = _PLACES.sub(value, filter_)
    if not lacks and pattern_problem(text, TEXTS) is None:
        yield text


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise InputError(f"the address {text!r} is no IP address: give one such as 10.0.0.7") from None


def _refused(source: str, line: int, expected: str) -> InputError:
    return InputError(f"{source}:{line}: is no rule that is read here: expected {expected}")
