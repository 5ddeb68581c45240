"""What tests of topologies share: a channel to the broker on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def channel() -> Iterator[Any]:
    """Return a channel with publisher confirms to the broker on this machine, or skip."""
    pika = pytest.importorskip("pika", reason="needs pika: pip install 'dfa-router[dev]'")
    try:
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", 5672, connection_attempts=1))
    except pika.exceptions.AMQPError as error:
        pytest.skip(f"no RabbitMQ answers on 127.0.0.1:5672 ({type(error).__name__})")
    opened = connection.channel()
    opened.confirm_delivery()
    yield opened
    if connection.is_open:  # the broker closes it for what it does not know
        connection.close()
