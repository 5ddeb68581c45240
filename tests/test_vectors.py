"""The AMQP test vectors of other projects, answered by every engine in every configuration."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.matrix import CONFIGURATIONS, Configuration

OTHER_DIALECTS = {
    "amqp-star-only": 5,
    "amqp-qlobber-default(* needs a non-empty word)": 4,
    "pgmq": 2,
    "rabbitmq-mock(* needs a non-empty word)": 1,
}
"""Rows that state another product's deviation from RabbitMQ, by the name they give it."""


def amqp_rows(shared: Path) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the rows of dialect amqp, and how many rows there are of each other one."""
    rows, others = [], Counter[str]()
    for path in sorted((shared / "vectors").glob("amqp_*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if row["dialect"] == "amqp":
                rows.append(row)
            else:
                others[row["dialect"]] += 1
    return rows, others


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_every_amqp_vector(shared: Path, configuration: Configuration) -> None:
    """Each row's key reaches exactly the expected patterns, in the single-key call and in a batch."""
    rows, others = amqp_rows(shared)
    assert others == OTHER_DIALECTS
    assert len(rows) == 560
    wrong = []
    for row in rows:
        names = list(row["patterns"])
        router = configuration.router([(pattern, name) for name, pattern in row["patterns"].items()], [row["key"]])
        single = {names[position] for position in router.match_bindings(row["key"])}
        batch = {names[position] for position in router.match_batch([row["key"]]).bindings()[0].as_py()}
        if not (single == batch and _agrees(row, single) and router.any(row["key"]) == bool(single)):
            wrong.append((row["source"], row["key"], sorted(single)))
    assert not wrong


def _agrees(row: dict[str, Any], found: set[str]) -> bool:
    """Compare with whatever the row states: the patterns, how many, whether any, or which subscribers."""
    stated = []
    if row["expected"] is not None:
        stated.append(found == set(row["expected"]))
    if "expected_count" in row:
        stated.append(len(found) == row["expected_count"])
    if "expected_any" in row:
        stated.append(bool(found) == row["expected_any"])
    if "expected_subscribers" in row:
        subscribers = row["expected_subscribers"]
        stated.append({name.split(":")[0] for name in found} == set(subscribers) or found == set(subscribers))
    assert stated, row
    return all(stated)
