"""What the lazy DFA does while it reads a key, recorded: what is built, by which numbers, when it clears, when it simulates.

A :class:`TracedDfa` is a :class:`compiler.machine.lazy.LazyDfa` whose walker keeps a diary; the kernels know nothing of it, and
a machine that is not traced has neither a test nor a call for it. The walker calls a kernel, and the kernel comes back when the
key is read or a table is full. In front of and behind each call the diary takes a :func:`compiler.machine.cache.snapshot`. What
was built in between is the difference; the order in which is told by the key, as a kernel reads one word after the other.

A key is told as *frames*: one for the beginning and one for each word, again from the beginning where the cache was cleared. A
table that grows makes the kernel begin the key again, on ground that it knows by then. That is not told twice, but it shows in
the counters: a word counts as a hit or as a miss by what it was in the pass that came through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from compiler.automata.nfa import OTHER
from compiler.kernels.seal_tables import Seal
from compiler.kernels.tables import (
    FILTERS_FULL,
    GROW_FILTERS,
    GROW_MEMBERS,
    GROW_SETS,
    GROW_STATES,
    GROW_TAGS,
    GROW_TRANSITIONS,
    STATES,
    WIDE,
    Cache,
    Keys,
    Program,
)
from compiler.kernels.work import SETS_FOUND, FoundSets
from compiler.machine.cache import Snapshot, snapshot
from compiler.machine.few_keys import FewKeys
from compiler.machine.frames import Entry, Frame, Pass, frames_of
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import AUTO
from compiler.machine.progress import Progress
from compiler.machine.small_batches import SmallBatchWalker
from compiler.machine.walker import Halt
from compiler.once import once
from compiler.values import CacheStats

__all__ = ["Frame", "KeyTrace", "TracedDfa"]


_TABLES = {
    GROW_STATES: "states",
    GROW_MEMBERS: "members",
    GROW_SETS: "sets",
    GROW_TAGS: "tags",
    GROW_TRANSITIONS: "transitions",
    GROW_FILTERS: "filters",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTrace:
    """All that a machine did for one key."""

    key: bytes
    tags: tuple[int, ...]
    """The answer."""
    frames: tuple[Frame, ...]
    """Empty for a key that did not reach the machine."""
    stats: CacheStats
    """The counters when the key was answered."""
    route: Literal["read", "remembered", "refused"] = "read"
    """Whether the machine was asked; or the router remembered the answer, or its dialect routes no such key."""

    def as_dict(self) -> dict[str, Any]:
        """Return the trace as plain values, for JSON; the key is text.

        >>> from compiler import Wildcard, build_nfa
        >>> machine = TracedDfa(build_nfa([[b"a", Wildcard.MANY]]), b".", 1 << 20)
        >>> machine.trace(b"a").as_dict()["frames"][1]["built"]
        (('state', 1), ('default', 0, 1), ('state', 2), ('literal', 0, 1, 2))
        """
        return {**asdict(self), "key": self.key.decode("utf-8", "backslashreplace")}


class TracedDfa(LazyDfa):
    """A lazy DFA that records what it does for each key; one thread at a time may use it.

    >>> from compiler import Wildcard, build_nfa
    >>> machine = TracedDfa(build_nfa([[b"a", Wildcard.MANY, b"c"]]), b".", 1 << 20)
    >>> [(frame.how, frame.state) for frame in machine.trace(b"a.d.c").frames]
    [('start', 0), ('built', 2), ('built', 2), ('built', 3)]
    """

    last: KeyTrace | None = None
    """The key that was matched last."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Take what :class:`LazyDfa` takes; no pattern is left out of the automaton, and all is read by its tables."""
        options["policy"] = replace(options.get("policy", AUTO), exact=False, row_bytes=0)
        super().__init__(*arguments, **options)
        self.visits: Counter[int] = Counter()
        """How often a key was in each state of the cache as it is now."""
        self.crossings: Counter[tuple[int, int]] = Counter()
        """How often each transition was taken, by (state, symbol), ``OTHER`` for the default successor."""

    def trace(self, key: bytes) -> KeyTrace:
        """Match a key, and return all that was done for it."""
        self.match(key)
        assert self.last is not None
        return self.last

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the accept tags of a key, ascending, and keep the trace in ``last``."""
        walker = self._walkers[0]
        assert isinstance(walker, _TracedWalker)
        walker.diary = []
        tags = super().match(key)
        diary = walker.diary
        if not diary:  # all of it was in the cache
            here = walker.snapshot()
            assert here is not None
            diary = [Pass(here, here, None)]
        words = key.split(self._separator) if key else []
        frames = tuple(frames_of(self._nfa, words, self._nfa.root(key), diary))
        self.last = KeyTrace(key=key, tags=tags, frames=frames, stats=self.stats())
        self._count(words, frames)
        return tags

    def match_text(self, key: str) -> None:  # noqa: ARG002
        """Have :meth:`match` asked for each key."""
        return

    def answer_at_once(self) -> None:
        """Have :meth:`match` asked for each key."""
        return

    def _count(self, words: Sequence[bytes], frames: Sequence[Frame]) -> None:
        known = self.snapshot()
        before = None
        for frame in frames:
            if frame.how == "cleared":
                self.visits.clear()
                self.crossings.clear()
            elif frame.state is not None and frame.how != "stopped":
                self.visits[frame.state] += 1
                if before is not None and known is not None:
                    taken = before, self._nfa.symbol_of.get(words[frame.word - 1], OTHER)
                    self.crossings[taken if taken in known.successors else (before, OTHER)] += 1
            before = frame.state

    def _walker(self, capacity: int) -> SmallBatchWalker:
        return _TracedWalker(self._parts, capacity, self._policy)


class _TracedWalker(SmallBatchWalker):
    """A walker with a diary."""

    diary: list[Entry] = []  # noqa: RUF012 - replaced for each key

    def _find_lost(self, key: str | bytes) -> None:
        """Have all that is done go through the calls below."""

    def _walk_few(self, few: FewKeys, keys: Keys, count: int) -> Cache | Seal | FoundSets | None:
        cache = self._cache
        before = None if cache is None or self._pace.pause else snapshot(cache)
        tables = super()._walk_few(few, keys, count)
        if cache is not None and before is not None:
            self._note_pass(before, cache)
        elif isinstance(tables, FoundSets) and tables.counts[SETS_FOUND]:
            self.diary.append("simulated")
        return tables

    @once
    def _kernel(self) -> Callable[..., Any]:
        walk = super()._kernel

        def noted(program: Program, cache: Cache, *where: Any) -> Any:
            before = snapshot(cache)
            status = walk(program, cache, *where)
            self._note_pass(before, cache)
            return status

        return noted

    def _note_pass(self, before: Snapshot, cache: Cache) -> None:
        filters = [] if cache.meta[FILTERS_FULL] else cache.info[3 : 2 * cache.meta[STATES] : 2].tolist()
        keeping = [0 if filter_ & WIDE else filter_ for filter_ in filters] or [0] * int(cache.meta[STATES])
        self.diary.append(Pass(before, snapshot(cache), keeping))

    def _grow(self, cache: Cache, table: int) -> bool:
        grown = super()._grow(cache, table)
        if grown and (
            not self.diary or self.diary[-1] != _TABLES[table]
        ):  # it calls itself once the key cache is dropped
            self.diary.append(_TABLES[table])
        return grown

    def _clear(self, cache: Cache) -> None:
        super()._clear(cache)
        self.diary.append("cleared")

    def _simulate(self, column: Progress, stop: int, halt: Halt) -> None:
        super()._simulate(column, stop, halt)
        self.diary.append("simulated")
