"""Random topologies on the live RabbitMQ: they agree, they hold what they claim to, and planted faults are found."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verification.topologies import compare, write
from benchmarks.verification.topologies.drawing import FEATURES, draw, draw_policies, features_of
from benchmarks.verification.topologies.live import ALWAYS, BY_PLUGIN
from dfa_router.brokers import connect
from dfa_router.brokers.address import Address, parse
from dfa_router.errors import EnvironmentLacksError
from dfa_router.rabbitmq import exchange_types, nodes
from dfa_router.rabbitmq.headers.matching import STRICT

VHOSTS = ["one", "two words", "drei-ü"]


@pytest.fixture
def address() -> Address:
    url = "amqp://guest:guest@127.0.0.1:5672/"
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl")
    try:
        connect(url).close()
    except EnvironmentLacksError as error:
        pytest.skip(str(error))
    return parse(url)


@pytest.mark.broker
def test_the_broker_and_we_say_the_same(address: Address, tmp_path: Path) -> None:
    compared = compare(address, topologies=12, seed=3)
    assert compared.differences == []
    assert compared.messages == 600
    assert compared.copies > 300
    text = write(compared, tmp_path, command="test").read_text("utf-8")
    assert "| x-match any-with-x |" in text
    assert "None." in text


@pytest.mark.broker
@pytest.mark.parametrize("fault", ["values", "alternate", "copies"])
def test_a_planted_fault_is_found(address: Address, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "values":  # as of a later version than the broker's
        monkeypatch.setitem(exchange_types.SIMULATED, "headers up to 3.12", STRICT)
    elif fault == "alternate":  # "" as the default exchange
        named = nodes._alternate

        def alternate(declared: Any, exchange: Any, places: Any) -> int:
            name = declared.alternate_exchange(exchange) if exchange.name else None
            return places[exchange.vhost, ""] if name == "" else named(declared, exchange, places)

        monkeypatch.setattr(nodes, "_alternate", alternate)
    else:
        monkeypatch.setattr("dfa_router.rabbitmq.one_message.further_keys", lambda *_: ())
        monkeypatch.setattr("dfa_router.rabbitmq.columns.Copies.column", lambda _: None)
    compared = compare(address, topologies=25, seed=5)
    assert compared.differences


def test_every_feature_is_in_a_tenth_of_the_topologies() -> None:
    found: Counter[str] = Counter()
    types = [*ALWAYS, *BY_PLUGIN]
    for number in range(100):
        policies = draw_policies(random.Random(number // 50), VHOSTS, "t.")
        drawn = draw(number, 1, vhosts=VHOSTS, policies=policies, types=types, tag="t.", broker="3.10")
        again = draw(number, 1, vhosts=VHOSTS, policies=policies, types=types, tag="t.", broker="3.10")
        assert again.messages == drawn.messages
        assert again.topology.bindings == drawn.topology.bindings
        found.update(features_of(drawn, types))
    assert {name for name in (*FEATURES, *types) if found[name] < 10} == set()
