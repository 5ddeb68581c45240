"""The command line: exit codes, messages for people and for machines, and what Ctrl-C leaves behind."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.cli import ExitCode, main
from dfa_router.cli.app import app
from dfa_router.cli.running import begin, common_options, run_group

HANGING = 3000
"""Seconds after which a command that starts Spark has surely hung: a hundred times what one takes on a quiet machine."""

DEFINITIONS: dict[str, Any] = {
    "vhosts": [{"name": "/"}],
    "exchanges": [{"name": "x", "vhost": "/", "type": "topic"}],
    "queues": [{"name": "q", "vhost": "/"}],
    "bindings": [
        {"vhost": "/", "source": "x", "destination": destination, "destination_type": "queue", "routing_key": key}
        for destination, key in (("q", "a.#"), ("unknown", "b"))
    ],
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with definitions and a log."""
    (tmp_path / "defs.json").write_text(json.dumps(DEFINITIONS))
    keys = ["a.b", "a.c", "b", "nobody", "nobody"]
    (tmp_path / "log.jsonl").write_text(
        "".join(json.dumps({"exchange": "x", "routing_key": key}) + "\n" for key in keys)
    )
    return tmp_path


def arguments(files: Path, *more: str, messages: str = "log.jsonl") -> list[str]:
    """Return the arguments of the route command for the folder."""
    paths = [
        "--definitions",
        str(files / "defs.json"),
        "--messages",
        str(files / messages),
        "--out",
        str(files / "out"),
    ]
    return ["route", *paths, *more]


def run(capsys: pytest.CaptureFixture[str], *line: str) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as end:
        main(line)
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out, captured.err


def test_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == ExitCode.OK
    assert "Exit codes: 0 fine" in out
    assert "route" in out
    code, out, _ = run(capsys, "route", "--help")
    assert code == ExitCode.OK
    for option in ("--definitions", "--messages", "--out", "--master", "--fail-on", "--json", "--overwrite"):
        assert option in out


def test_a_help_text_names_an_exchange_only_where_one_can_be_given() -> None:
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        options = {one.opts[0]: one.help or "" for one in command.params if isinstance(one, click.Option)}
        assert "--exchange" in options or "the exchange's" not in options.get("--dialect", ""), name


