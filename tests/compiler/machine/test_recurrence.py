"""The curve of keys that come again, beside streams that were drawn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from compiler.machine.recurrence import LEAST_BEND, Recurrence

COUNT, COME = 800_000, 50_000


def drawn(different: int, skew: float, seed: int) -> npt.NDArray[np.int64]:
    """Return keys of so many, the likelihood of whose nth is 1 / n^skew."""
    weights = 1 / np.arange(1, different + 1) ** skew
    return np.random.default_rng(seed).choice(different, COUNT, p=weights / weights.sum())


def curve_of(keys: npt.NDArray[np.int64]) -> Recurrence:
    """Return the curve by all of the first keys."""
    known = np.ones(COME, np.bool_)
    known[np.unique(keys[:COME], return_index=True)[1]] = False
    halves = [(len(half), int(np.count_nonzero(half))) for half in np.split(known, 2)]
    found = Recurrence.of(COME, *halves)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("different", "skew", "within"),
    [(20_000, 0.0, 1.05), (200_000, 0.0, 1.1), (200_000, 0.7, 1.25), (2_000_000, 0.9, 1.25), (50_000, 1.1, 1.3)],
)
def test_keys_to_come_are_told_from_a_sixteenth_of_them(different: int, skew: float, within: float) -> None:
    for seed in range(3):
        keys = drawn(different, skew, seed)
        curve = curve_of(keys)
        for count in (4 * COME, COUNT):
            told, true = curve.different(count), len(np.unique(keys[-count:]))
            assert 1 / within < told / true < within


def test_a_skew_bends_the_curve() -> None:
    bends = [curve_of(drawn(200_000, skew, 5)).bend for skew in (0.0, 0.5, 0.7, 1.0)]
    assert bends == sorted(bends, reverse=True)
    assert bends[0] > 0.9
    assert LEAST_BEND < bends[-1] < 0.5


def test_keys_none_of_which_came_again_have_no_curve() -> None:
    assert Recurrence.of(1000, (500, 0), (500, 0)) is None
    found = Recurrence.of(1000, (500, 0), (500, 5))
    assert found is not None
    assert found.bend == 1.0
    found = Recurrence.of(1000, (500, 500), (500, 500))
    assert found is not None
    assert found.different(1e6) < 1000


@pytest.mark.parametrize("bend", [0.2, 0.5, 1.0])
def test_a_share_is_reached_where_the_curve_says(bend: float) -> None:
    curve = Recurrence(scale=1000.0, bend=bend)
    for share in (0.1, 0.5, 0.9):
        keys = curve.until(share)
        steps = curve.different(1.01 * keys) - curve.different(keys)
        assert steps / (0.01 * keys) == pytest.approx(1 - share, rel=0.05)
