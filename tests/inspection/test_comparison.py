"""A log by two topologies: the counts are those of a plain recount, message by message."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.errors import MessagesError
from dfa_router.inspection.comparison import Comparison, compare_messages
from dfa_router.logs.scanning import plan_log
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from tests.inspection.topologies import KEYS, altered, random_topology, reached


def recount(old: Topology, new: Topology, messages: list[tuple[str, str]]) -> tuple[Comparison, Counter[str]]:
    found = Comparison()
    queues: Counter[str] = Counter()
    for exchange, key in messages:
        before, after = (
            {name for kind, name in reached(topology, exchange, key) if kind == "queue"} for topology in (old, new)
        )
        found.messages += 1
        found.moved += before != after
        found.unroutable_before += not before
        found.unroutable_after += not after
        found.becoming_unroutable += bool(before) and not after
        found.becoming_routable += bool(after) and not before
        found.more_copies += 0 < len(before) < len(after)
        found.fewer_copies += len(before) > len(after) > 0
        queues.update(f"{name} gains" for name in after - before)
        queues.update(f"{name} loses" for name in before - after)
        queues.update(f"{name} has" for name in after)
    return found, queues


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_a_recount(seed: int, kind: str, tmp_path: Path) -> None:
    chance = random.Random(seed)
    old = random_topology(chance)
    new = altered(chance, old)
    names = [one.name for one in old.exchanges if one.name.startswith("x")]
    keys = [key for key in KEYS if kind != "csv" or "\n" not in key]
    messages = [(chance.choice(names), chance.choice(keys)) for _ in range(3_000)]
    log = tmp_path / f"log.{kind}"
    table = pa.table({"exchange": [name for name, _ in messages], "routing_key": [key for _, key in messages]})
    if kind == "parquet":
        pq.write_table(table, log, row_group_size=700)
    elif kind == "jsonl":
        log.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        log.write_text("exchange,routing_key\n" + "".join(f'{name},"{key}"\n' for name, key in messages))
    found = compare_messages(old, new, plan_log(str(log), kind))
    expected, queues = recount(old, new, messages)
    for name in ("messages", "moved", "unroutable_before", "unroutable_after", "becoming_unroutable", "more_copies"):
        assert getattr(found, name) == getattr(expected, name), name
    assert (found.becoming_routable, found.fewer_copies) == (expected.becoming_routable, expected.fewer_copies)
    told = Counter({f"{one.queue} gains": one.gained for one in found.queues})
    told += Counter({f"{one.queue} loses": one.lost for one in found.queues})
    assert told == Counter({name: count for name, count in queues.items() if not name.endswith("has")})
    for one in found.queues:
        assert one.after == queues[f"{one.queue} has"]
        for sample in one.gained_samples:
            assert ("queue", one.queue) in reached(new, sample.exchange or "", sample.routing_key or "")
            assert ("queue", one.queue) not in reached(old, sample.exchange or "", sample.routing_key or "")
        assert len(one.lost_samples) == min(3, len(set(one.lost_samples)))
        assert bool(one.lost_samples) == bool(one.lost)


def test_vhosts_are_told_apart_and_missing_exchanges_make_messages_unroutable(tmp_path: Path) -> None:
    exchanges = [Exchange(name="x", type="fanout", vhost=vhost) for vhost in "ab"]
    bindings = [Binding(source="x", destination="q", vhost=vhost) for vhost in "ab"]
    old = topology_of(exchanges=exchanges, bindings=bindings)
    new = topology_of(exchanges=exchanges[:1], bindings=bindings[:1], queues=[Queue(name="q", vhost="b")])
    log = tmp_path / "log.parquet"
    pq.write_table(pa.table({"vhost": ["a", "b", "b", "c"], "exchange": ["x"] * 4, "routing_key": ["k"] * 4}), log)
    found = compare_messages(old, new, plan_log(str(log), "parquet"))
    assert (found.messages, found.moved, found.becoming_unroutable, found.unroutable_before) == (4, 2, 2, 1)
    assert [(one.vhost, one.queue, one.lost, one.before, one.after) for one in found.queues] == [("b", "q", 2, 2, 0)]


def test_a_log_without_the_columns_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(pa.table({"exchange": ["x"], "topic": ["k"]}), log)
    with pytest.raises(MessagesError, match=r"no column 'routing_key'; they have: exchange string, topic string"):
        compare_messages(topology_of(), topology_of(), plan_log(str(log), "parquet"))
    pq.write_table(pa.table({"exchange": ["x"], "routing_key": [1]}), log)
    with pytest.raises(MessagesError, match="'routing_key' is int64"):
        compare_messages(topology_of(), topology_of(), plan_log(str(log), "parquet"))


def test_a_log_that_spark_alone_reads_is_refused_with_the_way_to_read_it(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"exchange": "x", "routing_key": "k"}\n[1]\n')
    with pytest.raises(MessagesError, match="route it first with 'dfa-router route"):
        plan_log(str(log), "jsonl")
