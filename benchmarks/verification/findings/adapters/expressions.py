r"""Regular expression engines, with AMQP patterns written as expressions.

A key gets a dot in front, unless it is empty, so that each word is a dot and the bytes up to the next one. Then a literal
word is ``\.word``, ``*`` is ``\.[^.]*`` and ``#`` is ``(?:\.[^.]*)*``. Bytes other than letters and digits are written in
hexadecimal, the only spelling that both engines read alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

__all__ = ["hyperscan", "re2"]

_WILDCARDS = {b"*": r"\.[^.]*", b"#": r"(?:\.[^.]*)*"}


def re2(patterns: Sequence[str], key: str) -> list[int]:
    """Ask a ``re2.Set`` of all patterns, over bytes."""
    return _re2_match(tuple(patterns))(_prepared(key))


@lru_cache(maxsize=1)
def _re2_match(patterns: tuple[str, ...]) -> Callable[[bytes], list[int]]:
    re2: Any = import_module("re2")
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 1 << 30  # the default of 8 MB cannot hold the automaton of some sets
    options.never_capture = True
    expressions = re2.Set.FullMatchSet(options)
    for pattern in patterns:
        expressions.Add(_expression(pattern).encode())
    expressions.Compile()
    return lambda key: list(expressions.Match(key) or ())


def hyperscan(patterns: Sequence[str], key: str) -> list[int]:
    """Ask a Hyperscan database of all patterns."""
    return _hyperscan_match(tuple(patterns))(_prepared(key)) if patterns else []  # Hyperscan compiles no empty database


@lru_cache(maxsize=1)
def _hyperscan_match(patterns: tuple[str, ...]) -> Callable[[bytes], list[int]]:
    hyperscan: Any = import_module("hyperscan")
    database = hyperscan.Database()
    database.compile(
        expressions=[rf"^{_expression(pattern)}\z".encode() for pattern in patterns],
        ids=list(range(len(patterns))),
        flags=[hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_ALLOWEMPTY] * len(patterns),
    )

    def match(key: bytes) -> list[int]:
        found: list[int] = []
        database.scan(key, match_event_handler=lambda number, *_: found.append(number))
        return found

    return match


def _expression(pattern: str) -> str:
    r"""Write a pattern as a regular expression over bytes.

    >>> _expression("a.*.#.b-c")
    '\\.a\\.[^.]*(?:\\.[^.]*)*\\.b\\x2dc'
    """
    return "".join(_WILDCARDS.get(word, r"\." + _literal(word)) for word in pattern.encode().split(b".") if pattern)


def _literal(word: bytes) -> str:
    return "".join(chr(byte) if byte < 0x80 and chr(byte).isalnum() else f"\\x{byte:02x}" for byte in word)


def _prepared(key: str) -> bytes:
    return b"." + key.encode() if key else b""
