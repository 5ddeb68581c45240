"""Shared subscriptions, case by case: what MQTT 5 says about ``$share/GROUP/FILTER``, and what the broker does.

They have a table of their own because Mosquitto 2.0.11 deviates from the specification: among the millions of cases of the
comparison the same few deviations would appear over and over. The answers of the specification are written here with its
sections, and tests compare our dialect with them.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfa_router.brokers import Broker
from dfa_router.target import Refused

__all__ = ["CASES", "SharedAnswer", "SharedCase", "ask_shared"]


@dataclass(frozen=True, slots=True)
class SharedCase:
    """A filter, a topic, and what is right."""

    filter: str
    topic: str
    right: str
    """``matches``, ``no match`` or ``refused``."""
    section: str
    """The section of the specification of MQTT 5.0 that says so."""


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """A broker's answer to a case."""

    case: SharedCase
    told: str
    """``matches``, ``no match`` or ``refused``."""
    words: str = ""
    """The broker's reason, where it refuses."""

    @property
    def deviates(self) -> bool:
        """Whether the answer differs from the specification."""
        return self.told != self.case.right


_SHARED, _DOLLAR, _HASH = "§4.8.2", "§4.7.2", "§4.7.1.2"

CASES = (
    SharedCase("$share/g/a", "a", "matches", _SHARED),
    SharedCase("$share/g/a", "b", "no match", _SHARED),
    SharedCase("$share/g/a", "g/a", "no match", _SHARED),
    SharedCase("$share/g/+/b", "a/b", "matches", _SHARED),
    SharedCase("$share/g/a/#", "a", "matches", _HASH),
    SharedCase("$share/g//a", "/a", "matches", _SHARED),
    SharedCase("$share/g/#", "$x/a", "no match", _DOLLAR),
    SharedCase("$share/g/+/a", "$x/a", "no match", _DOLLAR),
    SharedCase("$share/g/$x/a", "$x/a", "matches", _DOLLAR),
    SharedCase("$share/g/$x/#", "$x/a", "matches", _DOLLAR),
    SharedCase("$share/", "a", "refused", _SHARED),
    SharedCase("$share/g", "a", "refused", _SHARED),
    SharedCase("$share/g/", "a", "refused", _SHARED),
    SharedCase("$share//a", "a", "refused", _SHARED),
    SharedCase("$share/+/a", "a", "refused", _SHARED),
    SharedCase("$share/#/a", "a", "refused", _SHARED),
    SharedCase("$share/g+/a", "a", "refused", _SHARED),
    SharedCase("$share/g/#/a", "a", "refused", _HASH),
)


def ask_shared(broker: Broker) -> tuple[SharedAnswer, ...]:
    """Ask a broker all cases, one at a time."""
    return tuple(_asked(broker, case) for case in CASES)


def _asked(broker: Broker, case: SharedCase) -> SharedAnswer:
    try:
        (positions,) = broker.answer([case.filter], [case.topic])
    except Refused as refused:
        return SharedAnswer(case, "refused", refused.reason)
    return SharedAnswer(case, "matches" if positions else "no match")
