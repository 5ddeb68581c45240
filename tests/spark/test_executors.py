"""Executors that lack the package: one sentence that says so, in place of a hundred lines."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from dfa_router.errors import EnvironmentLacksError
from dfa_router.rabbitmq import Exchange, topology_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_all_is_there(spark: SparkSession) -> None:
    from dfa_router.spark import check_executors

    check_executors(spark)


def python_beside(folder: Path, packages: Path | None) -> tuple[Path, Path]:
    """Return the Python of an environment that has nothing, or the packages of a folder, and what starts it.

    Workers get the driver's PYTHONPATH and folder, where they would find this checkout: what starts them takes both from them.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    if packages is not None:
        own = next((folder / "lib").glob("python*/site-packages"))
        (own / "others.pth").write_text(str(packages))
    python, starting = folder / "bin" / "python", folder / "start"
    checkout = shlex.quote(str(Path(__file__).parents[2]))
    starting.write_text(f"""#!/bin/sh
PYTHONPATH=$(printf %s "$PYTHONPATH" | tr : '\\n' | grep -vxF {checkout} | tr '\\n' :)
export PYTHONPATH
cd /
exec {shlex.quote(str(python))} "$@"
""")
    starting.chmod(0o755)
    return python, starting


@pytest.mark.skipif(os.name != "posix", reason="starts Python by a shell's script")
@pytest.mark.parametrize("others", [False, True], ids=["bare", "with Arrow"])
def test_a_python_without_the_package_is_named(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: bool
) -> None:
    """One that has nothing, and one that has Arrow and pandas."""
    from dfa_router.spark import check_executors, route

    python, starting = python_beside(tmp_path / "python", Path(pa.__file__).parents[1] if others else None)
    found = subprocess.run([python, "-c", "import dfa_router"], cwd=tmp_path, capture_output=True, check=False)
    if found.returncode == 0:
        pytest.skip("dfa-router lies beside pyarrow: it is not installed as a checkout is")
    messages = spark.createDataFrame([("x", "a")], "exchange string, routing_key string")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(starting))  # what spark.pyspark.python says
    expected = rf"an executor cannot route with {re.escape(str(python))} \(Python "
    with pytest.raises(EnvironmentLacksError, match=rf"^{expected}") as lacking:
        check_executors(spark)
    assert "ModuleNotFoundError: No module named 'dfa_router'. Install dfa-router[spark]" in str(lacking.value)
    # A bare Python is named by Spark, before any function of ours is called.
    with pytest.raises(Exception, match=expected if others else "(?i)pyarrow"):
        route(messages, topology_of(exchanges=[Exchange(name="x", type="topic")])).collect()
