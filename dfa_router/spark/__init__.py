"""Routing on Spark: DataFrames of messages in, DataFrames with their queues out, and functions for SQL.

Needs the extra ``dfa-router[spark]``, for Spark Connect ``dfa-router[spark-connect]``.
"""

from __future__ import annotations

from dfa_router.spark.session import local_session, require_spark

require_spark()

from dfa_router.spark.route import route  # noqa: E402  (after the check, whose error names what to install)

__all__ = ["local_session", "route"]
