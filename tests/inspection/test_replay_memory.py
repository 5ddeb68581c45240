"""Replaying a trace holds a few blocks of it, however long it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.router.memory import MB, needs_proc, peak

BEFORE = """
import base64
from dfa_router.inspection.replay import replay
from dfa_router.logs.scanning import plan_log
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
topology = topology_of(
    exchanges=[Exchange(name="x", type="topic")], queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="a.#")],
)
line = (
    '{{"node":"n","connection":"c","vhost":"/","user":"u","channel":1,"timestamp":"t","type":"published","exchange":"x","queue":"none",'
    '"routed_queues":["q"],"routing_keys":["%s.%09d"],"properties":{{"headers":{{"n":%d}}}},"payload":"' + "eHh4" * 150 + '"}}\\n'
)
with open(r"{path}", "w") as file:
    for number in range({rows}):
        file.write(line % ("ab"[number % 2], number, number))
replay(topology, plan_log(r"{small}", "trace"))  # what a first one loads
"""
REPLAY = """
found = replay(topology, plan_log(r"{path}", "trace"))
assert (found.messages, found.agreeing, found.differing) == ({rows}, {rows} // 2, {rows} // 2), found
"""


def replaying(folder: Path, rows: int) -> int:
    """Return the bytes that replaying so many messages takes, at most; half of them differ, each with a key of its own."""
    small = Path(__file__).parents[2] / "examples" / "trace" / "orders.log"
    text = {"path": folder / f"{rows}.log", "rows": rows, "small": small}
    return peak(REPLAY.format(**text), BEFORE.format(**text))


@pytest.mark.slow
@needs_proc
def test_four_times_the_messages_take_a_few_megabytes_more(tmp_path: Path) -> None:
    """300,000 messages more are 240 MB or more as text; gathered with their payloads in each thread they took 140 MB more, and take 26."""
    few, many = replaying(tmp_path, 100_000), replaying(tmp_path, 400_000)
    assert many < few + 60 * MB
    assert many < 200 * MB
