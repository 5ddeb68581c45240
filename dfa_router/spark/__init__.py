"""Routing on Spark: DataFrames of messages in, DataFrames with their queues out, and functions for SQL.

Needs the extra ``dfa-router[spark]``, for Spark Connect ``dfa-router[spark-connect]``.
"""

from __future__ import annotations

from dfa_router.spark.session import local_session, require_spark

require_spark()

from dfa_router.spark.executors import check_executors  # noqa: E402  (after the check, whose error names what to install)
from dfa_router.spark.route import route  # noqa: E402
from dfa_router.spark.sql import register  # noqa: E402
from dfa_router.spark.traces import register_trace_source  # noqa: E402

__all__ = ["check_executors", "local_session", "register", "register_trace_source", "route"]
