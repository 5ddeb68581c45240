"""What tests of the commands that prove begin with: a list of bindings, and what a command says."""

from __future__ import annotations

from pathlib import Path

import pytest

from dfa_router.cli.app import run

__all__ = ["asked", "listed"]


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command; return exit code, stdout and stderr."""
    code = run([str(one) for one in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    file = tmp_path / "bindings.txt"
    file.write_text("stock.#\tq\nstock.*\tq\norders.eu*\tr\n")
    return file
