"""``explain`` and ``why-not`` through a definitions file: hops, alternates, headers, permissions."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dfa_router.cli.app import run

needs_greenery = pytest.mark.skipif(
    importlib.util.find_spec("greenery") is None, reason="needs greenery: pip install 'dfa-router[permissions]'"
)


def binding(
    source: str, destination: str, key: str = "", kind: str = "queue", **arguments: object
) -> dict[str, object]:
    ends = {"source": source, "destination": destination, "destination_type": kind}
    return {**ends, "vhost": "/", "routing_key": key, "arguments": arguments}


@pytest.fixture
def definitions(tmp_path: Path) -> str:
    """A topic exchange with an alternate, and an internal headers exchange behind it."""
    path = tmp_path / "defs.json"
    exchanges = [("in", "topic", False), ("by-region", "headers", True), ("lost", "fanout", True)]
    queues: list[tuple[str, dict[str, int]]] = [("eu", {}), ("rest", {"x-message-ttl": 0})]
    document = {
        "vhosts": [{"name": "/"}],
        "exchanges": [{"name": n, "vhost": "/", "type": t, "internal": i, "arguments": {}} for n, t, i in exchanges],
        "queues": [{"name": name, "vhost": "/", "arguments": arguments} for name, arguments in queues],
        "bindings": [
            binding("in", "by-region", "order.#", "exchange"),
            binding("by-region", "eu", **{"x-match": "all", "region": "eu"}),
            binding("lost", "rest"),
        ],
        "policies": [
            {
                "vhost": "/",
                "name": "p",
                "pattern": "^in$",
                "apply-to": "exchanges",
                "priority": 0,
                "definition": {"alternate-exchange": "lost"},
            }
        ],
        "permissions": [{"user": "shop", "vhost": "/", "configure": "", "write": "^in$", "read": ""}],
        "topic_permissions": [{"user": "shop", "vhost": "/", "exchange": "in", "write": "^order", "read": ""}],
    }
    path.write_text(json.dumps(document))
    return str(path)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = run(list(arguments))
    return code, capsys.readouterr().out.splitlines()


def test_explain_tells_the_hops(capsys: pytest.CaptureFixture[str], definitions: str) -> None:
    file = definitions
    headers = ["--headers", '{"region": "eu"}']
    assert asked(capsys, "explain", file, "order.7", "--exchange", "in", *headers) == (
        0,
        [
            "'in' (topic)",
            f"  'order.#' ({file}:bindings[0]), order took order, # took 7: to exchange 'by-region'",
            "'by-region' (headers)",
            f"  headers all of region='eu' ({file}:bindings[1]): to queue 'eu'",
            "queues: eu",
        ],
    )
    assert asked(capsys, "explain", file, "invoice", "--exchange", "in") == (
        0,
        [
            "'in' (topic): no binding is met, and its alternate exchange 'lost' gets the message",
            "'lost' (fanout)",
            f"  every message ({file}:bindings[2]): to queue 'rest'",
            "queues: rest (holds nothing: only who consumes at that moment gets it)",
        ],
    )
    code, lines = asked(capsys, "explain", file, "invoice", "--exchange", "in", "--cc", "order.1", *headers, "--json")
    told = json.loads("\n".join(lines))
    assert (code, told["queues"], told["refused"]) == (0, ["eu"], None)
    assert [hop["exchange"] for hop in told["hops"]] == ["in", "by-region"]
    assert asked(capsys, "explain", file, "eu", "--exchange", "")[1] == [
        "the default exchange (direct)",
        "  the queue's own name: to queue 'eu'",
        "queues: eu",
    ]


def test_the_default_exchange_has_a_name_in_sentences(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An export may have bindings of it, though no message follows them; an empty name would leave a hole in the sentence."""
    path = tmp_path / "defs.json"
    document = {
        "exchanges": [{"name": n, "vhost": "/", "type": kind} for n, kind in (("x", "topic"), ("r", "x-random"))],
        "queues": [{"name": name, "vhost": "/"} for name in ("a", "b.c")],
        "bindings": [
            binding("x", "", "#", "exchange"),
            binding("r", "", "", "exchange"),
            binding("r", "x", "", "exchange"),
            binding("r", "a"),
            binding("", "a", "z"),
        ],
    }
    path.write_text(json.dumps(document))
    shares = "the default exchange (33%), exchange x (33%), a (33%)"
    assert (
        f"'r' takes one of {shares}, and nobody can tell which"
        in asked(capsys, "explain", str(path), "k", "--exchange", "r")[1]
    )
    assert asked(capsys, "explain", str(path), "k", "--exchange", "x")[1][1:] == [
        f"  '#' ({path}:bindings[0]), # took k: to the default exchange, where its way ends",
        "queues: none",
    ]
    assert asked(capsys, "why-not", str(path), "b", "--exchange", "", "--queue", "b.c") == (
        0,
        [
            "on its way the message visits the default exchange",
            "the default exchange: the queue's own name to queue 'b.c' does not match 'b': the key ends too early; expected 'c'",
            "    nearest key that does, 1 word away: 'b.c'",
        ],
    )
    assert asked(capsys, "why-not", str(path), "b.c", "--exchange", "", "--queue", "b.c")[0] == 1
    told = asked(capsys, "why-not", str(path), "k", "--exchange", "x", "--queue", "a")[1]
    assert told[1:] == ["none of them has a binding behind which there is a way to 'a'"]


