"""Regret: every fixed choice is a contestant, none is left out of the page, and what is drawn is what is said."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.__main__ import run as run_benchmarks
from benchmarks.regret import Contest, write
from benchmarks.regret.child import AUTOMATIC, CONTESTANTS, MEASURES
from benchmarks.regret.draws import CHANGES, LONGEST_PATTERN, draw_family
from benchmarks.regret.page import summary
from compiler.prepare import jit_enabled


def contest(number: int, automatic: float) -> Contest:
    times = dict.fromkeys(CONTESTANTS, 100.0) | {AUTOMATIC: automatic, "rows never": 50.0}
    return Contest(number=number, about="words", keys=10, ns_per_key=dict.fromkeys(MEASURES, times))


def test_regret_is_over_the_best_fixed_choice() -> None:
    one = contest(0, 60.0)
    assert one.best("warm") == "rows never"
    assert one.regret("warm") == pytest.approx(1.2)
    assert one.noise("warm") == pytest.approx(100 / 60)
    rows = summary([contest(0, 50.0), contest(1, 51.0), one])
    assert [(median, worst, over) for _, median, worst, _, over in rows] == [(1.02, 1.2, 1)] * len(MEASURES)


def test_a_choice_that_is_best_by_luck_is_held_out() -> None:
    """Each of three others is lucky once; by the two other rounds one that is always fast is the best in each."""
    times = {name: [100.0] * 3 for name in CONTESTANTS} | {
        AUTOMATIC: [60.0, 60.0, 66.0],
        "rows never": [55.0, 60.0, 60.0],
    }
    for lucky, name in enumerate(("doorkeeper", "keys stored", "simulated never")):
        times[name] = [40.0 if number == lucky else 90.0 for number in range(3)]
    one = replace(contest(0, 60.0), rounds=dict.fromkeys(MEASURES, times))
    assert one.held_out("warm") == pytest.approx(1.0909, rel=1e-3)
    assert math.isnan(replace(one, rounds={measure: {AUTOMATIC: [1.0]} for measure in MEASURES}).held_out("warm"))


def test_the_page_hides_no_family_and_no_choice(tmp_path: Path) -> None:
    found = [contest(number, 50.0 + 10 * number) for number in range(3)]
    write(found, tmp_path, command="python -m benchmarks regret")
    page = (tmp_path / "regret.md").read_text("utf-8")
    assert page.count("**1.40**") == len(MEASURES)
    rows = list(csv.DictReader((tmp_path / "regret.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 3 * len(MEASURES)
    assert set(CONTESTANTS) < set(rows[0])
    for name in CONTESTANTS:
        assert page.count(f"{name}") >= 1 + len(MEASURES)


def test_families_differ_and_stay_within_what_brokers_carry() -> None:
    abouts = set()
    for number in range(12):
        family = draw_family(number, seed=3, scale=0.01)
        abouts.add(family.about)
        assert len(family.keys) == len(family.changed)
        assert max(map(len, family.patterns)) <= LONGEST_PATTERN + 5
        assert any(change in family.about for change in CHANGES)
    assert len(abouts) == 12


@pytest.mark.skipif(not jit_enabled(), reason="measures compiled kernels")
def test_the_command_measures_and_writes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["regret", "--families", "1", "--quick", "--rounds", "1", "--seed", "5", "--out", str(tmp_path)]
    assert run_benchmarks(arguments) == 0
    assert "--seed 5 --families 1 --quick" in (tmp_path / "regret.md").read_text("utf-8")
    assert "first pass" in capfd.readouterr().err
