"""JSON in which no key stands twice.

The standard leaves open what such an object means, and ``json.loads`` takes the last value and says nothing of the others.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["Repeated", "RepeatedKeyError", "first_key", "loads"]


class RepeatedKeyError(ValueError):
    """An object has a key twice; the text names it and shows how the object begins."""


Repeated = Callable[[list[tuple[str, Any]]], Any]
"""Given the pairs of an object that has a key twice, returns what it stands for, or None where it is an error."""


_FIRST_KEY = re.compile(r'\s*(?:\[\s*)?\{\s*"([^"\n]*)"\s*:')


def first_key(text: str) -> str | None:
    """Return the first key of what begins as an object of JSON, or as a list of them, whether it is whole or not; None for other text.

    >>> first_key('{"bindings": ['), first_key('[{"source": "e"}]'), first_key("{a}.b")
    ('bindings', 'source', None)
    """
    found = _FIRST_KEY.match(text)
    return found and found[1]


def loads(text: str | bytes, repeated: Repeated | None = None, *, finite: bool = False) -> Any:
    """Return the value of a JSON text, as ``json.loads``; raises :class:`RepeatedKeyError` too.

    ``repeated`` is for formats in which some objects have keys twice. ``finite`` refuses what the standard does not have
    (``NaN``, ``Infinity``) and numbers that are beyond doubles, by a ``ValueError``.

    >>> loads('[{"a": 1}, {"b": 1, "a": 2, "a": 3}]')
    Traceback (most recent call last):
    dfa_router.strict_json.RepeatedKeyError: the key 'a' stands twice in the object that begins with {"b": 1, "a": 2, "a": 3}
    """
    if repeated is None and not finite:
        return json.loads(text, cls=_plain)  # type: ignore[arg-type]  # which calls what it is given, and no more
    numbers: dict[str, Any] = {"parse_constant": _no_number, "parse_float": _double} if finite else {}
    return json.loads(text, object_pairs_hook=partial(_object, repeated), **numbers)


def _plain() -> json.JSONDecoder:
    return _PLAIN


def _no_number(name: str) -> float:
    raise ValueError(f"it has {name}, which is no number of JSON")


def _double(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"it has the number {digits[:40]}, which is beyond doubles")
    return number


def _object(repeated: Repeated | None, pairs: list[tuple[str, Any]]) -> Any:
    made = dict(pairs)
    if len(made) < len(pairs):
        if repeated is not None and (meant := repeated(pairs)) is not None:
            return meant
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        begins = ", ".join(f"{json.dumps(name)}: {json.dumps(value)[:30]}" for name, value in pairs[:3])
        raise RepeatedKeyError(f"the key {twice!r} stands twice in the object that begins with {{{begins}}}")
    return made


_PLAIN = json.JSONDecoder(object_pairs_hook=partial(_object, None))
"""Made once: ``json.loads`` makes one for each text, which takes a good part of the time of a message's headers."""
