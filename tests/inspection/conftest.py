"""What tests of inspections share: a broker that traces, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.rabbitmq_node import Node, running_node


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Return a broker of the tests' own."""
    with running_node(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture
def channel(node: Node) -> Iterator[Any]:
    """Return a channel to it, with publisher confirms."""
    pika = pytest.importorskip("pika", reason="needs pika: pip install 'dfa-router[dev]'")
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", node.port))
    opened = connection.channel()
    opened.confirm_delivery()
    yield opened
    connection.close()
