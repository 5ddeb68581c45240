"""What commands write where it cannot be written, is not read to the end, or in an encoding that lacks a character."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

REPOSITORY = Path(__file__).parents[2]
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")


@pytest.fixture
def many(tmp_path: Path) -> str:
    """Return a list of bindings whose explanation is longer than what a pipe holds."""
    file = tmp_path / "many.txt"
    file.write_text("".join(f"stock.#\tq{number}\n" for number in range(5000)))
    return str(file)


def command(*line: str, env: dict[str, str] | None = None, **streams: Any) -> subprocess.Popen[bytes]:
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    program = [sys.executable, "-m", "dfa_router", *line]
    return subprocess.Popen(program, cwd=REPOSITORY, env={**os.environ, "COLUMNS": "200", **(env or {})}, **options)


@needs_full
@pytest.mark.parametrize("line", [["explain", "{many}", "stock.b"], ["explain", "{many}", "a", "--json"], ["--help"]])
def test_a_result_that_a_full_disk_does_not_take_is_an_error(many: str, line: list[str]) -> None:
    with FULL.open("wb") as full:
        process = command(*(word.format(many=many) for word in line), stdout=full)
        _, said = process.communicate()
    assert process.returncode == 3
    assert said.decode() == "error: cannot write the result to standard output: No space left on device\n"


def with_closed(stream: str, *line: str) -> subprocess.Popen[bytes]:
    program = ["sh", "-c", f'exec "$@" {stream}>&-', "sh", sys.executable, "-m", "dfa_router", *line]
    return subprocess.Popen(program, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("line", [["explain", "{many}", "stock.b"], ["explain", "{many}", "a", "--json"], ["--help"]])
def test_a_result_that_a_closed_standard_output_does_not_take_is_an_error(many: str, line: list[str]) -> None:
    process = with_closed("1", *(word.format(many=many) for word in line))
    _, said = process.communicate()
    assert process.returncode == 3
    assert said.decode() == "error: cannot write the result to standard output: Bad file descriptor\n"


def test_a_closed_standard_output_matters_only_to_what_has_a_result(many: str) -> None:
    process = with_closed("1", "lint", many)
    _, said = process.communicate()
    assert (process.returncode, said) == (0, b"nothing found in 1 file\n")
    process = with_closed("1", "explain", "nowhere", "a")
    _, said = process.communicate()
    assert (process.returncode, said.count(b"\n")) == (2, 1)


def test_a_closed_standard_error_leaves_the_result_as_it_is(many: str) -> None:
    told, _ = (process := with_closed("2", "explain", many, "stock.b")).communicate()
    assert (process.returncode, told.count(b"\n")) == (0, 5000)
    told, _ = (process := with_closed("2", "lint", many)).communicate()
    assert (process.returncode, told) == (0, b"")


@pytest.mark.parametrize("line", [["--quiet", "audit", "--definitions", "-"], ["show", "--patterns-from", "-"]])
def test_a_closed_standard_input_is_told(line: list[str]) -> None:
    process = with_closed("0", *line)
    told, said = process.communicate()
    assert (process.returncode, told, said.count(b"\n")) == (2, b"", 1)
    assert b"Bad file descriptor" in said


@needs_full
def test_messages_that_a_full_disk_does_not_take_leave_the_result_as_it_is(many: str) -> None:
    with FULL.open("wb") as full:
        process = command("lint", many, "--least", "error", "--fail-on", "never", stderr=full)
        told, _ = process.communicate()
    assert (process.returncode, told) == (0, b"")


def first_line_of(process: subprocess.Popen[bytes]) -> bytes:
    """Read a line and close the pipe, as ``head -1`` does; return it when the process has ended."""
    stdout: IO[bytes] | None = process.stdout
    assert stdout is not None
    line = stdout.readline()
    stdout.close()
    process.wait()
    return line


@pytest.mark.parametrize(("line", "code"), [(["explain", "{many}", "stock.b"], 0), (["--quiet", "lint", "{many}"], 1)])
def test_a_reader_that_ends_changes_no_exit_code(many: str, line: list[str], code: int) -> None:
    Path(many).write_text("stock.#\n" * 2000)
    with command(*(word.format(many=many) for word in line)) as process:
        assert b"stock.#" in first_line_of(process)
        assert process.stderr is not None
        assert (process.returncode, process.stderr.read()) == (code, b"")


def test_what_an_encoding_lacks_is_written_as_json_escapes(tmp_path: Path) -> None:
    key = "x.ü☃😀"
    file = tmp_path / "keys.txt"
    file.write_text(f"{key}\n", "utf-8")
    latin = {"PYTHONIOENCODING": "latin-1"}
    told, said = command("explain", str(file), key, "--json", env=latin).communicate()
    assert (json.loads(told.decode("latin-1"))["key"], said) == (key, b"")
    told, said = command("explain", str(file), key, env=latin).communicate()
    assert told.decode("latin-1").startswith("x.ü\\u2603\\ud83d\\ude00: "), said
