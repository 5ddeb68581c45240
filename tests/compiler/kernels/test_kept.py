"""Compiled kernels in files: those of today's sources and no others, whatever happens to the files."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import compiler.kernels
from compiler.kernels import kept

pytestmark = pytest.mark.slow

PACKAGE = Path(compiler.kernels.__file__).parents[1]

HELPER = """
from compiler.kernels._jit import inlined

@inlined
def helper(number):
    return number + {0}
"""
KERNEL = """
from compiler.kernels._jit import kernel
from compiler.kernels.a_helper import helper

@kernel
def probe(number):
    return helper(number)
"""
ASK = """
import logging
import resource
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
{before}
from compiler.kernels.a_probe import probe
{between}
print(probe(40))
"""

Ask = Callable[..., tuple[str, str]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with a copy of the compiler that has one kernel more, which calls a helper of another file."""
    shutil.copytree(PACKAGE, tmp_path / "compiler", ignore=shutil.ignore_patterns("__pycache__"))
    kernels = tmp_path / "compiler" / "kernels"
    (kernels / "a_helper.py").write_text(HELPER.format(2))
    (kernels / "a_probe.py").write_text(KERNEL)
    return tmp_path


@pytest.fixture
def ask(checkout: Path) -> Ask:
    """Return a function that calls the kernel in a new process, and returns its answer and its log."""

    def asked(before: str = "", between: str = "", **environment: str) -> tuple[str, str]:
        found = {**os.environ, "NUMBA_CACHE_DIR": str(checkout / "cache"), "PYTHONPATH": str(checkout), **environment}
        command = [sys.executable, "-c", ASK.format(before=before, between=between)]
        ended = subprocess.run(command, cwd=checkout, env=found, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip(), ended.stderr

    return asked


def files(checkout: Path) -> list[Path]:
    return [path for path in (checkout / "cache").rglob("*") if path.is_file()]


def test_a_kernel_is_compiled_once_and_that_is_said_once(checkout: Path, ask: Ask) -> None:
    answer, log = ask()
    assert answer == "42"
    assert log.count("WARNING compiling kernels, once for this version and processor") == 1
    assert len(files(checkout)) == 1
    assert ask() == ("42", "")


def test_a_change_in_a_helper_alone_is_noticed_and_so_is_its_taking_back(checkout: Path, ask: Ask) -> None:
    helper = checkout / "compiler" / "kernels" / "a_helper.py"
    assert ask()[0] == "42"
    # Of another length: Python goes by length and second when it looks for bytecode.
    helper.write_text(HELPER.format(15))
    answer, log = ask()
    assert answer == "55"
    assert "compiling" in log
    helper.write_text(HELPER.format(2))
    assert ask() == ("42", "")


def test_checkouts_of_the_same_content_share_their_kernels(checkout: Path, ask: Ask) -> None:
    ask()
    shutil.copytree(checkout / "compiler", checkout / "other" / "compiler")
    assert ask(PYTHONPATH=str(checkout / "other"), PYTHONSAFEPATH="1") == ("42", "")


def test_kernels_of_another_package_go_by_the_content_of_their_folder(checkout: Path, ask: Ask) -> None:
    other = checkout / "elsewhere"
    other.mkdir()
    probe = "import elsewhere.probe; print(elsewhere.probe.probe(1))"
    (other / "probe.py").write_text(KERNEL.replace("compiler.kernels.a_helper", "elsewhere.helper"))
    answers = []
    for number in (2, 2, 15):  # of another length, as above
        (other / "helper.py").write_text(HELPER.format(number))
        answers.append(ask(between=probe)[0].split()[0])
    assert answers == ["3", "3", "16"]
    assert len(files(checkout)) == 3


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(lambda data: b"", id="empty", marks=pytest.mark.long),
        pytest.param(lambda data: data[:-100], id="cut", marks=pytest.mark.long),
        pytest.param(lambda data: data[:-9] + bytes(9), id="other bytes"),
    ],
)
def test_a_damaged_file_is_replaced_with_one_warning(checkout: Path, ask: Ask, left: Callable[[bytes], bytes]) -> None:
    ask()
    (file,) = files(checkout)
    whole = file.read_bytes()
    file.write_bytes(left(whole))
    answer, log = ask()
    assert answer == "42"
    assert log.count("WARNING") == 2
    assert log.count("WARNING compiling kernels") == 1
    assert f"{file} is damaged or incomplete: the kernel is compiled again, and the file replaced" in log
    assert len(file.read_bytes()) == len(whole)
    assert ask() == ("42", "")


FULL = "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"


