"""A Spark session on this machine that needs no configuration.

:func:`local_session` finds Java, starts Spark with this Python for its workers, and avoids the settings that are known
to make it fail or slow. Every setting can be overridden, except the LZ4 codec for Arrow batches, which is refused: Spark runs it in
pure Java, and a job of one second was still running after four minutes.

It is a convenience. :func:`dfa_router.spark.route` takes DataFrames of any session, such as one that a cluster's
notebook provides.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import re
import site
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfa_router.errors import EnvironmentLacksError, OptionError
from dfa_router.spark.java import DISTURBING, Java, find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SHORT_JOBS", "end_java", "end_workers", "java_has_ended", "local_session", "stop"]

_CODEC = "spark.sql.execution.arrow.compression.codec"
SHORT_JOBS = " ".join(
    f"-XX:{option}"
    for option in (
        "+UseSerialGC",
        "Tier4InvocationThreshold=100000",
        "Tier4MinInvocationThreshold=12000",
        "Tier4CompileThreshold=300000",
        "Tier4BackEdgeThreshold=800000",
    )
)
"""Have Java optimise a method once it is twenty times as hot as by default, as most of what a local session runs is run seldom.

Measured on two cores, in seconds of Java's CPU: starting took 6.4 where it took 10.5; a job of 100,000 rows that go to Python's
workers, and to Parquet, 6.8 where it took 10.3; one of 10 million 17.9 where it took 21.5, and 34.5 with nothing optimised at all.
"""
_ENDING_SECONDS = 5.0
"""How many seconds a Java process that has closed its connections is given to end."""
_MASTER = re.compile(r"local(\[([1-9]\d*|\*)(\s*,\s*\d+)?\])?|local-cluster\[[\d,\s]+\]|yarn|[a-z][\w+.-]*://.+")
"""What Spark's ``SparkContext`` and ``spark-submit`` take; managers of clusters that are added to it have schemes of their own."""
_INSTALL = "pip install 'dfa-router[spark]'"


def local_session(
    master: str = "local[*]", *, app_name: str = "dfa-router", java: Java | None = None, **conf: object
) -> SparkSession:
    """Return a Spark session, the running one if there is one, as ``SparkSession.builder.getOrCreate()`` does.

    ``master`` is usually ``local[n]``. Another one is passed on as it is; then nothing is bound to the loopback
    interface and the cluster's configuration folders are read. ``java`` defaults to what
    :func:`dfa_router.spark.java.find_java` finds. ``conf`` are Spark settings by their full names, which win over ours:
    ``local_session("local[2]", **{"spark.driver.memory": "4g"})``.

    The process's environment is the same afterwards: what Spark's launcher needs to see differently, such as JAVA_HOME,
    is changed while it starts only. Threads that read ``os.environ`` in these seconds see the changes.

    Raises :class:`EnvironmentLacksError` where PySpark, pandas or Java is missing or of a version that is not supported,
    naming what to install, and where Spark does not start, as with a cluster that cannot be reached; and :class:`OptionError`
    for a setting that is not Spark's or is known to hang, and for what is no master.
    """
    require_spark()
    settings = _settings(master, app_name, conf)
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    # Launched by spark-submit, or called for a second session: the JVM runs already, and its environment is what it is.
    if "PYSPARK_GATEWAY_PORT" in os.environ or SparkSession.getActiveSession() is not None:
        return builder.getOrCreate()
    chosen = java or find_java()
    with _environment(_launch_environment(master, chosen)), _no_orphan():
        try:
            return builder.getOrCreate()
        except PySparkRuntimeError as error:
            # Spark 4 has another name for it, and warns of this one.
            kind = error.getCondition() if hasattr(error, "getCondition") else error.getErrorClass()
            if kind != "JAVA_GATEWAY_EXITED":
                raise
            raise EnvironmentLacksError(
                f"Spark did not start with Java {chosen.version} in {chosen.home} (found by {chosen.source}): "
                "what it said stands above. Set JAVA_HOME to another Java 17, 21 or 25"
            ) from error
        except Py4JError as error:  # Java may have ended over it, and then not even the error's text can be asked for
            raise EnvironmentLacksError(
                f"Spark did not start with the master {master!r}: what it said stands above. Check that the cluster is there and takes "
                "applications, or use another --master, such as local[*]"
            ) from error


def end_java(session: SparkSession) -> None:
    """End the Java process of a session at once, and all that runs in it; does nothing if another program started it."""
    process = _java_process(session)
    if process is not None:
        server: Any = getattr(session.sparkContext, "_accumulatorServer", None)
        if server is not None:  # it would print a traceback for each connection that ends with Java
            server.handle_error = lambda *_: None
        process.kill()


def end_workers(session: SparkSession) -> None:
    """End the Python workers of a session whose tasks run in its own Java process, and this program started that; their tasks fail.

    The session is of no use afterwards: Spark does not see that a worker that it keeps for later has ended.
    """
    context = session.sparkContext
    if _java_process(session) is None or not re.fullmatch(r"local(\[.*)?", context.master or ""):
        return
    java: Any = context._jvm  # noqa: SLF001 - as for the process
    for process in java.java.lang.ProcessHandle.current().descendants().toArray():
        process.destroyForcibly()


