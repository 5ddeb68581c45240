"""The rules of routing that differ between versions of RabbitMQ.

Most have been the same since version 2. What changed is a field of :class:`BrokerRules`, and what is routed by asks the fields,
never the version. Brokers before 3.10 know no ``all-with-x`` and ``any-with-x`` and refuse such bindings, so nothing is
to be simulated there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dfa_router.errors import OptionError

__all__ = ["NEWEST", "BrokerRules", "rules_of"]

NEWEST = "4.3"
"""The version whose rules are taken where nobody says which broker it is."""

MESSAGE_CONTAINERS, LOCAL_RANDOM, STABLE_MODULUS = (3, 13), (4, 0), (4, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRules:
    """What depends on the broker's version."""

    strict_values: bool
    """Whether a headers exchange tells 1 from 1.0, and takes a message's timestamp for milliseconds (since 3.13)."""
    local_random: bool
    """Whether there is an exchange type ``x-local-random`` (since 4.0)."""
    stable_modulus: bool
    """Whether ``x-modulus-hash`` sorts its destinations, so that one can tell which it takes (since 4.3)."""


def rules_of(broker: str) -> BrokerRules:
    """Return the rules of a version, such as ``3.10`` or ``4.3.5``; raises :class:`OptionError` for what is no version.

    >>> rules_of("3.10.8").strict_values, rules_of("4.3").strict_values
    (False, True)
    """
    # Whoever leaves the quotes out has written a number, and 3.10 is 3.1.
    found = re.match(r"([0-9]+)\.([0-9]+)(?![0-9])", broker) if isinstance(broker, str) else None
    if found is None:
        raise OptionError(f"broker is {broker!r}: expected a version of RabbitMQ, such as '3.10' or '{NEWEST}'")
    version = int(found[1]), int(found[2])
    return BrokerRules(
        strict_values=version >= MESSAGE_CONTAINERS,
        local_random=version >= LOCAL_RANDOM,
        stable_modulus=version >= STABLE_MODULUS,
    )
