"""The commands that prove: explain, why-not, relation, normalise, and how they and lint read lists of bindings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.proving import asked, listed

__all__ = ["listed"]

DEMO = Path(__file__).parents[2] / "examples" / "demo" / "definitions.json"


def test_wrong_usage(capsys: pytest.CaptureFixture[str], listed: Path, tmp_path: Path) -> None:
    for arguments, problem in (
        (["lint", "none.json"], "there is no such file"),
        (["lint", "-"], "save standard input"),
        (["lint", str(DEMO), "--dialect", "mqtt"], "--dialect is for lists"),
        (["lint", str(DEMO), str(DEMO), "--format", "sarif"], "takes one file"),
        (["relation", "a/#/b", "a", "--dialect", "mqtt"], "'#' is not the last word"),
        (["why-not", str(listed), "a", "--queue", "none"], "no binding has the destination 'none'"),
        (["explain", str(DEMO), "a"], "choose one with --exchange"),
        (["normalise", "a..b", "--dialect", "nats"], "it has an empty word"),
    ):
        code, out, err = asked(capsys, *arguments)
        assert (code, out) == (2, "")
        assert problem in " ".join(err.split())
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert asked(capsys, "lint", str(empty))[0] == 2


def test_explain_and_why_not(capsys: pytest.CaptureFixture[str], listed: Path) -> None:
    code, out, _ = asked(capsys, "explain", str(listed), "stock.nyse")
    assert code == 0
    assert out.splitlines() == [
        f"q: 'stock.#' ({listed}:1): stock took stock, # took nyse",
        f"q: 'stock.*' ({listed}:2): stock took stock, * took nyse",
    ]
    code, out, _ = asked(capsys, "explain", str(listed), "x")
    assert (code, out) == (1, "no binding matches 'x'\n")
    code, out, _ = asked(capsys, "why-not", str(listed), "orders.eu", "--queue", "r")
    assert code == 0
    assert out.splitlines() == [
        f"r: 'orders.eu*' ({listed}:3) does not match 'orders.eu': behind 'orders', 'eu' breaks it; expected 'eu*'",
        "    nearest key that does, 1 word away: 'orders.eu*'",
    ]
    code, out, _ = asked(capsys, "why-not", str(listed), "stock", "--queue", "q")
    assert (code, out.splitlines()) == (
        1,
        ["q gets it:", f"q: 'stock.#' ({listed}:1): stock took stock, # took nothing"],
    )
    found = json.loads(asked(capsys, "why-not", str(listed), "stock.a.b", "--json")[1])
    assert [one["binding"] for one in found["misses"]] == [1, 2]


def test_explain_joins_words_as_the_dialect_does(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "filters.txt"
    file.write_text("a/+/#\tq\n")
    assert asked(capsys, "explain", str(file), "a/b/c/d", "--dialect", "mqtt") == (
        0,
        f"q: 'a/+/#' ({file}:1): a took a, + took b, # took c/d\n",
        "",
    )


def test_explain_tells_an_empty_word_from_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """``*`` takes exactly one word, and never nothing."""
    file = tmp_path / "list.txt"
    file.write_text("a.*.#\tq\n")
    for key, taken in (
        ("a.", "* took '', # took nothing"),
        ("a.b.", "* took b, # took ''"),
        ("a...", "* took '', # took ."),
    ):
        assert asked(capsys, "explain", str(file), key)[1] == f"q: 'a.*.#' ({file}:1): a took a, {taken}\n"


def test_the_pattern_without_words_and_its_end_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text("\na\n")
    assert asked(capsys, "explain", str(file), "")[1] == f"'': '' ({file}:1): neither has a word\n"
    assert asked(capsys, "why-not", str(file), "a.b")[1].splitlines() == [
        f"a: 'a' ({file}:2) does not match 'a.b': behind 'a', 'b' breaks it; expected the key's end",
        "    nearest key that does, 1 word away: 'a'",
        f"'': '' ({file}:1) does not match 'a.b': at its beginning, 'a' breaks it; expected the key's end",
        "    nearest key that does, 2 words away: ''",
    ]


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        ('{"exchanges": [], "bindings": [{"source": "e"}]}', ".json"),
        ('\n{\n "exchanges": [],\n "bindings": []\n}\n', ".json"),
        ('[\n {"pattern": "a"}\n]\n', ".json"),
        ('{\n "bindings": [\n  {\n   "arguments": {},\n   "destin', ".json"),
        ('{"pattern": "a"}\n{"pattern": "b"}\n', ".jsonl"),
    ],
)
@pytest.mark.parametrize("command", [["lint", "{file}"], ["explain", "{file}", "a"]])
def test_json_of_another_name_is_no_list_of_patterns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, ending: str, command: list[str]
) -> None:
    file = tmp_path / "defs.bak"
    file.write_text(content)
    code, out, err = asked(capsys, *(word.format(file=file) for word in command))
    said = " ".join(err.split())
    assert (code, out) == (2, "")
    assert f"{file.name}: is JSON, and no list with a pattern on each line: name it" in said
    assert ending in said


def test_patterns_may_look_like_the_beginning_of_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    for first in ("{}", "{a}", "[1]", "[]", "{"):
        file.write_text(f"{first}\nb\n")
        assert asked(capsys, "explain", str(file), first)[1].startswith(f"{first}: ")


def test_why_not_says_that_every_binding_matches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without a queue there is then no binding to tell about, and silence would say that nothing matches."""
    file = tmp_path / "list.txt"
    file.write_text("a.#\tq\n#\tr\n")
    assert asked(capsys, "why-not", str(file), "a.b")[:2] == (
        1,
        f"q: 'a.#' ({file}:1): a took a, # took b\nr: '#' ({file}:2): # took a.b\n",
    )
    assert asked(capsys, "why-not", str(file), "a.b", "--json")[0] == 1
    code, out, _ = asked(capsys, "why-not", str(file), "b")
    assert (code, out.splitlines()[0].partition(" does not match ")[0]) == (0, f"q: 'a.#' ({file}:1)")


