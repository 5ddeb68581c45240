"""Definitions files: what is read from good ones, and what is said about bad ones."""

from __future__ import annotations

import base64
import bz2
import json
import logging
import lzma
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.lint import lint_topology
from dfa_router.rabbitmq import Topology, load_definitions

Write = Callable[[Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes a definitions file: bytes and text as they are, anything else as JSON."""

    def writer(content: Any) -> Path:
        path = tmp_path / "defs.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return writer


def binding(**fields: Any) -> dict[str, Any]:
    """Return a binding as exports write it."""
    plain = {"source": "x", "vhost": "/", "destination": "q", "destination_type": "queue", "routing_key": "a"}
    return plain | {"arguments": {}} | fields


SMALL: dict[str, list[dict[str, Any]]] = {
    "vhosts": [{"name": "/"}],
    "exchanges": [{"name": "x", "vhost": "/", "type": "topic", "arguments": {}}],
    "queues": [{"name": "q", "vhost": "/", "arguments": {}}],
    "bindings": [binding(routing_key="a.#")],
}


def test_a_whole_export_is_read(write: Write) -> None:
    topology = load_definitions(write(SMALL))
    assert topology.vhosts == ("/",)
    assert topology.warnings == ()
    assert topology.route("x", "a.b").queues == ("q",)
    assert {exchange.name for exchange in topology.exchanges} >= {
        "",
        "amq.direct",
        "amq.fanout",
        "amq.topic",
        "amq.match",
    }


def test_a_file_of_one_vhost_names_no_vhost(write: Write) -> None:
    scoped = {
        "rabbit_version": "3.12.8",
        "exchanges": [{"name": "x", "type": "topic", "arguments": []}],
        "queues": [{"name": "q"}],
        "bindings": [{k: v for k, v in binding().items() if k not in {"vhost", "arguments"}}],
    }
    topology = load_definitions(write(scoped), vhost="tenant")
    assert topology.vhosts == ("tenant",)
    assert topology.route("x", "a", vhost="tenant").queues == ("q",)
    assert topology.warnings == ()


def test_predeclared_exchanges_need_no_declaration(write: Write) -> None:
    bindings = [
        binding(source="amq.topic", routing_key="#.b"),
        binding(source="amq.fanout", routing_key="ignored", destination="r"),
        binding(source="amq.direct", routing_key="*", destination="r"),
    ]
    topology = load_definitions(write({"queues": [{"name": "q"}, {"name": "r"}], "bindings": bindings}))
    assert topology.warnings == ()
    assert topology.route("amq.topic", "a.b").queues == ("q",)
    assert topology.route("amq.fanout", "").queues == ("r",)
    assert topology.route("amq.direct", "a").queues == (), "a star in a direct binding is a literal"
    assert topology.route("amq.direct", "*").queues == ("r",)
    assert topology.route("amq.match", "a").not_simulated == (), "without bindings, nothing depends on headers"


def test_names_that_nobody_declares_are_kept_and_warned_about(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write(
        {
            "vhosts": [{"name": "/"}],
            "exchanges": [{"name": "x", "type": "topic", "vhost": "/"}],
            "bindings": [
                binding(destination="lost"),
                binding(destination="lost", routing_key="b"),
                binding(source="hidden", destination="lost"),
                binding(destination="inner", destination_type="exchange", routing_key="e"),
                binding(vhost="other", source="amq.topic", destination="o"),
            ],
        }
    )
    with caplog.at_level(logging.INFO):
        topology = load_definitions(path)
    found = {(warning.kind, warning.vhost, warning.name): warning for warning in topology.warnings}
    assert found.keys() == {
        ("undeclared-queue", "/", "lost"),
        ("undeclared-exchange", "/", "hidden"),
        ("undeclared-exchange", "/", "inner"),
        ("undeclared-vhost", "other", "other"),
        ("undeclared-queue", "other", "o"),
    }
    lost = found["undeclared-queue", "/", "lost"]
    assert (lost.place, lost.count) == (f"{path}: bindings[0].destination", 3)
    assert str(lost).startswith(f"{path}: bindings[0].destination (and 2 more places): undeclared-queue 'lost'")
    assert "declare it" in lost.advice
    assert sum(record.levelno == logging.WARNING for record in caplog.records) == 4, "three and how many more"
    assert len(caplog.records) == 6
    assert topology.route("x", "a").queues == ("lost",), "a bound queue gets its copies although it is undeclared"
    assert topology.route("", "lost").queues == (), "the default exchange knows declared queues only"
    assert topology.route("hidden", "a").not_simulated == ("hidden",)
    assert topology.route("x", "e").not_simulated == ("inner",)
    assert topology.route("amq.topic", "a", vhost="other").queues == ("o",)


def bound_by_headers(**arguments: Any) -> dict[str, list[dict[str, Any]]]:
    """Return an export with one binding of a headers exchange."""
    exchange = {"name": "h", "vhost": "/", "type": "headers", "arguments": {}}
    return SMALL | {"exchanges": [exchange], "bindings": [binding(source="h", routing_key="", arguments=arguments)]}


def test_a_header_without_a_value_is_the_text_undefined_in_an_export(write: Write) -> None:
    path = write(bound_by_headers(urgent="undefined"))
    topology = load_definitions(path)
    assert topology.route("h", "", headers={"urgent": 1}).queues == ("q",)
    assert topology.route("h", "", headers={"other": 1}).queues == ()
    [warning] = topology.warnings
    assert (warning.kind, warning.place) == ("ambiguous-argument", f"{path}: bindings[0].arguments")
    assert "urgent" in warning.advice


def test_binary_arguments_are_read_out_of_the_words_of_an_export(write: Write) -> None:
    lines = "Not UTF-8, base64 is: " + "/w" * 30 + "\n" + "/wA="
    topology = load_definitions(write(bound_by_headers(key=lines)))
    assert [warning.kind for warning in topology.warnings] == ["ambiguous-argument"]
    wanted = base64.b64decode("/w" * 30 + "/wA=")
    assert topology.route("h", "", headers={"key": wanted}).queues == ("q",)
    assert topology.route("h", "", headers={"key": lines}).queues == ()


def test_what_an_export_writes_is_read_within_lists_and_tables_too(write: Write) -> None:
    words = {"list": ["undefined", "Not UTF-8, base64 is: /wA="], "table": {"k": ["undefined"]}}
    topology = load_definitions(write(bound_by_headers(**words)))
    assert [warning.kind for warning in topology.warnings] == ["ambiguous-argument"]
    assert topology.route("h", "", headers={"list": [None, b"\xff\0"], "table": {"k": [None]}}).queues == ("q",)
    assert topology.route("h", "", headers=words).queues == ()


@pytest.mark.parametrize("levels", [700, 2000])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a": ', "}")])
def test_arguments_that_nest_too_deeply_are_an_error(write: Write, levels: int, opening: str, closing: str) -> None:
    content = json.dumps(bound_by_headers(key="here"))
    deep = content.replace('"here"', opening * levels + "1" + closing * levels)
    with pytest.raises(dr.DefinitionsError, match="nests too deeply"):
        load_definitions(write(deep))


@pytest.mark.parametrize("rest", ["no", "n-_.", "YWJj"])  # no base64, and that of UTF-8
def test_a_text_that_no_broker_writes_of_binary_is_a_text(write: Write, rest: str) -> None:
    literal = f"Not UTF-8, base64 is: {rest}"
    topology = load_definitions(write(bound_by_headers(key=literal)))
    assert topology.route("h", "", headers={"key": literal}).queues == ("q",)
    assert topology.warnings == ()


def test_what_decides_nothing_is_read_as_it_stands(write: Write) -> None:
    content = bound_by_headers(**{"x-note": "undefined", "a": 1})
    content["exchanges"] = [*content["exchanges"], *SMALL["exchanges"]]
    content["bindings"] = [*content["bindings"], binding(arguments={"note": "undefined"})]
    topology = load_definitions(write(content))
    assert topology.warnings == ()
    assert topology.bindings[1].arguments == {"note": "undefined"}


def test_null_in_arguments_ends_an_import(write: Write) -> None:
    topology = load_definitions(write(bound_by_headers(urgent=None)))
    assert topology.route("h", "", headers={"urgent": 1}).queues == ("q",), "what its author means"
    assert [(one.kind, one.name) for one in topology.warnings] == [("null-argument", "h")]
    nested = load_definitions(write(SMALL | {"bindings": [binding(arguments={"a": [{"b": None}]})]}))
    assert [one.kind for one in nested.warnings] == ["null-argument"]
    matched = load_definitions(write(bound_by_headers(**{"x-match": None})))
    assert [one.kind for one in matched.warnings] == ["null-argument", "refused-binding"]


def test_a_missing_alternate_exchange_is_warned_about(write: Write) -> None:
    path = write(
        {
            "exchanges": [
                {"name": "x", "type": "direct", "arguments": {"alternate-exchange": "gone"}},
                {"name": "y", "type": "direct"},
            ],
            "policies": [
                {"name": "p", "pattern": "^y$", "apply-to": "exchanges", "definition": {"alternate-exchange": "went"}}
            ],
        }
    )
    assert [(warning.kind, warning.name, warning.place) for warning in load_definitions(path).warnings] == [
        ("undeclared-alternate-exchange", "gone", f"{path}: exchanges[0].arguments.alternate-exchange"),
        ("undeclared-alternate-exchange", "went", f"{path}: policies[0].definition.alternate-exchange"),
    ]


def test_places_behind_a_repeated_declaration_are_those_of_the_file(write: Write) -> None:
    fed, inner = {"name": "x", "type": "direct"}, {"name": "inner", "type": "fanout", "internal": True}
    last = {"name": "last", "type": "direct", "arguments": {"alternate-exchange": "gone"}}
    path = write({"exchanges": [fed, fed, fed, inner, last]})
    topology = load_definitions(path)
    assert topology.warnings[-1].place == f"{path}: exchanges[4].arguments.alternate-exchange"
    assert [one.place for one in lint_topology(topology) if one.rule.name == "unreachable-exchange"] == ["exchanges[3]"]


def test_policies_that_cannot_be_read_or_decided_are_warned_about(write: Write) -> None:
    exchange = {"name": "x", "type": "direct"}
    other = [{"name": name, "type": "fanout"} for name in "ab"]
    policies = [
        {"name": name, "pattern": "x", "priority": 1, "definition": {"alternate-exchange": name}} for name in "ab"
    ]
    posix = {"name": "posix", "pattern": "^[[:alpha:]]+$", "apply-to": "exchanges", "definition": {"max-length": 1}}
    open_ = {"name": "open", "pattern": "(x", "apply-to": "exchanges", "definition": {"max-length": 1}}
    topology = load_definitions(write({"exchanges": [exchange, *other], "policies": [*policies, posix, open_]}))
    assert [(warning.kind, warning.name) for warning in topology.warnings] == [
        ("unreadable-policy", "open"), ("tied-policies", "x"),
    ]  # fmt: skip


def test_of_two_policies_of_one_name_the_last_stands(write: Write) -> None:
    exchanges = [{"name": name, "type": "fanout"} for name in "xab"]
    policies = [
        {"name": "p", "pattern": "^x$", "priority": rank, "definition": {"alternate-exchange": to, "message-ttl": ttl}}
        for rank, to, ttl in ((9, "a", 1), (1, "b", 2))
    ]
    queues = [{"name": name} for name in "xab"]
    bindings = [binding(source=name, destination=name) for name in "ab"]
    document = {"exchanges": exchanges, "queues": queues, "bindings": bindings, "policies": policies}
    topology = load_definitions(path := write(document))
    assert topology.route("x", "k").queues == ("b",)
    assert topology.limits("/", "x").message_ttl == 2
    found = [(one.kind, one.name, one.place) for one in topology.warnings]
    assert found == [("repeated-declaration", "p", f"{path}: policies[1]")]


BAD_FILES: list[tuple[str, Any, list[str]]] = [
    ("empty", "", ["is empty", "export_definitions"]),
    ("truncated", '{\n "exchanges": [\n', ["line 3", "ends in the middle"]),
    ("comma missing", '{"exchanges": []\n "queues": []}', ["line 2, column 2", "delimiter", "queues"]),
    ("progress line", "Exporting definitions in JSON to a file\n{}", ["progress message", "-q"]),
    ("JSON lines", '{"exchange":"x","routing_key":"a"}\n{"exchange":"x","routing_key":"b"}\n', ["JSON lines"]),
    ("HTML", "<html><body>401</body></html>", ["HTML", "log in"]),
    ("not UTF-8", b'{"exchanges": [{"name": "\xfc"}]}', ["not UTF-8", "0xfc", "offset 25"]),
    ("UTF-16", '{"exchanges": []}'.encode("utf-16"), ["UTF-16", "PowerShell"]),
    ("gzip", b"\x1f\x8b\x08rest", ["gzip", "gunzip"]),
    ("bzip2", bz2.compress(b"{}"), ["bzip2", "bunzip2"]),
    ("xz", lzma.compress(b"{}"), ["xz", "unxz"]),
    ("zstd", pa.compress(b"{}", "zstd", asbytes=True), ["zstd", "unzstd"]),
    ("erlang terms", b"\x83t\x00", ["--format json"]),
    ("a number", "42", ["number", "export_definitions"]),
    (
        "list_bindings",
        [{"source_name": "", "destination_name": "q"}],
        ["rabbitmqctl list_bindings", "export_definitions"],
    ),
    ("list_exchanges", [{"name": "x", "type": "topic", "internal": False}], ["list_exchanges"]),
    ("api bindings", [{"source": "", "properties_key": "~"}], ["/api/bindings"]),
    ("another list", [1, 2], ["list of 2 entries"]),
    ("api error", {"error": "not_authorised", "reason": "Login failed"}, ["management API", "Login failed"]),
    ("another object", {"name": "x", "version": 1}, ["'name', 'version'", "exchanges"]),
    ("empty object", {}, ["empty object"]),
    ("exchanges no list", {"exchanges": {"x": "topic"}}, ["exchanges", "a list", "dict"]),
    ("entry no object", {"queues": ["q"]}, ["queues[0]", "an object", "'q'"]),
    (
        "a key twice",
        '{"exchanges": [{"name": "x", "type": "topic", "name": "y"}]}',
        ["the key 'name' stands twice", '"name": "x"', "remove one"],
    ),
    *(
        (
            number,
            f'{{"queues": [{{"name": "q", "arguments": {{"n": [{number}]}}}}]}}',
            [f"{number}, which is", "export"],
        )
        for number in ("NaN", "-Infinity", "1e999", "-1.5E+400")
    ),
    ("a section twice", '{"bindings": [], "queues": [], "bindings": []}', ["the key 'bindings' stands twice"]),
    ("no type", {"exchanges": [{"name": "x"}]}, ["exchanges[0].type", "is missing"]),
    (
        "internal",
        {"exchanges": [{"name": "x", "type": "topic", "internal": "no"}]},
        ["exchanges[0].internal", "true or false"],
    ),
    (
        "no key",
        {"bindings": [{k: v for k, v in binding().items() if k != "routing_key"}]},
        ["bindings[0].routing_key", "missing"],
    ),
    ("an entry null", {"bindings": [None]}, ["bindings[0]: is null; expected an object"]),
    ("a section null", {"bindings": None}, ["bindings: is null; expected a list"]),
    ("a key null", {"bindings": [binding(routing_key=None)]}, ["bindings[0].routing_key: is null; expected a string"]),
    ("a kind null", {"bindings": [binding(destination_type=None)]}, ["bindings[0].destination_type: is null"]),
    (
        "no pattern",
        {"policies": [{"name": "p", "vhost": "/"}]},
        ["policies[0].pattern: is missing; expected a regular"],
    ),
    ("a number for a key", {"bindings": [binding(), binding(routing_key=5)]}, ["bindings[1].routing_key", "'5' (int)"]),
    (
        "destination type",
        {"bindings": [binding(destination_type="topic")]},
        ["bindings[0].destination_type", "'queue' or 'exchange'"],
    ),
    ("arguments", {"bindings": [binding(arguments=["a"])]}, ["bindings[0].arguments", "an object"]),
    (
        "a long pattern",
        {"bindings": [binding(routing_key="ü" * 128)]},
        ["bindings[0].routing_key", "256 bytes", "255", "shorten"],
    ),
    ("half a surrogate", '{"queues": [{"name": "\\ud800"}]}', ["queues[0].name", "surrogate"]),
    (
        "alternate",
        {"exchanges": [{"name": "x", "type": "topic", "arguments": {"alternate-exchange": 1}}]},
        ["exchanges[0].arguments.alternate-exchange"],
    ),
    (
        "priority",
        {"policies": [{"name": "p", "pattern": "x", "priority": "1"}]},
        ["policies[0].priority", "whole number"],
    ),
    (
        "one exchange of two types",
        {
            "exchanges": [
                {"name": "x", "type": "topic"},
                {"name": "y", "type": "topic"},
                {"name": "x", "type": "fanout"},
            ]
        },
        ["exchanges[2].type", "'fanout'", "'topic' in exchanges[0]", "remove"],
    ),
]


@pytest.mark.parametrize(("content", "expected"), [case[1:] for case in BAD_FILES], ids=[case[0] for case in BAD_FILES])
def test_bad_files_are_refused_with_file_place_and_remedy(write: Write, content: Any, expected: list[str]) -> None:
    path = write(content)
    with pytest.raises(dr.DefinitionsError) as caught:
        load_definitions(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    for part in expected:
        assert part in text
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("odd", [["all"], {"all": 1}, [], 5, None, True])
def test_arguments_that_are_no_texts_are_told_as_the_broker_refuses_them(write: Write, odd: Any) -> None:
    exchanges = [
        {"name": "h", "vhost": "/", "type": "headers", "arguments": {}},
        {"name": "d", "vhost": "/", "type": "x-delayed-message", "arguments": {"x-delayed-type": odd}},
    ]
    bound = [binding(source="h", arguments={"x-match": odd}), binding(source="d")]
    topology = load_definitions(write({**SMALL, "exchanges": exchanges, "bindings": bound}))
    (warning,) = (one for one in topology.warnings if one.kind != "null-argument")
    assert (warning.kind, "bindings[0]" in warning.place) == ("refused-binding", True)
    assert f"x-match is {odd!r}" in warning.advice
    assert topology.route("d", "a").not_simulated == ("d",)
    assert topology.compile().route_columns(["h", "d"], ["a", "a"]).not_simulated.to_pylist() == [[], ["d"]]


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(dr.DefinitionsError, match=r"there is no such file.*export_definitions"):
        load_definitions(tmp_path / "nothing.json")
    with pytest.raises(dr.DefinitionsError, match="is a directory"):
        load_definitions(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vhost": 5}, "vhost is 5: expected the name of the vhost of entries that name none"),
        ({"vhost": None}, "vhost is None: expected the name"),
        pytest.param(
            {"vhost": "x" * 300}, "^vhost has 300 bytes .*at most 255; no broker has such a vhost", id="too long"
        ),
        ({"vhost": "a\ud800"}, "^vhost has half of a surrogate pair, .*at character 1, .*; no broker has such a vhost"),
        ({"listings": None}, "listings is None: expected a list of files or addresses"),
        ({"listings": 5}, "listings is 5: expected a list of files or addresses"),
    ],
    ids=str,
)
def test_options_that_are_none_are_refused(write: Write, options: dict[str, Any], message: str) -> None:
    """Also of a file whose entries name their vhosts, which would have nothing to do with the one that is given."""
    with pytest.raises(dr.OptionError, match=message):
        load_definitions(write(SMALL), **options)


def test_the_longest_pattern_is_taken(write: Write) -> None:
    topology = load_definitions(
        write({"queues": [{"name": "q"}], "bindings": [binding(source="amq.topic", routing_key="w" * 255)]})
    )
    assert topology.route("amq.topic", "w" * 255).queues == ("q",)


def test_secrets_of_a_file_are_not_kept(write: Write) -> None:
    secret = "c2VjcmV0LWhhc2g"
    content = SMALL | {
        "users": [{"name": "guest", "password_hash": secret}],
        "parameters": [{"component": "federation-upstream", "name": "u", "value": {"uri": f"amqp://u:{secret}@host"}}],
        "permissions": [{"user": secret}],
    }
    topology = load_definitions(write(content))
    assert secret.encode() not in pickle.dumps(topology)


@pytest.mark.parametrize("count", [40_000, pytest.param(200_000, marks=pytest.mark.long)])
def test_many_bindings_load_and_compile_in_seconds(write: Write, count: int) -> None:
    words = ["*", "#", *(f"w{number}" for number in range(40))]
    bindings = [
        binding(
            source="amq.topic",
            destination=f"q{number % 5000}",
            routing_key=f"{words[number % 41]}.{words[number // 41 % 42]}.{words[number // 1722 % 42]}.{number}",
        )
        for number in range(count)
    ]
    path = write({"queues": [{"name": f"q{number}"} for number in range(5000)], "bindings": bindings})
    started = time.process_time()  # which other work on the machine does not add to
    topology = load_definitions(path)
    route = topology.route("amq.topic", "w3.w0.w0.5")
    assert time.process_time() - started < 60, "200,000 take 6 seconds on two quiet cores"
    assert len(topology.bindings) == count
    assert topology.warnings == ()
    assert route.queues == ("q5",)


def test_the_sample_export_of_a_broker(shared: Path) -> None:
    """The export names an internal exchange that it does not hold: it is kept, and named where it is reached."""
    topology = load_definitions(shared / "samples" / "rabbitmq-3.10.8-definitions.json")
    assert topology.vhosts == ("tenant-b", "/")
    assert [(w.kind, w.name) for w in topology.warnings] == [("undeclared-exchange", "market.eu")]
    assert topology.route("market", "usd.stock").queues == ("all", "stocks")
    assert topology.route("market", "eur.x").queues == ("all",)
    assert topology.route("market", "log.ümlaut.x").queues == ("all", "log")
    assert topology.route("market", "eu.x").not_simulated == ("market.eu",)
    assert topology.route("market", "x.critical").not_simulated == ("audit",), "a headers exchange"
    assert topology.route("amq.topic", "a..b").queues == ("stocks",)
    assert topology.route("amq.topic", "").queues == ("stocks",)
    assert topology.route("unrouted", "x").queues == ("dead",)
    assert topology.route("", "eu-orders").queues == ("eu-orders",)


@pytest.mark.parametrize("name", ["rabbitmqctl-list_bindings.json", "rabbitmqctl-list_exchanges.json"])
def test_other_listings_of_the_broker_are_recognised(shared: Path, name: str) -> None:
    with pytest.raises(
        dr.DefinitionsError, match=rf"{name.removesuffix('.json').replace('-', ' ')}.*export_definitions"
    ):
        load_definitions(shared / "samples" / name)


def test_every_definitions_file_there_is_can_be_read(shared: Path) -> None:
    """Of all files only the one that is no JSON is refused; the known defects are found."""
    topologies: dict[str, Topology] = {}
    refused = []
    for path in sorted((shared / "corpora").rglob("*.json")):
        try:
            topologies[path.name] = load_definitions(path)
        except dr.DefinitionsError as error:
            refused.append((path.name, str(error)))
    assert len(topologies) > 50
    assert [name for name, _ in refused] == ["deps_rabbit_test_definition_import_SUITE_data_failing_case20.json"]
    assert "line 6, column 29" in refused[0][1]
    waggle = topologies["waggle_edge_stack.json"].warnings
    assert [(w.kind, w.name) for w in waggle] == [("undeclared-queue", "ansible")]
    sda = {(w.kind, w.vhost, w.name) for w in topologies["sda_mq_federated_branch.json"].warnings}
    assert sda >= {
        ("undeclared-vhost", "federated", "federated"),
        ("undeclared-exchange", "/", "localega"),
        ("undeclared-exchange", "federated", "to_cega"),
        ("undeclared-queue", "/", "error"),
    }
