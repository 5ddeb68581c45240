"""The peers that the engines are measured against: look-ups of whole keys, and matchers that people use today.

A look-up of whole keys does no matching at all: it finds each key among the distinct keys. A matcher is built from the
patterns that its language can express, and answers with their positions, which are checked against ours. Peers that are not
installed are left out and named (``pip install -e '.[bench]'`` in a checkout brings them).
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["LOOKUPS", "MATCHERS", "Lookup", "PeerMatcher", "installed"]

RE2_MAX_MEM = 4 << 30
"""RE2's default of 8 MB cannot compile ten thousand patterns."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A look-up of whole keys: ``prepare(keys, distinct)`` returns the function that is timed."""

    name: str
    package: str
    prepare: Callable[[pa.Array, pa.Array], Callable[[], object]]


@dataclass(frozen=True, slots=True)
class PeerMatcher:
    """A matcher: ``build(patterns)`` returns a function from a key to the positions of the patterns that match."""

    name: str
    package: str
    speaks: Callable[[str], bool]
    """Whether its language can express a pattern."""
    build: Callable[[Sequence[str]], Callable[[str], Sequence[int]]]
    limit: int = 20_000
    """The most patterns that it is tried with."""


def installed(package: str) -> bool:
    """Tell whether a peer's package can be imported."""
    return importlib.util.find_spec(package) is not None


def _index_in(keys: pa.Array, distinct: pa.Array) -> Callable[[], object]:
    return lambda: pc.index_in(keys, distinct)


def _dictionary_encode(keys: pa.Array, _distinct: pa.Array) -> Callable[[], object]:
    return keys.dictionary_encode  # type: ignore[no-any-return]


def _duckdb(keys: pa.Array, distinct: pa.Array) -> Callable[[], object]:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("keys", pa.table({"k": keys}))
    connection.register("known", pa.table({"k": distinct, "i": pa.array(range(len(distinct)), pa.int64())}))
    return lambda: connection.execute("SELECT count(*), sum(i) FROM keys JOIN known USING (k)").fetchall()


def _expression(pattern: str) -> str:
    """Write a pattern as a regular expression over keys with a dot in front, in which a word is a dot and no-dots after it."""
    if not pattern:
        return ""
    parts = {"*": r"\.[^.]*", "#": r"(?:\.[^.]*)*"}
    return "".join(parts.get(word, re.escape("." + word)) for word in pattern.split("."))


def _re2(patterns: Sequence[str]) -> Callable[[str], Sequence[int]]:
    import re2

    options = re2.Options()
    options.max_mem = RE2_MAX_MEM
    options.never_capture = True
    matcher = re2.Set.FullMatchSet(options)
    for pattern in patterns:
        matcher.Add(_expression(pattern))
    matcher.Compile()
    return lambda key: matcher.Match("." + key if key else "") or ()


def _hyperscan(patterns: Sequence[str]) -> Callable[[str], Sequence[int]]:
    import hyperscan

    expressions = [f"^{_expression(pattern)}$".encode() for pattern in patterns]
    database = hyperscan.Database()
    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_ALLOWEMPTY
    database.compile(expressions=expressions, ids=list(range(len(patterns))), flags=[flags] * len(patterns))
    found: list[int] = []

    def note(number: int, *_: Any) -> None:
        found.append(number)

    def match(key: str) -> Sequence[int]:
        found.clear()
        database.scan(("." + key if key else "").encode(), match_event_handler=note)
        return list(found)

    return match


def _paho(patterns: Sequence[str]) -> Callable[[str], Sequence[int]]:
    # Imported by name: whether mypy finds its types would depend on the extras that are installed.
    matcher: Any = import_module("paho.mqtt.matcher").MQTTMatcher()
    positions: dict[str, list[int]] = {}
    for position, pattern in enumerate(patterns):
        positions.setdefault("/".join("+" if word == "*" else word for word in pattern.split(".")), []).append(position)
    for topic, values in positions.items():
        matcher[topic] = values

    def match(key: str) -> Sequence[int]:
        return [position for values in _paho_matches(matcher, key.replace(".", "/")) for position in values]

    return match


def _paho_matches(matcher: Any, topic: str) -> Iterator[list[int]]:
    yield from matcher.iter_match(topic)


def _hash_only_last(pattern: str) -> bool:
    return bool(pattern) and "#" not in pattern.split(".")[:-1]


LOOKUPS = (
    Lookup("pyarrow index_in", "pyarrow", _index_in),
    Lookup("pyarrow dictionary_encode", "pyarrow", _dictionary_encode),
    Lookup("DuckDB hash join", "duckdb", _duckdb),
)
"""The look-ups; the first is the divisor of all ratios."""

MATCHERS = (
    PeerMatcher("google-re2 Set", "re2", lambda _: True, _re2),
    PeerMatcher("hyperscan", "hyperscan", lambda _: True, _hyperscan),
    PeerMatcher("paho MQTTMatcher", "paho", _hash_only_last, _paho, limit=2_000_000),
)
"""The matchers; paho's language allows ``#`` at the end only."""
