"""What tests of several rooms share: one Spark session, and the shared test material."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.register_assert_rewrite("tests.compiler.machines", "tests.fuzz.targets.asking")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of test vectors and corpora beside the repository, or skip."""
    folder = Path(__file__).parents[2] / "shared"
    if not (folder / "vectors").is_dir():
        pytest.skip(f"needs the shared test material in {folder}, which is not there")
    return folder


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Return one session for all tests of a run, with two worker threads; mark tests that use it with ``spark``."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("needs PySpark: pip install 'dfa-router[spark,spark-java]'")
    from dfa_router.spark.session import local_session

    settings: dict[str, Any] = {"spark.sql.shuffle.partitions": 2}
    session = local_session("local[2]", app_name="dfa-router tests", **settings)
    yield session
    session.stop()
