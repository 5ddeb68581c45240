"""The server for assistants: asked by the official client, as a process; its tools, asked directly."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from dfa_router.cli.assistant_tools import TOOLS, diff, lint, relation, route, why_not
from dfa_router.errors import BindingError, InputError, OptionError, PatternError

DEMO = str(Path(__file__).parents[2] / "examples" / "demo" / "definitions.json")


def test_the_tools_answer(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("stock.#\tq\n")
    new.write_text("stock.*\tq\nstock.a\tq\n")
    assert route(str(old), "stock.a") == {"destinations": ["q"]}
    assert why_not(str(new), "stock")["misses"][0]["nearest"] == "stock.x"
    assert diff(str(old), str(new))["q"]["lost"]["shortest"][0] == "stock"
    assert [one["rule"] for one in lint(str(new))] == ["covered-binding"]
    assert [one["rule"] for one in lint(DEMO)] == ["covered-binding"]
    assert relation("a/+", "a/b", "mqtt")["kind"] == "covers"
    assert route(DEMO, "stock.x", exchange="lx.warehouse", vhost="logistics")["queues"]


def test_configuration_is_read_as_such(tmp_path: Path) -> None:
    """Its lines were taken for patterns of AMQP, of which the answer told nonsense."""
    rules = tmp_path / "mosquitto.conf"
    rules.write_text("connection up\ntopic a/# out\ntopic a/b out\n")
    (found,) = lint(str(rules))
    assert (found["rule"], found["subject"], found["place"]) == ("covered-binding", "a/b", "3")
    with pytest.raises(OptionError, match="says its dialect: leave out --dialect"):
        lint(str(rules), dialect="mqtt")


def test_a_queue_is_asked_about(tmp_path: Path) -> None:
    """Of a list its bindings alone; of definitions whatever is on the way from the exchange to it."""
    listed = tmp_path / "list.txt"
    listed.write_text("stock.#\tq\nstock.a\tother\n")
    assert [one["destination"] for one in why_not(str(listed), "stok", queue="q")["misses"]] == ["q"]
    assert [one["binding"] for one in why_not(str(listed), "stok", queue="other")["misses"]] == [1]  # of the list
    assert why_not(str(listed), "stock.a", queue="q") == {"gets": True, "misses": []}
    with pytest.raises(BindingError, match="no binding has the destination 'none'"):
        why_not(str(listed), "a", queue="none")
    entry: dict[str, Any] = {"vhost": "/", "arguments": {}}
    bound = [("x", "y", "exchange", "a.#"), ("y", "q", "queue", "*.b"), ("x", "other", "queue", "#")]
    document = {
        "exchanges": [{"name": name, "type": "topic", **entry} for name in "xy"],
        "queues": [{"name": name, **entry} for name in ("q", "other")],
        "bindings": [
            {"source": source, "destination": to, "destination_type": kind, "routing_key": key, **entry}
            for source, to, kind, key in bound
        ],
    }
    file = tmp_path / "defs.json"
    file.write_text(json.dumps(document))
    told = why_not(str(file), "a.c", exchange="x", queue="q")
    assert (told["gets"], told["visited"]) == (False, ["x", "y"])
    assert [(one["exchange"], one["destination"], one["miss"]["nearest"]) for one in told["barriers"]] == [
        ("y", "q", "a.b")
    ]
    assert why_not(str(file), "a.b", exchange="x", queue="q") == {"gets": True, "visited": ["x", "y"], "barriers": []}
    for exchange, said in (("x", "no queue 'none'"), ("", "choose one with --exchange")):
        with pytest.raises(InputError, match=said):
            why_not(str(file), "a", exchange=exchange, queue="none")


def test_what_a_list_has_wrong_is_told_with_its_line_and_nothing_is_passed_over(tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("a/+\tq\nb/c\tq\nx/#/y\tr\n")
    said = r"list\.txt:3: the pattern 'x/#/y' is refused by mqtt"
    for ask in (
        partial(route, key="a/b"),
        partial(why_not, key="a", queue="r"),
        partial(diff, new=str(listed)),
    ):
        with pytest.raises(PatternError, match=said):
            ask(str(listed), dialect="mqtt")
    assert why_not(str(listed), "a", dialect="mqtt", queue="q")["gets"] is False
    with pytest.raises(OptionError, match="--dialect is for lists"):
        route(DEMO, "stock.x", exchange="lx.warehouse", vhost="logistics", dialect="mqtt")


def test_choices_that_nobody_can_foretell_are_told(tmp_path: Path) -> None:
    entry: dict[str, Any] = {"vhost": "/", "arguments": {}}
    file = tmp_path / "random.json"
    bound = [{"source": "r", "destination": name, "destination_type": "queue", "routing_key": ""} for name in "ab"]
    document = {
        "exchanges": [{"name": "r", "type": "x-random", **entry}],
        "queues": [{"name": name, **entry} for name in "ab"],
        "bindings": [{**one, **entry} for one in bound],
    }
    file.write_text(json.dumps(document))
    candidates = [{"destination": name, "destination_type": "queue", "share": 0.5} for name in "ab"]
    assert route(str(file), "any", exchange="r") == {
        "queues": [],
        "one_of": [{"exchange": "r", "candidates": candidates}],
        "not_simulated": [],
    }


def test_a_diff_of_two_dialects_is_refused(tmp_path: Path) -> None:
    """A binding ``a.*`` of a topic exchange gets what it does not get once the exchange is direct."""
    entry: dict[str, Any] = {"vhost": "/", "arguments": {}}
    for kind in ("topic", "direct"):
        binding = {"source": "x", "destination": "q", "destination_type": "queue", "routing_key": "a.*", **entry}
        document = {
            "exchanges": [{"name": "x", "type": kind, **entry}],
            "queues": [{"name": "q", **entry}],
            "bindings": [binding],
        }
        (tmp_path / f"{kind}.json").write_text(json.dumps(document))
    topic, direct = (str(tmp_path / f"{kind}.json") for kind in ("topic", "direct"))
    with pytest.raises(OptionError, match=r"read as amqp and .* as exact"):
        diff(topic, direct, exchange="x")
    assert diff(topic, direct, exchange="x", dialect="amqp") == {}


class Listener(ThreadingHTTPServer):
    """Counts what it is asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), BaseHTTPRequestHandler)
        self.connections = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        self.shutdown_request(request)


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_tools_ask_no_address_and_leave_standard_input_alone(
    monkeypatch: pytest.MonkeyPatch, listener: Listener
) -> None:
    monkeypatch.setattr("sys.stdin", None)  # whoever reads it fails otherwise than by an OptionError
    asked: list[Callable[[str], object]] = [
        lambda file: route(file, "a", exchange="x"),
        lambda file: why_not(file, "a", exchange="x"),
        lambda file: diff(file, DEMO, exchange="x"),
        lambda file: diff(DEMO, file, exchange="lx.warehouse", vhost="logistics"),
        lint,
    ]
    address = f"http://127.0.0.1:{listener.server_port}"
    for name in ("-", address, f"{address}/definitions.json", f"{address.upper()}/B.JSON", f"{address}/list.csv"):
        for ask in asked:
            with pytest.raises(OptionError, match="files of this machine"):
                ask(name)
    assert listener.connections == 0


@pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="needs mcp: pip install 'dfa-router[mcp]'")
def test_an_assistant_asks(tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters, stdio_client

    async def asked() -> tuple[list[str], list[tuple[str, bool | None]]]:
        server = StdioServerParameters(command=sys.executable, args=["-m", "dfa_router", "mcp"], env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            answers = [
                await client.call_tool(name, arguments)
                for name, arguments in (
                    ("relation", {"first": "a.#", "second": "a.*"}),
                    ("lint", {"file": str(tmp_path / "none.json")}),
                    ("why_not", {"file": DEMO, "key": "a", "vhost": "shop"}),
                    ("relation", {"first": "a", "second": "b", "queue": "q"}),
                    ("route", {"path": DEMO, "key": None}),
                    ("why_not", {"file": DEMO, "key": "a", "most": "x"}),
                )
            ]
            return tools, [(str(one.content), one.is_error) for one in answers]

    with ThreadPoolExecutor(1) as own:  # a browser of another test may keep a loop running in this thread
        tools, answers = own.submit(lambda: asyncio.run(asked())).result()
    assert tools == [tool.__name__ for tool in TOOLS]
    said = [
        "covers",
        "there is no such file",
        "choose one with `exchange`",
        "there is no argument `queue`. relation takes `first`, `second`; what may be left out: `dialect`",
        "`file` is missing; `key` is None: expected a text; there is no argument `path`. route takes `file`, `key`; what may",
        "`most` is 'x': expected a whole number. why_not takes",
    ]
    for (text, is_error), expected in zip(answers, said, strict=True):
        assert (expected in text, bool(is_error)) == (True, expected != "covers"), text
        assert "pydantic" not in text