def test_why_not_proposes_a_queue_where_bindings_are_no_patterns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "defs.json"
    binding = {"source": "f", "vhost": "/", "destination": "q", "destination_type": "queue", "routing_key": ""}
    document = {"exchanges": [{"name": "f", "vhost": "/", "type": "fanout"}], "bindings": [binding]}
    file.write_text(json.dumps({"vhosts": [{"name": "/"}], "queues": [{"name": "q", "vhost": "/"}], **document}))
    code, out, err = asked(capsys, "why-not", str(file), "k", "--exchange", "f")
    assert (code, out, "or say which --queue" in " ".join(err.split())) == (2, "", True)
    assert asked(capsys, "why-not", str(file), "k", "--exchange", "f", "--queue", "q")[0] == 1


ORDER = "\x1b]0;owned\x07"
"""What sets a terminal's title."""


def test_a_list_gives_no_orders_to_a_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Not by its patterns, its destinations, and their line ends; nor do these make lines that seem to be ours."""
    file = tmp_path / "list.jsonl"
    name = f"q{ORDER}\nlist.jsonl:9: error\x9b2J\u2028x"
    file.write_text("".join(json.dumps({"pattern": one, "destination": name}) + "\n" for one in ("a.#", f"a.b{ORDER}")))
    for line, lines in (
        (["lint", str(file)], 2),
        (["explain", str(file), f"a.b{ORDER}"], 2),
        (["why-not", str(file), "c", "--queue", name], 4),
        (["why-not", str(file), "a", "--queue", name], 2),
    ):
        out = asked(capsys, *line)[1]
        assert len(out.splitlines()) == lines, out
        assert all(one.isprintable() for one in out.split("\n")), out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["lint", "{json}", "--format", "sarif", "--json"], "leave it out, or --format sarif"),
        (["permissions", "{json}", "--format", "sarif", "--json"], "leave it out, or --format sarif"),
        (["teach", "--out", "x.html", "--exchange", "e"], "of a message that --definitions follows"),
        (["teach", "--out", "x.html", "--vhost", "v"], "of a message that --definitions follows"),
        (["lint", "{csv}"], "below its first line, which names the columns: pattern, destination"),
        (["lint", "{json}", "--exchange", "e"], "no vhost '/' in {json}; there are 1: 'v'; choose one with --vhost"),
        (["explain", "{json}", "k", "--exchange", "e"], "there are 1: 'v'; choose one with --vhost"),
        (["why-not", "{json}", "k", "--exchange", "e"], "there are 1: 'v'; choose one with --vhost"),
        (["explain", "{csv}", "k", "--vhost", "v"], "--vhost is of an exchange of a definitions file"),
        (["measure", "--bindings", "{csv}", "--keys", "{csv}", "--vhost", "v"], "--vhost is of an exchange of a defin"),
    ],
)
def test_what_would_be_passed_over_or_send_one_wrong(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"json": "defs.json", "csv": "list.csv"}
    Path("defs.json").write_text('{"vhosts": [{"name": "v"}], "exchanges": []}')
    Path("list.csv").write_text("stock.#,audit\n")
    code, out, err = asked(capsys, *(word.format(**files) for word in line))
    assert (code, out) == (2, "")
    assert said.format(**files) in " ".join(err.split())
    assert not Path("x.html").exists()


def test_the_bindings_of_an_exchange_are_read_as_its_type_reads_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of direct exchanges have no wildcards, those of delayed ones are of the type that they wrap, others have no patterns."""
    monkeypatch.chdir(tmp_path)
    kinds = {"delayed": "x-delayed-message", "direct": "direct", "headers": "headers", "unbound": "topic"}
    document = {
        "exchanges": [
            {"name": name, "vhost": "/", "type": kind, "arguments": {"x-delayed-type": "topic"}}
            for name, kind in kinds.items()
        ],
        "queues": [{"name": "q", "vhost": "/"}],
        "bindings": [
            {"source": name, "vhost": "/", "destination": "q", "destination_type": "queue", "routing_key": "a.*"}
            for name in kinds
            if name != "unbound"
        ],
    }
    Path("defs.json").write_text(json.dumps(document))
    Path("keys.txt").write_text("a.b\n")
    drawn = ["render", "dfa", "--definitions", "defs.json", "--key", "a.b", "--out", "x.dot", "--exchange"]
    measured = ["measure", "--bindings", "defs.json", "--keys", "keys.txt", "--rounds", "1", "--json", "--exchange"]
    for name, pairs, accepted in (("delayed", 1, "is accepted by a.*."), ("direct", 0, "is accepted by none.")):
        code, _, err = asked(capsys, *drawn, name)
        assert (code, accepted in " ".join(err.split())) == (0, True), err
        code, out, _ = asked(capsys, *measured, name)
        assert (code, json.loads(out)["engines"][0]["pairs"]) == (0, pairs)
    for command in (drawn, measured):
        code, _, err = asked(capsys, *command, "headers")
        assert (code, "whose bindings are no patterns" in " ".join(err.split())) == (2, True), err
        code, _, err = asked(capsys, *command, "unbound")
        assert (code, "exchange 'unbound' of vhost '/' has no bindings" in " ".join(err.split())) == (2, True), err


