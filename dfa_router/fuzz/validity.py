"""Whether a dialect takes a pattern or key, remembered: a campaign asks it of the same short texts again and again.

The rules are :mod:`dfa_router.language.validity`'s.
"""

from __future__ import annotations

from functools import lru_cache

from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import key_problem, pattern_problem

__all__ = ["invalid_key", "invalid_pattern"]


@lru_cache(maxsize=1 << 14)
def invalid_pattern(pattern: str, dialect: Dialect) -> str | None:
    """Return why the dialect refuses a pattern, or None if it takes it."""
    return pattern_problem(pattern, dialect)


@lru_cache(maxsize=1 << 16)
def invalid_key(key: str, dialect: Dialect) -> str | None:
    """Return why a key is not valid in the dialect, or None if it is."""
    return key_problem(key, dialect)
