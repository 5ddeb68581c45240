"""Who may take what is lent: nobody whose taker still holds it, however the two meet."""

from __future__ import annotations

import sys
from collections.abc import Generator
from types import FrameType
from typing import Any

import pytest

import compiler.leases
from compiler.leases import LOOK, Lease, Leases
from tests import breaking_off


def holding(leases: Leases, inside: Any) -> None:
    """Take number 0, as a call that things are lent to, and give it back after ``inside``."""
    lease: Lease = {}
    assert leases.take(lease, [0]) == 0
    try:
        inside()
    finally:
        leases.give_back(0)


LENDING = [holding.__code__]


def had(leases: Leases, numbers: list[int]) -> int | None:
    """Try as often as it takes until stacks are looked at."""
    tries = (leases.take({}, numbers, wait=False) for _ in range(LOOK * len(numbers)))
    return next((number for number in tries if number is not None), None)


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


def test_what_a_traceback_holds_is_had_after_some_tries() -> None:
    """Its call has ended, but the variables of that are still there."""
    leases = Leases(LENDING)

    def broken_off() -> None:
        lease: Lease = {}
        leases.take(lease, [0])
        raise ValueError

    with pytest.raises(ValueError) as kept:  # noqa: PT011 - it is raised above
        broken_off()
    assert leases.take({}, [0], wait=False) is None
    assert leases.take({}, [0]) == 0
    assert kept.value is not None


def test_nobody_looks_at_the_stacks_of_others_before_he_has_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    leases, looks = Leases(LENDING), []

    def look(_self: Leases, _lease: Lease) -> int:
        looks.append(1)
        return 1

    monkeypatch.setattr(Leases, "_thread_of", look)
    lease: Lease = {}
    assert leases.take(lease, [0]) == 0
    for tries in range(1, 3 * LOOK):
        assert leases.take({}, [0], wait=False) is None
        assert len(looks) == tries // LOOK


def test_an_heir_may_be_broken_off_at_every_step() -> None:
    """It may be the heir already while the loan is not its own yet; so may be the heir of that one, and so on."""
    leases, heirs = Leases(LENDING), []

    def lost() -> None:
        leases.loans[0] = {0: {0: {}}}
        holding(leases, lambda: None)

    def check(step: int) -> None:
        left = leases.loans.get(0, {})
        while 0 in left:
            left = left[0]
            heirs.append(left)
        assert had(leases, [0]) == 0, step

    assert breaking_off.everywhere(lost, check, (compiler.leases.__file__,)) > 30
    assert len(heirs) > 60


def test_an_heir_whose_call_goes_on_is_waited_for() -> None:
    leases, found = Leases(LENDING), []

    def second() -> None:
        leases.loans[0] = {0: leases.loans[0]}
        found.append(leases.take({}, [0], wait=False))

    holding(leases, second)
    assert found == [None]


def test_what_one_call_left_behind_is_had_by_several() -> None:
    leases, left = Leases(LENDING), Lease()
    found: list[int | None] = []
    leases.loans.update({0: left, 1: left})
    holding(leases, lambda: found.append(had(leases, [1])))
    assert found == [1]


def test_what_a_call_further_up_holds_is_passed_over() -> None:
    leases = Leases(LENDING)
    found: list[int | None] = []

    def second() -> None:
        found.extend(leases.take({}, numbers) for numbers in ([0], [0, 1]))
        leases.loans[1] = leases.loans[0]
        found.append(leases.take({}, [0, 1]))

    holding(leases, second)
    assert found == [None, 1, None]


def test_what_comes_back_while_one_looks_is_not_taken_from_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease whose call has just ended looks outlived, but another call may have taken what it held."""
    leases = Leases(LENDING)
    old: Lease = {}
    new: Lease = {}
    leases.loans[0] = old  # to which this refers, too, so stacks have to be looked at

    def given_back_meanwhile(_self: Leases, _lease: Lease) -> None:
        leases.loans[0] = new

    monkeypatch.setattr(Leases, "_thread_of", given_back_meanwhile)
    assert had(leases, [0]) is None
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
            found.append(had(leases, [0]))

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
        left = leases.loans[0]  # so that there is a reference to it
        assert had(leases, [0]) == 0
    assert left
