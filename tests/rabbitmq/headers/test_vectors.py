"""Headers vectors of other projects, with the types of AMQP that they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dfa_router.rabbitmq import Binding, Exchange, topology_of


def value(typed: list[Any]) -> Any:
    return None if typed[0] == "void" else typed[1]


@pytest.mark.parametrize("name", ["headers.jsonl", "headers_other_tools.jsonl"])
@pytest.mark.parametrize("broker", ["3.10", "4.3"])
def test_the_headers_vectors_hold(shared: Path, name: str, broker: str) -> None:
    rows = [json.loads(line) for line in (shared / "vectors" / name).read_text().splitlines()]
    assert len(rows) in (22, 28)
    loose = []
    for row in rows:
        bindings = [
            Binding(source="h", destination=queue, arguments={key: value(one) for key, one in arguments.items()})
            for queue, arguments in row["bindings"].items()
        ]
        topology = topology_of(exchanges=[Exchange(name="h", type="headers")], bindings=bindings)
        router = topology.compile(broker=broker)
        headers = {key: value(one) for key, one in row["headers"].items()}
        found = list(router.route("h", "", headers=headers).queues)
        assert router.route_columns(["h"], [""], headers=[headers]).queues.to_pylist() == [found]
        if found != row["expected"]:
            loose.append(row)
    if broker == "4.3":
        assert not loose
    else:  # 1 is 1.0 there, which the broker of the tests confirms
        assert all("double" in json.dumps(row) for row in loose)
