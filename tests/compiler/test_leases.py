"""Who may take what is lent: nobody whose taker still holds it, however the two meet."""

from __future__ import annotations

import sys
from collections.abc import Generator
from types import FrameType
from typing import Any

import pytest

from compiler.leases import Lease, Leases


def holding(leases: Leases, inside: Any) -> None:
    """Take number 0, as a call that things are lent to, and give it back after ``inside``."""
    lease: Lease = {}
    assert leases.take(lease, [0]) == 0
    try:
        inside()
    finally:
        leases.give_back(0)


LENDING = [holding.__code__]


def test_who_does_not_want_to_wait_goes_without() -> None:
    leases, found = Leases(LENDING), []

    def second() -> None:
        found.append(leases.take({}, [0], wait=False))

    holding(leases, second)
    assert found == [None]
    assert leases.take({}, [0], wait=False) == 0


def test_what_a_call_left_behind_is_had_without_waiting() -> None:
    leases = Leases(LENDING)
    leases.loans[0] = {}
    assert leases.take({}, [0], wait=False) == 0


def test_what_comes_back_while_one_looks_is_not_taken_from_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease whose call has just ended looks outlived, but another call may have taken what it held."""
    leases = Leases(LENDING)
    old: Lease = {}
    new: Lease = {}
    leases.loans[0] = old

    def given_back_meanwhile(_self: Leases, _lease: Lease) -> None:
        leases.loans[0] = new

    monkeypatch.setattr(Leases, "_thread_of", given_back_meanwhile)
    assert leases.take({}, [0], wait=False) is None
    assert leases.loans[0] is new


def test_a_holder_is_seen_whose_generator_has_yielded_while_one_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that has yielded has no caller, so its frame, which was the top of a thread a moment before, does not lead to the holder."""
    leases, found, looks = Leases(LENDING), [], []
    look = sys._current_frames

    def inside() -> None:
        def counting() -> Generator[FrameType, None, None]:
            yield sys._getframe()

        generator = counting()
        stopped = next(generator)
        assert stopped.f_back is None

        def a_moment_too_late() -> dict[int, FrameType]:
            looks.append(1)
            return {1: stopped} if len(looks) == 1 else look()

        with monkeypatch.context() as patched:
            patched.setattr(sys, "_current_frames", a_moment_too_late)
            found.append(leases.take({}, [0], wait=False))

    holding(leases, inside)
    assert found == [None]
    assert len(looks) == 2


def test_what_a_call_left_behind_is_had_though_a_stack_ends_at_a_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a thread may whose generator is run by C code."""

    def counting() -> Generator[FrameType, None, None]:
        yield sys._getframe()

    generator = counting()
    stopped = next(generator)
    leases = Leases(LENDING)
    leases.loans[0] = {}
    with monkeypatch.context() as patched:
        patched.setattr(sys, "_current_frames", lambda: {1: stopped})
        assert leases.take({}, [0], wait=False) == 0
