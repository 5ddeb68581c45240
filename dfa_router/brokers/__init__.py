"""Live brokers as targets of the fuzz tester: bindings are declared, keys are published, deliveries are read back.

::

    with connect("amqp://guest:guest@127.0.0.1:5672/") as broker:
        broker.describe()                            # 'RabbitMQ 3.10.8'
        broker.answer(["a.*", "#"], ["a.b", "a"])    # [(0, 1), (1,)]
        broker.refusal("a.*")                        # None: the broker takes it

The frames of each protocol are packed here, and a whole round is sent in one write: a fuzz tester is worth as much as the
number of cases that it asks in a second, and a client library waits for an answer many times a round. Everything that a
broker is made to hold has a random token of this run in its name and goes away with the connection, also when the process
is killed.

``stream.py`` is a connection that reads while it writes, and ``broker.py`` has what the three brokers share. ``amqp.py``,
``mqtt.py`` and ``nats.py`` say in their docstrings how a round is asked.
"""

from __future__ import annotations

from dfa_router.brokers.address import Address, parse
from dfa_router.brokers.broker import Broker
from dfa_router.errors import EnvironmentLacksError

__all__ = ["Address", "Broker", "connect"]


def connect(url: str, *, timeout: float | None = None) -> Broker:
    """Return a target that asks the broker at ``url``; close it, or use it in a ``with`` statement.

    Args:
        url: ``amqp://user:password@host:port/vhost``, ``mqtt://host:port`` or ``nats://host:port``. Ports and, for AMQP,
            guest/guest may be left out; ``?timeout=60`` may follow.
        timeout: seconds without a byte in either direction after which the broker counts as hung; 30 if neither this nor
            the URL says otherwise.

    Raises:
        EnvironmentLacksError: no broker answers there, or a package is missing; the text says what to start or install.
        OptionError: the URL cannot be read, or the broker does not let this user in.

    """
    address = parse(url, timeout=timeout)
    if address.scheme == "amqp":
        try:
            from dfa_router.brokers.amqp import AmqpBroker
        except ModuleNotFoundError as error:
            raise EnvironmentLacksError(f"{error}: install it with pip install 'dfa-router[brokers]'") from None
        return AmqpBroker(address)
    if address.scheme == "mqtt":
        from dfa_router.brokers.mqtt import MqttBroker

        return MqttBroker(address)
    from dfa_router.brokers.nats import NatsBroker

    return NatsBroker(address)
