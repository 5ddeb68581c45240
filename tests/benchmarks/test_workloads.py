"""The workloads have the shapes that their docstrings and pages claim: shares of wildcards, of repeated and matching keys."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dfa_router as dr
from benchmarks.workloads import WORKLOADS, Workload, make_workload

SCALE = {"throughput": 0.02, "stock": 0.02, "fleet": 0.02, "hard": 0.02, "rabbit2011": 0.02, "nservicebus": 0.02}


def share(workload: Workload, *wildcards: str) -> float:
    """Return the share of the patterns that have one of the wildcards as a word."""
    return sum(bool(set(wildcards) & set(pattern.split("."))) for pattern in workload.patterns) / len(workload.patterns)


def matching(workload: Workload) -> float:
    """Return the share of the keys that match."""
    router = dr.compile([(pattern, "q") for pattern in workload.patterns])
    counts = pc.list_value_length(router.match_batch(workload.keys).bindings())
    return float(pc.mean(pc.greater(counts, 0).cast(pa.float64())).as_py())


def test_throughput() -> None:
    workload = make_workload("throughput", scale=SCALE["throughput"])
    assert len(workload.patterns) == 1000
    assert share(workload, "*") == pytest.approx(0.13, abs=0.03)
    assert share(workload, "#") == 0
    assert pc.count_distinct(workload.keys).as_py() < 1000


def test_stock() -> None:
    workload = make_workload("stock", scale=SCALE["stock"])
    assert len(workload.patterns) == 10_000
    assert share(workload, "*", "#") == pytest.approx(0.275, abs=0.01)
    assert matching(workload) == pytest.approx(0.6, abs=0.05)


def test_fleet() -> None:
    workload = make_workload("fleet", scale=SCALE["fleet"])
    assert len(workload.patterns) == 20_000
    assert pc.count_distinct(workload.keys).as_py() > 0.8 * len(workload.keys)
    assert 0.3 < matching(workload) < 0.6


def test_hard() -> None:
    workload = make_workload("hard", scale=SCALE["hard"])
    assert len(workload.patterns) == 64
    words = [key.count(".") + 1 for key in workload.keys.to_pylist()]
    assert (min(words), max(words)) == (12, 40)


def test_rabbit2011() -> None:
    workload = make_workload("rabbit2011", scale=SCALE["rabbit2011"])
    words = [word for pattern in workload.patterns for word in pattern.split(".")]
    assert len(workload.patterns) == 2000
    assert words.count("*") / len(words) == pytest.approx(0.1, abs=0.01)
    assert words.count("#") / len(words) == pytest.approx(0.01, abs=0.004)


def test_nservicebus() -> None:
    workload = make_workload("nservicebus", scale=SCALE["nservicebus"])
    assert len(workload.patterns) == 2 * 28 + 8
    assert all(set(key.split(".")[:28]) <= {"0", "1"} for key in workload.keys.to_pylist())


def test_repeat_has_the_bindings_of_stock_and_few_distinct_keys() -> None:
    workload = make_workload("repeat", scale=0.02)
    assert workload.patterns == make_workload("stock", scale=0.02).patterns
    assert pa.types.is_dictionary(workload.keys.type)
    counts = sorted((pair["counts"] for pair in workload.keys.value_counts().to_pylist()), reverse=True)
    assert sum(counts[: len(counts) // 10]) > 0.5 * len(workload.keys)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_seed_repeats_a_workload(name: str) -> None:
    one, again, other = (make_workload(name, scale=0.002, seed=seed) for seed in (1, 1, 2))
    assert one.patterns == again.patterns
    assert one.keys.equals(again.keys)
    assert one.patterns != other.patterns or not one.keys.equals(other.keys)
