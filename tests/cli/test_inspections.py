"""The commands that tell what definitions do, on input that means harm, or nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

import dfa_router as dr
from dfa_router.cli.app import app, run

DATA = Path(__file__).parents[1] / "data" / "traces"
TRACE = DATA / "rabbitmq-3.10-json.log"


def definitions(path: Path, *bindings: tuple[str, str, str], **exchanges: dict[str, Any]) -> str:
    """Write definitions with topic exchanges, whose alternates are given, and bindings (source, key, queue)."""
    entry: dict[str, Any] = {"vhost": "/", "arguments": {}}
    document = {
        "exchanges": [{"name": name, "type": "topic", **entry, **more} for name, more in exchanges.items()],
        "queues": [{"name": name, **entry} for name in dict.fromkeys(queue for _, _, queue in bindings)],
        "bindings": [
            {"source": source, "routing_key": key, "destination": queue, "destination_type": "queue", **entry}
            for source, key, queue in bindings
        ],
    }
    path.write_text(json.dumps(document))
    return str(path)


@pytest.fixture
def known(tmp_path: Path) -> str:
    """Return definitions of the stored trace's broker."""
    return definitions(tmp_path / "known.json", ("x", "a.#", "q1"), ("x", "*.b", "q.ü"), x={})


def test_replay_tells_machines_and_people(known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "--definitions", known, "--trace", str(TRACE), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["messages"], told["agreeing"], told["expected"], told["differing"]) == (14, 12, 2, 0)
    assert set(told["causes"]) == {"absent-queue"}
    other = definitions(tmp_path / "other.json", ("x", "a.*", "q1"), ("x", "*.b", "q.ü"), x={})
    assert run(["replay", "--definitions", other, "--trace", str(DATA)]) == 2  # it has a file that is no trace
    assert "README.md: is no trace log" in capsys.readouterr().err
    assert run(["replay", "--definitions", other, "--trace", str(DATA / "*.log")]) == 1
    assert "6 messages: missing-binding queue 'q1'" in capsys.readouterr().out


def test_a_trace_without_publications_is_told(known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was 0 of everything, as if all agreed."""
    trace = tmp_path / "trace.log"
    received = [line for line in TRACE.read_text("utf-8").splitlines(keepends=True) if '"received"' in line]
    for text in ("", "".join(received)):
        trace.write_text(text, "utf-8")
        assert run(["replay", "--definitions", known, "--trace", str(trace)]) == 0
        assert "nothing was compared: no client published a message" in capsys.readouterr().out
    run(["replay", "--definitions", known, "--trace", str(TRACE)])
    assert "nothing was compared" not in capsys.readouterr().out


def test_one_thing_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = definitions(tmp_path / "one.json", ("x", "a.#", "q1"), x={})
    log, page = tmp_path / "log.jsonl", tmp_path / "audit.html"
    log.write_text('{"exchange": "x", "routing_key": "b"}\n')
    assert run(["audit", "--definitions", one, "--messages", str(log), "--html", str(page)]) == 1
    assert "1 exchange, 1 queue, 1 binding\n" in capsys.readouterr().out
    for told in ("<p>1 exchange, 1 queue, 1 binding.</p>", "<p>1 queue got nothing.</p>"):
        assert told in page.read_text("utf-8")
    trace = tmp_path / "trace.log"
    trace.write_bytes(TRACE.read_bytes().splitlines(keepends=True)[0])
    assert run(["replay", "--definitions", one, "--trace", str(trace)]) == 1
    assert "\n1 message: unknown-queue queue 'q.ü'\n" in capsys.readouterr().out
    document = json.loads(Path(one).read_text())
    document["exchanges"][0]["type"] = "x-unheard-of"
    Path(one).write_text(json.dumps(document))
    assert run(["replay", "--definitions", one, "--trace", str(trace)]) == 0
    assert "\n1 message reaches 'x', whose type is not simulated\n" in capsys.readouterr().out


def test_a_report_is_a_result(known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is on stdout, also for who wants quiet, and alone there; what is told meanwhile is not."""
    other = definitions(tmp_path / "other.json", ("x", "a.*", "q1"), ("x", "*.b", "q.ü"), x={})
    for line, said in (
        (["diff", known, other], "who gets other messages"),
        (["audit", "--definitions", known, "--messages", str(TRACE)], "hottest bindings"),
        (["replay", "--definitions", other, "--trace", str(TRACE)], "routed otherwise"),
    ):
        run(line)
        told = capsys.readouterr()
        assert said in told.out
        assert said not in told.err
        assert " ..." in told.err
        assert " ..." not in told.out
        run(["--quiet", *line])
        assert capsys.readouterr() == (told.out, "")
        run([*line, "--json"])
        machine = capsys.readouterr()
        assert json.loads(machine.out)
        assert said not in machine.err


def test_rows_that_could_not_be_read_are_told(known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"exchange": "x", "routing_key": "a.b"}\nno JSON\n{"exchange": "x"}\n')
    assert run(["audit", "--definitions", known, "--messages", str(log)]) == 1
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["rows", "with", "problems", "2"] in told
    assert ["x", "null", "none", "1"] in told
    assert ["null", "null", "none", "1"] not in told
    run(["audit", "--definitions", known, "--messages", str(log), "--json"])
    traffic = json.loads(capsys.readouterr().out)["traffic"]
    assert (traffic["unroutable"], traffic["problem_rows"], traffic["other_unroutable"]) == (2, 2, 1)
    assert run(["diff", known, known, "--messages", str(log)]) == 0
    assert ["rows", "with", "problems", "2"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    log.write_text('{"exchange": "x", "routing_key": "a.b"}\n')
    for command in (["audit", "--definitions", known], ["diff", known, known]):
        run([*command, "--messages", str(log)])
        assert "problems" not in capsys.readouterr().out


def test_each_list_of_an_audit_says_how_much_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bound = definitions(tmp_path / "bound.json", ("x", "a.#", "q1"), ("x", "*.b", "q2"), x={})
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f'{{"exchange": "x", "routing_key": "{key}"}}\n' for key in ("a.b", "a", "c", "d")))
    run(["audit", "--definitions", bound, "--messages", str(log), "--top", "1"])
    parts = capsys.readouterr().out.split("\n\n")
    ends = {name: part.rstrip().rpartition("\n")[2] for part in parts for name in [part.partition("\n")[0]]}
    more = "more; --top 0 shows all"
    assert ends["copies of a message"] == f"... and 2 {more}"
    assert ends["unroutable messages, and the binding nearest to them"] == f"... and 1 {more}"
    assert ends["hottest bindings"] == f"... and 1 {more}"


