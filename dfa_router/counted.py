"""Numbers with their nouns."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, thing: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "message"), counted(2000, "message")
    ('1 message', '2,000 messages')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
