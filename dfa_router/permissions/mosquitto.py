"""Mosquitto's access control lists: files of ``topic`` and ``pattern`` lines.

Lines before the first ``user`` are for clients without a name, those behind one for that user, and ``pattern`` lines for
everybody, with ``%u`` and ``%c`` for user and client. A line allows ``read`` (a message reaches a subscriber), ``write`` (a client
publishes), ``subscribe``-s are asked when messages arrive; ``readwrite`` is both, and what no line allows is refused. A ``deny``
line wins over all others of its list. A ``pattern`` whose user or client is not known, has a wildcard in it or makes it no
topic is passed over.

Source: mosquitto.conf(5), and the broker, asked. What this leaves out: plugins, and the dynamic security plugin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfa_router.errors import InputError
from dfa_router.language.dialects import MQTT
from dfa_router.language.validity import pattern_problem
from dfa_router.permissions.ladders import Ladder, ladder_of

__all__ = ["AccessList", "AccessRule", "read_access_list"]

_ACCESS = ("read", "write", "readwrite", "deny")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRule:
    """A line that allows or denies."""

    user: str | None
    """Whose it is; None for clients without a name, and for patterns."""
    access: str
    """``read``, ``write``, ``readwrite`` or ``deny``."""
    topic: str
    pattern: bool = False
    """Whether it is for everybody, with ``%u`` and ``%c``."""
    line: int


@dataclass(frozen=True, slots=True)
class AccessList:
    """The rules of a file."""

    rules: tuple[AccessRule, ...]

    def allows(self, access: str, topic: str, *, user: str | None = None, client: str = "") -> bool:
        r"""Tell whether ``read`` or ``write`` of a topic is allowed.

        >>> rules = read_access_list("user ann\ntopic read a/#\ntopic deny a/secret\npattern write in/%u\n")
        >>> [rules.allows("read", topic, user="ann") for topic in ("a/b", "a/secret", "in/ann")]
        [True, False, False]
        """
        return self.ladder(access, user, client).allows(topic)

    def ladder(self, access: str, user: str | None, client: str) -> Ladder:
        """Return what topics are told: by a user's denials, its other lines, and then everybody's in that order."""
        own = [rule for rule in self.rules if not rule.pattern and rule.user == user]
        kinds = ((False, ("deny",)), (True, (access, "readwrite")))
        rungs = (
            (allowed, tuple(rule.topic for rule in listed if rule.access in wanted))
            for listed in (own, list(self.expanded(user, client)))
            for allowed, wanted in kinds
        )
        return ladder_of(rungs, False, MQTT)

    def expanded(self, user: str | None, client: str) -> Iterator[AccessRule]:
        """Yield the rules for everybody, with this user and client in their places."""
        if any(one in value for value in (user or "", client) for one in "+#/"):
            return
        for rule in self.rules:
            if not rule.pattern or ("%u" in rule.topic and user is None) or ("%c" in rule.topic and not client):
                continue
            topic = rule.topic.replace("%c", client).replace("%u", user or "")
            if pattern_problem(topic, MQTT) is None:
                yield AccessRule(user=None, access=rule.access, topic=topic, pattern=True, line=rule.line)


def read_access_list(text: str, source: str = "acl_file") -> AccessList:
    """Read the text of an access list; raises ``InputError`` with the line and what is expected there."""
    user: str | None = None
    rules = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip().split(" ", 1)
        if not words[0] or words[0].startswith("#"):
            continue
        kind, rest = words[0], words[1].strip() if len(words) > 1 else ""
        if kind == "user" and rest:
            user = rest
        elif kind in ("topic", "pattern") and rest:
            first, _, topic = rest.partition(" ")
            access, topic = (first, topic.strip()) if first in _ACCESS and topic.strip() else ("readwrite", rest)
            problem = pattern_problem(topic, MQTT)
            if problem is not None:
                raise InputError(f"{source}:{number}: the topic {topic[:60]!r} is refused: {problem}")
            owner = None if kind == "pattern" else user
            rules.append(AccessRule(user=owner, access=access, topic=topic, pattern=kind == "pattern", line=number))
        else:
            raise InputError(
                f"{source}:{number}: is {line.strip()[:60]!r}: expected 'user NAME', 'topic [access] TOPIC' or 'pattern'"
            )
    return AccessList(tuple(rules))