def test_rows_with_problems_count_by_what_became_of_them_too(
    known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As those of ``route`` do: a damaged line whose key could be read goes to its queues, and nobody gets what an exchange lacks."""
    log = tmp_path / "log.jsonl"
    lines = [b'{"exchange": "x", "routing_key": "a.b", "n": "\xff"}', b'{"exchange": "absent", "routing_key": "a.b"}']
    log.write_bytes(b"".join(line + b"\n" for line in [*lines, b'{"exchange": "x", "routing_key": "a.b", "n": ""}']))
    run(["audit", "--definitions", known, "--messages", str(log), "--json"])
    traffic = json.loads(capsys.readouterr().out)["traffic"]
    assert [traffic[name] for name in ("messages", "routed", "unroutable", "undecided")] == [3, 2, 1, 0]
    assert traffic["problem_rows"] == 2
    run(["diff", known, known, "--messages", str(log), "--json"])
    assert json.loads(capsys.readouterr().out)["messages"]["problem_rows"] == 2


@pytest.mark.parametrize(
    "command",
    [
        ["audit", "--definitions"],
        ["diff", str(DATA)],
        ["replay", "--trace", str(TRACE), "--definitions"],
        ["route", "--messages", str(TRACE), "--out", "out", "--definitions"],
    ],
)
def test_that_definitions_are_loaded_is_said_before(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Large ones take many seconds, and there was not a line in them."""
    monkeypatch.chdir(tmp_path)
    assert run([*command, "none.json"]) == 2
    assert capsys.readouterr().err.startswith("loading definitions ...\nerror: ")
    assert run(["--quiet", *command, "none.json"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_what_is_not_there_is_named(known: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["replay", "--definitions", known, "--trace", "/no/such.log"],
        ["replay", "--definitions", "/no/such.json", "--trace", str(TRACE)],
        ["diff", known, "/no/such.json"],
        ["diff", known, known, "--messages", "/no/such.parquet"],
        ["audit", "--definitions", known, "--messages", "/no/such.csv"],
    ):
        assert run(arguments) == 2
        said = capsys.readouterr().err
        assert "/no/such" in said
        named = set(re.findall(r"--[a-z]+", said))
        command = app.get_command(click.Context(app), arguments[0])
        assert command is not None
        assert named <= {option for one in command.params for option in one.opts}, said


def test_a_diff_of_nothing_and_of_something(known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", known, known, "--messages", str(TRACE)]) == 0
    assert "no message goes elsewhere, whatever its key (CC and BCC" in capsys.readouterr().out
    many = definitions(tmp_path / "many.json", ("x", "#.a.#.b.#", "q1"), ("x", "*.b", "q.ü"), x={})
    assert run(["diff", known, many, "--messages", str(TRACE), "--json"]) == 1
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert told["import"]["failures"][0]["since"] == "4.3.5"
    assert told["import"]["staying"] == ["x --a.#--> q1"]
    assert told["messages"]["moved"] == sum(one["lost"] for one in told["messages"]["queues"] if one["queue"] == "q1")
    assert {(one["destination"], one["gained"], one["key"]) for one in told["changes"] if one["kind"] == "queue"} >= {
        ("q1", False, "a")
    }
    assert run(["diff", known, many]) == 1
    assert "the import into RabbitMQ 4.3.5 or later ends in an error at bindings[0]" in capsys.readouterr().out


def test_a_queue_that_is_gone_is_told_and_what_was_not_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exchange = {"h": {"type": "headers", "arguments": {"alternate-exchange": "a"}}, "a": {}, "b": {}}
    old = definitions(
        tmp_path / "old.json", ("h", "", "p"), ("a", "#", "p"), ("b", "#", "r"), ("nowhere", "", "q"), **exchange
    )
    exchange["h"] = {"type": "headers", "arguments": {"alternate-exchange": "b"}}
    new = definitions(tmp_path / "new.json", ("h", "", "p"), ("a", "#", "p"), ("b", "#", "r"), **exchange)
    assert run(["diff", old, new]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "no message goes elsewhere" not in said
    assert "(default) loses queue q q" in said
    assert "h of /: 'h', where the key alone does not decide, changed (alternate exchange)" in said


NAMES = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "a\nb\x1b[31m", "$2^n$", "q" * 255]


def test_names_give_no_orders_to_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bindings = [("x", f"{name[:50]}.*w*", name) for name in NAMES]
    old = definitions(tmp_path / "old.json", *bindings, x={})
    new = definitions(tmp_path / "new.json", *bindings[1:], ("x", "#.a.#.b.#\x1b[2J", "a\nb\x1b[31m"), x={})
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({"exchange": "x", "routing_key": f"{name[:50]}.*w*"}) + "\n" for name in NAMES))
    for arguments in (
        ["diff", old, new, "--messages", str(log), "--top", "0"],
        ["audit", "--definitions", new, "--messages", str(log), "--html", str(tmp_path / "page.html")],
    ):
        assert run(arguments) == 1
        assert "\x1b" not in "".join(capsys.readouterr())
    assert "<script>" not in (tmp_path / "page.html").read_text("utf-8")


def test_a_trace_gives_no_orders_to_a_terminal(known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(TRACE.read_text("utf-8").splitlines()[0])
    assert record["type"] == "published"
    order = "\x1b]0;owned\x07\x9b2J"
    trace = tmp_path / "trace.log"
    trace.write_text(
        json.dumps({**record, "timestamp": f"now{order}", "routing_keys": [order], "routed_queues": [order]}) + "\n"
    )
    assert run(["replay", "--definitions", known, "--trace", str(trace)]) == 1
    said = capsys.readouterr().out
    assert "now\\x1b" in said
    assert all(line.isprintable() for line in said.splitlines())


def test_names_that_look_like_markup_stay_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["a[/b]", "a[eu].b", ":key:", "[bold]"]
    old = definitions(tmp_path / "old.json", *(("x", key, "q") for key in keys), ("x", "b", "q"), x={})
    new = definitions(tmp_path / "new.json", ("x", "b", "q"), x={})
    assert run(["diff", old, new]) == 1
    said = capsys.readouterr().out
    assert said[said.index("these bindings stay") :].splitlines()[1:] == [f"x --{key}--> q" for key in keys]
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"exchange": "x", "routing_key": "b"}) + "\n")
    assert run(["audit", "--definitions", old, "--messages", str(log)]) == 0
    said = capsys.readouterr().out
    assert said[said.index("bindings that matched nothing\n") :].splitlines()[1:] == [
        f"bindings[{n}]: x --{key}--> q" for n, key in enumerate(keys)
    ]
    assert run(["diff", old, "/no[/such].:key:"]) == 2
    assert "error: /no[/such].:key:: there is no such file" in capsys.readouterr().err


