"""The published routing vectors: a topology with cycles, alternate exchanges and a headers exchange."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dfa_router.rabbitmq import load_definitions


@pytest.mark.parametrize("engine", ["dfa", "nfa", "naive"])
def test_the_routing_vectors_hold(shared: Path, engine: str) -> None:
    """Rows whose message reaches the headers exchange are counted and named: that type is not simulated."""
    lines = (shared / "vectors" / "routing_topology_mqx.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    topology = load_definitions(shared / rows[0]["definitions"])
    router = topology.compile(engine=engine)
    columns = router.route_columns([row["exchange"] for row in rows], [row["key"] for row in rows])
    unsimulated = []
    for number, row in enumerate(rows):
        route = router.route(row["exchange"], row["key"])
        assert columns.queues[number].as_py() == list(route.queues)
        if route.not_simulated:
            unsimulated.append((row["exchange"], row["key"], route.not_simulated))
        else:
            assert list(route.queues) == row["expected_queues"], row
    assert len(rows) == 45
    assert unsimulated == [("r.direct", "h", ("r.headers",)), ("r.headers", "k", ("r.headers",))]