@pytest.mark.parametrize("end", ["txt", "csv", "jsonl"])
def test_a_refused_pattern_of_a_file_has_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """A position in what was asked about is no place in a file: a queue's bindings are a part of it, a column has a name."""
    monkeypatch.chdir(tmp_path)
    file, lines = (
        Path(f"list.{end}"),
        {"txt": "a/+\tq\nb\tq\nx/#/y\tr\n", "csv": "pattern,destination\na/+,q\nx/#/y,r\n"},
    )
    lines["jsonl"] = '\n{"pattern": "a/+", "destination": "q"}\n{"pattern": "x/#/y", "destination": "r"}\n'
    file.write_text(lines[end])
    commands = [
        ["explain", str(file), "a"],
        ["why-not", str(file), "a", "--queue", "r"],
        ["relation", "--sets", str(file), str(file)],
    ]
    if end == "txt":
        drawn = ["-p", "a", "--patterns-from", str(file)]
        commands += [
            ["show", *drawn],
            ["render", "nfa", "--out", "x.dot", *drawn],
            ["teach", "--out", "x.html", *drawn],
        ]
    for command in commands:
        code, _, err = asked(capsys, *command, "--dialect", "mqtt")
        assert (code, f"{file}:3: the pattern 'x/#/y' is refused by mqtt" in " ".join(err.split())) == (2, True), err
    assert asked(capsys, "why-not", str(file), "c", "--queue", "q", "--dialect", "mqtt")[0] == 0


def test_findings_of_an_exchange_have_its_vhost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    entry: dict[str, Any] = {"vhost": "v", "arguments": {}}
    to_queue = {"source": "e", "destination": "q", "destination_type": "queue", **entry}
    document = {
        "exchanges": [{"name": "e", "type": "topic", **entry}],
        "queues": [{"name": "q", **entry}],
        "bindings": [{**to_queue, "routing_key": key} for key in ("a.#", "a.b")],
    }
    file = tmp_path / "defs.json"
    file.write_text(json.dumps(document))
    told = [
        [(one["rule"], one["vhost"]) for one in json.loads(asked(capsys, "lint", str(file), *more, "--json")[1])]
        for more in (["--exchange", "e", "--vhost", "v"], [])
    ]
    assert told == [[("covered-binding", "v")]] * 2