def test_a_command_is_found_by_its_name_and_imports_no_other() -> None:
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        assert command.name == name
    code = "import sys; from dfa_router.cli.app import run; run(['relation', 'a.*', 'a.#']); print('dfa_router.cli.audit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.endswith(
        "False\n"
    )


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    import dfa_router

    assert run(capsys, "--version")[:2] == (0, f"dfa-router, version {dfa_router.__version__}\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["rout"], "No such command 'rout'"),
        (["route", "--definitions", "x"], "Missing option '--messages'"),
        (["route", "--engine", "fast"], "'fast' is not one of"),
        (["route", "--cache-bytes", "-1"], "-1 is not in the range"),
        (["--loud"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str], line: list[str], said: str) -> None:
    code, out, err = run(capsys, *line)
    assert (code, out) == (ExitCode.USAGE, "")
    assert said in err


def test_wrong_input_is_told_before_spark_starts(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    """Each with exit code 2, a message without a traceback, and nothing on stdout."""
    (files / "bad.json").write_text('{"exchanges": [}')
    (files / "out").mkdir()
    others = arguments(files, "--overwrite")[3:]
    cases = [
        (["route", "--definitions", str(files / "none.json"), *others], "none.json: there is no such file"),
        (["route", "--definitions", str(files / "bad.json"), *others], "bad.json: line 1, column 16"),
        (arguments(files), "out: exists already; choose another folder with --out, or pass --overwrite"),
        (arguments(files, "--overwrite", messages="none.csv"), "none.csv: there is no such file or folder"),
        (arguments(files, "--overwrite", messages="defs"), "defs: there is no such file or folder"),
    ]
    for line, said in cases:
        code, out, err = run(capsys, *line)
        assert (code, out) == (ExitCode.USAGE, ""), line
        assert said in err.replace("\n", " "), line
        assert "Traceback" not in err
        assert "Spark" not in err


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    code, _, err = run(capsys, "--debug", *arguments(files, messages="none.csv"))
    assert code == ExitCode.USAGE
    assert "Traceback" in err
    assert "there is no such file or folder" in err


def test_warnings_are_shown_and_quiet_hides_them(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    line = ["audit", "--definitions", str(files / "defs.json")]
    assert "undeclared-queue 'unknown'" in run(capsys, *line)[2]
    assert "undeclared-queue" not in run(capsys, "-q", *line)[2]


def test_a_command_says_that_kernels_are_compiled_and_quiet_hides_it(capsys: pytest.CaptureFixture[str]) -> None:
    @click.group()
    @common_options
    @click.pass_context
    def group(context: click.Context, *, quiet: bool, verbose: bool, debug: bool) -> None:
        begin(context, quiet=quiet, verbose=verbose, debug=debug)

    @group.command()
    def work() -> None:
        logging.getLogger("dfa_router.kernels").warning("compiling kernels")
        logging.getLogger("dfa_router.other").info("details")

    level = logging.getLogger("dfa_router").level
    assert run_group(group, ["work"], "dfa-router") == ExitCode.OK
    assert capsys.readouterr().err == "WARNING: compiling kernels\n"
    assert run_group(group, ["--quiet", "work"], "dfa-router") == ExitCode.OK
    assert capsys.readouterr().err == ""
    assert logging.getLogger("dfa_router").level == level


def test_without_spark_route_says_so_before_it_compiles_kernels(tmp_path: Path) -> None:
    program = (
        "import importlib.util, sys\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'pyspark' else find(name, *more)\n"
        "from dfa_router.cli import main\n"
        "sys.argv = ['dfa-router', 'route', '--definitions', 'd', '--messages', 'm.parquet', '--out', 'o.parquet']\nmain()"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert ended.stderr == "error: Spark support needs pyspark: pip install 'dfa-router[spark]'\n"
    assert not list(tmp_path.iterdir())


def test_without_click_the_message_names_the_extra(files: Path) -> None:
    code = (
        "import sys\nsys.modules['click'] = None\nfrom dfa_router.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as end:\n    print(end.code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"
    assert done.stderr == "dfa-router needs click for its commands: pip install 'dfa-router[cli]'\n"


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return what starts the command in a process of its own, as users do; colours and terminal away."""
    started: list[subprocess.Popen[str]] = []
    # A process inherits signals that are ignored, as Ctrl-C is where the tests run in a shell's background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def starter(*line: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dfa_router", *line],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"NO_COLOR": "1", "COLUMNS": "100"},
            cwd=Path(__file__).parents[2],
        )
        started.append(process)
        return process

    yield starter
    signal.signal(signal.SIGINT, before)
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.spark
@pytest.mark.own_java
@pytest.mark.timeout(HANGING)
def test_a_log_is_routed(files: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start(*arguments(files, "--json", "--fail-on", "unroutable", "--master", "local[1]"))
    out, err = process.communicate()
    assert process.returncode == ExitCode.FOUND, err
    summary = json.loads(out)
    assert (summary["messages"], summary["routed"], summary["unroutable"]) == (5, 3, 2)
    assert summary["copies_per_queue"] == {"q": 2, "unknown": 1}
    assert summary["unroutable_keys"] == [{"exchange": "x", "routing_key": "nobody", "messages": 2}]
    assert summary["out"] == str(files / "out")
    assert [warning["kind"] for warning in summary["warnings"]] == ["undeclared-queue"]
    for part in (
        "undeclared-queue",
        "routing ...",
        "copies per queue",
        "most frequent unroutable keys",
        "messages/s",
        str(files / "out"),
    ):
        assert part in err, part
    rows = [json.loads(line) for file in (files / "out").glob("part-*") for line in file.read_text().splitlines()]
    assert sorted((row["routing_key"], *row["queues"]) for row in rows) == [
        ("a.b", "q"), ("a.c", "q"), ("b", "unknown"), ("nobody",), ("nobody",),
    ]  # fmt: skip


@pytest.fixture
def slow_files(files: Path) -> Path:
    """Return the folder with a log and bindings that take minutes to route."""
    row = {"exchange": "x", "routing_key": ".".join(["a"] * 60)}
    (files / "log.jsonl").write_text((json.dumps(row) + "\n") * 20_000)
    pq.write_table(pa.table({name: [text] * 20_000 for name, text in row.items()}), files / "log.parquet")
    slow = dict(DEFINITIONS) | {
        "bindings": [one | {"routing_key": "#.a.#.a.#.b"} for one in DEFINITIONS["bindings"]],
    }
    (files / "defs.json").write_text(json.dumps(slow))
    return files


def draft_of(files: Path) -> Path | None:
    """Return the draft of a result, once a task writes into it."""
    return next((file for file in files.glob(".out.*.partial/**/part-*")), None)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.own_java
@pytest.mark.timeout(HANGING)
@pytest.mark.parametrize(
    ("log", "signals", "code", "said"),
    [
        pytest.param("log.parquet", [signal.SIGINT], ExitCode.INTERRUPTED, "interrupted", marks=pytest.mark.long),
        pytest.param("log.jsonl", [signal.SIGINT] * 2, ExitCode.INTERRUPTED, "interrupted", marks=pytest.mark.long),
        ("log.parquet", [signal.SIGINT] * 10, ExitCode.INTERRUPTED, "interrupted"),
        ("log.parquet", [signal.SIGTERM], 143, "terminated"),
    ],
    ids=["ctrl-c", "ctrl-c-twice-json", "ctrl-c-ten-times", "sigterm"],
)
def test_interrupting_leaves_nothing_behind(
    slow_files: Path,
    start: Callable[..., subprocess.Popen[str]],
    log: str,
    signals: list[signal.Signals],
    code: int,
    said: str,
) -> None:
    """While Spark's tasks write: the exit code tells, there is no result, no draft of one, and no traceback."""
    process = start(*arguments(slow_files, "--engine", "naive", "--master", "local[1]", messages=log))
    # Waited for on disk: reading a part of stderr here would take it from communicate(), and with it what went wrong.
    while process.poll() is None and draft_of(slow_files) is None:
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2 if len(signals) == 2 else 0.02)  # a second one may come while the first is handled, or at once
    _, err = process.communicate()
    # One of many may come when Python has ended, and only the process has not; shells call that 130, too.
    assert process.returncode in {code, -signal.SIGINT} if len(signals) > 2 else process.returncode == code, err
    assert said in err
    assert "Traceback" not in err
    assert sorted(path.name for path in slow_files.iterdir()) == ["defs.json", "log.jsonl", "log.parquet"]


def java_of(process: subprocess.Popen[str]) -> Path | None:
    """Return the folder in /proc of the Java that a process has started for Spark, once there is one."""
    tasks = Path("/proc", str(process.pid), "task").glob("*/children")
    for number in [number for task in tasks for number in task.read_text().split()]:
        with suppress(OSError):  # one that has ended since
            line = Path("/proc", number, "cmdline").read_bytes()
            if b"java" in line and b"pyspark-shell" in line:
                return Path("/proc", number)
    return None


@pytest.mark.spark
@pytest.mark.own_java
@pytest.mark.timeout(HANGING)
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for the processes of a process in /proc")
@pytest.mark.parametrize("kernels", [pytest.param("compiled", marks=pytest.mark.long), "not compiled"])
def test_interrupting_while_java_starts_leaves_no_java_and_waits_for_no_kernels(
    files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    start: Callable[..., subprocess.Popen[str]],
    kernels: str,
) -> None:
    if kernels == "not compiled":
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    process = start(*arguments(files, "--master", "local[1]"))
    while process.poll() is None and (java := java_of(process)) is None:
        time.sleep(0.01)
    assert java is not None, process.communicate()
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(60) == ExitCode.INTERRUPTED
        assert not java.exists(), "a Java is left, which nobody will ever ask for anything"
    finally:
        if java.exists():
            os.kill(int(java.name), signal.SIGKILL)  # it would keep the pipe open that is read to its end below
    assert "Traceback" not in process.communicate()[1]
    assert sorted(path.name for path in files.iterdir() if path.name != "kernels") == ["defs.json", "log.jsonl"]
