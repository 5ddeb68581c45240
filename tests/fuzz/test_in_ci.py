"""``dfa-router fuzz`` as a build runs it: baselines, reports, replays, several processes, and a broker that judges."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from dfa_router.fuzz import Scope, run
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.text.outcome import junit
from dfa_router.language.dialects import AMQP
from tests.fuzz.conftest import fuzz


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return dict(json.loads(capsys.readouterr().out))


def test_a_baseline_does_not_fail(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--json") == 1
    Path("known.json").write_text(capsys.readouterr().out)
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--baseline", "known.json", "--rounds", "40") == 0
    assert "known or not confirmed" in capsys.readouterr().out
    Path("known.json").write_text('{"findings": []}')
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--baseline", "known.json") == 1
    Path("known.json").write_text("{}")
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--baseline", "known.json") == 2
    assert "expected a file that dfa-router fuzz --json wrote" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--jobs", "2"]])
def test_what_is_known_does_not_end_the_run(
    options: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.py").write_text(
        "from matchers import greedy, right\n"
        "def match(patterns, key):\n"
        "    return [] if any(ord(one) > 127 for one in key) else greedy(patterns, key)\n"
    )
    assert fuzz("--target", "two:match", "--seed", "7", "--json") == 1
    known = capsys.readouterr().out
    Path("known.json").write_text(known)
    options = ["--rounds", "100", "--baseline", "known.json", "--json", *options]
    assert fuzz("--target", "two:match", "--seed", "7", *options) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"] > json.loads(known)["rounds"]
    assert {one["known"] for one in found["findings"]} == {True, False}


def test_a_run_without_time_to_begin_again_says_what_would_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--json") == 1
    Path("known.json").write_text(capsys.readouterr().out)
    monkeypatch.setattr("dfa_router.cli.fuzz_asking.Asked.may_begin_again", lambda *_: False)
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--baseline", "known.json") == 0
    assert "the run ends there: --keep-going goes on after it" in capsys.readouterr().err


def test_junit_and_annotations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--junit", "out.xml", "--github") == 1
    annotation = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("::error title="))
    assert "%0A" in annotation
    suite = ET.parse("out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "As a test case" in str(suite.findtext("testcase/failure"))
    assert fuzz("--target", "matchers:right", "--rounds", "5", "--junit", "out.xml") == 0
    suite = ET.parse("out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")


def test_annotations_leave_the_json_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--json", "--github") == 1
    said = capsys.readouterr()
    assert not json.loads(said.out)["agrees"]
    assert [line for line in said.err.splitlines() if line.startswith("::error title=matchers%3Agreedy misses")]


@pytest.mark.parametrize("option", ["--junit", "--corpus"])
def test_what_cannot_be_written_is_told_before_anything_is_asked(
    option: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("")
    assert fuzz("--target", "matchers:slow", "--rounds", "5", option, "file/below") == 2
    said = capsys.readouterr()
    assert "file/below" in said.err
    assert f"choose another with {option}" in said.err
    assert not Path("asked").exists()


def test_what_can_no_longer_be_written_loses_no_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("removes.py").write_text(
        "import os\nfrom matchers import greedy\n"
        "def match(patterns, key):\n"
        "    if os.path.isdir('found'): os.rmdir('found'), open('found', 'w').close()\n"
        "    return greedy(patterns, key)\n"
    )
    assert fuzz("--target", "removes:match", "--seed", "7", "--corpus", "found", "--junit", "out.xml") == 2
    said = capsys.readouterr()
    assert "removes:match misses a match" in said.out
    assert "choose another with --corpus" in said.err
    assert ET.parse("out.xml").getroot().get("failures") == "1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_no_wrong_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.xml").symlink_to("/dev/full")
    assert fuzz("--target", "matchers:right", "--rounds", "1", "--junit", "out.xml") == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "cannot write out.xml: No space left on device" in said
    assert "choose another place with --junit" in said


def test_junit_holds_every_character_that_xml_has_and_no_other() -> None:
    def match(patterns: list[str], key: str) -> list[int]:
        raise RuntimeError("a \U0001f600 \x1b \ud83d \uffff")

    target = CallableTarget(match, AMQP)
    target.name = "matcher\x01"
    suite = ET.fromstring(junit(run(target, AMQP, rounds=5)))
    case = suite.find("testcase")
    assert case is not None
    assert case.get("classname") == "matcher?"
    assert "a \U0001f600 ? ? ?" in str(case.findtext("failure"))


def test_one_round_is_asked_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--json") == 1
    first = told(capsys)["findings"][0]  # type: ignore[index]
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--round", str(first["round"]), "--json") == 1
    again = told(capsys)
    assert again["findings"][0] == first  # type: ignore[index]
    assert again["rounds"] == 1
    assert fuzz("--target", "matchers:greedy", "--round", "3") == 2
    assert "--seed" in capsys.readouterr().err


def test_one_case_is_asked_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("case.txt").write_text("[one]\nbind #.a\nmatch a.a 0\n")
    assert fuzz("--target", "matchers:right", "--case", "case.txt") == 0
    assert "1 case (pattern and key) in 1 round with 1 key," in capsys.readouterr().out
    assert fuzz("--target", "matchers:greedy", "--case", "case.txt") == 1


def test_a_history_of_a_corpus_is_replayed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "tests.fuzz.planted_histories:cache_by_count"
    assert fuzz("--target", name, "--seed", "1", "--corpus", "found") == 1
    said = capsys.readouterr().out
    assert "then another set:" in said
    assert "forget  all" in said
    assert fuzz("--target", name, "--seed", "2", "--rounds", "1", "--corpus", "found") == 1
    assert "from found/amqp-" in capsys.readouterr().out
    assert fuzz("--target", "matchers:right", "--seed", "2", "--rounds", "1", "--corpus", "found") == 0


def test_a_matcher_that_breaks_at_its_fiftieth_call_breaks_when_the_corpus_is_replayed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "tests.fuzz.planted_histories:breaks_at_the_fiftieth_call"
    assert fuzz("--target", name, "--seed", "3", "--corpus", "found") == 1
    capsys.readouterr()
    assert fuzz("--target", name, "--seed", "4", "--rounds", "1", "--corpus", "found", "--json") == 1
    finding = told(capsys)["findings"][0]  # type: ignore[index]
    assert finding["place"].startswith("found/amqp-")


def test_a_run_goes_on_where_it_ended(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--target", "matchers:several", "--keep-going", "--json"]
    assert fuzz(*options, "--seed", "9", "--rounds", "60") == 1
    whole = told(capsys)
    assert fuzz(*options, "--seed", "9", "--rounds", "25") == 1
    Path("part.json").write_text(capsys.readouterr().out)
    assert fuzz(*options, "--resume", "part.json", "--rounds", "35") == 1
    both = told(capsys)
    for name in ("seed", "rounds", "cases", "keys", "disagreements", "classes", "next_round"):
        assert both[name] == whole[name], name
    shapes = [{one["shape"] for one in result["findings"]} for result in (both, whole)]  # type: ignore[attr-defined]
    assert shapes[0] == shapes[1]
    seconds = json.loads(Path("part.json").read_text())["seconds"]
    assert both["seconds"] > seconds
    assert both["cases_per_second"] <= both["cases"] / seconds


def test_a_case_without_patterns_is_asked_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("case.txt").write_text("[no patterns]\nmatch a none\n")
    assert fuzz("--target", "matchers:right", "--case", "case.txt") == 0
    assert "0 cases (pattern and key) in 1 round with 1 key," in capsys.readouterr().out


def test_rounds_that_hold_nothing_to_ask_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those asked and those left out are as many as were asked for, also when a run goes on."""
    assert fuzz("--target", "matchers:right", "--seed", "7", "--rounds", "200", "--no-validity") == 0
    said = capsys.readouterr().out
    assert " in 194 rounds with " in said
    assert "6 rounds more held nothing to ask of this target" in said
    run = ("--target", "matchers:right", "--seed", "7", "--no-validity", "--json")
    assert fuzz(*run, "--rounds", "100") == 0
    part = capsys.readouterr().out
    Path("part.json").write_text(part)
    assert (
        fuzz("--target", "matchers:right", "--no-validity", "--resume", "part.json", "--rounds", "100", "--json") == 0
    )
    both = told(capsys)
    assert (both["rounds"], both["rounds_left_out"], both["next_round"]) == (194, 6, 200)


