"""Attributes that are made once: what is kept, and that nobody waits for anybody."""

from __future__ import annotations

import ast
import copy
import os
import pickle
import signal
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path

import pytest

import compiler
import dfa_router
import viz
from compiler.once import once


class Counted:
    """Counts how often its values are made."""

    def __init__(self, during: Callable[[], object] = lambda: None) -> None:
        self.made = 0
        self.during = during

    @once
    def value(self) -> list[int]:
        """What is made."""
        self.made += 1
        number = self.made
        self.during()
        return [number]


class Derived(Counted):
    @once
    def value(self) -> list[int]:
        """What is made of it."""
        return [*super().value, 0]


@dataclass(frozen=True)
class Frozen:
    number: int

    @once
    def twice(self) -> int:
        return 2 * self.number


def test_a_value_is_made_once_for_each_object() -> None:
    one, other = Counted(), Counted()
    assert one.value is one.value
    assert one.value == other.value == [1]
    assert one.value is not other.value
    assert (one.made, other.made) == (1, 1)
    del one.value
    assert one.value == [2]


def test_the_class_has_the_attribute_itself_with_its_text() -> None:
    assert isinstance(Counted.value, once)
    assert Counted.value.__doc__ == "What is made."


def test_another_name_of_the_class_is_the_attributes_name() -> None:
    class Renamed(Counted):
        other = once(lambda self: self.value * 2)

    renamed = Renamed()
    assert renamed.other == [1, 1]
    assert renamed.__dict__["other"] is renamed.other


def test_a_derived_class_may_make_another_value() -> None:
    class Plain(Counted):
        pass

    plain, derived = Plain(), Derived()
    assert plain.value is plain.value
    assert derived.value is derived.value
    assert (plain.value, derived.value, derived.made) == ([1], [1, 0], 1)


def test_an_exception_is_the_readers_and_nothing_is_kept() -> None:
    failing = Counted(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        _ = failing.value
    failing.during = lambda: None
    assert failing.value == [2]


def test_objects_that_are_frozen_and_copies_keep_theirs() -> None:
    frozen = Frozen(3)
    assert (frozen.twice, frozen.twice) == (6, 6)
    assert frozen == Frozen(3)
    with pytest.raises(FrozenInstanceError):
        frozen.number = 4  # type: ignore[misc]
    for same in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen)):
        assert same == frozen
        assert same.__dict__ == {"number": 3, "twice": 6}


def test_an_object_without_a_place_for_it_is_told() -> None:
    class Slotted:
        __slots__ = ()

        @once
        def value(self) -> int:
            return 1

    with pytest.raises(AttributeError, match="__dict__"):
        _ = Slotted().value


def test_whoever_asks_while_a_value_is_made_gets_the_one_that_is_kept() -> None:
    """As a thread or a handler does."""
    found: list[list[int]] = []

    def asked_again() -> None:
        counted.during = lambda: None
        found.append(counted.value)

    counted = Counted(asked_again)
    assert counted.value is found[0]
    assert counted.made == 2


def test_nobody_waits_while_another_object_has_its_value_made() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        go_on.wait(30)

    slow = Counted(wait)
    threads = [threading.Thread(target=lambda: slow.value, daemon=True)]
    threads[0].start()
    assert inside.wait(30)
    found: list[list[int]] = []
    threads.append(threading.Thread(target=lambda: found.append(Counted().value), daemon=True))
    threads[1].start()
    threads[1].join(10)
    go_on.set()
    assert found == [[1]]
    for thread in threads:
        thread.join()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_may_ask_that_was_forked_while_a_thread_made_a_value() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        go_on.wait(30)

    slow = Counted(wait)
    thread = threading.Thread(target=lambda: slow.value, daemon=True)
    thread.start()
    assert inside.wait(30)
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(10)  # which ends one that waits
            os._exit(Counted().value != [1])
        finally:
            os._exit(2)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    go_on.set()
    thread.join()
    assert status == 0


@pytest.mark.parametrize("package", [compiler, dfa_router, viz], ids=lambda package: package.__name__)
def test_no_attribute_is_kept_behind_a_lock(package: object) -> None:
    for path in sorted(Path(package.__file__).parent.rglob("*.py")):  # type: ignore[attr-defined]
        names = {
            name.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and node.module == "functools"
            for name in node.names
        }
        assert "cached_property" not in names, path
