"""Matchers that are right until something has happened: caches kept too long, removals that take too much or too little.

Functions are given a set at every call and keep things between calls; classes hold a set that changes. Each fault is of a kind
that a matcher in use has had. ``MISSED`` has faults of other kinds that earlier versions of the fuzz tester did not find.
"""

from __future__ import annotations

import re
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any

from tests.fuzz.planted import fits, right_amqp, words

__all__ = ["HISTORIES", "MISSED", "Right"]

HISTORIES: list[str] = []
MISSED: list[str] = []


def history(made: Any) -> Any:
    HISTORIES.append(made.__name__)
    return made


def missed(made: Any) -> Any:
    MISSED.append(made.__name__)
    return made


def remembered(name_of: Callable[[list[str], str], object]) -> Callable[[list[str], str], list[int]]:
    """Return a matcher that keeps the last set that had another name, and takes it for the one that is asked."""
    kept: dict[str, Any] = {"name": None, "patterns": []}

    def match(patterns: list[str], key: str) -> list[int]:
        name = name_of(patterns, key)
        if kept["name"] != name:
            kept.update(name=name, patterns=list(patterns))
        return [i for i in right_amqp(kept["patterns"], key) if i < len(patterns)]

    return match


# --- functions that are given a set at every call -----------------------------------------------------------------------

cache_by_count = remembered(lambda patterns, key: (patterns[:1], patterns[-1:], len(patterns)))
cache_by_hash = remembered(lambda patterns, key: sum(map(ord, "".join(patterns))))
cache_by_length = remembered(lambda patterns, key: [len(pattern) for pattern in patterns])
cache_by_set = remembered(lambda patterns, key: frozenset(patterns))
cache_by_first = remembered(lambda patterns, key: patterns[:2])
HISTORIES += ["cache_by_count", "cache_by_hash", "cache_by_length", "cache_by_set", "cache_by_first"]

_calls = count(1)


@history
def breaks_at_the_fiftieth_call(patterns: list[str], key: str) -> list[int]:
    return right_amqp(patterns, key) if next(_calls) < 50 else []


_answers: dict[tuple[str, int], list[int]] = {}


@history
def answers_kept_by_key(patterns: list[str], key: str) -> list[int]:
    return _answers.setdefault((key, len(patterns)), right_amqp(patterns, key))


_compiled: OrderedDict[str, list[str]] = OrderedDict()


@history
def a_full_cache_gives_the_last_entry(patterns: list[str], key: str) -> list[int]:
    """An LRU cache of compiled patterns that forgets to compile what it has just made room for."""
    found = []
    for place, pattern in enumerate(patterns):
        if pattern not in _compiled:
            if len(_compiled) < 12:
                _compiled[pattern] = words(pattern)
            else:
                _compiled[pattern] = _compiled.popitem(last=False)[1]
        _compiled.move_to_end(pattern)
        if fits(_compiled[pattern], words(key)):
            found.append(place)
    return found


_torn: dict[str, Any] = {"version": 0, "patterns": [], "index": []}


@history
def a_version_torn_in_two(patterns: list[str], key: str) -> list[int]:
    """The second half of the index is renewed a set later than the first."""
    if _torn["patterns"] != patterns:
        middle = len(patterns) // 2
        old = _torn["index"]
        _torn["index"] = [*patterns[:middle], *(old[middle:] if len(old) == len(patterns) else patterns[middle:])]
        _torn["patterns"] = list(patterns)
    return right_amqp(_torn["index"], key)


_ghosts: list[str] = []


@history
def a_smaller_set_keeps_the_rest(patterns: list[str], key: str) -> list[int]:
    """An array that is overwritten from its beginning, and asked to its end."""
    _ghosts[: len(patterns)] = patterns
    last = len(patterns) - 1
    return sorted({min(place, last) for place in right_amqp(_ghosts, key)} if patterns else set())


# --- classes whose set changes ------------------------------------------------------------------------------------------


