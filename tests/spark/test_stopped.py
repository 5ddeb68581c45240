"""A session that was stopped: what is asked of it afterwards says so. In a process of its own, since others need the one of this."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.own_java, pytest.mark.slow]

pytest.importorskip("pyspark", reason="needs PySpark: pip install 'dfa-router[spark]'")

PROGRAM = """
import dfa_router as dr
from dfa_router.rabbitmq import Exchange, topology_of
from dfa_router.spark import check_executors, local_session, register, register_trace_source, route

topology = topology_of(exchanges=[Exchange(name="x", type="topic")])
session = local_session("local[1]")
messages = session.createDataFrame([("x", "a")], "exchange string, routing_key string")
session.stop()
for call in (
    lambda: route(messages, topology),
    lambda: register(session, topology),
    lambda: check_executors(session),
    lambda: register_trace_source(session),
):
    try:
        call()
    except dr.OptionError as error:
        print(error)
"""


def test_a_session_that_was_stopped_is_told_as_that() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    said = run.stdout.splitlines()
    assert len(said) == 4
    assert all(line.startswith("the Spark session was stopped: start another, as dfa_router.spark") for line in said)
