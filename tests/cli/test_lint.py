"""The command lint: lists and topologies, suppressions, SARIF, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dfa_router.cli.assistant_tools import lint as tool_lint
from dfa_router.lint.findings import RULES
from tests.cli.proving import asked, listed

__all__ = ["listed"]

DEMO = Path(__file__).parents[2] / "examples" / "demo" / "definitions.json"


def test_lint_of_a_list(capsys: pytest.CaptureFixture[str], listed: Path) -> None:
    code, out, err = asked(capsys, "lint", str(listed))
    assert code == 1
    assert out.splitlines() == [
        (
            f"{listed}:2: warning covered-binding: 'stock.*': 'stock.#' (1) match all of its keys for q: remove it, or narrow the "
            "others if they were meant to be"
        ),
        "    for instance the key 'stock.x'",
        (
            f"{listed}:3: warning wildcard-in-word: 'orders.eu*': '*' in the word 'eu*' is a literal character, as wildcards are "
            "whole words: it matches only keys with the word 'eu*'; set a separator between, or write the wildcard alone"
        ),
        "    for instance the key 'orders.eu*'",
    ]
    assert err.endswith("2 warnings in 1 file\n")
    assert asked(capsys, "lint", str(listed), "--fail-on", "error")[0] == 0
    assert len(json.loads(asked(capsys, "lint", str(listed), "--json", "--rule", "wildcard-in-word")[1])) == 1


def test_suppressions(capsys: pytest.CaptureFixture[str], listed: Path, tmp_path: Path) -> None:
    table = '[[suppress]]\nrule = "{}"\nsubject = "{}"\nreason = "{}"\n'
    file = tmp_path / "keep.toml"
    file.write_text(
        table.format("covered-binding", "stock.*", "old") + table.format("wildcard-in-word", "orders.eu*", "old")
    )
    code, out, err = asked(capsys, "lint", str(listed), "--suppress", str(file))
    assert (code, out) == (0, "")
    assert err.endswith("nothing found in 1 file, 2 suppressed\n")
    file.write_text(file.read_text() + table.format("equal-binding", "gone", "old"))
    code, out, _ = asked(capsys, "lint", str(listed), "--suppress", str(file))
    assert (code, out.split(": ")[2]) == (0, "note unused-suppression")
    for text, problem in (
        (table.format("no-rule", "a", "b"), "there is no rule 'no-rule'"),
        (table.format("equal-binding", "a", " "), "the reason says why"),
        ('[[suppress]]\nrule = "equal-binding"\n', "all three"),
        ("suppress = 3", "expected tables"),
        ("[[", "is no TOML"),
    ):
        file.write_text(text)
        code, _, err = asked(capsys, "lint", str(listed), "--suppress", str(file))
        assert code == 2
        assert problem in err
    assert asked(capsys, "lint", str(listed), "--suppress", "none.toml")[0] == 2


def test_a_suppression_of_a_pattern_hides_no_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The wildcards of a subject are the pattern's; those of subjects are any characters."""
    listed, file = tmp_path / "bindings.txt", tmp_path / "keep.toml"
    listed.write_text("stock.#\nstock.*.#\nstock.a.b.c.#\n")
    asking = ["lint", str(listed), "--suppress", str(file), "--json"]
    table = '[[suppress]]\nrule = "covered-binding"\n{} = "{}"\nreason = "old"\n'
    for key, subject, left in (
        ("subject", "stock.*.#", ["stock.a.b.c.#"]),
        ("subjects", "stock.*.#", []),
        ("subjects", "stock.[*].?", ["stock.a.b.c.#"]),
    ):
        file.write_text(table.format(key, subject))
        code, out, _ = asked(capsys, *asking)
        assert [one["subject"] for one in json.loads(out)] == left
        assert code == (1 if left else 0)
    file.write_text(table.format("subject", "a").replace("reason", "subjects"))
    assert "subjects, with wildcards" in asked(capsys, *asking)[2]


def test_a_suppression_is_used_where_any_file_has_its_finding(
    capsys: pytest.CaptureFixture[str], listed: Path, tmp_path: Path
) -> None:
    """Also where another rule is asked for: whoever took the advice to remove it would have the finding again."""
    other, file = tmp_path / "other.txt", tmp_path / "keep.toml"
    other.write_text("a.b\tq\n")
    file.write_text('[[suppress]]\nrule = "covered-binding"\nsubject = "stock.*"\nreason = "old"\n')
    of_both = ["lint", str(listed), str(other), "--suppress", str(file), "--fail-on", "note"]
    code, out, err = asked(capsys, *of_both, "--rule", "covered-binding", "--rule", "unused-suppression")
    assert (code, out, err.splitlines()[-1]) == (0, "", "nothing found in 2 files, 1 suppressed")
    code, out, err = asked(capsys, *of_both, "--rule", "equal-binding")
    assert (code, out, err.splitlines()[-1]) == (0, "", "nothing found in 2 files")
    (one,) = json.loads(asked(capsys, "lint", str(other), "--suppress", str(file), "--json")[1])
    assert (one["rule"], one["file"], one["place"]) == ("unused-suppression", str(file), f"{file}: suppress[0]")
    assert asked(capsys, "lint", str(other), "--suppress", str(file), "--rule", "equal-binding")[1] == ""


def test_what_is_not_shown_decides_about_the_exit_code(capsys: pytest.CaptureFixture[str], listed: Path) -> None:
    code, out, err = asked(capsys, "lint", str(listed), "--least", "error")
    assert (code, out, err.splitlines()[-1]) == (1, "", "2 warnings in 1 file, 2 of them not shown")
    assert asked(capsys, "lint", str(listed), "--least", "error", "--rule", "equal-binding")[0] == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.txt", "a.#\na.b\nc\tq\na.c\tq\n"),
        ("list.csv", "pattern,destination\na.#,\na.b,\nc,q\na.c,q\n"),
        ("list.jsonl", '{"pattern": "a.#"}\n{"pattern": "a.b"}\n{"pattern": "c", "destination": "q"}\n'),
    ],
    ids=["text", "csv", "jsonl"],
)
def test_lines_without_a_destination_are_one_consumers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, text: str
) -> None:
    """Whatever other lines have: q's binding a.c is not covered by the consumer's a.#."""
    file = tmp_path / name
    file.write_text(text)
    code, out, _ = asked(capsys, "lint", str(file), "--json")
    assert (code, [(one["rule"], one["subject"]) for one in json.loads(out)]) == (1, [("covered-binding", "a.b")])
    assert [one["subject"] for one in tool_lint(str(file))] == ["a.b"]


def test_sarif_of_a_topology(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, "lint", str(DEMO), "--format", "sarif")
    assert code == 1
    log = json.loads(out)
    run_of = log["runs"][0]
    (result,) = run_of["results"]
    assert (log["version"], result["ruleId"], result["level"]) == ("2.1.0", "covered-binding", "warning")
    assert [rule["id"] for rule in run_of["tool"]["driver"]["rules"]] == list(RULES)
    assert run_of["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "covered-binding"
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    entry = json.loads(DEMO.read_text())["bindings"][113]
    assert any(entry["routing_key"] in one for one in DEMO.read_text().splitlines()[line - 1 : line + 7])


def test_sarif_names_files_by_uris(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``my rules #1.txt`` stood there as it is, which names the file ``my rules``, if anything."""
    monkeypatch.chdir(tmp_path)
    Path("my rules #1.txt").write_text("a.*\na.b\n")
    _, out, _ = asked(capsys, "lint", "my rules #1.txt", "--format", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20rules%20%231.txt"
