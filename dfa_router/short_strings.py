"""AMQP 0-9-1's short strings, as which it carries names, binding keys and routing keys: a length byte, and as many bytes."""

from __future__ import annotations

__all__ = ["MAX_BYTES", "fault_of"]

MAX_BYTES = 255
"""The most bytes of a short string; so it has no more characters."""


def fault_of(name: str) -> str | None:
    """Say why no broker holds such a name, or None where one may.

    >>> fault_of("x" * 300)
    "has 300 bytes ('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'...), but AMQP carries at most 255"
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        return f"has half of a surrogate pair, such as \\ud800, at character {error.start}, which has no UTF-8 form"
    return f"has {size} bytes ({name[:30]!r}...), but AMQP carries at most {MAX_BYTES}" if size > MAX_BYTES else None
