"""The published routing vectors: a topology with cycles, alternate exchanges and a headers exchange."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dfa_router.rabbitmq import load_definitions


@pytest.mark.parametrize("engine", ["dfa", "nfa", "naive"])
def test_the_routing_vectors_hold(shared: Path, engine: str) -> None:
    lines = (shared / "vectors" / "routing_topology_mqx.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    topology = load_definitions(shared / rows[0]["definitions"])
    router = topology.compile(engine=engine)
    names, keys, headers = ([row[part] for row in rows] for part in ("exchange", "key", "headers"))
    columns = router.route_columns(names, keys, headers=headers)
    assert columns.queues.to_pylist() == [row["expected_queues"] for row in rows]
    assert columns.not_simulated.to_pylist() == [[]] * len(rows)
    assert [
        list(router.route(*one, headers=known).queues) for *one, known in zip(names, keys, headers, strict=True)
    ] == [row["expected_queues"] for row in rows]
    assert len(rows) == 45
    without = [number for number, one in enumerate(router.route_columns(names, keys).not_simulated.to_pylist()) if one]
    assert [names[number] for number in without] == ["r.direct", "r.headers"], "the rows that need headers say so"
