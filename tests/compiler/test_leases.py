"""Who may take what is lent: nobody whose taker still holds it, however the two meet."""

from __future__ import annotations

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
