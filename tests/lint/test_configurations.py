"""Lint of configuration files: Mosquitto's access lists and bridges, and NATS' users."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dfa_router.cli.app import run
from dfa_router.lint.bridges import bridged

NATS = """authorization {
  users = [
    {user: ann, permissions: {subscribe: {allow: ["a.>", "b"], deny: "a.x"}}}
    {user: bob
     permissions: {
       publish: ["orders.*", "orders.eu"], subscribe: ["orders.eu"]
     }}
  ]
}
"""


def found_in(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[tuple[str, str, str]]:
    run(["lint", str(path), "--json", *options])
    return [(one["place"], one["rule"], one["subject"]) for one in json.loads(capsys.readouterr().out)]


def test_access_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "list.acl"
    file.write_text("topic read a/b\nuser ann\ntopic read a/#\ntopic write a/b\n\ntopic read a/b\npattern read in/%u\n")
    assert found_in(file, capsys) == [("6", "covered-binding", "a/b")]
    assert run(["lint", str(file)]) == 1
    assert "match all of its keys for ann read" in capsys.readouterr().out
    plain = file.rename(tmp_path / "plain")
    assert found_in(plain, capsys, "--broker", "mosquitto") == [("6", "covered-binding", "a/b")]


def test_a_text_before_the_local_pattern_is_not_one_before_the_remote() -> None:
    """These go to other topics; lint said that the first covers the second."""
    lines = ['topic # out 1 here/ ""', 'topic a out 1 "" here/', "topic a out 1 here/", "topic a out"]
    told = [whose for _, whose, _ in bridged("\n".join(["connection up", *lines]))]
    assert told == ["bridge up, out, here/", "bridge up, out, to here/", "bridge up, out, here/", "bridge up, out"]


def test_bridges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mosquitto.conf"
    file.write_text(
        "listener 1883\nconnection up\naddress other\ntopic a/# out 1\ntopic a/b out\ntopic a/b in\n"
        'topic a/c out 0 "" there/\nconnection down\ntopic a/b out\ntopic a/#/b both\n'
    )
    assert found_in(file, capsys) == [("5", "covered-binding", "a/b"), ("10", "invalid-pattern", "a/#/b")]


def test_users_of_nats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "server.conf"
    file.write_text(NATS)
    assert found_in(file, capsys) == [("5", "covered-binding", "orders.eu")]
    file.write_text(NATS.replace(', "orders.eu"]', "]"))
    assert run(["lint", str(file)]) == 0


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("listener 1883\n", [], "is 'listener 1883': expected 'user NAME'"),
        ("connection up\n", [], "has no patterns"),
        ("connection up\ntopic a sideways\n", [], "x.conf:2: is 'topic a sideways': expected 'topic PATTERN"),
        ("connection up\ntopic\n", [], "x.conf:2: is 'topic'"),
        ('{\n "bindings": [', [], "is JSON without access rules or users: name it .json"),
        ("{allow, all}.", [], "whose order decides: 'dfa-router permissions"),
        ("user ann\ntopic a\n", ["--dialect", "amqp"], "leave out --exchange and --dialect"),
        ("authorization {", [], "x.conf:1: found 'the end of the file'"),
    ],
)
def test_what_is_no_such_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, options: list[str], problem: str
) -> None:
    file = tmp_path / "x.conf"
    file.write_text(text)
    assert run(["lint", str(file), *options]) == 2
    assert problem in capsys.readouterr().err.replace("\n", " ")
