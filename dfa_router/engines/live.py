"""The bindings of a router whose engine is dynamic: they can be added and removed, by several threads at once.

A new binding gets the next position, and positions are never used again, so that a position in an old result keeps its
meaning. There are two ways to keep bindings and engine together, and :func:`live_matcher` chooses by what the engine can do.

:class:`LockedMatcher` holds one lock around every call, as all but the last of the structures in Tyler Treat's "Fast Topic
Matching" do. :class:`LockFreeMatcher` is for the last, and holds none. Wherever a thread is suspended, the others go on:

- A list is appended to in one step. Where the entry landed is its position, which is found by looking for the entry from the
  end: entries never move, and only those of threads that append at the same moment can stand behind it.
- Which bindings are live is known to the engine alone. To unsubscribe is to ask it for the positions of a pattern, and to
  remove the oldest that has the right destination; if another thread was quicker, to ask again. Each failure is another
  thread's success.

What is left is the interpreter's: without its global lock, a free-threaded Python appends under a lock of the list, for as
long as it takes to write one reference.

An exception, as of a signal, may end a change at any step, and leave half a pattern in an engine that needs a lock. So such an
engine is marked before it is changed. The next call that finds the mark has it built anew from what is live, which is changed in
one step: that takes as long as compiling, and nothing where no change was broken off. Rejected: taking the half back, as each
engine has halves of its own, and what takes them back may be broken off as well.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from dfa_router.engines.protocol import ConcurrentMatcher, DynamicMatcher, SnapshotView
from dfa_router.errors import BindingError, OptionError, ReentryError
from dfa_router.language.bindings import Binding, pattern_bytes
from dfa_router.language.dialects import Dialect

__all__ = ["LiveMatcher", "LockFreeMatcher", "LockedMatcher", "live_matcher"]

P = ParamSpec("P")
T = TypeVar("T")


def _alone(method: Callable[Concatenate[LockedMatcher, P], T]) -> Callable[Concatenate[LockedMatcher, P], T]:
    """Have calls of other threads wait for this one; one of the same thread, as of a signal handler, would wait for ever, and is refused."""

    @wraps(method)
    def alone(self: LockedMatcher, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            if self._busy:
                raise ReentryError(
                    "this call has interrupted another one of its thread, in the middle of an engine that takes one at a time, as from a "
                    "signal handler: ask when that call has ended, or ask another router, or one with the engine 'dfa' or 'cstrie'"
                )
            self._busy = True
            try:
                if not self._whole:
                    self._build_anew()
                return method(self, *args, **kwargs)
            finally:
                self._busy = False

    return alone


class LockedMatcher:
    """An engine that is not safe for threads, with its bindings, behind one lock."""

    def __init__(
        self, bindings: Iterable[Binding], engine: DynamicMatcher, dialect: Dialect, empty: Callable[[], DynamicMatcher]
    ) -> None:
        self.bindings: list[Binding] = list(bindings)
        """Every binding that was ever added, by position. It is only appended to, so it can be read while it grows."""
        self._engine = engine
        self._dialect = dialect
        self._empty = empty
        self._live: dict[Binding, list[int]] = {}
        """What is live: the positions of equal bindings, ascending. The engine is made of it, and never the other way round."""
        for position, binding in enumerate(self.bindings):
            self._live.setdefault(binding, []).append(position)
        self._whole = True
        """Whether the engine has exactly what is live: not while it is changed, nor after a change that was broken off."""
        self._lock = threading.RLock()
        self._busy = False
        """Whether the thread that has the lock is in the middle of a call."""

    @_alone
    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the live bindings that match, ascending."""
        return self._engine.match(key)

    @_alone
    def any(self, key: bytes) -> bool:
        """Tell whether a live binding matches."""
        return self._engine.any(key)

    @_alone
    def subscribe(self, binding: Binding) -> int:
        """Add a binding at the next position and return the position; an equal binding may be there already."""
        position = len(self.bindings)
        pattern = pattern_bytes(binding.pattern, position, self._dialect)
        self._whole = False
        self.bindings.append(binding)
        self._live.setdefault(binding, []).append(position)
        self._engine.add(position, pattern)
        self._whole = True
        return position

    @_alone
    def unsubscribe(self, binding: Binding) -> int:
        """Remove the oldest live binding that equals this one, and return its position."""
        positions = self._live.get(binding)
        if not positions:
            raise _not_live(binding)
        self._whole = False
        position = positions.pop(0)
        if not positions:
            del self._live[binding]
        self._engine.remove(position, pattern_bytes(binding.pattern, position, self._dialect))
        self._whole = True
        return position

    @_alone
    def live_positions(self) -> list[int]:
        """Return the positions of the live bindings, ascending."""
        return self._positions()

    def _positions(self) -> list[int]:
        return sorted(position for positions in self._live.values() for position in positions)

    def _build_anew(self) -> None:
        """Make an engine of what is live, in place of one that is half changed."""
        engine = self._empty()
        for position in self._positions():
            engine.add(position, pattern_bytes(self.bindings[position].pattern, position, self._dialect))
        self._engine = engine
        self._whole = True

    def live_count(self) -> int:
        """Return how many bindings are live, without waiting: it is for texts that debuggers show."""
        return sum(map(len, list(self._live.values())))

    def snapshot(self) -> SnapshotView:
        """Raise :class:`OptionError`, as the engine has no snapshots."""
        raise OptionError("this engine has no snapshots: use engine='cstrie'")

    @_alone
    def __getstate__(self) -> dict[str, Any]:
        # All of one moment: what is handed over is written later, when other threads may go on.
        return {
            "bindings": list(self.bindings),
            "_engine": pickle.dumps(self._engine),
            "_dialect": self._dialect,
            "_empty": self._empty,
            "_live": {binding: list(positions) for binding, positions in self._live.items()},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(_restored(state))
        self._lock, self._busy, self._whole = threading.RLock(), False, True


class LockFreeMatcher:
    """An engine that is safe for threads, with its bindings, and without a lock."""

    def __init__(self, bindings: Iterable[Binding], engine: ConcurrentMatcher, dialect: Dialect) -> None:
        self.bindings: list[Binding] = list(bindings)
        """As in :class:`LockedMatcher`; the engine learns of a binding when it stands here."""
        self._engine = engine
        self._dialect = dialect

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the bindings that matched at one moment during the call, ascending."""
        return self._engine.match(key)

    def any(self, key: bytes) -> bool:
        """Tell whether a binding matched at one moment during the call."""
        return self._engine.any(key)

    def subscribe(self, binding: Binding) -> int:
        """Add a binding at the next position and return the position; an equal binding may be there already."""
        entry = Binding(*binding)  # an object of its own, which nobody else can append
        pattern = pattern_bytes(entry.pattern, len(self.bindings), self._dialect)
        self.bindings.append(entry)
        position = len(self.bindings) - 1
        while self.bindings[position] is not entry:
            position -= 1
        self._engine.add(position, pattern)
        return position

    def unsubscribe(self, binding: Binding) -> int:
        """Remove the oldest live binding that equals this one, and return its position."""
        pattern = binding.pattern.encode(errors="surrogatepass")  # not checked: what is not valid is not held
        while True:
            equal = (position for position in self._engine.held(pattern) if self.bindings[position] == binding)
            position = next(equal, None)
            if position is None:
                raise _not_live(binding)
            if self._engine.discard(position, pattern):
                return position

    def live_positions(self) -> list[int]:
        """Return the positions of the bindings that were live at one moment, ascending."""
        return sorted(position for _, position in self.snapshot().subscriptions())

    def live_count(self) -> int:
        """Return how many bindings were live at one moment."""
        return len(self.live_positions())

    def snapshot(self) -> SnapshotView:
        """Return the present bindings, which never change."""
        return self._engine.snapshot()

    def __getstate__(self) -> dict[str, Any]:
        # The engine first: what it knows stands in the list by then, whatever other threads do meanwhile.
        engine = pickle.dumps(self._engine)
        return {"bindings": list(self.bindings), "_engine": engine, "_dialect": self._dialect}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(_restored(state))


LiveMatcher = LockedMatcher | LockFreeMatcher
"""A dynamic engine with its bindings; several threads may ask and change it."""


def live_matcher(
    bindings: Iterable[Binding], engine: DynamicMatcher, dialect: Dialect, empty: Callable[[], DynamicMatcher]
) -> LiveMatcher:
    """Put an engine and the bindings that it was built from together, without a lock if the engine needs none.

    ``empty`` builds such an engine of no patterns; it is pickled with the bindings.
    """
    if isinstance(engine, ConcurrentMatcher):
        return LockFreeMatcher(bindings, engine, dialect)
    return LockedMatcher(bindings, engine, dialect, empty)


def _restored(state: dict[str, Any]) -> dict[str, Any]:
    engine = pickle.loads(state["_engine"])  # noqa: S301  (a part of what is being unpickled, and written with it)
    return {**state, "_engine": engine}


def _not_live(binding: Binding) -> BindingError:
    return BindingError(
        f"there is no live binding of {binding.pattern!r} to {binding.destination!r} to unsubscribe: "
        "router.subscriptions() lists those that are live"
    )
