"""Whether executors can route, asked before a job does.

Spark sends functions to its executors, not what these import: numba and Arrow have to be installed there. A job that finds
them missing ends in a hundred lines, of Java's and of Python's, and the line that counts is in the middle of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfa_router.errors import EnvironmentLacksError
from dfa_router.spark.errors import SPARK_ERRORS, cause
from dfa_router.spark.functions import worker_check
from dfa_router.spark.shipping import check_session, is_connect
from dfa_router.whole_numbers import whole_number

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_executors"]

_TASKS_ON_CONNECT = 16
"""How many tasks ask on Spark Connect, which does not tell how many cores there are."""


def check_executors(session: SparkSession, *, tasks: int | None = None) -> None:
    """Run a small job that asks whether executors can route; it takes a second or two, and reads no data.

    ``tasks`` is how many tasks ask; by default two for each core that Spark knows of. Spark chooses where they run, so an
    executor that is busy or joins later may not be asked. Needs nothing of the executors but Python.

    Raises :class:`EnvironmentLacksError` with one sentence: what an executor's Python is, what it lacks, and the remedy; and
    :class:`OptionError` for ``tasks`` that are no number.

    >>> from dfa_router.spark import check_executors, local_session
    >>> check_executors(local_session("local[2]"))
    """
    from pyspark.sql.functions import udf

    check_session(session)
    if tasks is not None:
        tasks = whole_number("tasks", tasks, 1, "a number of tasks from 1 up, or None for two for each core")
    lacking = worker_check()

    def ask(_: int) -> str | None:
        return lacking()

    if tasks is None:
        tasks = _TASKS_ON_CONNECT if is_connect(session) else max(2, 2 * session.sparkContext.defaultParallelism)
    asked = session.range(0, tasks, 1, numPartitions=tasks).select(
        udf(ask, "string", useArrow=False)("id").alias("said")
    )
    try:
        said = [row.said for row in asked.where("said is not null").limit(1).collect()]
    except SPARK_ERRORS as error:
        raise EnvironmentLacksError(f"an executor cannot run Python: {cause(error)}") from error
    if said:
        raise EnvironmentLacksError(said[0])