def test_relation_of_sets(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A set is what any of its patterns matches: here two patterns are what one was."""
    old, new, empty = (tmp_path / name for name in ("old", "new", "empty"))
    old.write_text("a.#\nb\n")
    new.write_text("a\na.*.#\nb\n")
    empty.write_text("")
    code, out, _ = asked(capsys, "relation", "--sets", str(old), str(new))
    assert (code, out.splitlines()[0]) == (0, f"{str(old)!r} and {str(new)!r} match the same keys")
    new.write_text("a\na.*\nc\n")
    code, out, _ = asked(capsys, "relation", "--sets", str(old), str(new), "--json")
    told = json.loads(out)
    assert (code, told["kind"], told["only_first"], told["only_second"]) == (0, "overlaps", "b", "c")
    assert "intersection" not in told
    assert json.loads(asked(capsys, "relation", "--sets", str(old), str(empty), "--json")[1])["kind"] == "covers"
    for arguments, problem in (
        ((str(old), str(tmp_path / "none")), "cannot read the patterns"),
        (("-", "-"), "both be stdin"),
    ):
        code, _, err = asked(capsys, "relation", "--sets", *arguments)
        assert code == 2
        assert problem in err.replace("\n", " ")


def test_sets_are_read_as_other_commands_read_lists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As in a list of bindings, what stands behind a tab or in another field is no part of a pattern."""
    (tmp_path / "plain.txt").write_text("stock.#\n")
    for name, text in (
        ("tabs.txt", "stock.#\taudit\n"),
        ("list.csv", "pattern,destination\nstock.#,audit\n"),
        ("list.jsonl", '{"pattern": "stock.#"}\n'),
    ):
        (tmp_path / name).write_text(text)
        line = ["relation", "--sets", str(tmp_path / name), str(tmp_path / "plain.txt"), "--json"]
        assert json.loads(asked(capsys, *line)[1])["kind"] == "equal", name
    (tmp_path / "defs.json").write_text('{"exchanges": [], "bindings": []}')
    for line, said in (
        (["relation", "--sets", str(tmp_path / "defs.json"), str(tmp_path / "defs.json")], "compare definitions with"),
        (["show", "--patterns-from", str(tmp_path / "list.csv")], "no list with a pattern on each line"),
    ):
        code, out, err = asked(capsys, *line)
        assert (code, out) == (2, "")
        assert said in " ".join(err.split())
    assert asked(capsys, "show", "--patterns-from", str(tmp_path / "tabs.txt")) == asked(
        capsys, "show", "-p", "stock.#"
    )


@pytest.mark.parametrize(
    "command",
    [["explain", "@", "a.b"], ["lint", "@"], ["show", "--patterns-from", "@"], ["relation", "--sets", "@", "@"]],
)
def test_a_blank_in_place_of_a_tab_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]
) -> None:
    file = tmp_path / "list.txt"
    line = [part.replace("@", str(file)) for part in command]
    file.write_text("b.#\tq 1\na.* q1\nc q2\r\n")
    code, _, err = asked(capsys, *line)
    assert code in {0, 1}
    assert (
        f"WARNING: {file}:2: has a blank and no tab (and 1 line like it), so that all of 'a.* q1' is the pattern: a destination "
        "stands behind a tab\n"
    ) in err
    assert "has a blank" not in asked(capsys, "--quiet", *line)[2]
    file.write_text("b.#\tq 1\na.*\tq1\n\n")
    assert "has a blank" not in asked(capsys, *line)[2]


def test_relation_and_normalise(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, "relation", "stock.#", "*.ibm")
    assert code == 0
    assert out.splitlines() == [
        "'stock.#' and '*.ibm' share some keys, and each has keys of its own",
        "  only 'stock.#': for instance 'stock'",
        "  only '*.ibm': for instance 'ibm.ibm'",
        "  both: for instance 'stock.ibm'",
        "  keys of both: 'stock.ibm'",
    ]
    assert json.loads(asked(capsys, "relation", "a", "a", "--json")[1])["kind"] == "equal"
    assert asked(capsys, "normalise", "a.#.#", "#.*")[:2] == (0, "a.#\n*.#\n")
    code, out, err = asked(capsys, "normalise", "#.a.#.b.#")
    assert (code, out) == (1, "#.a.#.b.#\n")
    assert "no pattern with at most 2 matches the same keys" in err
    told = "without one, all keys of a pattern have the same number of words, which 'a' and 'a.x.x' have not"
    assert told in asked(capsys, "normalise", "a.#", "--most", "0")[2]
