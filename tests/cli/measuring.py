"""What tests of ``dfa-router measure`` share: small files, the command in this process, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dfa_router.cli import ExitCode, main

__all__ = ["KEYS", "PAIRS", "PATTERNS", "Run", "Write", "definitions", "refused", "run", "write"]

PATTERNS = ["a.*", "#.b", "a.#", "c"]
KEYS = ["a.b", "c", "a.b", "nobody", ""]
PAIRS = 3 + 1 + 3

Write = Callable[[str, str | bytes], str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes a file of that name and returns its path."""

    def written(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return written


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return what runs the command in this process and returns its exit code, stdout and stderr."""

    def ran(bindings: str, keys: str, *more: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["measure", "--bindings", bindings, "--keys", keys, "--rounds", "1", *more])
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return ran


def definitions(kind: str = "topic") -> str:
    """Return a definitions file with an exchange of patterns, one of another type and a vhost of its own."""
    bindings = [
        {"vhost": "v", "source": "x", "destination": f"q{n}", "destination_type": "queue", "routing_key": pattern}
        for n, pattern in enumerate(PATTERNS)
    ]
    exchanges = [{"vhost": "v", "name": "x", "type": kind}, {"vhost": "v", "name": "h", "type": "headers"}]
    return json.dumps({"vhosts": [{"name": "v"}], "exchanges": exchanges, "bindings": bindings})


def refused(result: tuple[int, str, str], said: str) -> None:
    """Check that a run ended with exit code 2 and said something, without a traceback and without a result."""
    code, out, err = result
    assert (code, out) == (ExitCode.USAGE, ""), err
    assert said in err.replace("\n", " ")
    assert "Traceback" not in err