def test_exchanges_that_one_reason_keeps_from_being_searched_share_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document: dict[str, Any] = json.loads(Path(definitions(tmp_path / "old.json", ("i", "a", "q"), i={})).read_text())
    (inner,), entry = document["exchanges"], {"vhost": "/", "arguments": {}}
    document["exchanges"] = [{"name": f"x{number}", "type": "topic", **entry} for number in range(5)]
    document["bindings"] += [
        {"source": f"x{n}", "routing_key": "#", "destination": "i", "destination_type": "exchange", **entry}
        for n in range(5)
    ]
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    new.write_text(json.dumps(document))
    old.write_text(json.dumps({**document, "exchanges": [*document["exchanges"], {**inner, "internal": True}]}))
    for top, names in (("3", "x0, x1, x2 and 2 more (--top 0 shows all)"), ("0", "x0, x1, x2, x3, x4")):
        assert run(["diff", str(old), str(new), "--top", top]) == 1
        told = [line for line in capsys.readouterr().out.splitlines() if "compare with --messages" in line]
        assert len(told) == 1
        assert told[0].startswith(f"{names} of /: 'i', where the key alone does not decide, changed")


def test_every_line_of_a_row_that_is_a_list_says_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    old = definitions(tmp_path / "old.json", ("x", "shipments.north", "shipping.north"), x={})
    new = definitions(tmp_path / "new.json", ("x", "order*.#", "shipping.north"), ("nowhere", "a", "idle"), x={})
    assert run(["diff", old, new]) == 1
    told = capsys.readouterr().out.splitlines()
    assert run(["audit", "--definitions", new]) == 1
    told += capsys.readouterr().out.splitlines()
    assert any(re.match(r"change +gains$", line) for line in told)
    assert any(re.match(r"severity +warning$", line) for line in told)
    assert not any(line.startswith("  ") and line.split()[0] in ("gains", "loses", "warning", "note") for line in told)


