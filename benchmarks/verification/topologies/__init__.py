"""Random topologies, declared on a live RabbitMQ and published to: which queues get each message there, and here.

A topology and its messages follow from the seed and its number (:mod:`benchmarks.verification.topologies.drawing`). The broker is
asked by exchange, queue and binding, as clients do (``live``); policies and vhosts are set by ``rabbitmqctl``, for many topologies
together, as that takes a second. Its answer is compared with three of ours (``comparison``): the route of the single message,
that of the column through the compiled relay, and that from exchange to exchange with the naive specification.

What it cannot show: clusters, versions other than the broker's, AMQP 1.0, what a message interceptor adds.
"""

from __future__ import annotations

from benchmarks.verification.topologies.comparison import Compared, compare
from benchmarks.verification.topologies.page import write

__all__ = ["Compared", "compare", "write"]
