"""Archives of a release: two builds of a commit are equal, hold what they should, and a build that differs is refused."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "scripts" / "dist.py"

pytestmark = [
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="builds a commit: needs a git checkout"),
    pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="needs hatchling, of the extra dev"),
]


def _git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{field}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    command = ["git", "-c", "commit.gpgsign=false", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env={**os.environ, **who})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a clone of this repository, whose files may be changed."""
    folder = tmp_path / "checkout"
    _git(tmp_path, "clone", "--quiet", str(REPOSITORY), str(folder))
    return folder


def _dist(checkout: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--root", str(checkout), "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_two_builds_of_a_commit_are_equal_and_hold_what_is_committed(checkout: Path, tmp_path: Path) -> None:
    (checkout / "dfa_router" / "never_committed.py").write_text("SECRET = 1\n", "utf-8")
    done = _dist(checkout, tmp_path / "dist")
    assert done.returncode == 0, done.stderr
    assert "changes that are not committed" in done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (_sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"compiler", "dfa_router", "viz"}
    assert "dfa_router/never_committed.py" not in names


HOOK = """
import secrets
from pathlib import Path
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        Path(self.root, "viz", "made.py").write_text(f"MADE = {secrets.token_hex()!r}")
        build_data["artifacts"].append("viz/made.py")
"""


def test_a_build_that_differs_is_refused_and_its_members_are_named(checkout: Path, tmp_path: Path) -> None:
    """A planted fault: a file that is made anew by each build."""
    (checkout / "hatch_build.py").write_text(HOOK, "utf-8")
    with (checkout / "pyproject.toml").open("a", encoding="utf-8") as project:
        project.write("\n[tool.hatch.build.targets.wheel.hooks.custom]\n")
    _git(checkout, "add", "--all")
    _git(checkout, "commit", "--quiet", "--message", "a hook")
    done = _dist(checkout, tmp_path / "dist")
    assert done.returncode == 1
    assert "viz/made.py" in done.stderr
    assert not (tmp_path / "dist").exists()


def test_a_file_that_git_does_not_know_is_misplaced_and_a_missing_one_too(checkout: Path, tmp_path: Path) -> None:
    """A planted fault: the wheel is told to take the tests along, and to leave a package out."""
    project = checkout / "pyproject.toml"
    text = project.read_text("utf-8")
    assert 'packages = ["compiler", "dfa_router", "viz"]' in text
    changed = text.replace(
        'packages = ["compiler", "dfa_router", "viz"]', 'packages = ["compiler", "dfa_router", "tests"]'
    )
    project.write_text(changed, "utf-8")
    _git(checkout, "commit", "--quiet", "--all", "--message", "other packages")
    done = _dist(checkout, tmp_path / "dist")
    assert done.returncode == 1
    assert "whl lacks viz/__init__.py" in done.stderr
    assert "whl has tests/conftest.py, which does not belong there" in done.stderr
