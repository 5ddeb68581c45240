"""How a session is told of the data source for RabbitMQ's traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfa_router.errors import EnvironmentLacksError
from dfa_router.spark.shipping import check_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register_trace_source"]


def register_trace_source(session: SparkSession) -> str:
    """Make the format ``rabbitmq-trace`` known to a session, and return its name.

    ``spark.read.format("rabbitmq-trace").load(path)`` reads what RabbitMQ's tracing plugin wrote, in JSON or as text: a file, a
    folder or a pattern. ``readStream`` follows the files as they grow; in the text form the last record of a file waits for the
    next one. With ``option("published", True)`` what queues delivered is left out. A record that could not be read is a row whose
    columns are null but for ``unreadable_line`` and ``read_problem``. Executors need this package, as :func:`dfa_router.spark.route` does.

    The columns before these two are ``timestamp``, ``type`` (``published``, or ``received`` where a queue delivered it), ``node``,
    ``connection``, ``vhost``, ``user``, ``channel``, ``exchange``, ``routing_key``, ``routing_keys`` (the key, and behind it those of CC and
    BCC), ``cc`` (those alone), ``queue`` (of a delivery), ``routed_queues`` (of a publication: what the broker found), ``headers``
    and ``properties`` (JSON), ``payload`` (in base64, and perhaps cut by the plugin) and ``payload_bytes``.

    Raises :class:`EnvironmentLacksError` before Spark 4.0, which brought data sources in Python.

    >>> from dfa_router.spark import local_session
    >>> spark = local_session("local[2]")
    >>> register_trace_source(spark)
    'rabbitmq-trace'
    >>> trace = spark.read.format("rabbitmq-trace").load("tests/data/traces/rabbitmq-3.10-json.log")
    >>> trace.where("type = 'published'").count()
    14
    """
    check_session(session)
    if not hasattr(session, "dataSource"):
        raise EnvironmentLacksError(
            f"the format rabbitmq-trace needs Spark 4.0 or newer, and this is {session.version}: route a trace with 'dfa-router route', "
            "whose result Spark reads, or upgrade"
        )
    from dfa_router.spark.trace_source import TraceSource

    session.dataSource.register(TraceSource)
    return TraceSource.name()
