"""Whatever JSON lines hold, what Arrow reads of them is what Spark reads; the rest is left to Spark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.odd_json import difference, odd_log, shrunk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LOGS = int(os.environ.get("DFA_ROUTER_LOGS", "3000"))
"""How many logs the long test makes."""
FIRST = int(os.environ.get("DFA_ROUTER_FIRST_LOG", "0"))
"""The seed of the first one."""


def check(spark: SparkSession, folder: Path, seeds: range) -> int:
    """Compare the readings of logs, and return how many Arrow has read."""
    read = 0
    for seed in seeds:
        log = odd_log(seed)
        said = difference(spark, folder, log)
        if said:
            least = shrunk(log, lambda log: bool(difference(spark, folder, log)))
            pytest.fail(f"seed {seed}: {difference(spark, folder, least)}; the log is {least!r}")
        read += said is not None
    return read


@pytest.mark.slow
def test_odd_json_lines_are_read_alike(spark: SparkSession, tmp_path: Path) -> None:
    assert check(spark, tmp_path, range(25)) >= 10, "most logs are left to Spark: nothing was compared"


@pytest.mark.long
def test_thousands_of_logs_of_odd_json_lines_are_read_alike(spark: SparkSession, tmp_path: Path) -> None:
    """A thousand take some minutes; DFA_ROUTER_LOGS and DFA_ROUTER_FIRST_LOG choose which."""
    assert check(spark, tmp_path, range(FIRST, FIRST + LOGS)) > LOGS // 3