def test_cycles_of_alternates_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ring = {f"x{n}": {"arguments": {"alternate-exchange": f"x{(n + 1) % 5}"}} for n in range(5)}
    old = definitions(tmp_path / "old.json", ("x2", "a.#", "q"), **ring)
    new = definitions(tmp_path / "new.json", ("x4", "a.#", "q"), ("x2", "b", "p"), **ring)
    assert run(["diff", old, new, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["unsearched"] == []
    assert {(one["exchange"], one["destination"], one["key"]) for one in told["changes"] if one["kind"] == "queue"} == {
        ("", "p", "p"),
        *((f"x{n}", "p", "b") for n in range(5)),
    }
    assert run(["audit", "--definitions", new]) == 0


def test_deep_json_and_a_trace_of_another_sort(known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000 + "]" * 100_000)
    assert run(["audit", "--definitions", str(deep)]) == 2
    assert run(["audit", "--definitions", known, "--listing", str(deep)]) == 2
    log = tmp_path / "deep.log"
    line = TRACE.read_text("utf-8").splitlines()[0]
    log.write_text(
        line.replace('"properties":{', '"properties":{"headers":{"h":' + "[" * 100_000 + "]" * 100_000 + "},") + "\n"
    )
    code = run(["replay", "--definitions", known, "--trace", str(log), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["messages"] == 1
    assert told["agreeing"] + told["unreadable"] == 1
    assert code == (2 if told["unreadable"] else 0)


def test_a_log_of_something_else_does_not_pass_for_a_trace_that_agrees(
    known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"exchange": "x", "routing_key": "a"}\n' * 3)
    assert run(["replay", "--definitions", known, "--trace", str(log)]) == 2
    said = capsys.readouterr()
    assert "records that could not be read  3" in said.out
    assert f"{log}: nothing was compared" in " ".join(said.err.split())
    log.write_text(log.read_text() + TRACE.read_text("utf-8").splitlines()[0] + "\n")
    assert run(["replay", "--definitions", known, "--trace", str(log)]) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["audit", "--definitions", "{}", "--format", "csv"], "--format is of the messages"),
        (["diff", "{}", "{}", "--format", "csv"], "--format is of the messages"),
        (["diff", "-", "-"], "cannot both be standard input"),
    ],
)
def test_what_would_be_passed_over_is_refused(
    known: str, capsys: pytest.CaptureFixture[str], line: list[str], said: str
) -> None:
    assert run([word.format(known) for word in line]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_what_newer_brokers_refuse_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "defs.json"
    path.write_text(
        '{"policies": [{"vhost": "/", "name": "p", "pattern": "(", "apply-to": "all", "priority": 0, "definition": {"max-length": 9}}]}'
    )
    assert run(["audit", "--definitions", str(path)]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "policies[0].pattern: '(' is no regular expression" in told
    assert "; RabbitMQ 3.10 and later refuse it: correct the pattern" in told


def test_what_ends_an_import_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "defs.json"
    queues = [{"name": "q", "vhost": "/", "arguments": {"x-max-length": -1, "x-note": None}}]
    path.write_text(json.dumps({"vhosts": [{"name": "/"}], "queues": queues}))
    assert run(["audit", "--definitions", str(path), "--json"]) == 1
    rules = [one["rule"] for one in json.loads(capsys.readouterr().out)["findings"] if one["severity"] == "warning"]
    assert rules == ["null-argument", "refused-declaration"]
    refused = dr.load_definitions(path).warnings[1]
    assert refused.detail == "x-max-length is -1: it takes a whole number of at least 0"
    assert refused.advice.endswith(f"({refused.detail})")