def test_choices_that_nobody_can_foretell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A message that one of two queues gets is routed, and no binding of the one that chooses keeps it from either."""
    path = tmp_path / "random.json"
    kinds = {"x": "topic", "r": "x-random"}
    document = {
        "exchanges": [{"name": n, "vhost": "/", "type": kind, "arguments": {}} for n, kind in kinds.items()],
        "queues": [{"name": name, "vhost": "/", "arguments": {}} for name in "ab"],
        "bindings": [binding("x", "r", "a.*", "exchange"), binding("r", "a"), binding("r", "b")],
    }
    path.write_text(json.dumps(document))
    choice = "takes one of a (50%), b (50%), and nobody can tell which"
    code, told = asked(capsys, "explain", str(path), "a.b", "--exchange", "x")
    assert (code, told[-2:]) == (0, [f"'r' {choice}", "queues: none for certain"])
    code, told = asked(capsys, "why-not", str(path), "a.b", "--exchange", "x", "--queue", "a")
    assert (code, told[1:]) == (0, [f"'r': chance ({path}:bindings[1]) to queue 'a': the exchange {choice}"])
    _, told = asked(capsys, "why-not", str(path), "a.b", "--exchange", "x", "--queue", "a", "--json")
    (barrier,) = json.loads("\n".join(told))["barriers"]
    assert barrier["undecided"] == choice
    assert asked(capsys, "explain", str(path), "c", "--exchange", "x")[0] == 1


def test_definitions_give_no_orders_to_a_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    order = "\x1b]0;owned\x07\nqueues: all\x9b2J"
    path, exchanges = tmp_path / "defs.json", [f"x{order}", f"y{order}"]
    document = {
        "exchanges": [{"name": name, "vhost": "/", "type": "topic", "arguments": {}} for name in exchanges],
        "queues": [{"name": f"{name}{order}", "vhost": "/", "arguments": {}} for name in "pq"],
        "bindings": [
            binding(exchanges[0], f"p{order}", f"a.{order}"),
            binding(exchanges[0], exchanges[1], "#", "exchange"),
            binding(exchanges[1], f"q{order}", f"b.{order}"),
        ],
    }
    path.write_text(json.dumps(document))
    for command, lines in (
        (["explain", str(path), f"a.{order}"], 5),
        (["why-not", str(path), f"a.{order}", "--queue", f"p{order}"], 6),
        (["why-not", str(path), "c", "--queue", f"q{order}"], 3),
    ):
        _, told = asked(capsys, *command, "--exchange", exchanges[0])
        assert len(told) == lines, told
        assert all(line.isprintable() for line in told), told


def test_why_not_tells_what_keeps_a_message_from_a_queue(capsys: pytest.CaptureFixture[str], definitions: str) -> None:
    file = definitions
    assert asked(capsys, "why-not", file, "invoice.7", "--exchange", "in", "--queue", "eu") == (
        0,
        [
            "on its way the message visits 'in', 'lost'",
            (
                f"'in': 'order.#' ({file}:bindings[0]) to exchange 'by-region' does not match 'invoice.7': at its beginning, "
                "'invoice' breaks it; expected 'order'"
            ),
            "    nearest key that does, 1 word away: 'order.7'",
        ],
    )
    code, lines = asked(
        capsys, "why-not", file, "order.7", "--exchange", "in", "--queue", "eu", "--headers", '{"region": "us"}'
    )
    assert (code, lines[1]) == (
        0,
        f"'by-region': headers all of region='eu' ({file}:bindings[1]) to queue 'eu' is not met",
    )
    code, lines = asked(capsys, "why-not", file, "order.7", "--exchange", "in", "--queue", "rest")
    assert (code, lines[1]) == (0, "none of them has a binding behind which there is a way to 'rest'")
    code, lines = asked(capsys, "why-not", file, "x", "--exchange", "in", "--queue", "rest")
    assert (code, lines[0]) == (1, "rest gets it:")


@needs_greenery
def test_permissions_of_who_publishes(capsys: pytest.CaptureFixture[str], definitions: str) -> None:
    file = definitions
    question = ["--exchange", "in", "--user", "shop"]
    assert asked(capsys, "explain", file, "order.7", *question)[1][0] == "'in' (topic)"
    assert asked(capsys, "explain", file, "invoice", *question) == (
        1,
        ["'shop' may not publish 'invoice': '^order' (topic_permissions[0]) does not match it"],
    )
    assert asked(capsys, "why-not", file, "invoice", *question, "--queue", "rest") == (
        0,
        ["'shop' may not publish 'invoice': '^order' (topic_permissions[0]) does not match it"],
    )
    for arguments, said in (
        (["eu", "--exchange", "", "--user", "shop"], "may not write to exchange ''"),
        (["a", "--exchange", "in", "--user", "nobody"], "'nobody' has no permissions in vhost '/'"),
        (["a", "--exchange", "lost"], "exchange 'lost' is internal"),
    ):
        code, lines = asked(capsys, "explain", file, *arguments)
        assert (code, said in lines[0]) == (1, True), lines


@pytest.mark.parametrize("command", [["explain"], ["why-not", "--queue", "rest"]], ids=lambda command: command[0])
def test_without_the_extra_a_user_ends_with_a_code_that_the_help_lists(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, definitions: str, command: list[str]
) -> None:
    document = json.loads(Path(definitions).read_text())
    document["permissions"][0]["write"] = "^(in|none)$"  # others may be known from other tests
    Path(definitions).write_text(json.dumps(document))
    monkeypatch.setitem(sys.modules, "greenery", None)
    code = run([*command, definitions, "order.7", "--exchange", "in", "--user", "shop"])
    assert "dfa-router[permissions]" in capsys.readouterr().err
    assert run([command[0], "--help"]) == 0
    help_text = " ".join(capsys.readouterr().out.split())
    assert f" {int(code)} --user without the extra 'permissions'" in help_text
    assert "(extra: permissions)" in help_text


@needs_greenery
@pytest.mark.parametrize(("kind", "code"), [("topic", 1), ("direct", 0), ("x-delayed-message", 0)])
def test_topic_permissions_are_asked_of_topic_exchanges(
    capsys: pytest.CaptureFixture[str], definitions: str, kind: str, code: int
) -> None:
    """The broker takes what they do not match from a client that publishes to an exchange of another type."""
    document = json.loads(Path(definitions).read_text())
    document["exchanges"][0].update(type=kind, arguments={"x-delayed-type": "topic"})
    document["bindings"].append(binding("in", "rest", "invoice"))
    Path(definitions).write_text(json.dumps(document))
    question = ["explain", definitions, "invoice", "--exchange", "in", "--user", "shop"]
    assert asked(capsys, *question)[0] == code


def test_the_version_of_the_broker_decides(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Whether a header 1.0 is the 1 that a binding demands has changed with 3.13."""
    file = tmp_path / "defs.json"
    demand: dict[str, Any] = {"x-match": "all", "n": 1}
    bound = binding("amq.headers", "q", **demand)
    file.write_text(
        json.dumps({"vhosts": [{"name": "/"}], "queues": [{"name": "q", "vhost": "/"}], "bindings": [bound]})
    )
    question = ["explain", str(file), "", "--exchange", "amq.headers", "--headers", '{"n": 1.0}']
    assert asked(capsys, *question, "--broker", "3.10")[0] == 0
    assert asked(capsys, *question, "--broker", "4.3")[0] == 1
    assert asked(capsys, *question)[0] == 1


