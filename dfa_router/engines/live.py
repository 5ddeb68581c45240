"""The bindings of a router whose engine is dynamic: they can be added and removed.

A new binding gets the next position, and positions are never used again, so that a position in an old result keeps its
meaning. An engine that is not safe for threads is asked and changed under one lock, as all but the last of the structures
in Tyler Treat's "Fast Topic Matching" are.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dfa_router.engines.protocol import DynamicMatcher, SnapshotMatcher, SnapshotView
from dfa_router.errors import BindingError, OptionError
from dfa_router.language.bindings import Binding, pattern_bytes
from dfa_router.language.dialects import Dialect

__all__ = ["LiveMatcher"]


class LiveMatcher:
    """A dynamic engine with its bindings; several threads may ask and change it."""

    def __init__(
        self, bindings: Iterable[Binding], engine: DynamicMatcher, dialect: Dialect, *, concurrent: bool
    ) -> None:
        self.bindings: list[Binding] = list(bindings)
        """Every binding that was ever added, by position. It is only appended to, so it can be read while it grows."""
        self._engine = engine
        self._dialect = dialect
        self._concurrent = concurrent
        self._live: dict[Binding, list[int]] = {}
        for position, binding in enumerate(self.bindings):
            self._live.setdefault(binding, []).append(position)
        self._make_locks()

    def _make_locks(self) -> None:
        self._lock = threading.Lock()
        self._engine_guard: AbstractContextManager[Any] = nullcontext() if self._concurrent else threading.Lock()

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of the live bindings that match, ascending."""
        with self._engine_guard:
            return self._engine.match(key)

    def any(self, key: bytes) -> bool:
        """Tell whether a live binding matches."""
        with self._engine_guard:
            return self._engine.any(key)

    def subscribe(self, binding: Binding) -> int:
        """Add a binding at the next position and return the position; an equal binding may be there already."""
        with self._lock:
            position = len(self.bindings)
            pattern = pattern_bytes(binding.pattern, position, self._dialect)
            self.bindings.append(binding)
        with self._engine_guard:
            self._engine.add(position, pattern)
        with self._lock:
            # Entered last, so that another thread finds it, and may remove it, only when the engine has it.
            self._live.setdefault(binding, []).append(position)
        return position

    def unsubscribe(self, binding: Binding) -> int:
        """Remove the oldest live binding that equals this one, and return its position."""
        with self._lock:
            positions = self._live.get(binding)
            if not positions:
                raise BindingError(
                    f"there is no live binding of {binding.pattern!r} to {binding.destination!r} to unsubscribe: "
                    "router.subscriptions() lists those that are live"
                )
            position = positions.pop(0)
            if not positions:
                del self._live[binding]
        with self._engine_guard:
            self._engine.remove(position, pattern_bytes(binding.pattern, position, self._dialect))
        return position

    def live_positions(self) -> list[int]:
        """Return the positions of the live bindings, ascending: those of one moment if the engine has snapshots."""
        if isinstance(self._engine, SnapshotMatcher):
            return sorted(position for _, position in self._engine.snapshot().subscriptions())
        with self._lock:
            return sorted(position for positions in self._live.values() for position in positions)

    def snapshot(self) -> SnapshotView:
        """Return the present bindings; raises :class:`OptionError` if the engine has no snapshots."""
        if not isinstance(self._engine, SnapshotMatcher):
            raise OptionError("this engine has no snapshots: use engine='cstrie'")
        return self._engine.snapshot()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_engine_guard")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_locks()
