"""Drawn workloads: what a shape says is what is drawn, and every variant is measured, checked and reported."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import dfa_router as dr
from benchmarks.__main__ import run as run_benchmarks
from benchmarks.families import KINDS
from benchmarks.families.child import PASSES, Measured
from benchmarks.families.kinds import make_variant
from benchmarks.families.page import write
from benchmarks.families.targets import ratio, targets
from benchmarks.shapes import Shape, draw_workload, vocabulary
from compiler.prepare import jit_enabled

SHAPE = Shape(
    name="drawn",
    words=(1, 40, 300),
    skew=0.6,
    lengths=(2, 7),
    bindings=2000,
    stars=0.3,
    tails=0.1,
    inner=0.1,
    matching=0.5,
    keys=3000,
    distinct=1000,
)


def test_a_workload_has_the_figures_of_its_shape() -> None:
    work = draw_workload(SHAPE, 1)
    words = [pattern.split(".") for pattern in work.patterns]
    assert len(words) == 2000
    assert 0.25 < sum("*" in each for each in words) / 2000 < 0.35
    assert 0.05 < sum(each[-1] == "#" for each in words) / 2000 < 0.15
    assert 0.05 < sum("#" in each[:-1] for each in words) / 2000 < 0.15
    assert len(work.keys) == 3000
    assert len(work.keys.unique()) <= 1000
    assert {key.count(".") for key in work.keys.to_pylist()} == {2}
    router = dr.compile([(pattern, "q") for pattern in work.patterns], engine="trie")
    assert sum(map(bool, map(router.match, work.keys[:200].to_pylist()))) > 80


def test_the_same_seed_draws_the_same() -> None:
    one, again, other = (draw_workload(SHAPE, seed) for seed in (1, 1, 2))
    assert (one.patterns, one.keys) == (again.patterns, again.keys)
    assert one.patterns != other.patterns


def test_no_wildcard_stands_before_its_first_place() -> None:
    for kind_seed in range(5):
        work, _ = make_variant("fleet", 0, seed=kind_seed, scale=0.002)
        for pattern in work.patterns:
            assert not {"*", "#"} & set(pattern.split(".")[:2]), pattern


@pytest.mark.parametrize(("size", "lengths"), [(2, (1, 1)), (20_000, (1, 2)), (50, (40, 40)), (1, (3, 9))])
def test_a_vocabulary_has_distinct_words_even_where_so_few_bytes_cannot_tell_them_apart(
    size: int, lengths: tuple[int, int]
) -> None:
    words = vocabulary(np.random.default_rng(0), size, lengths)
    assert len(set(words)) == len(words) == size
    assert min(map(len, words)) >= lengths[0]


def measured(kind: str, variant: int, warm: float) -> Measured:
    cpu = dict.fromkeys((*PASSES, "nfa", "compiled trie", "index_in"), 100.0) | {"warm": warm}
    return Measured(
        kind=kind,
        variant=variant,
        about="words",
        keys=10,
        pairs=20,
        cpu=cpu,
        wall=cpu,
        passes=2,
        automaton_bytes=1,
        resident_bytes=2,
        counted_bytes=3,
        capacity=4,
        states=5,
        transitions=6,
        clears=7,
        fallbacks=8,
    )


def test_one_variant_far_off_misses_a_target_that_the_median_meets() -> None:
    near, far = [measured("stock", number, 19.0) for number in range(3)], measured("stock", 3, 31.0)
    assert [target.met for target in targets(near) if target.what.startswith("warm")] == [True]
    assert [target.met for target in targets([*near, far]) if target.what.startswith("warm")] == [False]
    assert ratio(near[0], "three passes") == 1.0
    assert ratio(near[0], "re2") is None


def test_the_page_leaves_no_variant_out(tmp_path: Path) -> None:
    found = [measured(kind, number, 20.0 + number) for kind in KINDS for number in range(2)]
    write(found, tmp_path, command="python -m benchmarks families", plots=False)
    page = (tmp_path / "families.md").read_text("utf-8")
    assert page.count("1. words") == page.count("2. words") == len(KINDS)
    rows = list(csv.DictReader((tmp_path / "families.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 2 * len(KINDS)
    assert rows[1]["warm, cpu ns/key"] == "21.0"


@pytest.mark.skipif(not jit_enabled(), reason="measures compiled kernels")
def test_the_command_measures_and_writes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["families", "stock", "--variants", "1", "--quick", "--rounds", "1", "--seed", "3", "--no-plots"]
    assert run_benchmarks([*arguments, "--out", str(tmp_path)]) == 0
    assert "--seed 3 --variants 1 --quick" in (tmp_path / "families.md").read_text("utf-8")
    assert "seed 3" in capfd.readouterr().err
    assert run_benchmarks(["families", "flock"]) == 2
