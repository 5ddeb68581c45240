"""The command ``permissions``: what it finds in files, and its verdicts."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path

import pytest

from dfa_router.cli.app import run
from dfa_router.lint.findings import PERMISSION_RULES

needs_greenery = pytest.mark.skipif(
    importlib.util.find_spec("greenery") is None, reason="needs greenery: pip install 'dfa-router[permissions]'"
)
ENTRY = {"user": "ann", "vhost": "/", "exchange": "events", "write": "^a"}
EVENTS = {"name": "events", "vhost": "/", "type": "topic"}
ALL_NAMES = {"user": "ann", "vhost": "/", "configure": ".*", "write": ".*", "read": ".*"}


@needs_greenery
def test_definitions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "defs.json"
    entries = [{**ENTRY, "read": read} for read in (r"^[^.]+\.public", r"^pub\.[a-z]+$", "(?!secret)")]
    file.write_text(json.dumps({"topic_permissions": entries}))
    assert run(["permissions", str(file), "--json"]) == 1
    leaking, unreadable = json.loads(capsys.readouterr().out)
    assert [one["severity"] for one in (leaking, unreadable)] == ["error", "note"]
    assert (leaking["rule"], leaking["place"], leaking["binding"]) == (
        "leaking-permission",
        "topic_permissions[0]",
        "#.public",
    )
    assert (unreadable["rule"], unreadable["place"]) == ("unreadable-permission", "topic_permissions[2]")
    assert "look-ahead" in unreadable["message"]
    declared = {"exchanges": [EVENTS], "permissions": [ALL_NAMES]}
    file.write_text(json.dumps({**declared, "topic_permissions": entries[:1]}))
    asked = ["permissions", str(file), "--user", "ann", "--key", "secret.x.public", "--binding", "#.public"]
    assert run(asked) == 1
    assert capsys.readouterr().out == (
        "may publish secret.x.public to events: no\nmay bind #.public to events: yes\ngets secret.x.public by it from events: yes\n"
    )


@needs_greenery
@pytest.mark.parametrize("name", ["defs.bak", "defs.conf"])
def test_definitions_of_another_name_are_told_from_their_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    entry = {**ENTRY, "read": r"^[^.]+\.public"}
    declared = {"rabbit_version": "4.1.0", "users": [{"name": "accounts"}], "topic_permissions": [entry]}
    for document in (declared, {"product_name": "RabbitMQ", **declared}):
        file.write_text(json.dumps(document, indent=1))
        assert run(["permissions", str(file), "--format", "sarif"]) == 1
        (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
        assert result["ruleId"] == "leaking-permission"
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] > 1
    file.write_text(json.dumps(declared, indent=1)[:-2])
    assert run(["permissions", str(file)]) == 2
    assert "ends in the middle of the JSON" in " ".join(capsys.readouterr().err.split())
    file.write_text('{"port": 4222}')
    assert run(["permissions", str(file)]) == 2
    assert "is an object with the keys 'port'" in " ".join(capsys.readouterr().err.split())


@needs_greenery
def test_a_note_alone_is_told_and_fails_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "defs.json"
    file.write_text(json.dumps({"topic_permissions": [{**ENTRY, "read": "^(?!secret).*$"}]}))
    assert run(["permissions", str(file)]) == 0
    assert "unreadable-permission" in capsys.readouterr().out


@needs_greenery
def test_each_vhost_has_rules_of_its_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "defs.json"
    vhosts = ("/", "b", "\x1b[2J\nc")
    declared = {
        "vhosts": [{"name": vhost} for vhost in vhosts],
        "exchanges": [{**EVENTS, "name": name, "vhost": vhost} for vhost in vhosts for name in ("events", "x")],
        "permissions": [{**ALL_NAMES, "vhost": vhost} for vhost in vhosts[:2]],
    }
    entries = [{**ENTRY, "read": "", "vhost": vhost, "write": write} for vhost, write in (("/", "^a"), ("b", "^b"))]
    file.write_text(json.dumps({**declared, "topic_permissions": entries}))
    asked = ["permissions", str(file), "--user", "ann", "--key", "a"]
    assert run(asked) == 1
    assert capsys.readouterr().out == "may publish a to events: yes\nmay publish a to events in vhost b: no\n"
    for more, told, code in (
        (["--vhost", "/"], "may publish a to events: yes\n", 0),
        (["--vhost", "b"], "may publish a to events in vhost b: no\n", 1),
        (["--exchange", "x"], "may publish a to x: yes\nmay publish a to x in vhost b: yes\n", 0),
        (["--exchange", "x", "--vhost", vhosts[2]], "may publish a to x in vhost \\x1b[2J\\nc: no\n", 1),
        (["--exchange", "", "--vhost", "/"], "may publish a to the default exchange: yes\n", 0),
        (
            ["--exchange", "", "--vhost", "/", "--binding", "a"],
            (
                "may publish a to the default exchange: yes\nmay bind a to the default exchange: no\n"
                "gets a by it from the default exchange: no\n"
            ),
            1,
        ),
        (["--exchange", "amq.rabbitmq.trace", "--vhost", "/"], "may publish a to amq.rabbitmq.trace: no\n", 1),
    ):
        assert run([*asked, *more]) == code
        assert capsys.readouterr().out == told
    file.write_text(json.dumps({**declared, "topic_permissions": [{**ENTRY, "read": ".*", "write": ""}]}))
    assert run(asked) == 1
    assert capsys.readouterr().out == "may publish a to events: no\n"


@needs_greenery
def test_verdicts_for_a_client_of_mqtt_ask_its_identifier(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "defs.json"
    topics = {**ENTRY, "read": "^{client_id}", "write": "^{client_id}[.]"}
    file.write_text(json.dumps({"exchanges": [EVENTS], "permissions": [ALL_NAMES], "topic_permissions": [topics]}))
    asked = ["permissions", str(file), "--user", "ann", "--key", "c7.on", "--binding", "c7.#"]
    assert run([*asked, "--client", "c7"]) == 0
    assert run([*asked, "--client", "c8"]) == run(asked) == 1
    assert capsys.readouterr().out.count("may publish c7.on to events: yes") == 1


@needs_greenery
def test_permissions_for_names_are_asked_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "defs.json"
    permission = {**ALL_NAMES, "write": "^$", "read": "^events$"}
    document = {
        "exchanges": [EVENTS, {**EVENTS, "name": "x"}],
        "permissions": [permission],
        "topic_permissions": [{**ENTRY, "read": ".*"}],
    }
    file.write_text(json.dumps(document))
    asked = ["permissions", str(file), "--user", "ann", "--key", "a", "--binding", "#"]
    assert run(asked) == 1
    told = "may publish a to events: no\nmay bind # to events: yes\ngets a by it from events: yes\n"
    assert capsys.readouterr().out == told
    assert run([*asked, "--exchange", "x"]) == 1
    assert capsys.readouterr().out == "may publish a to x: no\nmay bind # to x: no\ngets a by it from x: no\n"


@needs_greenery
@pytest.mark.parametrize(
    ("declared", "binding", "gets"),
    [
        ({"type": "topic"}, "a.#", "yes"),
        ({"type": "topic", "internal": True}, "a.*", "no"),
        ({"type": "direct"}, "a.#", "no"),
        ({"type": "direct"}, "a", "yes"),
        ({"type": "fanout"}, "b", "yes"),
        ({"type": "topic"}, "a" * 256, "no"),
        ({"type": "fanout"}, "a" * 256, "no"),
        ({"type": "x-delayed-message", "arguments": {"x-delayed-type": "topic"}}, "#", "yes"),
        ({"type": "headers"}, "a", None),
        ({"type": "x-unheard-of"}, "a", None),
    ],
    ids=str,
)
def test_whether_a_binding_gets_the_key_is_told_by_the_type_of_its_exchange(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, declared: dict[str, object], binding: str, gets: str | None
) -> None:
    file = tmp_path / "defs.json"
    file.write_text(json.dumps({"exchanges": [{**EVENTS, **declared}], "permissions": [ALL_NAMES]}))
    asked = ["permissions", str(file), "--user", "ann", "--exchange", "events", "--key", "a", "--binding", binding]
    run(asked)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        f"may bind {binding} to events: yes",
        *([f"gets a by it from events: {gets}"] if gets is not None else []),
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--user", "anne"], "has no permissions of a user 'anne'; near names: 'ann'"),
        (["--user", "ann", "--exchange", "event"], "no exchange 'event' in vhost '/'"),
        (["--user", "ann", "--exchange", "events", "--vhost", "nosuch"], "no vhost 'nosuch'"),
        (["--user", "bob"], "the user has no topic permissions: name an exchange with --exchange"),
        (["--user", "ann", "--vhost", "nosuch"], "no topic permissions in vhost 'nosuch'"),
    ],
)
def test_what_no_broker_could_be_asked_is_no_yes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, more: list[str], said: str
) -> None:
    file = tmp_path / "defs.json"
    rules = {
        "permissions": [ALL_NAMES, {**ALL_NAMES, "user": "bob"}],
        "topic_permissions": [{**ENTRY, "read": ".*"}],
    }
    file.write_text(json.dumps({"exchanges": [EVENTS], **rules}))
    assert run(["permissions", str(file), "--key", "a", *more]) == 2
    captured = capsys.readouterr()
    assert (captured.out, said in " ".join(captured.err.split())) == ("", True), captured.err


def test_access_lists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "acl"
    file.write_text("user ann\ntopic read a/#\ntopic read a/b\ntopic deny c/+\ntopic write c/d\n")
    assert run(["permissions", str(file)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in told] == [f"{file}:3", f"{file}:5"]
    assert run(["permissions", str(file), "--user", "ann", "--key", "a/b"]) == 1
    assert capsys.readouterr().out == "may read a/b: yes\nmay write a/b: no\n"


def test_findings_as_sarif(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "acl"
    file.write_text("user ann\ntopic read a/#\n\ntopic read a/b\ntopic deny c/+\ntopic write c/d\n")
    assert run(["permissions", str(file), "--format", "sarif"]) == 1
    (log,) = json.loads(capsys.readouterr().out)["runs"]
    rules = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    assert rules == list(PERMISSION_RULES)
    places = [result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in log["results"]]
    assert places == [4, 6]
    assert {rules[result["ruleIndex"]] for result in log["results"]} == {"useless-rule"}
    assert "user 'ann': read 'a/b' does nothing" in log["results"][0]["message"]["text"]
    assert run(["permissions", str(file), "--format", "sarif", "--user", "ann", "--key", "a"]) == 2


@needs_greenery
def test_sarif_of_definitions_points_to_the_entrys_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "defs.json"
    entries = [{**ENTRY, "read": read} for read in (r"^pub\.[a-z]+$", r"^[^.]+\.public", "(?!secret)")]
    file.write_text(json.dumps({"topic_permissions": entries}, indent=1))
    assert run(["permissions", str(file), "--format", "sarif"]) == 1
    (log,) = json.loads(capsys.readouterr().out)["runs"]
    lines = file.read_text().splitlines()
    for result, entry in zip(log["results"], entries[1:], strict=True):
        line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
        assert json.dumps(entry["read"]) in "".join(lines[line - 1 : line + 6])
    assert [(one["ruleId"], one["level"]) for one in log["results"]] == [
        ("leaking-permission", "error"),
        ("unreadable-permission", "note"),
    ]
    assert "For instance the key 'public'" in log["results"][0]["message"]["text"]


def test_wrong_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "acl"
    file.write_text("allow a\n")
    defs = tmp_path / "defs.json"
    defs.write_text(json.dumps({"topic_permissions": [{"user": "ann"}]}))
    odd, odder = tmp_path / "odd.json", tmp_path / "odder.json"
    odd.write_text(json.dumps({"topic_permissions": [1]}))
    odder.write_text(json.dumps({"topic_permissions": {"user": "ann"}}))
    for arguments, problem in (
        ([str(file)], "acl:1: is 'allow a'"),
        ([str(file), "--user", "ann"], "--user and --key belong together"),
        ([str(tmp_path / "none")], "cannot be read"),
        ([str(defs)], "topic_permissions[0].exchange: expected text"),
        ([str(odd)], "odd.json: topic_permissions[0]: is '1' (int); expected an object"),
        ([str(odder)], "odder.json: topic_permissions: is"),
    ):
        assert run(["permissions", *arguments]) == 2
        assert problem in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["rules.acl", "--user", "ann", "--key", "a/b", "--binding", "a/#"],
            "--binding changes nothing with rules of mosquitto",
        ),
        (
            ["rules.acl", "--user", "ann", "--key", "a/b", "--vhost", "v"],
            "--vhost changes nothing with rules of mosquitto",
        ),
        (
            ["rules.acl", "--no-match", "deny"],
            "--no-match changes nothing with rules of mosquitto, but with those of emqx",
        ),
        (
            ["defs.json", "--user", "ann", "--key", "a", "--address", "::1"],
            "--address changes nothing with rules of rabbitmq",
        ),
        (["defs.json", "--exchange", "x"], "--exchange is about one key: give --user and --key, too"),
        (["rules.acl", "--client", "c"], "--client is about one key"),
        (["rules.acl", "--client", "c", "--against", "rules.acl"], None),
        (["rules.acl", "--client", "c", "--user", "ann", "--key", "a/b"], None),
    ],
)
def test_what_would_be_passed_over_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    said: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.acl").write_text("user ann\ntopic a/+\n")
    Path("defs.json").write_text('{"permissions": [], "topic_permissions": []}')
    code = run(["permissions", *given])
    err = " ".join(capsys.readouterr().err.split())
    assert (code, "leave it out" in err) == ((0, False) if said is None else (2, True)), err
    assert (said or "") in err


def test_a_compressed_file_is_told_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = tmp_path / "rules.acl"
    packed.write_bytes(gzip.compress(b"topic a/+"))
    assert run(["permissions", str(packed)]) == 2
    assert "is compressed with gzip: unpack it first (gunzip)" in " ".join(capsys.readouterr().err.split())
