"""How a broker reads patterns and keys, as a plain value.

A dialect says which byte separates words, which whole words are wildcards, and what the broker refuses; everything else
about a matcher is the same for all of them. It holds no parser: the automaton compiler and each reference matcher read
it with code of their own, so that none of them can inherit another's mistake. What it calls invalid is told, in words,
by :mod:`dfa_router.language.validity`. A dialect of your own is one value::

    TEAM = dataclasses.replace(dr.NATS, name="team", separator=b"/")
    dr.compile([("orders/>", "billing")], dialect=TEAM)

==============  ===========  ============  ====================  ========================  ===========================
dialect         one word     zero or more  one or more           empty words               what else
==============  ===========  ============  ====================  ========================  ===========================
``amqp``        ``*``        ``#``                               are words; "" has none    RabbitMQ's topic exchange
``amqp-4.3.5``  ``*``        ``#``                               are words; "" has none    at most two ``#``
``mqtt``        ``+``        ``#`` (last)                        are words; "" is invalid  ``$`` topics, ``$share``
``nats``        ``*``                      ``>`` (last)          invalid
``solace``      ``*``                      ``>`` (last)          are words; "" is invalid  ``pre*`` is refused
``exact``                                                        are words; "" has none    a direct exchange
==============  ===========  ============  ====================  ========================  ===========================

Sources: RabbitMQ's topic exchange (asked live), the MQTT 5.0 specification §4.7 and §4.8, the NATS documentation on
subjects (both asked live), Solace's pages on topic subscriptions and SMF topics (read, no broker asked).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dfa_router.errors import OptionError

__all__ = ["AMQP", "AMQP_4_3_5", "DIALECTS", "EXACT", "MQTT", "NATS", "SOLACE", "Dialect", "dialect_named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The words of a pattern language, in bytes, and its rules.

    Text is split at every ``separator``, and empty words are kept.
    """

    name: str
    separator: bytes = b"."
    one: bytes | None = None
    """The word that stands for exactly one word, or None where there is no such wildcard."""
    many: bytes | None = None
    """The word that stands for zero or more words, or None."""
    some: bytes | None = None
    """The word that stands for one or more words, or None."""
    tail_only: bool = False
    """Whether ``many`` and ``some`` are wildcards only as the last word of a pattern."""
    stray_tail: Literal["literal", "refused"] = "refused"
    """What such a word is elsewhere in a pattern; of no meaning where ``tail_only`` is off."""
    inner_wildcards: Literal["literal", "no prefix", "refused"] = "literal"
    """What a wildcard's byte means inside a longer word of a pattern: itself; itself, but at the end of the word, where
    ``one`` would make a prefix pattern, it is refused; or always refused."""
    empty_text: bool = True
    """Whether the empty string is a pattern and a key, of zero words; else it is neither."""
    empty_words: bool = True
    """Whether a word may be empty; else a key that has an empty word matches nothing."""
    wildcard_keys: bool = True
    """Whether a word of a valid key may be spelt as a wildcard. To a matcher, it is a word like any other."""
    dropped: bytes = b""
    """A key that has one of these bytes matches nothing."""
    forbidden: str = ""
    """No valid pattern or key has one of these characters."""
    reserved: bytes | None = None
    """No wildcard that begins a pattern matches in a key that begins with this byte; None where all keys are alike."""
    unseen: bytes | None = None
    """A key that begins so matches nothing."""
    shared: bytes | None = None
    """The first word of a shared subscription: ``<shared>/<group>/<pattern>`` matches what the pattern matches."""
    max_bytes: int | None = None
    """The longest pattern or key in bytes that the protocol can carry, or None."""
    max_words: int | None = None
    """The most words of a pattern or key, or None."""
    max_many: int | None = None
    """How often ``many`` may stand in a pattern, or None."""
    plain: bool = field(init=False, repr=False, compare=False)
    """Whether words, ``one`` and ``many`` anywhere say all about what matches."""
    lenient: bool = field(init=False, repr=False, compare=False)
    """Whether every pattern of at most ``max_bytes`` is valid."""

    def __post_init__(self) -> None:
        for field_name in ("separator", "one", "many", "some", "dropped", "reserved", "unseen", "shared"):
            value = getattr(self, field_name)
            if not isinstance(value, bytes) and not (value is None and field_name not in ("separator", "dropped")):
                raise OptionError(f"{field_name} of dialect {self.name!r} is {value!r}: expected bytes, such as b'#'")
        if len(self.separator) != 1 or not self.separator.isascii():
            # A byte of a longer character would cut texts within it.
            raise OptionError(f"the separator of dialect {self.name!r} is {self.separator!r}: expected one ASCII byte")
        if self.reserved is not None and (len(self.reserved) != 1 or self.reserved == self.separator):
            raise OptionError(
                f"the reserved byte of dialect {self.name!r} is {self.reserved!r}: "
                "expected a single byte that is not the separator"
            )
        words = [word for word in (self.one, self.many, self.some, self.shared) if word is not None]
        if len(set(words)) < len(words) or any(not word or self.separator in word for word in words):
            raise OptionError(
                f"the words of dialect {self.name!r} are {words!r}: expected different ones, none of them empty or with "
                f"the separator {self.separator!r} in it"
            )
        plain = all(getattr(self, name) == value for name, value in _NO_RULES.items())
        object.__setattr__(self, "plain", plain)
        lenient = plain and self.inner_wildcards == "literal" and not self.forbidden
        object.__setattr__(self, "lenient", lenient and self.max_words is None and self.max_many is None)


