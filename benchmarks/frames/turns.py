"""The sessions and the turns: every contestant once in each round, in both sessions, one after the other.

Processor time is quoted, of Java and of the Python workers together, as nothing else of the machine is in it; the driver's
Python only waits. The first rounds are not counted: Java compiles its code, and workers start. A session whose Java has run
less of the same code looks slower than it is: with one round and two contestants on Connect, beside five in the classic session,
routing there cost 1.34 times as much, and constant functions as well. So both sessions have the same contestants, but for one.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import dfa_router as dr
from benchmarks.frames.child import MARK, summary
from benchmarks.frames.contestants import CONTESTANTS

__all__ = ["Figure", "Sessions", "begun", "run", "take_turns"]

KINDS = ("classic", "connect")
"""The kinds of session."""
DEFINITIONS = Path(__file__).parents[2] / "examples" / "demo" / "definitions.json"
ON_CONNECT = tuple(name for name in CONTESTANTS if name != "route, batch by batch")
"""The contestants of the session on Connect."""
WARM_UPS = 2
"""Rounds that are not counted."""

Ask = Callable[[str], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Figure:
    """Medians of one contestant."""

    session: str
    """``classic`` or ``connect``."""
    contestant: str
    cpu_us: float
    """Processor microseconds per message, of Java and of the workers."""
    wall_us: float
    """Elapsed microseconds per message, on two cores."""
    spark: str
    """The version."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """A session of each kind, and the log that they read."""

    log: pa.Table
    versions: dict[str, str]
    """Spark's, by the kind of session."""
    ask: dict[str, Ask]
    """What has a contestant run once in a session of a kind, and returns what it counted and took."""


@contextmanager
def begun(messages: int) -> Iterator[Sessions]:
    """Write a log of so many messages and start the sessions, for as long as the block lasts."""
    from examples.demo.make_log import make_log

    with TemporaryDirectory(prefix="dfa-router-frames-") as folder, ExitStack() as opening:
        log = make_log(json.loads(DEFINITIONS.read_text("utf-8")), messages, seed=1)
        pq.write_table(log, f"{folder}/log.parquet")
        asked = {kind: opening.enter_context(_session(kind, folder)) for kind in KINDS}
        versions = {kind: version for kind, (version, _) in asked.items()}
        yield Sessions(log, versions, {kind: ask for kind, (_, ask) in asked.items()})


def run(*, messages: int, rounds: int, progress: Callable[[str], None] = lambda _: None) -> list[Figure]:
    """Measure; raises ``AssertionError`` where a contestant that routes counts other routes than plain Python does."""
    with begun(messages) as sessions:
        return take_turns(sessions, rounds=rounds, progress=progress)


def take_turns(sessions: Sessions, *, rounds: int, progress: Callable[[str], None] = lambda _: None) -> list[Figure]:
    """Measure in sessions that have begun, as :func:`run` does."""
    messages, expected = len(sessions.log), _expected(sessions.log)
    turns = [("classic", name) for name in CONTESTANTS] + [("connect", name) for name in ON_CONNECT]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {turn: [] for turn in turns}
    for number in range(-WARM_UPS, rounds):
        progress(f"round {number + 1} of {rounds}" if number >= 0 else "warming up")
        for kind, name in turns:
            answer = sessions.ask[kind](name)
            counts = {key: answer[key] for key in expected}
            assert counts == expected or "constant" in name, f"{kind}, {name}: {counts} instead of {expected}"
            assert answer["rows"] == messages, f"{kind}, {name}: {answer['rows']} rows"
            if number >= 0:
                found[kind, name].append(answer)
    return [
        Figure(
            session=kind,
            contestant=name,
            cpu_us=statistics.median(answer["cpu"] for answer in answers) * 1e6 / messages,
            wall_us=statistics.median(answer["seconds"] for answer in answers) * 1e6 / messages,
            spark=sessions.versions[kind],
        )
        for (kind, name), answers in found.items()
    ]


def _expected(log: pa.Table) -> dict[str, int]:
    router = dr.load_definitions(DEFINITIONS).compile()
    routed = router.route_columns(log["exchange"], log["routing_key"], log["vhost"])
    return summary(pa.table({"queues": routed.queues, "routed": routed.routed}))


@contextmanager
def _session(kind: str, folder: str) -> Iterator[tuple[str, Ask]]:
    """Start a session; yields its version of Spark and what asks it to run a contestant."""
    command = [sys.executable, "-m", "benchmarks.frames.child", kind, f"{folder}/log.parquet", str(DEFINITIONS), folder]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def answer() -> dict[str, Any]:
        for line in stdout:
            if MARK in line:
                found: dict[str, Any] = json.loads(line.split(MARK, 1)[1])
                return found
        raise AssertionError(f"{kind}: the session ended; run it by hand to see why: {' '.join(command)}")

    def ask(name: str) -> dict[str, Any]:
        stdin.write(f"{name}\n")
        return answer()

    try:
        yield answer()["spark"], ask
    finally:
        stdin.close()
        process.wait()
        stdout.close()
