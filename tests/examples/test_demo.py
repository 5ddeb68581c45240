"""The demo's definitions file is what its deployment declares, and its log is reproducible and plausible."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from examples.demo.deployment import BINDINGS, EXCHANGES, QUEUES, VHOSTS, queue_arguments
from examples.demo.make_log import make_log, write_log

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "demo" / "definitions.json"


@pytest.fixture(scope="module")
def definitions() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(FILE.read_bytes())
    return loaded


@pytest.fixture(scope="module")
def log(definitions: dict[str, Any]) -> pa.Table:
    return make_log(definitions, 20_000, seed=1)


def test_the_file_holds_the_deployment_and_nothing_else(definitions: dict[str, Any]) -> None:
    assert set(definitions) == {
        "rabbit_version", "rabbitmq_version", "vhosts", "exchanges", "queues", "bindings", "policies",
    }  # fmt: skip
    assert tuple(sorted(vhost["name"] for vhost in definitions["vhosts"])) == tuple(sorted(VHOSTS))
    exchanges = {(e["vhost"], e["name"], e["type"], str(e["arguments"])) for e in definitions["exchanges"]}
    assert exchanges == {(e.vhost, e.name, e.type, str(e.arguments)) for e in EXCHANGES}
    queues = {(q["vhost"], q["name"]): q["arguments"] for q in definitions["queues"]}
    assert queues == {queue: queue_arguments(*queue) for queue in QUEUES}
    bindings = sorted(
        (
            b["vhost"],
            b["source"],
            b["destination_type"],
            b["destination"],
            b["routing_key"],
            sorted(b["arguments"].items()),
        )
        for b in definitions["bindings"]
    )
    assert bindings == sorted(
        (
            b.vhost,
            b.source,
            "exchange" if b.to_exchange else "queue",
            b.destination,
            b.pattern,
            sorted(b.arguments.items()),
        )
        for b in BINDINGS
    )


@pytest.mark.slow
@pytest.mark.broker
def test_a_running_broker_exports_the_same_file(tmp_path: Path) -> None:
    """The broker's own words: defaults that a version adds to an entry would show here."""
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs RabbitMQ and the right to use rabbitmqctl")
    listed = subprocess.run(
        ["rabbitmqctl", "--quiet", "--silent", "list_vhosts", "name"], capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip(f"needs a running RabbitMQ: {listed.stderr.strip()[:200]}")
    if set(VHOSTS) & set(listed.stdout.splitlines()):
        pytest.skip(f"the broker has virtual hosts of the demo's names already: {VHOSTS}")
    out = tmp_path / "definitions.json"
    run = subprocess.run(
        [sys.executable, "-m", "examples.demo.declare_topology", "--out", out],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    exported, committed = json.loads(out.read_bytes()), json.loads(FILE.read_bytes())
    for kind in ("exchanges", "queues", "bindings", "policies"):
        assert exported[kind] == committed[kind]


def test_equal_seeds_make_equal_logs(definitions: dict[str, Any], log: pa.Table) -> None:
    assert make_log(definitions, 20_000, seed=1) == log
    assert make_log(definitions, 20_000, seed=2)["routing_key"] != log["routing_key"]


def test_a_log_is_written_part_by_part_over_the_whole_day(definitions: dict[str, Any], tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_log(definitions, 2_500, 1, tmp_path / name, at_a_time=1_000)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    log = pq.read_table(tmp_path / "one")
    assert log.num_rows == len(pc.unique(log["message_id"])) == 2_500
    times = log["timestamp"].to_pylist()
    assert times == sorted(times)
    assert [times[row].hour for row in (0, 999, 1_999, 2_499)] == [0, 9, 19, 23]


def test_the_log_has_its_columns_and_no_nulls(log: pa.Table) -> None:
    assert log.column_names == ["timestamp", "message_id", "vhost", "exchange", "routing_key", "size"]
    assert [column.null_count for column in log.columns] == [0] * 6
    assert log.num_rows == 20_000
    assert pc.max(pc.binary_length(log["routing_key"])).as_py() <= 255
    assert log["timestamp"].to_pylist() == sorted(log["timestamp"].to_pylist())
    assert len(pc.unique(log["message_id"])) == 20_000


def test_messages_go_to_every_kind_of_exchange(log: pa.Table, definitions: dict[str, Any]) -> None:
    used = set(zip(log["vhost"].to_pylist(), log["exchange"].to_pylist(), strict=True))
    types = {e["type"] for e in definitions["exchanges"] if (e["vhost"], e["name"]) in used}
    assert types == {"topic", "direct", "fanout", "headers"}
    assert ("shop", "") in used


def test_words_are_skewed_and_most_keys_are_distinct(log: pa.Table) -> None:
    keys = [key.split(".") for key in log["routing_key"].to_pylist()]
    countries = [key[2] for key in keys if key[0] == "order"]
    assert countries.count("de") > 5 * countries.count("se") > 0
    assert 0.5 < len(pc.unique(log["routing_key"])) / log.num_rows < 0.95


def test_a_definitions_file_of_another_deployment_is_refused(definitions: dict[str, Any]) -> None:
    other = definitions | {"exchanges": [e for e in definitions["exchanges"] if e["name"] != "lx.events"]}
    with pytest.raises(SystemExit, match=r"lacks the exchanges \[\('logistics', 'lx.events'\)\]"):
        make_log(other, 10, seed=1)