_NO_RULES: dict[str, object] = {
    "some": None,
    "tail_only": False,
    "empty_text": True,
    "empty_words": True,
    "dropped": b"",
    "reserved": None,
    "unseen": None,
    "shared": None,
}
"""What the rules that decide about matches are where there are none."""


AMQP = Dialect(name="amqp", one=b"*", many=b"#", max_bytes=255)
"""RabbitMQ's topic exchange. AMQP 0-9-1 carries binding and routing keys as short strings of up to 255 bytes."""

AMQP_4_3_5 = Dialect(name="amqp-4.3.5", one=b"*", many=b"#", max_bytes=255, max_many=2)
"""RabbitMQ from 4.3.5 on, which refuses binding keys of more than two ``#``."""

EXACT = Dialect(name="exact", max_bytes=255)
"""No wildcards: a pattern matches the equal key alone, as in RabbitMQ's direct exchange."""

_CONTROLS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
_NONCHARACTERS = "".join(
    map(chr, (*range(0xFDD0, 0xFDF0), *(plane << 16 | low for plane in range(17) for low in (0xFFFE, 0xFFFF))))
)

MQTT = Dialect(
    name="mqtt",
    separator=b"/",
    one=b"+",
    many=b"#",
    tail_only=True,
    inner_wildcards="refused",
    empty_text=False,
    wildcard_keys=False,
    dropped=b"+#\0",
    # NUL must not be there; the others may be refused, and Mosquitto does (§1.5.4 of the specification).
    forbidden=_CONTROLS + _NONCHARACTERS,
    reserved=b"$",
    shared=b"$share",
    max_bytes=65_535,
)
"""MQTT 3.1.1 and 5: topic filters and topic names."""

NATS = Dialect(
    name="nats",
    one=b"*",
    some=b">",
    tail_only=True,
    empty_text=False,
    empty_words=False,
    wildcard_keys=False,
    forbidden=" \t\r\n",  # they end a subject in the protocol's lines
)
"""NATS subjects. A server routes a key with the word ``*`` or ``>`` as any other, though clients refuse to send it."""

SOLACE = Dialect(
    name="solace",
    separator=b"/",
    one=b"*",
    some=b">",
    tail_only=True,
    stray_tail="literal",
    inner_wildcards="no prefix",
    empty_text=False,
    forbidden="\0",
    reserved=b"$",
    unseen=b"#P2P",
    max_bytes=250,
    max_words=128,
)
"""Solace's topic subscriptions, but for ``pre*``, which matches within a level and is refused."""

DIALECTS = {dialect.name: dialect for dialect in (AMQP, AMQP_4_3_5, MQTT, NATS, SOLACE, EXACT)}
"""The dialects that have names."""


def dialect_named(dialect: str | Dialect) -> Dialect:
    """Return the dialect itself, or the one of that name.

    >>> dialect_named("mqtt").one
    b'+'
    """
    if isinstance(dialect, Dialect):
        return dialect
    try:
        return DIALECTS[dialect]
    except (KeyError, TypeError):
        known = ", ".join(repr(name) for name in DIALECTS)
        raise OptionError(f"unknown dialect {dialect!r}: use one of {known}, or a Dialect value") from None
