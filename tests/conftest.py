"""What all tests share: where compiled kernels are cached, one Spark session, and the shared test material."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[1]


def _kernel_cache() -> Path:
    """Return a folder for compiled kernels that is a new one whenever any source of the compiler changes.

    numba recompiles a cached function when the file that defines it changes, but not when one that it calls does.
    """
    digest = hashlib.sha256()
    for source in sorted((REPOSITORY / "compiler").rglob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "dfa-router" / f"tests-numba-{digest.hexdigest()[:16]}"


# Here and not in a fixture: it must be set before the first import of numba, which reads it once. Processes that tests
# start, Spark's workers among them, inherit it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(_kernel_cache()))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of test vectors and corpora beside the repository, or skip."""
    folder = REPOSITORY.parent / "shared"
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
