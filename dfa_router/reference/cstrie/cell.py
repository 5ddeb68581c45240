"""A reference that can be compared and set in one step.

The whole trie relies on compare-and-set, which Python does not have. The package ``cereggii`` implements it for references
in C (``AtomicRef``); where it is not installed, a cell with a lock does the same. So the *algorithm* is free of locks in
both cases, the *execution* only with cereggii: a thread that is suspended inside the two instructions of a locked cell
blocks the threads that want this cell, and no others.

Without the interpreter's global lock, cereggii's cells (up to 1.0.1) are not safe: a read loads the reference, then counts itself
among those who hold the object, and does not look whether the object is still the one that the cell has. In between it may have
been freed, and its memory be an object of another cell. So cells have locks there, whatever is installed, and "atomic" is refused;
``benchmarks/seeds/threads/strangers.py`` shows the fault.

References are compared by identity: two equal nodes are two nodes.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, Protocol, TypeVar

from dfa_router.errors import EnvironmentLacksError, OptionError

__all__ = ["Cell", "CellFactory", "LockedCell", "cell_factory", "cells_of"]

T = TypeVar("T")


class Cell(Protocol[T]):
    """A reference with an atomic read and compare-and-set."""

    def get(self) -> T:
        """Return the present value."""

    def compare_and_set(self, expected: T, new: T, /) -> bool:
        """Set the new value if the present one is ``expected``, and tell whether it was."""


CellFactory = Callable[[Any], Cell[Any]]


class LockedCell(Generic[T]):
    """A cell whose compare-and-set takes a lock for two instructions; a read takes none."""

    __slots__ = ("_lock", "_value")

    def __init__(self, value: T) -> None:
        self._lock = threading.Lock()
        self._value = value

    def get(self) -> T:
        """Return the present value: reading one attribute is atomic in Python."""
        return self._value

    def compare_and_set(self, expected: T, new: T, /) -> bool:
        """Set the new value if the present one is ``expected``, and tell whether it was."""
        with self._lock:
            if self._value is not expected:
                return False
            self._value = new
            return True


def cell_factory(cells: str = "auto") -> CellFactory:
    """Return the class of cells: cereggii's ``AtomicRef`` ("atomic"), :class:`LockedCell` ("locked"), or the former where it is
    installed and the interpreter has its global lock ("auto").

    Raises :class:`EnvironmentLacksError` if "atomic" is asked for where it is not installed or not safe.

    >>> cell = cell_factory("locked")("a")
    >>> cell.compare_and_set("b", "c"), cell.get()
    (False, 'a')
    """
    if cells not in ("auto", "atomic", "locked"):
        raise OptionError(f"cells is {cells!r}: expected 'auto', 'atomic' (needs cereggii) or 'locked'")
    installed = find_spec("cereggii") is not None
    if cells == "atomic" and not installed:
        raise EnvironmentLacksError(
            "cells='atomic' needs the package cereggii: pip install 'dfa-router[atomics]', or use cells='auto'"
        )
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    if cells == "atomic" and free_threaded:
        raise EnvironmentLacksError(
            "cells='atomic' needs an interpreter with its global lock, as cereggii may read memory that was freed without it: use "
            "cells='auto'"
        )
    if cells == "locked" or free_threaded or not installed:
        return LockedCell
    factory: CellFactory = import_module("cereggii").AtomicRef
    return factory


def cells_of(factory: CellFactory) -> str:
    """Return what a copy asks for, to have cells of the same kind where these are to be had."""
    return "locked" if factory is LockedCell else "auto"
