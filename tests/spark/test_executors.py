"""Executors that lack the package: one sentence that says so, in place of a hundred lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HERE = Path(__file__).parent

PROGRAM = """
import sys
from dfa_router.errors import EnvironmentLacksError
from dfa_router.rabbitmq import Exchange, topology_of
from dfa_router.spark import check_executors, route
from dfa_router.spark.session import SHORT_JOBS
from pyspark.sql import SparkSession

session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
    "spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config(
    "spark.driver.extraJavaOptions", SHORT_JOBS).getOrCreate()
messages = session.createDataFrame([("x", "a")], "exchange string, routing_key string")
for python in sys.argv[1:]:
    session.sparkContext.pythonExec = python  # what spark.pyspark.python says, read for each function
    try:
        check_executors(session)
        print("CHECK", "nothing is lacking")
    except EnvironmentLacksError as error:
        print("CHECK", error)
    try:
        route(messages, topology_of(exchanges=[Exchange(name="x", type="topic")])).collect()
    except Exception as error:
        print("ROUTE", " ".join(str(error).split()))
session.stop()
"""


def test_all_is_there(spark: SparkSession) -> None:
    from dfa_router.spark import check_executors

    check_executors(spark)


def python_beside(folder: Path, packages: Path | None) -> str:
    """Return the Python of an environment that has nothing, or the packages of a folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    if packages is not None:
        own = next((folder / "lib").glob("python*/site-packages"))
        (own / "others.pth").write_text(str(packages))
    return str(folder / "bin" / "python")


@pytest.mark.own_java
@pytest.mark.slow
def test_a_python_without_the_package_is_named(tmp_path: Path) -> None:
    """One that has nothing, and one that has Arrow and pandas; in one session, as starting Java takes longest."""
    from dfa_router.spark.java import find_java
    from dfa_router.spark.session import _launch_environment

    pythons = [python_beside(tmp_path / "bare", None), python_beside(tmp_path / "other", Path(pa.__file__).parents[1])]
    found = subprocess.run([pythons[1], "-c", "import dfa_router"], cwd=tmp_path, capture_output=True, check=False)
    if found.returncode == 0:
        pytest.skip("dfa-router lies beside pyarrow: it is not installed as a checkout is")
    changes = _launch_environment("local[2]", find_java()) | {"PYSPARK_PYTHON": pythons[0], "PYTHONPATH": None}
    environment = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    (tmp_path / "program.py").write_text(PROGRAM)
    # By a path that Spark does not hand to its workers, as it does with PYTHONPATH.
    run = f"import sys, runpy; sys.path.insert(0, {str(HERE.parents[1])!r}); runpy.run_path('program.py', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", run, *pythons],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("CHECK", "ROUTE"))]
    assert [label for label, _ in said] == ["CHECK", "ROUTE"] * 2, done.stdout + done.stderr[-2000:]
    for python, (_, check), (_, route) in zip(pythons, said[::2], said[1::2], strict=True):
        expected = f"an executor cannot route with {python} (Python "
        assert check.startswith(expected)
        assert "ModuleNotFoundError: No module named 'dfa_router'. Install dfa-router[spark]" in check
        assert ("pyarrow" if python == pythons[0] else expected) in route.replace("PyArrow", "pyarrow")
