"""Paths that are given as addresses ``file:///...``: every command reads what it reads by the path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dfa_router as dr
from dfa_router.cli.app import run
from dfa_router.key_files import read_keys


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder of files with a blank in its name, which stands in addresses as it is."""
    folder = tmp_path / "of day 1"
    folder.mkdir()
    (folder / "b.txt").write_text("a.*\tq\n#\tr\n")
    (folder / "b.csv").write_text("pattern,destination\na.*,q\n")
    (folder / "k.txt").write_text("a.b\nc\n")
    (folder / "rules.acl").write_text("user ann\ntopic read a/+\n")
    binding = {"vhost": "/", "source": "x", "destination": "q", "destination_type": "queue", "routing_key": "a.#"}
    queue, exchange = {"name": "q", "vhost": "/"}, {"name": "x", "vhost": "/", "type": "topic"}
    (folder / "defs.json").write_text(
        json.dumps(
            {"vhosts": [{"name": "/"}], "queues": [queue], "exchanges": [exchange], "bindings": [binding]}
            | {"permissions": [], "topic_permissions": []}
        )
    )
    (folder / "log.jsonl").write_text('{"exchange": "x", "routing_key": "a.b"}\n')
    return folder


@pytest.mark.parametrize(
    "line",
    [
        ["lint", "@b.txt", "@rules.acl", "@defs.json"],
        ["lint", "@defs.json", "--exchange", "x"],
        ["explain", "@b.txt", "a.b"],
        ["explain", "@defs.json", "a.b", "--exchange", "x"],
        ["why-not", "@b.csv", "c"],
        ["relation", "--sets", "@b.txt", "@b.csv"],
        ["show", "--patterns-from", "@b.txt"],
        ["permissions", "@rules.acl", "--against", "@rules.acl"],
        ["permissions", "@defs.json"],
        ["audit", "--definitions", "@defs.json", "--messages", "@log.jsonl"],
        ["diff", "@defs.json", "@defs.json", "--messages", "@log.jsonl"],
    ],
    ids=" ".join,
)
def test_an_address_is_read_as_the_path_is(files: Path, capsys: pytest.CaptureFixture[str], line: list[str]) -> None:
    plain = [part.replace("@", f"{files}/") for part in line]
    expected = run(plain), capsys.readouterr()
    assert expected[0] in {0, 1}, expected
    found = run([part.replace("@", f"file://{files}/") for part in line]), capsys.readouterr()
    assert found[0] == expected[0], found
    assert found[1].out.replace("file://", "") == expected[1].out


def test_keys_of_an_address_are_measured(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["measure", "--bindings", f"file://{files}/b.txt", "--keys", f"file://{files}/k*.txt", "--rounds", "1"]
    assert run([*line, "--engine", "trie"]) == 0
    assert "2 bindings (amqp), 2 keys" in capsys.readouterr().out
    assert read_keys(f"file://{files}/k.txt").to_pylist() == [b"a.b", b"c"]


def test_definitions_of_an_address_are_loaded(files: Path) -> None:
    assert (
        dr.load_definitions(f"file://{files}/defs.json").bindings == dr.load_definitions(files / "defs.json").bindings
    )


@pytest.mark.spark
def test_a_log_at_an_address_is_routed_where_it_lies(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"definitions": "defs.json", "messages": "log.jsonl", "out": "out", "counts": "counts.parquet"}
    options = [part for name, file in given.items() for part in (f"--{name}", f"file://{files}/{file}")]
    assert run(["route", *options, "--json", "--master", "local[1]"]) == 0
    assert json.loads(capsys.readouterr().out)["way"] == "files"
    assert (files / "counts.parquet").is_file()


@pytest.mark.parametrize(
    "line",
    [
        ["lint", ""],
        ["lint", "@b.txt", "--suppress", ""],
        ["explain", "", "a"],
        ["relation", "--sets", "", "@b.txt"],
        ["show", "--patterns-from", ""],
        ["measure", "--bindings", "", "--keys", "@k.txt"],
        ["measure", "--bindings", "@b.txt", "--keys", ""],
        ["permissions", ""],
        ["permissions", "@rules.acl", "--against", ""],
        ["audit", "--definitions", ""],
        ["audit", "--definitions", "@defs.json", "--messages", ""],
        ["audit", "--definitions", "@defs.json", "--html", ""],
        ["diff", "@defs.json", ""],
        ["replay", "--definitions", "@defs.json", "--trace", ""],
        ["route", "--definitions", "@defs.json", "--messages", "@log.jsonl", "--out", "", "--overwrite"],
        *(
            ["fuzz", "--target", "trie", "--rounds", "1", option, ""]
            for option in ("--corpus", "--junit", "--case", "--baseline")
        ),
        ["teach", "--site", ""],
        ["teach", "--out", ""],
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_working_folder(
    files: Path, line: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``--site "$DIR"`` gives it where the variable is not set: nothing is read or written there."""
    monkeypatch.chdir(files)
    before = sorted(files.iterdir())
    assert run([str(files / word[1:]) if word.startswith("@") else word for word in line]) == 2
    told = capsys.readouterr()
    assert "the path is empty, as a variable that is not set leaves it" in " ".join(told.err.split())
    assert sorted(files.iterdir()) == before


def test_an_empty_path_is_refused_where_files_are_read_and_saved() -> None:
    router = dr.compile([("a", "q")])
    for call in (dr.load, dr.load_definitions, router.save, read_keys):
        with pytest.raises(dr.InputError, match="the path is empty"):
            call("")
