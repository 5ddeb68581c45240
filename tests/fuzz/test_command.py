"""``dfa-router fuzz`` as users run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz.conftest import fuzz
from tests.fuzz.targets.asking import gone
from tests.suite.cases import parse_cases


def test_a_right_matcher(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:right", "--rounds", "120", "--seed", "5") == 0
    said = capsys.readouterr()
    assert "matchers:right, amqp: no disagreement" in said.out
    assert "classes: 25 of 25" in said.out
    assert "seed 5" in said.err


def test_a_wrong_matcher_twice_with_one_seed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for _ in range(2):
        assert fuzz("--target", "matchers:greedy", "--seed", "7", "--corpus", "found") == 1
        out = capsys.readouterr().out
        said.append([line for line in out.splitlines() if "cases/s" not in line])
        [path] = Path("found").iterdir()
        [case] = parse_cases(path.read_text("utf-8"), path.name)
        assert case.expected
        path.unlink()
    assert said[0] == said[1]
    assert "matchers:greedy misses a match" in said[0][0]


def test_a_corpus_is_asked_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--corpus", "found") == 1
    assert "kept found/amqp-misses-" in capsys.readouterr().err
    assert fuzz("--target", "matchers:greedy", "--seed", "8", "--corpus", "found") == 1
    said = capsys.readouterr()
    assert "cases replayed from the corpus: 1" in said.out
    assert "from found/amqp-misses-" in said.out
    assert "kept" not in said.err


def test_what_a_target_says_is_shown_and_not_obeyed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("refuses.py").write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    reply = 'true' if 'patterns' in line else r'{\"refused\": \"\\tbad \\ud83d\\u001b[2J\\nkey\"}'\n"
        "    print(reply, flush=True)\n"
    )
    target = f"cmd:{sys.executable} refuses.py"
    assert fuzz("--target", target, "--rounds", "5", "--github", "--junit", "out.xml", "--corpus", "found") == 1
    said = capsys.readouterr().out
    assert "It says: bad \\ud83d\\x1b[2J\n      key\n" in said
    assert "\x1b" not in said
    assert "::error title=" in said
    assert Path("out.xml").exists()
    assert list(Path("found").iterdir())


def test_what_a_target_says_in_an_error_is_shown_and_not_obeyed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("unusable.py").write_text(r'raise RuntimeError("\x1b[2J first\nsecond")')
    assert fuzz("--target", "unusable:match") == 2
    said = capsys.readouterr().err
    assert "RuntimeError: \\x1b[2J first\nsecond" in said
    assert "\x1b" not in said


def test_a_command_that_looks_like_markup_is_shown_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("never.py").write_text("import sys\nfor line in sys.stdin: print('true' if 'patterns' in line else [])\n")
    target = f"cmd:{sys.executable} -u never.py --only [a-z] [/x]"
    assert fuzz("--target", target, "--rounds", "1") == 1
    said = capsys.readouterr()
    assert f"{target} against the specification" in said.err
    assert f"{target} misses a match" in said.out


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "matchers:greedy", "--seed", "7", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    [finding] = told["findings"]
    assert finding["kind"] == "misses"
    assert finding["engines"]["naive"] == str(finding["expected"])
    assert told["classes"]["greedy-many"] >= 0
    assert told["cases_per_second"] > 0


@pytest.mark.parametrize("dialect", ["amqp", "mqtt", "nats", "solace", "amqp-4.3.5", "exact"])
def test_our_own_engine_in_every_dialect(dialect: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "dfa", "--dialect", dialect, "--rounds", "60", "--size", "30x60") == 0
    assert "no disagreement" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "dfa", "--size", "3"], "PATTERNSxKEYS"),
        (["--target", "nowhere"], "unknown target"),
        (["--target", "dfa", "--seconds", "0"], "seconds"),
        (["--target", "dfa", "--dialect", "klingon"], "klingon"),
        ([], "--target"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(*arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["1e10", "inf"])
def test_any_patience_is_taken(folder: Path, seconds: str) -> None:
    assert fuzz("--target", "matchers:right", "--rounds", "3", "--timeout", seconds) == 0


def test_help_tells_what_a_target_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--help") == 0
    said = capsys.readouterr().out
    for word in (
        "module:callable",
        "cmd:./my-matcher",
        "amqp://",
        "--keep-going",
        "--corpus",
        "Exit codes",
        "Examples",
    ):
        assert word in said


def interrupted(folder: Path, target: str, number: signal.Signals, *options: str) -> tuple[int, str]:
    """Send a signal to a run once its target was asked something; return the exit code and what was printed."""
    command = [sys.executable, "-m", "dfa_router", "fuzz", "--target", target, "--seconds", "600", "--timeout", "600"]
    command += options
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None and not (folder / "asked").exists():
            time.sleep(0.05)
        process.send_signal(number)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        signal.signal(signal.SIGINT, before)
    return process.returncode, out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_with_the_summary(folder: Path, number: signal.Signals, code: int) -> None:
    ended, out = interrupted(folder, "matchers:slow", number)
    assert ended == code
    assert "interrupted" in out
    assert "no disagreement" in out


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_program_behind(folder: Path, number: signal.Signals, jobs: str) -> None:
    """Also one that has not answered, and takes no notice of Ctrl-C and of the end of its input."""
    (folder / "hangs.py").write_text(
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open(f'{os.getpid()}.pid', 'w').close()\n"
        "if sys.stdin.readline():\n    open('asked', 'w').close()\ntime.sleep(600)\n"
    )
    ended, _ = interrupted(folder, f"cmd:{sys.executable} hangs.py", number, "--jobs", jobs)
    assert ended == 128 + number
    assert all(gone(int(file.stem)) for file in folder.glob("*.pid"))


def test_ctrl_c_while_workers_start_shows_no_traceback(folder: Path) -> None:
    """It comes to all processes of a terminal: here a worker sends it, to the campaign and to itself, while Python starts."""
    (folder / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "if '--multiprocessing-fork' in sys.orig_argv:\n"
        "    os.kill(os.getppid(), signal.SIGINT)\n    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "dfa_router", "fuzz", "--target", "trie", "--rounds", "9", "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 130
    assert "interrupted" in ended.stdout
    assert "Traceback" not in ended.stderr


def test_progress_goes_to_stderr_now_and_then(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dfa_router.cli.fuzz_progress._SAID", 0.2)
    assert fuzz("--target", "matchers:slow", "--seconds", "1") == 0
    assert "cases/s, 0 findings" in capsys.readouterr().err