class Right:
    """A right matcher whose set changes; the others differ from it in one method."""

    def __init__(self, patterns: list[str]) -> None:
        self.table: dict[int, str] = dict(enumerate(patterns))
        self.next = len(patterns)
        self.start()

    def start(self) -> None:
        """Make what a matcher keeps beside its set."""

    def bind(self, pattern: str) -> None:
        self.table[self.next] = pattern
        self.next += 1

    def unbind(self, position: int) -> None:
        del self.table[position]

    def match(self, key: str) -> list[int]:
        return [place for place, pattern in self.table.items() if fits(words(pattern), words(key))]


@history
class ForgottenRemoval(Right):
    def unbind(self, position: int) -> None:
        if "#" not in self.table[position]:
            super().unbind(position)


@history
class RemovalTakesTheSibling(Right):
    """The node of `a.b` is removed with the branch of `a`, where it was the branch's first."""

    def unbind(self, position: int) -> None:
        head = words(self.table[position])[:-1]
        super().unbind(position)
        for place, pattern in list(self.table.items()):
            if head and words(pattern)[:-1] == head and place > position:
                del self.table[place]


@history
class RemovalTakesThePrefix(Right):
    def unbind(self, position: int) -> None:
        gone = self.table[position]
        super().unbind(position)
        self.table = {place: p for place, p in self.table.items() if not gone.startswith(p + ".")}


@history
class RemovalTakesTheBranch(Right):
    def unbind(self, position: int) -> None:
        gone = self.table[position]
        super().unbind(position)
        self.table = {place: p for place, p in self.table.items() if not p.startswith(gone + ".")}


@history
class RemovalTakesAllEquals(Right):
    def unbind(self, position: int) -> None:
        gone = self.table[position]
        self.table = {place: pattern for place, pattern in self.table.items() if pattern != gone}


@history
class RemovalTakesTheFirstEqual(Right):
    def unbind(self, position: int) -> None:
        gone = self.table[position]
        del self.table[min(place for place, pattern in self.table.items() if pattern == gone)]


@history
class PositionsAreReused(Right):
    def bind(self, pattern: str) -> None:
        free = next(place for place in range(self.next + 1) if place not in self.table)
        self.table[free] = pattern
        self.next += 1


@history
class PositionsMoveUp(Right):
    def unbind(self, position: int) -> None:
        super().unbind(position)
        self.table = {place - (place > position): pattern for place, pattern in self.table.items()}


class Caching(Right):
    """Keeps answers by key."""

    def start(self) -> None:
        self.kept: dict[object, list[int]] = {}

    def name(self, key: str) -> object:
        return key

    def match(self, key: str) -> list[int]:
        name = self.name(key)
        if name not in self.kept:
            self.kept[name] = super().match(key)
        return self.kept[name]


@history
class CacheByCount(Caching):
    def name(self, key: str) -> object:
        return key, len(self.table)


@history
class CacheOutlivesBind(Caching):
    def unbind(self, position: int) -> None:
        super().unbind(position)
        self.kept.clear()


@history
class CacheOutlivesUnbind(Caching):
    def bind(self, pattern: str) -> None:
        super().bind(pattern)
        self.kept.clear()


@history
class CacheForgetsTheEqualKeyOnly(Caching):
    def bind(self, pattern: str) -> None:
        super().bind(pattern)
        if "*" in pattern:
            self.kept.clear()
        self.kept.pop(pattern, None)

    def unbind(self, position: int) -> None:
        super().unbind(position)
        self.kept.clear()


@history
class CacheByHash(Caching):
    def name(self, key: str) -> object:
        return key, sum(zlib.crc32(pattern.encode()) & 0xF for pattern in self.table.values())


@history
class ATombstoneStays(Right):
    """A pattern that was taken out cannot join again."""

    def start(self) -> None:
        self.dead: set[str] = set()

    def unbind(self, position: int) -> None:
        self.dead.add(self.table[position])
        super().unbind(position)

    def match(self, key: str) -> list[int]:
        return [place for place in super().match(key) if self.table[place] not in self.dead]


