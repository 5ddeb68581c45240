"""What lint can find: rules with stable names, and findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["PERMISSION_RULES", "RULES", "Finding", "Rule", "Severity", "so_do"]


class Severity(IntEnum):
    """How bad a finding is."""

    NOTE = 1
    """Works as written; could be simpler."""
    WARNING = 2
    """Likely not what was meant."""
    ERROR = 3
    """A broker refuses it, or messages are lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A kind of finding. Its page is ``docs/rules/NAME.md``."""

    name: str
    severity: Severity
    summary: str
    """What is found, in a few words."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong at a place of a file."""

    rule: Rule
    place: str
    """``bindings[17]`` of a definitions file, or a line number."""
    vhost: str = ""
    subject: str
    """What it is about: a pattern, a queue, an exchange. Suppressions name it."""
    message: str
    """What is wrong, and what to do."""
    witness: str | None = None
    """A key that shows it."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.rule.severity


_NOTE, _WARNING, _ERROR = Severity
_TABLE = (
    ("equal-binding", _WARNING, "a binding repeats another one of its destination"),
    ("covered-binding", _WARNING, "a binding changes nothing: others of its destination match all of its keys"),
    ("wildcard-in-word", _WARNING, "a wildcard inside a longer word is a literal character"),
    ("wildcard-in-direct-binding", _WARNING, "a wildcard in the key of a direct exchange is a literal word"),
    ("too-many-wildcards", _WARNING, "RabbitMQ from 4.3.5 on refuses a binding with over two '#'"),
    ("longer-than-needed", _NOTE, "a shorter pattern matches the same keys"),
    ("costly-binding", _WARNING, "a key can cost a broker that backtracks a very long time"),
    ("growing-bindings", _NOTE, "the automaton of a set may need very many states"),
    ("unproven-binding", _NOTE, "whether a binding is covered takes too many steps to prove"),
    ("unmatched-pattern", _WARNING, "no key at all matches a pattern"),
    ("invalid-pattern", _ERROR, "the broker refuses a pattern"),
    ("unreachable-binding", _WARNING, "no key that reaches an internal exchange can match a binding of it"),
    ("unreachable-exchange", _NOTE, "no message can reach an internal exchange as things are declared"),
    ("undeclared-queue", _WARNING, "a queue is bound and not declared"),
    ("undeclared-exchange", _WARNING, "a binding names an exchange that is not declared"),
    ("undeclared-vhost", _ERROR, "a vhost is used and not declared"),
    ("undeclared-alternate-exchange", _ERROR, "an alternate exchange is not declared: what should go there is lost"),
    ("default-alternate-exchange", _ERROR, "an alternate exchange has no name: what should go there is lost"),
    ("repeated-declaration", _WARNING, "a name is declared twice"),
    ("default-exchange-binding", _ERROR, "the default exchange takes no bindings"),
    ("refused-binding", _ERROR, "the broker refuses a binding for its key or its arguments"),
    ("refused-declaration", _ERROR, "the broker refuses a queue or a policy for what it says"),
    ("ambiguous-argument", _WARNING, "an export cannot say what a headers binding asks for"),
    ("null-argument", _ERROR, "an import ends at null in arguments"),
    ("unreadable-policy", _ERROR, "the pattern of a policy is no regular expression"),
    ("costly-policy", _WARNING, "the pattern of a policy takes more steps than the broker allows"),
    ("tied-policies", _WARNING, "several policies of one priority differ in the alternate exchange"),
    ("unused-suppression", _NOTE, "a suppression fits no finding"),
)
_PERMISSIONS = (
    ("leaking-permission", _ERROR, "a binding that is allowed gets keys that the permission does not speak of"),
    ("leaking-subscription", _ERROR, "a subscription that is accepted gets what the rules refuse"),
    ("overlapped-denial", _WARNING, "older NATS servers hand what is denied to a subscription that overlaps it"),
    ("unreadable-permission", _NOTE, "nothing can be proven of a permission's expression"),
    ("useless-rule", _WARNING, "a rule of an access list does nothing beside others of its user"),
)


def _named(table: Iterable[tuple[str, Severity, str]]) -> dict[str, Rule]:
    return {name: Rule(name=name, severity=severity, summary=summary) for name, severity, summary in table}


RULES = _named(_TABLE)
"""All rules of lint by name."""
PERMISSION_RULES = _named(_PERMISSIONS)
"""What ``dfa-router permissions`` can find, by name."""


def so_do(more: int) -> str:
    """Return how a message goes on that speaks for so many more, which are not named.

    >>> so_do(0), so_do(1), so_do(2)
    ('', ', and so does 1 more', ', and so do 2 more')
    """
    return f", and so {'does' if more == 1 else 'do'} {more} more" if more else ""
