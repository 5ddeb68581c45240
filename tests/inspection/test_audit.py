"""Audits: counts against a plain recount, findings of real definitions, and a report that takes orders from no name."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.cli.app import run
from dfa_router.inspection.audit import Audit, audit_of
from dfa_router.inspection.charts import histogram, time_chart
from dfa_router.inspection.nearest import Nearest, distance
from dfa_router.inspection.report import page_of
from dfa_router.inspection.times import minutes_of
from dfa_router.language.dialects import AMQP
from dfa_router.logs.scanning import plan_log
from dfa_router.rabbitmq import Binding, Exchange, Queue, Topology, topology_of
from dfa_router.reference.naive import matches
from tests.inspection.topologies import KEYS, random_topology, reached
from viz import DrawingTooLargeError, RendererError

HOSTILE = [
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "a\nb\x1b[31m",
    "$2^n$",
    "日本",
    '"><img src=x>',
    "]]>&amp;",
]


def visited(topology: Topology, exchange: str, key: str) -> set[int]:
    """Return the positions of the bindings that a message meets."""
    exchanges = {exchange} | {name for kind, name in reached(topology, exchange, key) if kind == "exchange"}
    found = set()
    for position, one in enumerate(topology.bindings):
        kind = topology.exchange(one.source).type
        pattern = "#" if kind == "fanout" else one.routing_key
        met = pattern == key if kind == "direct" else matches(pattern.encode(), key.encode(), AMQP)
        if one.source in exchanges and met:
            found.add(position)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_a_recount(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    topology = random_topology(chance)
    names = [one.name for one in topology.exchanges if one.name.startswith("x")]
    messages = [(chance.choice(names), chance.choice(KEYS), chance.randrange(1000)) for _ in range(2_000)]
    begin = dt.datetime(2026, 11, 22, 23, 50, tzinfo=dt.UTC)
    columns = {
        "exchange": [one[0] for one in messages],
        "routing_key": [one[1] for one in messages],
        "size": [one[2] for one in messages],
        "timestamp": [begin + dt.timedelta(seconds=number) for number in range(len(messages))],
    }
    log = tmp_path / "log.parquet"
    pq.write_table(pa.table(columns), log, row_group_size=300)
    traffic = audit_of(topology, plan_log(str(log), "parquet")).traffic
    assert traffic is not None
    bindings: Counter[int] = Counter()
    queues: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    fan_out: Counter[int] = Counter()
    lost: Counter[tuple[str, str]] = Counter()
    for exchange, key, size in messages:
        got = {name for kind, name in reached(topology, exchange, key) if kind == "queue"}
        bindings.update(visited(topology, exchange, key))
        queues.update(got)
        sizes.update(dict.fromkeys(got, size))
        fan_out[len(got)] += 1
        lost[exchange, key] += not got
    assert {one.position: one.messages for one in traffic.bindings if one.messages} == dict(bindings)
    assert {one.queue: one.messages for one in traffic.queues if one.messages} == dict(queues)
    assert {one.queue: one.bytes for one in traffic.queues if one.messages} == dict(sizes)
    assert traffic.fan_out == dict(fan_out)
    assert {(one.exchange, one.routing_key): one.messages for one in traffic.unroutable_keys} == dict(+lost)
    assert (traffic.messages, traffic.routed, traffic.unroutable) == (2_000, 2_000 - fan_out[0], fan_out[0])
    assert sum(count for count, _ in traffic.times.values()) == 2_000
    assert sum(count for _, count in traffic.times.values()) == fan_out[0]
    assert next(iter(traffic.times)) == "2026-11-22 23:50"


def test_the_wildcard_that_is_none_in_real_definitions(shared: Path) -> None:
    folder = shared / "corpora" / "gridworks"
    first, second = (dr.load_definitions(min(folder.glob(f"*2022-12-{day}*"))) for day in (22, 23))
    found = [one for one in audit_of(first).findings if one.rule == "wildcard-in-word"]
    assert [one.name for one in found] == ["*.*.gw.*gnr.*"]
    assert "'*gnr' is no wildcard" in found[0].text
    assert [one for one in audit_of(second).findings if one.rule == "wildcard-in-word"] == []


def test_what_real_definitions_do_not_declare_is_found(shared: Path) -> None:
    found = audit_of(dr.load_definitions(shared / "corpora" / "rabbitmq_definitions" / "waggle_edge_stack.json"))
    (one,) = (one for one in found.findings if (one.rule, one.name) == ("undeclared-queue", "ansible"))
    assert "'ansible' in vhost '/': bound, but not declared" in one.text
    assert found.has_found


def test_a_finding_says_how_many_other_places_it_is_about() -> None:
    topology = topology_of(
        exchanges=[Exchange(name="x", type="topic")],
        bindings=[Binding(source="x", destination="q", routing_key=f"{number}") for number in range(1200)],
    )
    (told,) = (one.text for one in audit_of(topology).findings if one.rule == "undeclared-queue")
    assert "bindings[0].destination (and 1,199 more places): 'q' in vhost '/'" in told


def test_an_internal_exchange_for_dead_letters_is_reached() -> None:
    def rules(arguments: dict[str, Any]) -> list[str]:
        topology = topology_of(
            exchanges=[Exchange(name="dlx", type="topic", internal=True)],
            queues=[Queue(name="work", arguments=arguments), Queue(name="dead")],
            bindings=[
                Binding(source="amq.topic", destination="work", routing_key="#"),
                Binding(source="dlx", destination="dead", routing_key="#"),
            ],
        )
        return [one.rule for one in audit_of(topology, None).findings]

    assert rules({}) == ["exchange-not-reached"]
    assert rules({"x-dead-letter-exchange": "dlx"}) == []


def test_progress_counts_the_keys_whose_nearest_bindings_are_looked_for(tmp_path: Path) -> None:
    """Which takes longer than the messages where an exchange has thousands of bindings."""
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f'{{"exchange": "", "routing_key": "{key}"}}\n' for key in "abca"))
    said: list[tuple[str, int, int]] = []
    audit_of(topology_of(), plan_log(str(log), "jsonl"), report=lambda *told: said.append(told))
    assert said[-3:] == [("looking for the nearest bindings", number, 3) for number in range(3)]


def test_the_nearest_binding() -> None:
    topology = topology_of(
        exchanges=[Exchange(name="x", type="topic")],
        bindings=[
            Binding(source="x", destination="q", routing_key=key)
            for key in ("order.created.eu", "order.*.us.#", "invoice.#", "#.error")
        ],
    )
    near = Nearest(topology).bindings("/", "x", "order.craeted.eu")
    assert next(position for position, _ in near) == 0
    assert Nearest(topology).bindings("/", "y", "a") == []


@pytest.mark.parametrize("key", KEYS[:120])
def test_a_distance_of_nothing_is_a_match(key: str) -> None:
    for pattern in ("", "#", "*", "a.#", "#.a", "*.b.#", "a..b", "#.a.#.b.#"):
        assert (distance(pattern, key) == 0) == matches(pattern.encode(), key.encode(), AMQP), pattern


def hostile(tmp_path: Path) -> tuple[Topology, Path]:
    topology = topology_of(
        exchanges=[Exchange(name=name, type="topic") for name in HOSTILE],
        queues=[Queue(name=f"q{name}") for name in HOSTILE],
        bindings=[Binding(source=name, destination=f"q{name}", routing_key=f"{name}.#") for name in HOSTILE],
        source=HOSTILE[0],
    )
    keys = [f"{name}.k" for name in HOSTILE] + HOSTILE
    log = tmp_path / "log.parquet"
    columns = {
        "exchange": HOSTILE + HOSTILE[::-1],
        "routing_key": keys,
        "timestamp": ["2026-02-30T10:00:00"] * len(keys),
    }
    pq.write_table(pa.table(columns), log)
    return topology, log


def test_a_report_takes_no_orders_from_names(tmp_path: Path) -> None:
    topology, log = hostile(tmp_path)
    page = page_of(audit_of(topology, plan_log(str(log), "parquet")))
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<img|src=(?!x)|href=\"http|@import|url\(http", page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\x1b" not in page
    assert "日本" in page


def test_a_report_without_messages_and_one_of_nothing() -> None:
    assert "None." in page_of(Audit(source="", exchanges=0, queues=0, bindings=0, findings=[]))
    assert histogram({}, "copies").startswith("<svg")
    assert time_chart({"2026-02-30 10:00": (3, 1)}).startswith("<svg")


def dead_letter_office(tmp_path: Path) -> tuple[list[str], Path]:
    """Return what audits a topology of hundreds of queues with dead letters, one of which is busy, and the page to write."""
    entry: dict[str, Any] = {"vhost": "/", "arguments": {}}
    dead = {"arguments": {"x-dead-letter-exchange": "dlx"}}
    to_queue = {"destination_type": "queue", **entry}
    definitions = tmp_path / "defs.json"
    definitions.write_text(
        json.dumps(
            {
                "exchanges": [{"name": name, "type": "topic", **entry} for name in ("x", "dlx")],
                "queues": [{"name": "dead", **entry}, *({"name": f"q{n}", **entry, **dead} for n in range(300))],
                "bindings": [
                    {"source": "x", "destination": "q0", "routing_key": "a.#", **to_queue},
                    {"source": "dlx", "destination": "dead", "routing_key": "#", **to_queue},
                ],
            }
        )
    )
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({"exchange": name, "routing_key": "a.b"}) + "\n" for name in ("x", "x", "dlx")))
    page = tmp_path / "audit.html"
    return ["audit", "--definitions", str(definitions), "--messages", str(log), "--html", str(page), "--json"], page


def test_the_picture_has_the_dead_letters_of_busy_queues_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, page = dead_letter_office(tmp_path)
    assert run(command) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["traffic"]["messages"] == 3
    assert "without a picture" not in said.err
    (picture,) = re.findall(r"(?s)The topology, with its traffic</h2>(.*)</body>", page.read_text("utf-8"))
    assert set(re.findall(r">(q\d+|x|dlx|dead)<", picture)) == {"x", "q0", "dlx", "dead"}
    assert "dead letters" in picture


@pytest.mark.parametrize("error", [DrawingTooLargeError, RendererError])
def test_a_report_without_a_picture_says_why(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> bytes:
        raise error("no <dot> here: install it")

    monkeypatch.setattr("viz.formats.files.layout", fail)
    command, page = dead_letter_office(tmp_path)
    assert run(command) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["traffic"]["messages"] == 3
    assert "without a picture of the topology: no <dot> here: install it" in " ".join(said.err.split())
    assert "<p>No picture: no &lt;dot&gt; here: install it</p>" in page.read_text("utf-8")
    assert page.read_text("utf-8").count("<svg") >= 2, "the charts are there"


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_minutes_are_those_of_the_time_zone_that_the_column_has(unit: str) -> None:
    noon = dt.datetime(2026, 7, 1, 12, 0, 30, tzinfo=dt.UTC)
    for zone, minute in (("UTC", "12:00"), ("Europe/Berlin", "14:00"), ("+05:30", "17:30"), (None, "12:00")):
        column = pa.array([noon if zone else noon.replace(tzinfo=None), None], pa.timestamp(unit, zone))
        assert minutes_of(column, np.array([True, False])) == {(f"2026-07-01 {minute}", True): 1}, zone
    nowhere = pa.array([0], pa.timestamp(unit, "Nowhere/Such"))
    with pytest.raises(dr.EnvironmentLacksError, match=r"'Nowhere/Such': install .* or write the column in UTC"):
        minutes_of(nowhere, np.array([True]))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definitions = tmp_path / "defs.json"
    entry: dict[str, Any] = {"vhost": "/", "arguments": {}}
    definitions.write_text(
        json.dumps(
            {
                "exchanges": [{"name": "x", "type": "topic", **entry}],
                "queues": [{"name": "q", **entry}],
                "bindings": [
                    {"source": "x", "destination": "q", "destination_type": "queue", "routing_key": "a.#", **entry}
                ],
            }
        )
    )
    log = tmp_path / "log.jsonl"
    log.write_text('{"exchange": "x", "routing_key": "a.b"}\n')
    page = tmp_path / "audit.html"
    arguments = ["audit", "--definitions", str(definitions), "--messages", str(log)]
    assert run([*arguments, "--json", "--html", str(page)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["traffic"]["bindings"][0]["messages"] == 1
    assert "x --a.#--&gt; q" in page.read_text("utf-8")
    assert page.read_text("utf-8").count("<svg") >= 3
    log.write_text('{"exchange": "x", "routing_key": "b"}\n')
    assert run(arguments) == 1
    shown = capsys.readouterr().out
    assert "bindings[0]: x --a.#--> q" in shown


@pytest.mark.parametrize(
    ("place", "message"),
    [("no/audit.html", "no such folder"), (".", "it is a folder"), ("-", "standard output is not")],
)
def test_a_page_that_cannot_be_written_is_told_before_the_log_is_read(
    place: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("defs.json").write_text(json.dumps({"vhosts": [{"name": "/"}]}))
    Path("log.jsonl").write_text("{}\n")
    assert run(["audit", "--definitions", "defs.json", "--messages", "log.jsonl", "--html", place]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"defs.json", "log.jsonl"}


def test_bindings_of_the_default_exchange_bind_nothing() -> None:
    topology = topology_of(
        exchanges=[Exchange(name="inner", type="topic", internal=True), Exchange(name="outer", type="fanout")],
        queues=[Queue(name="q")],
        bindings=[
            Binding(source="", destination="q", routing_key="q"),
            Binding(source="", destination="inner", destination_type="exchange"),
            Binding(source="outer", destination="", destination_type="exchange"),
        ],
    )
    found = {(one.rule, one.name) for one in audit_of(topology).findings}
    assert found >= {
        ("queue-not-bound", "q"),
        ("exchange-not-reached", "inner"),
        ("exchange-leads-nowhere", "inner"),
        ("exchange-leads-nowhere", "outer"),
    }


def test_unroutable_keys_beyond_those_that_are_told_apart_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that came before are still told apart, in later parts of the log, too."""
    monkeypatch.setattr("dfa_router.inspection.audit.MOST_KEYS", 2)
    for name, size in (("LEAST_BYTES", 1), ("OPENING_BYTES", 0), ("PARTS_PER_CORE", 1_000)):
        monkeypatch.setattr(f"dfa_router.logs.parts.{name}", size)
    log = tmp_path / "log.parquet"
    keys = ["a", "b", "c", "a", "d", "b", "a"]
    pq.write_table(pa.table({"exchange": ["x"] * len(keys), "routing_key": keys}), log, row_group_size=2)
    topology = topology_of(exchanges=[Exchange(name="x", type="topic")])
    plan = plan_log(str(log), "parquet")
    assert len(plan.parts) == 4
    traffic = audit_of(topology, plan).traffic
    assert traffic is not None
    assert {one.routing_key: one.messages for one in traffic.unroutable_keys} == {"a": 3, "b": 2}
    assert (traffic.unroutable, traffic.other_unroutable) == (7, 2)
