"""How a broker reads patterns and keys, as a plain value.

A dialect says which byte separates words, which words are wildcards, and which rules the broker has; all else about a
matcher is the same for every dialect. A dialect of your own is one value::

    TEAM = dataclasses.replace(dr.NATS, name="team", separator=b"/")
    dr.compile([("orders/>", "billing")], dialect=TEAM)

==============  ===========  ============  ====================  ========================  ===========================
dialect         one word     zero or more  one or more           empty words               other rules
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

To add a dialect whose rules are all here, add a value below and enter it in :data:`DIALECTS`: nothing else.

To add a rule, add a field to :class:`Dialect` whose default means that there is no such rule, and then its effect:

* on what matches: in :mod:`dfa_router.language.rules` for the automata, and once more in ``dfa_router.reference``, whose
  matchers read a dialect with code of their own so that no mistake is in both;
* on which patterns and keys are valid: in :mod:`dfa_router.language.validity`.

A new field is saved and loaded by its type, and is taken for a rule about what matches, which engines that know no rules
refuse. Mark it with ``_VALIDITY`` if it changes validity alone.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from dfa_router.errors import OptionError

__all__ = ["AMQP", "AMQP_4_3_5", "DIALECTS", "EXACT", "MQTT", "NATS", "SOLACE", "Dialect", "dialect_named"]

_SPELLING = {"about": "spelling"}
"""Marks a field that is no rule: every engine can read every value of it."""
_VALIDITY = {"about": "validity"}
"""Marks a rule that says which patterns and keys are valid, and changes nothing about what matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A pattern language: its words, in bytes, and its rules. The default of a rule means that there is no such rule.

    A text is split at every ``separator``, and empty words are kept.
    """

    name: str = field(metadata=_SPELLING)
    separator: bytes = field(default=b".", metadata=_SPELLING)
    """The byte between words: ASCII."""
    one: bytes | None = field(default=None, metadata=_SPELLING)
    """The word that stands for exactly one word, or None if there is no such wildcard."""
    many: bytes | None = field(default=None, metadata=_SPELLING)
    """The word that stands for zero or more words, or None."""
    some: bytes | None = None
    """The word that stands for one or more words, or None."""
    tail_only: bool = False
    """Whether ``many`` and ``some`` are wildcards only as the last word of a pattern."""
    stray_tail: Literal["literal", "refused"] = field(default="refused", metadata=_VALIDITY)
    """What ``many`` and ``some`` are before the last word; without effect where ``tail_only`` is off."""
    inner_wildcards: Literal["literal", "no prefix", "refused"] = field(default="literal", metadata=_VALIDITY)
    """What a wildcard inside a longer word of a pattern is.

    It is literal; or literal, but refused where ``one`` ends the word, which the broker would read as a prefix pattern; or
    always refused.
    """
    empty_text: bool = True
    """Whether the empty string is a pattern and a key, of zero words; else it is neither."""
    empty_words: bool = True
    """Whether a word may be empty; else a key that has an empty word matches nothing."""
    wildcard_keys: bool = field(default=True, metadata=_VALIDITY)
    """Whether a word of a valid key may be spelt as a wildcard. To a matcher, it is a word like any other."""
    dropped: bytes = b""
    """A key that has one of these bytes matches nothing."""
    forbidden: str = field(default="", metadata=_VALIDITY)
    """No valid pattern or key has one of these characters."""
    reserved: bytes | None = None
    """A wildcard at the beginning of a pattern does not match a key that begins with this byte; None if there is none."""
    unseen: bytes | None = None
    """A key that begins with these bytes matches nothing; None if there are none."""
    shared: bytes | None = None
    """The first word of a shared subscription: ``<shared>/<group>/<pattern>`` matches what the pattern matches."""
    max_bytes: int | None = field(default=None, metadata=_VALIDITY)
    """The length in bytes of the longest pattern or key that the protocol can carry, or None."""
    max_words: int | None = field(default=None, metadata=_VALIDITY)
    """The most words of a pattern or key, or None."""
    max_many: int | None = field(default=None, metadata=_VALIDITY)
    """How often ``many`` may occur in a pattern, or None."""
    plain: bool = field(init=False, repr=False, compare=False)
    """Whether the separator, ``one`` and ``many`` are all that decides what matches: no rule does."""
    lenient: bool = field(init=False, repr=False, compare=False)
    """Whether it is plain, and no rule but ``max_bytes`` makes a pattern invalid."""

    def __post_init__(self) -> None:
        for name, kind in _kinds().items():
            value = getattr(self, name)
            if not _is_of(kind, value):
                raise OptionError(f"{name} of dialect {self.name!r} is {value!r}: expected {_described(kind)}")
        if len(self.separator) != 1 or not self.separator.isascii():
            # A byte of a longer character would cut texts within it.
            raise OptionError(f"the separator of dialect {self.name!r} is {self.separator!r}: expected one ASCII byte")
        if self.reserved is not None and (len(self.reserved) != 1 or self.reserved == self.separator):
            raise OptionError(
                f"the reserved byte of dialect {self.name!r} is {self.reserved!r}: "
                "expected a single byte that is not the separator"
            )
        if self.unseen == b"":  # every key begins with it
            raise OptionError(
                f"unseen of dialect {self.name!r} is empty: expected how some keys begin, such as b'$SYS', or None"
            )
        words = [word for word in (self.one, self.many, self.some, self.shared) if word is not None]
        if len(set(words)) < len(words) or any(not word or self.separator in word for word in words):
            raise OptionError(
                f"the words of dialect {self.name!r} are {words!r}: expected different ones, none of them empty or with "
                f"the separator {self.separator!r} in it"
            )
        rules = {one.name: one.metadata.get("about", "matches") for one in fields(self) if _is_set(self, one)}
        object.__setattr__(self, "plain", "matches" not in rules.values())
        object.__setattr__(self, "lenient", not rules.keys() - {"max_bytes"})


@cache
def _kinds() -> dict[str, Any]:
    """Return the type of each field that is given."""
    hints = get_type_hints(Dialect)
    return {one.name: hints[one.name] for one in fields(Dialect) if one.init}


def _is_of(kind: Any, value: object) -> bool:
    """Tell whether a field of a type may have this value; numbers count something."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if isinstance(value, int) and not isinstance(value, bool):
        return isinstance(value, kind) and value >= 0
    return isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool)


