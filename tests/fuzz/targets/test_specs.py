"""SPECs that name nothing, and what is possible instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from dfa_router.errors import OptionError
from dfa_router.fuzz.targets import open_target
from dfa_router.language.dialects import AMQP, MQTT


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("dfaa", "did you mean dfa"),
        ("", "unknown target ''"),
        ("ampq://localhost", "did you mean amqp://"),
        ("http://localhost", "a live broker (amqp://host"),
        ("./my-matcher", "a program (cmd:./my-matcher)"),
        ("my matcher:f", "a Python callable (module:callable)"),
        ("matcher.py:match", "names a file: write matcher:match"),
        ("./its/matcher.py:Matcher.of", "write matcher:Matcher.of, in the folder of the file"),
        ("cmd:", "names no program"),
        ("cmd:'x", "cannot be split into words"),
        ("cmd:no-such-program-here x", "cannot start the target"),
        ("cmd:no-such-program-here x", "write ./ before"),
        ("cmd:./no-such-program-here", "No such file"),
        ("cmd:/", "Permission denied"),
        ("cmd:pyproject.toml", "write ./ before"),
        (
            "cmd:./pyproject.toml",
            "Permission denied: make it executable with chmod +x and a first line #!, or name what runs it",
        ),
        ("cmd:./pyproject.toml x", "such as cmd:python3 ./pyproject.toml"),
    ],
)
def test_unknown_specs_say_what_is_possible(spec: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        open_target(spec, AMQP)
    assert said in str(caught.value)


def test_a_program_without_a_first_line_that_names_what_runs_it(tmp_path: Path) -> None:
    program = tmp_path / "matcher"
    program.write_text("print()\n")
    program.chmod(0o755)
    with pytest.raises(OptionError, match=r"Exec format error: .*or name what runs it, such as cmd:python3"):
        open_target(f"cmd:{program}", AMQP)


@pytest.mark.parametrize(
    "spec", ["ampq://guest:sEcReT@localhost", "amqp:guest:sEcReT@localhost", "guest:sEcReT@localhost"]
)
def test_an_unknown_spec_is_told_without_what_may_be_a_password(spec: str) -> None:
    with pytest.raises(OptionError, match="unknown target") as caught:
        open_target(spec, AMQP)
    assert "sEcReT" not in str(caught.value)


@pytest.mark.broker
def test_a_broker_of_another_language_is_told_without_its_password() -> None:
    with pytest.raises(OptionError, match="speaks 'amqp', not 'mqtt'") as caught:
        open_target("amqp://guest:guest@127.0.0.1", MQTT)
    assert ":guest" not in str(caught.value)


def test_the_timeout_is_a_time() -> None:
    with pytest.raises(OptionError, match="above 0"):
        open_target("dfa", AMQP, timeout=0)


def test_what_is_no_text_and_no_number_of_seconds_is_told_as_that() -> None:
    with pytest.raises(OptionError, match="the target is 5: expected a text, such as"):
        open_target(5)  # type: ignore[arg-type]
    for timeout in ("x", None, 0, float("nan")):
        with pytest.raises(OptionError, match=r"the timeout is .*: expected a number of seconds above 0"):
            open_target("trie", timeout=timeout)  # type: ignore[arg-type]