@pytest.mark.parametrize("full", [True, False], ids=["full disk", "no folder"])
def test_kernels_that_cannot_be_kept_are_used_with_one_warning(checkout: Path, ask: Ask, full: bool) -> None:
    (checkout / "file").touch()
    place = str(checkout / "cache") if full else str(checkout / "file")
    more = "from compiler.kernels.a_probe import probe; print(probe(0.5))"  # a second kernel that is compiled
    answer, log = ask(before=FULL if full else "", between=more, NUMBA_CACHE_DIR=place)
    assert answer.split() == ["2.5", "42"]
    assert log.count("WARNING") == 2
    assert log.count("WARNING compiling kernels") == 1
    reason = "File too large" if full else "Not a directory"
    assert f"compiled kernels cannot be kept ({place}/dfa-router/{kept_name(log)}: {reason})" in log
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in log
    assert not files(checkout)


def kept_name(log: str) -> str:
    return "kernels-" + log.partition("kernels-")[2].partition(":")[0]


def test_files_that_only_may_be_read_are_used(checkout: Path, ask: Ask) -> None:
    ask()
    (file,) = files(checkout)
    file.chmod(0o444)
    assert ask(before=FULL) == ("42", "")


def test_without_a_home_kernels_are_kept_beside_their_sources(checkout: Path, ask: Ask) -> None:
    nowhere = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "relative", "HOME": "/proc/none"}
    assert ask(**nowhere)[0] == "42"
    assert ask(**nowhere) == ("42", "")
    assert (checkout / "compiler" / "kernels" / "__pycache__" / "dfa-router").is_dir()
    assert not (checkout / "relative").exists()


def test_what_was_imported_before_the_sources_changed_is_not_kept_as_theirs(checkout: Path, ask: Ask) -> None:
    change = (
        "import pathlib; path = pathlib.Path('compiler/kernels/a_helper.py')\npath.write_text(path.read_text() + ' ')"
    )
    assert ask(between=change)[0] == "42"
    assert not files(checkout)


def test_of_old_folders_the_last_used_stay_and_removal_goes_on_after_a_kill(checkout: Path, ask: Ask) -> None:
    place = checkout / "cache" / "dfa-router"
    for number in range(kept.KEPT + 4):
        folder = place / f"kernels-{number}"
        folder.mkdir(parents=True)
        (folder / "file").touch()
        os.utime(folder, (1000 + number, 1000 + number))
    (place / ".removed-before" / "folder").mkdir(parents=True)
    (place / "something-else").mkdir()
    ask()
    numbers = {path.name for path in place.iterdir()}
    assert len(numbers) == kept.KEPT + 1
    assert "something-else" in numbers
    assert {f"kernels-{number}" for number in range(5, kept.KEPT + 4)} < numbers


def test_use_is_what_counts_as_last_used(checkout: Path, ask: Ask) -> None:
    ask()
    folder = files(checkout)[0].parent
    os.utime(folder, (1000, 1000))
    ask()
    assert folder.stat().st_mtime > 1000


def test_a_program_without_its_sources_goes_by_what_was_compiled_of_them(checkout: Path, ask: Ask) -> None:
    for number, answer in ((2, "42"), (5, "45")):
        (checkout / "compiler" / "kernels" / "a_helper.py").write_text(HELPER.format(number))
        shutil.copytree(checkout / "compiler", checkout / "bare" / "compiler")
        subprocess.run([sys.executable, "-m", "compileall", "-bq", str(checkout / "bare")], check=True)
        for source in (checkout / "bare").rglob("*.py"):
            source.unlink()
        bare = {"PYTHONPATH": str(checkout / "bare"), "PYTHONSAFEPATH": "1"}
        assert ask(**bare)[0] == answer
        assert ask(**bare) == (answer, "")
        shutil.rmtree(checkout / "bare")


def test_where_no_sources_are_found_no_kernel_is_kept_with_one_warning(checkout: Path, ask: Ask) -> None:
    before = (
        "import importlib.resources as resources, pathlib\n"
        "files, resources.files = resources.files, lambda name: pathlib.Path('/proc/none')\n"
        "import compiler.kernels.kept\n"
        "resources.files = files"
    )
    for _ in range(2):
        answer, log = ask(before=before)
        assert answer == "42"
        assert log.count("compiled kernels cannot be kept (their sources are not to be found)") == 1
    assert not files(checkout)


def test_a_function_that_is_typed_in_is_not_kept(checkout: Path, ask: Ask) -> None:
    typed = (
        "from compiler.kernels._jit import kernel\n@kernel\ndef typed(number):\n    return number + 1\nprint(typed(1))"
    )
    assert ask(between=typed)[0].split() == ["2", "42"]
    assert len(files(checkout)) == 1


def test_kernels_are_compiled_of_nothing_outside_of_their_folder() -> None:
    """So the content of that folder tells them all; the folder has no folders either."""
    sources = PACKAGE / "kernels"
    imported = set()
    for source in sources.rglob("*.py"):
        assert source.parent == sources
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported |= set(names) | ({str(node.module)} if isinstance(node, ast.ImportFrom) else set())
    ours = {name for name in imported if name.split(".")[0] in ("compiler", "dfa_router", "viz", "benchmarks")}
    assert "compiler.kernels.tables" in ours
    assert all(name == "compiler.kernels" or name.startswith("compiler.kernels.") for name in ours)