def _described(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    of_type = {bytes: "bytes, such as b'#'", str: "a text", bool: "True or False", int: "a number from 0 up"}
    return " or ".join(of_type.get(part, "None") for part in get_args(kind) or (kind,))


def _is_set(dialect: Dialect, one: Field[Any]) -> bool:
    """Tell whether a field is a rule that the dialect has."""
    return one.init and one.metadata.get("about") != "spelling" and getattr(dialect, one.name) != one.default


AMQP = Dialect(name="amqp", one=b"*", many=b"#", max_bytes=255)
"""RabbitMQ's topic exchange. AMQP 0-9-1 carries binding and routing keys as short strings of up to 255 bytes."""

AMQP_4_3_5 = Dialect(name="amqp-4.3.5", one=b"*", many=b"#", max_bytes=255, max_many=2)
"""RabbitMQ from 4.3.5 on, which refuses binding keys of more than two ``#``."""

EXACT = Dialect(name="exact", max_bytes=255)
"""No wildcards: a pattern matches only the key that equals it, as in RabbitMQ's direct exchange."""

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
    # NUL is forbidden; a broker may refuse the others, and Mosquitto does (§1.5.4 of the specification).
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
    forbidden=" \t\r\n",  # in the protocol's lines they end a subject
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
"""Solace's topic subscriptions, except ``pre*``: it would match a part of a level, and is refused."""

DIALECTS = {dialect.name: dialect for dialect in (AMQP, AMQP_4_3_5, MQTT, NATS, SOLACE, EXACT)}
"""The dialects by name, in the order in which commands list them."""


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