@pytest.mark.parametrize(
    "command",
    [
        ["explain", "{0}", "a", "--exchange", "in"],
        ["why-not", "{0}", "a", "--exchange", "in", "--queue", "eu"],
        ["diff", "{0}", "{0}"],
        ["audit", "--definitions", "{0}"],
        ["replay", "--definitions", "{0}", "--trace", "{0}"],
        ["route", "--definitions", "{0}", "--messages", "{0}", "--out", "{0}.out"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_routes_takes_a_version(
    capsys: pytest.CaptureFixture[str], definitions: str, command: list[str]
) -> None:
    given = [part.format(definitions) for part in command]
    assert run([*given, "--broker", "newest"]) == 2
    assert "broker is 'newest': expected a version of RabbitMQ" in capsys.readouterr().err.replace("\n", " ")


def test_wrong_usage(capsys: pytest.CaptureFixture[str], definitions: str, tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("a\tq\n")
    for arguments, problem in (
        (["explain", definitions, "a", "--exchange", "in", "--headers", "{"], "--headers is no JSON"),
        (["explain", definitions, "a", "--exchange", "in", "--headers", "[]"], "--headers is no object"),
        (
            ["explain", definitions, "a", "--exchange", "in", "--headers", '{"a": 1, "a": 2}'],
            "the key 'a' stands twice",
        ),
        (["explain", definitions, "a", "--exchange", "in", "--headers", "[" * 100_000], "nested too deeply"),
        (["explain", definitions, "a", "--exchange", "in", "--dialect", "mqtt"], "--dialect is for lists"),
        (["explain", definitions, "a", "--exchange", "no"], "no"),
        (["explain", str(listed), "a", "--cc", "b"], "they need --exchange, too"),
        (["why-not", definitions, "a", "--exchange", "in", "--headers", "{}"], "they need --exchange and --queue, too"),
        (["why-not", definitions, "a", "--exchange", "in", "--queue", "none"], "has no queue 'none'"),
    ):
        assert run(arguments) == 2
        assert problem in capsys.readouterr().err.replace("\n", " ")
