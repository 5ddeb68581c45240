"""Regret: every fixed choice is a contestant, none is left out of the page, and what is drawn is what is said."""

from __future__ import annotations

import csv
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
