"""How a broker reads patterns and keys, as a plain value.

A dialect says which byte separates words and which whole words are wildcards; everything else about a matcher is the
same for all of them. It holds no parser: the automaton compiler and each reference matcher read it with code of their
own, so that none of them can inherit another's mistake.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfa_router.errors import OptionError

__all__ = ["AMQP", "EXACT", "Dialect", "dialect_named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The words of a pattern language, in bytes.

    The empty string has zero words; any other text is split at every ``separator`` and empty words are kept.
    """

    name: str
    separator: bytes = b"."
    one: bytes | None
    """The word that stands for exactly one word, or None where there is no such wildcard."""
    many: bytes | None
    """The word that stands for zero or more words, or None where there is no such wildcard."""
    max_bytes: int | None
    """The longest pattern or key in bytes that the protocol can carry, or None."""


AMQP = Dialect(name="amqp", one=b"*", many=b"#", max_bytes=255)
"""RabbitMQ's topic exchange. AMQP 0-9-1 carries binding and routing keys as short strings of up to 255 bytes."""

EXACT = Dialect(name="exact", one=None, many=None, max_bytes=255)
"""No wildcards: a pattern matches the equal key alone, as in RabbitMQ's direct exchange."""

_DIALECTS = {dialect.name: dialect for dialect in (AMQP, EXACT)}


def dialect_named(dialect: str | Dialect) -> Dialect:
    """Return the dialect itself, or the one of that name.

    >>> dialect_named("amqp").many
    b'#'
    """
    if isinstance(dialect, Dialect):
        return dialect
    try:
        return _DIALECTS[dialect]
    except (KeyError, TypeError):
        known = ", ".join(repr(name) for name in _DIALECTS)
        raise OptionError(f"unknown dialect {dialect!r}: use one of {known}, or a Dialect value") from None
