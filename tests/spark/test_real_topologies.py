"""Topologies that nobody wrote for a test: the same queues for every message as the specification in plain Python."""

from __future__ import annotations

import json
import random
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pytest

from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, load_definitions, topology_of
from tests.spark.tables import from_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


class Case(NamedTuple):
    """A real topology and messages for it."""

    topology: Topology
    messages: list[tuple[str, str, str]]
    """(vhost, exchange, routing key)"""


def keys_for(patterns: list[str], count: int, chance: random.Random) -> list[str]:
    """Return keys, most of which match some of the patterns: wildcards filled in, and now and then a word changed."""
    words = [*sorted({word for pattern in patterns for word in pattern.split(".")} - {"*", "#"}), "other", ""]
    keys = []
    for _ in range(count):
        key: list[str] = []
        for word in chance.choice(patterns).split("."):
            size = {"*": 1, "#": chance.choice([0, 1, 2])}.get(word)
            key += [word] if size is None else [chance.choice(words) for _ in range(size)]
        if key and chance.random() < 0.2:
            key[chance.randrange(len(key))] = chance.choice(words)
        keys.append(".".join(key))
    return keys


def with_queues(path: Path, target: Path) -> Topology:
    """Return the topology of a definitions file, with a queue added to each exchange that has none.

    An exchange that others are bound to gives the new queue everything; one where messages only start gives it what its
    first binding matches, so that a message of no interest to anyone stays unroutable.
    """
    document = json.loads(path.read_text())
    bindings = document["bindings"]
    served = {(one["vhost"], one["source"]) for one in bindings if one["destination_type"] == "queue"}
    inner = {(one["vhost"], one["destination"]) for one in bindings if one["destination_type"] == "exchange"}
    for exchange in list(document["exchanges"]):
        place = (exchange["vhost"], exchange["name"])
        if place in served:
            continue
        first = next((one["routing_key"] for one in bindings if (one["vhost"], one["source"]) == place), "#")
        name = f"added to {exchange['name']}"
        document.setdefault("queues", []).append({"vhost": place[0], "name": name, "durable": True, "arguments": {}})
        bindings.append(
            {
                "vhost": place[0],
                "source": place[1],
                "destination": name,
                "destination_type": "queue",
                "routing_key": "#" if place in inner else first,
                "arguments": {},
            }
        )
    target.write_text(json.dumps(document))
    return load_definitions(target)


def generated(topology: Topology, chance: random.Random, count: int = 400) -> Case:
    """Return messages to all exchanges that take any, with keys made from their own patterns."""
    messages = []
    declared = [one for one in topology.exchanges if not one.internal and not one.name.startswith("amq.") and one.name]
    for exchange in declared:
        patterns = [
            one.routing_key for one in topology.bindings if one.source == exchange.name and one.routing_key != "#"
        ]
        keys = keys_for(patterns or ["#"], count // len(declared) + 1, chance)
        messages += [(exchange.vhost, exchange.name, key) for key in keys]
    return Case(topology, messages)


def real_cases(shared: Path, folder: Path) -> dict[str, Case]:
    """Return the topologies that nobody wrote for a test, with messages."""
    chance = random.Random(2026)
    corpora = shared / "corpora"
    bindings = [json.loads(line) for line in (corpora / "fedora" / "bindings.jsonl").read_text().splitlines()]
    fedora = topology_of(
        exchanges=[Exchange(name="amq.topic", type="topic")],
        queues=[Queue(name=file) for file in sorted({one["file"] for one in bindings})],
        bindings=[Binding(source="amq.topic", destination=one["file"], routing_key=one["pattern"]) for one in bindings],
    )
    keys = (corpora / "fedora" / "keys.txt").read_text().splitlines()
    cases = {"fedora": Case(fedora, [("/", "amq.topic", key) for key in keys])}
    gridworks = sorted((corpora / "gridworks").glob("*.json"))
    assert len(gridworks) == 16
    for path in [*gridworks, corpora / "govuk" / "definitions.json"]:
        name = path.stem if path.stem != "definitions" else path.parent.name
        cases[name] = generated(with_queues(path, folder / f"{name}.json"), chance)
    delay = load_definitions(corpora / "nservicebus_delay" / "definitions.json")
    levels = [f"nsb.v2.delay-level-{number:02}" for number in (27, 27, 27, 14, 0)] + ["nsb.v2.delay-delivery"]
    keys = (corpora / "nservicebus_delay" / "keys.txt").read_text().splitlines()
    cases["nservicebus"] = Case(delay, [("/", chance.choice(levels), key) for key in keys])
    return cases


def test_real_topologies_give_each_message_the_same_queues_on_spark_and_in_plain_python(
    spark: SparkSession, shared: Path, tmp_path: Path
) -> None:
    from dfa_router.spark import route

    cases = real_cases(shared, tmp_path)
    rows = [(name, n, *message) for name, case in cases.items() for n, message in enumerate(case.messages)]
    names = ["case", "number", "vhost", "exchange", "routing_key"]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    messages = from_arrow(spark, table).coalesce(1)
    routed = [route(messages.where(messages.case == name), case.topology) for name, case in cases.items()]
    every = reduce(lambda one, other: one.union(other), routed).collect()
    assert len(every) == len(rows)
    answers = {(row.case, row.number): row for row in every}
    assert len(answers) == len(rows)
    reached: dict[str, int] = dict.fromkeys(cases, 0)
    for name, case in cases.items():
        naive = case.topology.compile(engine="naive")
        for number, (vhost, exchange, key) in enumerate(case.messages):
            expected = naive.route(exchange, key, vhost)
            row = answers[name, number]
            assert (row.exchange, row.routing_key) == (exchange, key)
            assert tuple(row.queues) == expected.queues, (name, exchange, key)
            assert row.routed == expected.routed
            assert (row.not_simulated, row.problem) == ([], None)
            reached[name] += row.routed
    for name, case in cases.items():
        floor = 0.15 if name == "fedora" else 0.5  # of the real Fedora keys most are of no interest to anyone
        assert reached[name] / len(case.messages) > floor, (name, reached[name], len(case.messages))
    assert any(reached[name] < len(case.messages) for name, case in cases.items() if "gridworks" in name)
    delay = cases["nservicebus"].topology
    assert (len(delay.bindings), sum("delay-level" in one.name for one in delay.exchanges)) == (64, 28)
    assert {len(key.split(".")) for *_, key in cases["nservicebus"].messages} <= {29, 30, 31}
