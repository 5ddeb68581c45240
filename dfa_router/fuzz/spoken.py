"""The dialect in which a target is asked: its own, or one that reads the same separator and wildcards.

A target that is asked in another one refuses it, or takes it for something else, and would be accused of that.
"""

from __future__ import annotations

from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Target

__all__ = ["alike", "spoken_by"]


def alike(one: Dialect, other: Dialect) -> bool:
    """Tell whether separator and wildcards are the same. In the rest, what is refused, versions of one broker may differ."""
    return _spelling(one) == _spelling(other)


def _spelling(dialect: Dialect) -> tuple[bytes | None, ...]:
    return dialect.separator, dialect.one, dialect.many, dialect.some


def spoken_by(target: Target, dialect: str | Dialect | None) -> Dialect:
    """Return the dialect in which a target is to be asked, its own if none is given.

    Raises :class:`OptionError` for a dialect that the target does not speak, and for what is no target.

    >>> from dfa_router.fuzz import open_target
    >>> spoken_by(open_target("trie", "mqtt"), None).name
    'mqtt'
    """
    if isinstance(target, str) or not (hasattr(target, "answer") and hasattr(target, "dialect")):
        opened = f"open_target({target!r})" if isinstance(target, str) else "open_target"
        raise OptionError(f"the target is {target!r}: expected a Target, such as what {opened} returns")
    own = dialect_named(target.dialect)
    if dialect is None:
        return own
    asked = dialect_named(dialect)
    if not alike(own, asked):
        raise OptionError(
            f"the target {target.name} speaks {own.name!r}, not {asked.name!r}: leave the dialect out, or open a target that speaks it"
        )
    return asked
