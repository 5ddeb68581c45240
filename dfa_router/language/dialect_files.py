"""A dialect in a file: a TOML table with the fields of :class:`~dfa_router.Dialect`.

::

    name = "team"
    like = "nats"          # a dialect whose other fields it takes; none if it is left out
    separator = "/"
    empty_words = true
"""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from dfa_router.errors import OptionError
from dfa_router.language.dialects import DIALECTS, Dialect

__all__ = ["read_dialect"]


def read_dialect(path: Path) -> Dialect:
    """Read a dialect; raises :class:`OptionError` that names the file, the field and what was expected."""
    try:
        told = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot read the dialect {path}: {error}") from None
    known = {one.name: str(one.type) for one in fields(Dialect) if one.init}
    like = told.pop("like", None)
    if like is not None and (not isinstance(like, str) or like not in DIALECTS):
        raise OptionError(f"{path}: like is {like!r}: use one of {', '.join(DIALECTS)}")
    unknown = sorted(set(told) - set(known))
    if unknown:
        raise OptionError(f"{path}: a dialect has no field {unknown[0]!r}: it has {', '.join(known)}")
    made = {name: _value(path, name, value, known[name]) for name, value in told.items()}
    if "name" not in made:
        raise OptionError(f'{path}: the dialect has no name: write name = "team"')
    try:
        return Dialect(**made) if like is None else replace(DIALECTS[like], **made)
    except OptionError as error:
        raise OptionError(f"{path}: {error}") from None


def _value(path: Path, name: str, value: Any, kind: str) -> Any:
    """Return the value of a field: TOML has all types that fields have, but bytes."""
    if not kind.startswith("bytes"):
        return value
    if not isinstance(value, str):
        raise OptionError(f"{path}: {name} is {value!r}: expected a text")
    return value.encode()