@history
class ATornBatch(Right):
    """Three changes without a question between them: the second is lost."""

    def start(self) -> None:
        self.pending = 0

    def bind(self, pattern: str) -> None:
        self.pending += 1
        super().bind(pattern if self.pending != 2 else "lost")

    def unbind(self, position: int) -> None:
        self.pending += 1
        super().unbind(position)

    def match(self, key: str) -> list[int]:
        self.pending = 0
        return super().match(key)


# --- faults of other kinds that were not found ------------------------------------------------------------------------


def pairwise(patterns: list[str], key: str, one: Callable[[list[str], list[str]], bool]) -> list[int]:
    return [place for place, pattern in enumerate(patterns) if one(words(pattern), words(key))]


@missed
def a_line_end_is_no_character(patterns: list[str], key: str) -> list[int]:
    def one(tokens: list[str], left: list[str]) -> bool:
        if "#" in tokens or "" in (*tokens, *left):
            return fits(tokens, left)
        made = r"\.".join("[^.]+" if token == "*" else re.escape(token) for token in tokens)
        return re.match(f"^{made}$", ".".join(left)) is not None

    return pairwise(patterns, key, one)


@missed
def capitals_are_small_behind_a_wildcard(patterns: list[str], key: str) -> list[int]:
    def one(tokens: list[str], left: list[str]) -> bool:
        if tokens[:1] not in (["*"], ["#"]):
            return fits(tokens, left)
        return fits([token.lower() for token in tokens], [word.lower() for word in left])

    return pairwise(patterns, key, one)


@missed
def words_are_cut_at_128_bytes(patterns: list[str], key: str) -> list[int]:
    return pairwise(patterns, key, lambda tokens, left: fits([t[:128] for t in tokens], [w[:128] for w in left]))


@missed
def a_bit_for_each_of_32_words(patterns: list[str], key: str) -> list[int]:
    return pairwise(patterns, key, lambda tokens, left: fits(tokens[:32], left[:32]))


@missed
def a_bit_for_each_of_64_bindings(patterns: list[str], key: str) -> list[int]:
    return [place for place in right_amqp(patterns, key) if place < 64]


@missed
def words_are_hashes_of_16_bits(patterns: list[str], key: str) -> list[int]:
    def name(word: str) -> str:
        return word if word in ("*", "#", "") else str(zlib.crc32(word.encode()) & 0xFFFF)

    key = ".".join(map(name, words(key)))
    return right_amqp([".".join(map(name, words(pattern))) for pattern in patterns], key)


@missed
def characters_are_cut_to_16_bits(patterns: list[str], key: str) -> list[int]:
    def cut(text: str) -> str:
        return "".join(chr(ord(character) & 0xFFFF) for character in text)

    return right_amqp(list(map(cut, patterns)), cut(key))


@missed
def time_is_exponential(patterns: list[str], key: str) -> list[int]:
    def rest(tokens: list[str], left: list[str]) -> bool:
        if not tokens:
            return not left
        if tokens[0] == "#":
            return any(rest(tokens[1:], left[taken:]) for taken in range(len(left) + 1))
        return bool(left) and tokens[0] in ("*", left[0]) and rest(tokens[1:], left[1:])

    return pairwise(patterns, key, rest)


_shared = {"key": ""}


def two_threads_share_a_key(patterns: list[str], key: str) -> list[int]:
    """Right as long as one thread asks; entered by the test, which asks with two."""
    _shared["key"] = key
    time.sleep(0)
    return right_amqp(patterns, _shared["key"])


def another_thread_gets_nothing(patterns: list[str], key: str) -> list[int] | None:
    """Like an answer that is kept where every thread resets it; entered by the test."""
    return right_amqp(patterns, key) if threading.current_thread() is threading.main_thread() else None


def another_thread_gets_a_stale_position(patterns: list[str], key: str) -> list[int]:
    """Like the answer to a longer set of another thread; entered by the test."""
    return right_amqp(patterns, key) if threading.current_thread() is threading.main_thread() else [len(patterns)]