def java_has_ended(session: SparkSession) -> bool:
    """Tell whether a call into Java failed because the process has ended, or is just ending."""
    process = _java_process(session)
    try:
        return process is not None and process.wait(_ENDING_SECONDS) is not None
    except subprocess.TimeoutExpired:
        return False


def stop(session: SparkSession) -> None:
    """Stop a session, also one whose Java has ended, at which ``session.stop()`` raises."""
    from py4j.protocol import Py4JError

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM", RuntimeWarning)
            session.stop()
    except (Py4JError, ConnectionError):
        if not java_has_ended(session):
            raise


@contextmanager
def _no_orphan() -> Iterator[None]:
    """End Java if starting it is interrupted.

    PySpark keeps the process nowhere until Java has answered, and a Java that nobody asked for an answer waits for ever.
    """
    launcher: Any = importlib.import_module("pyspark.java_gateway")
    start, started = launcher.Popen, list[subprocess.Popen[bytes]]()

    def starting(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **options))
        return started[-1]

    launcher.Popen = starting
    try:
        yield
    except BaseException:
        for process in started:
            process.kill()
            process.wait()
        raise
    finally:
        launcher.Popen = start


def _java_process(session: SparkSession) -> subprocess.Popen[bytes] | None:
    return getattr(session.sparkContext._gateway, "proc", None)  # noqa: SLF001  (PySpark keeps it there for its users)


def require_spark() -> None:
    """Raise :class:`EnvironmentLacksError` unless PySpark and a pandas that it supports are installed."""
    missing = [name for name in ("pyspark", "pandas") if importlib.util.find_spec(name) is None]
    if missing:
        raise EnvironmentLacksError(f"Spark support needs {' and '.join(missing)}: {_INSTALL}")
    for name, below in (("pyspark", 5), ("pandas", 3)):
        version = _version(name)
        if int(version.split(".")[0]) >= below:
            raise EnvironmentLacksError(f"{name} {version} is not supported, only versions below {below}: {_INSTALL}")


def _version(name: str) -> str:
    """Return a package's version; vendors install PySpark, or its client alone, under names of their own."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return str(importlib.import_module(name).__version__)


def _settings(master: str, app_name: str, conf: Mapping[str, object]) -> dict[str, str]:
    strange = [name for name in conf if not name.startswith("spark.")]
    if strange:
        raise OptionError(f"{strange[0]!r} is no Spark setting: give full names, such as 'spark.driver.memory'")
    if str(conf.get(_CODEC, "none")).lower() == "lz4":
        raise OptionError(f"{_CODEC}=lz4 is pure Java and hundreds of times slower: use 'none' or 'zstd'")
    settings = {
        "spark.master": master,
        "spark.app.name": app_name,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # 200, the default, is 200 tasks for each shuffle of a few megabytes.
        "spark.sql.shuffle.partitions": str(min(os.cpu_count() or 1, 8)),
        # A crash in native code shows the worker's Python stack.
        "spark.python.worker.faulthandler.enabled": "true",
    }
    if _is_local(master):
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        settings["spark.driver.extraJavaOptions"] = SHORT_JOBS  # whoever gives options of his own chooses all of them
    for name, value in conf.items():
        settings[name] = str(value).lower() if isinstance(value, bool) else str(value)
    if not _MASTER.fullmatch(settings["spark.master"]):  # Java would print a stack trace, and not what is possible
        raise OptionError(
            f"the Spark master is {settings['spark.master']!r}: write local, local[4] or local[*] for this machine, or a cluster's, "
            "such as spark://host:7077, k8s://https://host:443 or yarn"
        )
    if "spark.log.level" not in conf:
        quiet = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
        options = settings.get("spark.driver.extraJavaOptions", "")
        settings["spark.driver.extraJavaOptions"] = f"{quiet} {options}".rstrip()
    return settings


def _launch_environment(master: str, java: Java) -> dict[str, str | None]:
    """Return what differs in the environment of Spark's launcher; None removes a variable."""
    import pyspark

    changes: dict[str, str | None] = {
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        # Without it workers run the python3 of PATH, which may be another one, without our packages.
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": None,
    }
    changes |= dict.fromkeys(DISTURBING)
    if _is_local(master):
        changes |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": None, "HADOOP_CONF_DIR": None}
    here = str(Path(__file__).parents[2])
    if here not in site.getsitepackages():
        # Run from a checkout: workers must find the packages where this process found them.
        changes["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    return changes


def _is_local(master: str) -> bool:
    return master.startswith("local")


@contextmanager
def _environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Change ``os.environ`` within the block; what the block sets of other variables stays set after it."""
    before = {name: os.environ.get(name) for name in changes}
    _apply(changes)
    try:
        yield
    finally:
        _apply(before)


def _apply(changes: Mapping[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
