"""Definitions of all versions and from all places, and what listings add to them."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.errors import DefinitionsError
from dfa_router.rabbitmq import Topology
from dfa_router.rabbitmq.listings import merge_listing
from tests.rabbitmq_node import Node, running_node

EXCHANGE = {"name": "x", "type": "topic", "durable": True, "auto_delete": False, "arguments": {}}
QUEUE = {"name": "q", "durable": True, "auto_delete": False, "arguments": {}}
BINDING = {"source": "x", "destination": "q", "destination_type": "queue", "routing_key": "a.#", "arguments": {}}


def whole(**more: Any) -> dict[str, Any]:
    entries: dict[str, list[dict[str, Any]]] = {"exchanges": [EXCHANGE], "queues": [QUEUE], "bindings": [BINDING]}
    return {**{section: [{**entry, "vhost": "v"} for entry in some] for section, some in entries.items()}, **more}


SHAPES: dict[str, dict[str, Any]] = {
    "3.8": whole(
        rabbit_version="3.8.34",
        vhosts=[{"name": "v"}],
        exchanges=[{**EXCHANGE, "vhost": "v", "internal": False, "arguments": []}],
    ),
    "3.12": whole(
        rabbit_version="3.12.0",
        vhosts=[{"name": "v", "limits": [], "metadata": {"description": "", "tags": []}}],
        policies=[
            {
                "vhost": "v",
                "name": "p",
                "pattern": "^q",
                "apply-to": "classic_queues",
                "priority": 0,
                "definition": {"max-length": 9},
            }
        ],
    ),
    "4.1": whole(
        rabbit_version="4.1.0",
        rabbitmq_definition_format="cluster",
        original_cluster_name="rabbit@host",
        explanation="Definitions of cluster 'rabbit@host'",
        vhosts=[
            {
                "name": "v",
                "description": "",
                "metadata": {"default_queue_type": "quorum"},
                "default_queue_type": "quorum",
            }
        ],
        queues=[{**QUEUE, "vhost": "v", "type": "quorum", "arguments": {"x-queue-type": "quorum"}}],
        global_parameters=[{"name": "cluster_tags", "value": []}],
    ),
    "one vhost": {
        "rabbit_version": "4.1.0",
        "rabbitmq_definition_format": "single_virtual_host",
        "original_vhost_name": "v",
        "metadata": {"description": "", "tags": []},
        "exchanges": [EXCHANGE],
        "queues": [QUEUE],
        "bindings": [BINDING],
        "policies": [
            {"name": "p", "pattern": ".*", "apply-to": "queues", "priority": 0, "definition": {"max-length": 9}}
        ],
    },
}


@pytest.mark.parametrize("version", SHAPES)
@pytest.mark.parametrize("place", ["file", "standard input"])
def test_exports_of_all_versions(version: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(SHAPES[version])
    if place == "file":
        (tmp_path / "defs.json").write_text(text)
        topology = dr.load_definitions(tmp_path / "defs.json", "v")
    else:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
        topology = dr.load_definitions("-", "v")
        assert topology.source == "standard input"
    assert topology.route("x", "a.b", "v").queues == ("q",)
    assert topology.warnings == ()


@pytest.mark.parametrize("path", [b"{}", b"defs.json", {"bindings": []}, None, 1, io.StringIO("{}")])
def test_what_is_no_path_is_told(path: Any, tmp_path: Path) -> None:
    (tmp_path / "defs.json").write_text(json.dumps(whole()))
    for given in ({"path": path}, {"path": tmp_path / "defs.json", "listings": [path]}):
        with pytest.raises(
            TypeError, match=r"the path is .*: expected text or a pathlib.Path; (decode|give)"
        ) as caught:
            dr.load_definitions(**given)
        assert isinstance(caught.value, dr.InputError)


def test_one_listing_by_itself_is_told(tmp_path: Path) -> None:
    (tmp_path / "defs.json").write_text(json.dumps(whole()))
    with pytest.raises(dr.OptionError, match=r"give a list, such as \['list\.json'\]"):
        dr.load_definitions(tmp_path / "defs.json", listings="list.json")


def with_listing(tmp_path: Path, *listings: Any) -> Topology:
    (tmp_path / "defs.json").write_text(json.dumps(whole()))
    paths = [tmp_path / f"listing{number}.json" for number in range(len(listings))]
    for path, listing in zip(paths, listings, strict=True):
        path.write_text(json.dumps(listing))
    return dr.load_definitions(tmp_path / "defs.json", "v", listings=paths)


def test_listings_add_what_exports_leave_out(tmp_path: Path) -> None:
    inner = {"name": "inner", "vhost": "v", "type": "fanout", "internal": True, "arguments": {}, "policy": None}
    mine = {"name": "mine", "vhost": "v", "type": "classic", "exclusive": True, "messages": 0, "arguments": {}}
    bound = {"source": "x", "vhost": "v", "destination": "inner", "destination_type": "exchange", "routing_key": "b"}
    more = {"source": "inner", "vhost": "v", "destination": "mine", "destination_type": "queue", "routing_key": ""}
    topology = with_listing(
        tmp_path, [inner, {**EXCHANGE, "vhost": "v"}], {"items": [mine]}, [bound, more, {**BINDING, "vhost": "v"}]
    )
    assert topology.exchange("inner", "v").internal
    assert topology.route("x", "b", "v").queues == ("mine",)
    assert len(topology.bindings) == 3
    assert topology.warnings == ()


def test_listings_that_rabbitmqctl_writes(shared: Path, tmp_path: Path) -> None:
    samples = shared / "samples"
    export = samples / "rabbitmq-3.10.8-definitions.json"
    paths = [samples / "rabbitmqctl-list_exchanges.json", samples / "rabbitmqctl-list_bindings.json"]
    plain, more = dr.load_definitions(export), dr.load_definitions(export, listings=paths)
    assert "market.eu" not in {one.name for one in plain.exchanges}
    assert more.exchange("market.eu").internal
    assert len(more.bindings) == len(plain.bindings)  # it had them all: arguments in another form are the same
    assert more.route("market", "eu.de.order").queues >= plain.route("market", "eu.de.order").queues


def test_bindings_are_the_same_without_their_arguments_and_with_those_that_rabbitmqctl_writes(tmp_path: Path) -> None:
    asked = {"n": 1.15, "t": {"a": 1, "b": {}}, "l": [1, "x", {"d": 2}], "x-match": "all"}
    document = whole()
    document["exchanges"].append({**EXCHANGE, "name": "h", "vhost": "v", "type": "headers"})
    document["bindings"].append({**BINDING, "vhost": "v", "source": "h", "arguments": asked})
    (tmp_path / "defs.json").write_text(json.dumps(document))
    ends = {"source_name": "h", "destination_name": BINDING["destination"], "destination_kind": "queue"}
    bare = {**ends, "routing_key": BINDING["routing_key"]}
    full = bare | {
        "arguments": [
            ["l", "array", {"signedint": 1, "longstr": "x", "table": [["d", "signedint", 2]]}],
            ["n", "decimal", [1, 15]],
            ["t", "table", [["a", "signedint", 1], ["b", "table", []]]],
            ["x-match", "longstr", "all"],
        ]
    }
    (tmp_path / "listing.json").write_text(json.dumps([full, bare]))
    topology = dr.load_definitions(tmp_path / "defs.json", "v", listings=[tmp_path / "listing.json"])
    assert [one.arguments for one in topology.bindings if one.source == "h"] == [asked]
    assert topology.route("h", "any", "v", headers={"other": 1}).queues == ()


def test_arrays_with_two_elements_of_a_type_are_those_of_the_export(tmp_path: Path) -> None:
    """``rabbitmqctl`` writes an array as an object whose keys are the types of its elements, and so has keys twice."""
    asked = {"e": [], "l": ["a", "b"], "n": [1, 2, "x"], "t": [{"a": 1}, {"b": 2}]}
    document = whole()
    document["exchanges"].append({**EXCHANGE, "name": "h", "vhost": "v", "type": "headers"})
    document["bindings"].append({**BINDING, "vhost": "v", "source": "h", "arguments": asked})
    (tmp_path / "defs.json").write_text(json.dumps(document))
    written = (
        '[["e","array",[]],["l","array",{"longstr":"a","longstr":"b"}],["n","array",{"signedint":1,"signedint":2,"longstr":"x"}],'
        '["t","array",{"table":[["a","signedint",1]],"table":[["b","signedint",2]]}]]'
    )
    ends = {"source_name": "h", "destination_name": BINDING["destination"], "destination_kind": "queue"}
    entry = json.dumps({**ends, "routing_key": BINDING["routing_key"], "arguments": 0})
    (tmp_path / "listing.json").write_text("[" + entry.replace(" 0}", written + "}") + "]")
    topology = dr.load_definitions(tmp_path / "defs.json", "v", listings=[tmp_path / "listing.json"])
    assert [one.arguments for one in topology.bindings if one.source == "h"] == [asked]
    (tmp_path / "listing.json").write_text('[{"name": "a", "name": "b", "type": "topic"}]')
    with pytest.raises(DefinitionsError, match="the key 'name' stands twice"):
        dr.load_definitions(tmp_path / "defs.json", "v", listings=[tmp_path / "listing.json"])


@pytest.mark.parametrize("text", ["", '[{"name": "x"', "Listing exchanges for vhost / ...\n[]"])
def test_what_is_said_of_a_bad_listing_is_about_listings(tmp_path: Path, text: str) -> None:
    (tmp_path / "defs.json").write_text(json.dumps(whole()))
    (tmp_path / "listing.json").write_text(text)
    with pytest.raises(DefinitionsError, match="-q") as error:
        dr.load_definitions(tmp_path / "defs.json", "v", listings=[tmp_path / "listing.json"])
    assert "definitions" not in str(error.value)


def test_a_listing_of_bindings_without_a_column_is_named(tmp_path: Path) -> None:
    listed = {"source_name": "x", "destination_name": "q", "routing_key": "a"}
    with pytest.raises(DefinitionsError, match=r"listing0\.json: a binding without destination_type: list"):
        with_listing(tmp_path, [listed])
    with pytest.raises(DefinitionsError, match=r"listing0\.json: a binding without routing_key: list"):
        with_listing(tmp_path, [{"source_name": "x", "destination_name": "q", "destination_kind": "queue"}])


@pytest.mark.parametrize(
    "listing", [{"error": "no"}, [1], [{"durable": True}], "text", [{"name": "q", "type": ["classic"]}]]
)
def test_what_is_no_listing_is_refused(listing: Any, tmp_path: Path) -> None:
    with pytest.raises(DefinitionsError, match=r"listing0\.json: (is no listing|an entry with)"):
        with_listing(tmp_path, listing)


def test_a_listing_does_not_change_what_an_export_says() -> None:
    document = whole()
    merge_listing(document, "listing", [{**EXCHANGE, "vhost": "v", "type": "direct"}], "/")
    assert [one["type"] for one in document["exchanges"]] == ["topic"]
    merge_listing(document, "listing", [{"name": "amq.topic", "vhost": "v", "type": "topic", "internal": False}], "/")
    assert len(document["exchanges"]) == 1  # what every vhost has is no part of an export


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running_node(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.mark.slow
@pytest.mark.broker
def test_the_management_api_of_a_live_broker(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    node.ask("PUT", "vhosts/a%2Fb")
    node.ask("PUT", "exchanges/a%2Fb/inner", {"type": "fanout", "internal": True})
    node.ask("PUT", "queues/a%2Fb/q", {})
    node.ask("POST", "bindings/a%2Fb/e/amq.topic/e/inner", {"routing_key": "a.*"})
    node.ask("POST", "bindings/a%2Fb/e/inner/q/q", {})
    for address in (node.api, f"{node.api}/", f"{node.api}/api/definitions", f"{node.api}/api/definitions/a%2Fb"):
        topology = dr.load_definitions(address, "a/b")
        assert topology.route("amq.topic", "a.b", "a/b").queues == ("q",), address
        assert topology.exchange("inner", "a/b").internal
    monkeypatch.setenv("DFA_ROUTER_USER", "nobody")
    with pytest.raises(DefinitionsError, match="does not know the user: set DFA_ROUTER_USER and DFA_ROUTER_PASSWORD"):
        dr.load_definitions(node.api)
    monkeypatch.delenv("DFA_ROUTER_USER")
    with pytest.raises(DefinitionsError, match="no such thing there"):
        dr.load_definitions(f"{node.api}/other")
    with pytest.raises(DefinitionsError, match="does not answer"):
        dr.load_definitions(f"http://127.0.0.1:{node.port}")  # where AMQP is spoken


def test_an_address_where_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(DefinitionsError, match=r"does not answer: .*refused.*rabbitmq_management"):
        dr.load_definitions(f"http://127.0.0.1:{port}")


def test_passwords_do_not_belong_in_addresses() -> None:
    with pytest.raises(DefinitionsError, match="environment") as refused:
        dr.load_definitions("http://admin:secret@127.0.0.1:1")
    assert "secret" not in str(refused.value)


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Yield the address of a server that lasts as long as the context."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_an_address_of_one_vhost_names_it() -> None:
    """The export of one vhost leaves its name out, the listings that come with it do not."""
    queue = {**QUEUE, "type": "classic"}
    listed: dict[str, list[dict[str, Any]]] = {"exchanges": [EXCHANGE], "queues": [queue], "bindings": [BINDING]}
    answers: dict[str, Any] = {
        f"/api/{name}/a%2Fb": [{**one, "vhost": "a/b"} for one in some] for name, some in listed.items()
    }
    policy = {
        "name": "p",
        "pattern": "^x$",
        "apply-to": "exchanges",
        "definition": {"alternate-exchange": "amq.fanout"},
    }

    class Management(Quiet):
        def do_GET(self) -> None:
            found = {**answers, "/api/definitions/a%2Fb": {**listed, "policies": [policy]}}[self.path]
            body = json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with served(Management) as address:
        topology = dr.load_definitions(f"{address}/api/definitions/a%2Fb")
    assert topology.vhosts == ("a/b",)
    assert (len(topology.queues), len(topology.bindings)) == (1, 1)
    assert topology.route("x", "a.b", "a/b").queues == ("q",)
    assert topology.route("x", "b", "a/b").exchanges == ("x", "amq.fanout")


def test_a_password_is_not_sent_on_to_another_place() -> None:
    asked: list[tuple[str, str | None]] = []

    class Redirecting(Quiet):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            self.send_response(302 if self.path.startswith("/api") else 404)
            self.send_header("Location", f"http://localhost:{self.headers['Host'].rpartition(':')[2]}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with served(Redirecting) as address, pytest.raises(DefinitionsError, match="no such thing there"):
        dr.load_definitions(address)
    assert [(path, password is not None) for path, password in asked] == [
        ("/api/exchanges", True),
        ("/elsewhere", False),
    ]