def test_what_a_run_told_of_itself_is_told_when_it_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("case.txt").write_text("[one]\nbind a\nmatch a 0\n")
    assert fuzz("--target", "matchers:right", "--case", "case.txt", "--json") == 0
    part = told(capsys) | {"set_aside": ["patterns with #"], "declined_keys": ["…"], "limited_keys": 7}
    Path("part.json").write_text(json.dumps(part))
    assert fuzz("--target", "matchers:right", "--resume", "part.json", "--rounds", "2", "--json") == 0
    both = told(capsys)
    assert (both["replayed"], both["set_aside"], both["declined_keys"]) == (1, ["patterns with #"], ["…"])
    assert both["limited_keys"] == 7


def test_a_run_goes_on_from_the_result_of_a_version_that_did_not_count_limits(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz("--target", "matchers:right", "--rounds", "2", "--json") == 0
    part = {name: value for name, value in told(capsys).items() if name not in {"limited_keys", "rounds_left_out"}}
    Path("part.json").write_text(json.dumps(part))
    assert fuzz("--target", "matchers:right", "--resume", "part.json", "--rounds", "2", "--json") == 0
    assert told(capsys)["limited_keys"] == 0


def test_a_run_does_not_go_on_from_the_result_of_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--json") == 1
    whole = told(capsys)
    for part, said in (
        (whole, "of the target matchers:greedy, not matchers:right"),
        (whole | {"target": "matchers:right", "dialect": "mqtt"}, "of the dialect 'mqtt'"),
        ({name: value for name, value in whole.items() if name != "seed"}, "it has no 'seed'"),
        ({name: value for name, value in whole.items() if name != "next_round"}, "it has no 'next_round'"),
        (whole | {"classes": []}, "cannot go on from this result"),
    ):
        Path("part.json").write_text(json.dumps(part))
        assert fuzz("--target", "matchers:right", "--rounds", "2", "--resume", "part.json") == 2
        assert said in capsys.readouterr().err.replace("\n", " ")


def test_a_file_of_which_no_case_can_be_asked_is_no_agreement(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, options, said in (
        ("", [], "no case of the dialect amqp, nor of another"),
        ("[x]\ndialect mqtt\nbind a/#\nmatch a 0\n", [], "but of mqtt: give that as --dialect"),
        ("[x]\nbind a.b\nmatch a.b 0\n", ["--max-words", "1"], "outside of its scope"),
    ):
        Path("case.txt").write_text(text)
        assert fuzz("--target", "matchers:right", "--case", "case.txt", *options) == 2
        assert said in capsys.readouterr().err.replace("\n", " ")


def test_several_processes_find_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--target",
        "matchers:greedy",
        "--seed",
        "7",
        "--rounds",
        "40",
        "--size",
        "4x10",
        "--keep-going",
        "--json",
    ]
    assert fuzz(*options) == 1
    alone = told(capsys)
    assert fuzz(*options, "--jobs", "2") == 1
    spread = told(capsys)
    assert spread["findings"] == alone["findings"]
    assert spread["rounds"] == alone["rounds"]
    assert spread["version"] == alone["version"]


def test_another_interpreter_imports_the_callable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.py").write_text("def match(patterns, key):\n    return []\n")
    Path("python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    Path("python").chmod(0o755)
    assert fuzz("--target", "plain:match", "--python", "./python", "--rounds", "3") == 1
    assert "plain:match misses a match" in capsys.readouterr().out
    assert fuzz("--target", "plain:match", "--python", "./absent", "--rounds", "3") == 2
    assert "cannot start './absent'" in capsys.readouterr().err


def test_a_dialect_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("team.toml").write_text('name = "team"\nlike = "nats"\nseparator = "/"\n')
    assert fuzz("--target", "trie", "--dialect-file", "team.toml", "--rounds", "20") == 0
    assert "trie, team: no disagreement" in capsys.readouterr().out
    for text, said in [
        ("name = 3", "expected a text"),
        ('like = "amqp"', "has no name"),
        ('name = "x"\nsize = 3', "no field 'size'"),
        ("name", "cannot read the dialect"),
        ('name = "x"\nlike = "klingon"', "like is 'klingon'"),
    ]:
        Path("team.toml").write_text(text)
        assert fuzz("--target", "trie", "--dialect-file", "team.toml", "--rounds", "20") == 2
        assert said in capsys.readouterr().err.replace("\n", " ")


def test_options_of_which_one_would_be_passed_over_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("team.toml").write_text('name = "team"\n')
    Path("case.txt").write_text("[one]\nbind #.a\nmatch a.a 0\n")
    for options, said in (
        (["--dialect-file", "team.toml", "--dialect", "mqtt"], "leave --dialect out"),
        (["--case", "case.txt", "--corpus", "found"], "leave --corpus out"),
        (["--case", "case.txt", "--rounds", "3"], "leave --rounds out"),
        (["--case", "case.txt", "--jobs", "2"], "leave --jobs out"),
        (["--case", "case.txt", "--spark", "local[1]"], "leave --spark out"),
        (["--seed", "1", "--round", "3", "--rounds", "3"], "leave --rounds out"),
        (["--seed", "1", "--resume", "case.txt"], "leave --seed out"),
        (["--spark", "local[1]", "--jobs", "2"], "leave --jobs out"),
        (["--threads", "2"], "and trie is none: leave it out"),
        (["--python", sys.executable], "and trie is none: leave it out"),
    ):
        assert fuzz("--target", "trie", *options) == 2
        assert said in capsys.readouterr().err.replace("\n", " ")


def test_the_protocol_lists_what_a_target_may_state_of_its_scope() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fuzz-protocol.md").read_text("utf-8")
    (members,) = re.findall(r"Its members, of which each may be left out: (.*?)\n\n", page, re.DOTALL)
    assert {one.name for one in fields(Scope)} - {"aside"} <= set(re.findall(r"`(\w+)`", members))


@pytest.mark.broker
def test_a_live_broker_is_asked_before_anyone_is_accused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--seed", "7", "--rounds", "40", "--confirm", "amqp://127.0.0.1", "--json"]
    assert fuzz("--target", "matchers:greedy", *options) == 1
    assert told(capsys)["findings"][0]["broker"] == "confirms"  # type: ignore[index]
    # With a rule that RabbitMQ does not have, what is right for RabbitMQ is a finding, but no accusation.
    Path("own.toml").write_text('name = "own"\nlike = "amqp"\nempty_words = false\n')
    assert fuzz("--target", "matchers:right", "--dialect-file", "own.toml", *options) == 0
    finding = told(capsys)["findings"][0]  # type: ignore[index]
    assert finding["broker"].startswith("answers")
    assert finding["counts"] is False


@pytest.mark.broker
def test_a_broker_of_another_language_judges_nobody(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--confirm", "mqtt://127.0.0.1", "--corpus", "found") == 2
    assert "speaks 'mqtt', not 'amqp': use that dialect, or another broker" in capsys.readouterr().err.replace(
        "\n", " "
    )
    assert not list(Path("found").iterdir())
