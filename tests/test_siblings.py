"""A module of the user's that has the name of one of our packages is named, and not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dfa_router

ROOT = Path(dfa_router.__file__).parents[1]
THEIRS = "print('theirs was run')\n"


def python(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run Python in a folder, and find our packages behind it, as installed ones are; return exit code and outputs."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    command = [sys.executable, *arguments]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def put(folder: Path, name: str, *, package: bool) -> Path:
    """Write a module or package of the user's."""
    file = folder / name / "__init__.py" if package else folder / f"{name}.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(THEIRS)
    return file


@pytest.mark.parametrize("package", [False, True])
def test_another_compiler_beside_the_program_is_named_and_not_run(tmp_path: Path, package: bool) -> None:
    file = put(tmp_path, "compiler", package=package)
    (tmp_path / "program.py").write_text("import dfa_router\n")
    for arguments in (["program.py"], ["-m", "dfa_router", "--version"], ["-c", "from dfa_router.cli import main"]):
        code, out, err = python(tmp_path, *arguments)
        assert code != 0
        assert err.endswith(
            f"ShadowedError: dfa_router needs its package 'compiler' in {ROOT / 'compiler'}, but Python finds under that "
            f"name {file}: rename that, or run the program from another folder\n"
        )
        assert out == ""


def test_a_program_that_is_called_compiler_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "compiler.py").write_text("import dfa_router\n")
    code, _, err = python(tmp_path, "compiler.py")
    assert code != 0
    assert f"finds under that name {tmp_path / 'compiler.py'}: rename that" in err


def test_another_compiler_that_was_imported_before_is_named(tmp_path: Path) -> None:
    code, _, err = python(
        tmp_path, "-c", "import sys, types; sys.modules['compiler'] = types.ModuleType('compiler')\nimport dfa_router"
    )
    assert code != 0
    assert "another module of that name was imported before, which has no file: rename that" in err
    file = put(tmp_path, "compiler", package=False)
    code, _, err = python(tmp_path, "-c", "import compiler, sys; sys.path[:2] = []; import dfa_router")
    assert code != 0
    assert f"another module of that name was imported before, {file}: rename that" in err


def test_a_folder_without_modules_is_in_nobodys_way(tmp_path: Path) -> None:
    for name in ("compiler", "viz"):
        (tmp_path / name).mkdir()
    assert python(tmp_path, "-c", "import dfa_router as dr; print(dr.compile([]))") == (
        0,
        "<Router: 0 bindings, dialect amqp, engine dfa>\n",
        "",
    )


def test_packages_that_are_found_through_a_link_are_ours(tmp_path: Path) -> None:
    (tmp_path / "dfa_router").symlink_to(ROOT / "dfa_router")
    assert python(tmp_path, "-c", "import dfa_router.language")[0] == 0


def test_a_missing_package_is_told_to_be_installed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "dfa_router", tmp_path / "dfa_router", ignore=shutil.ignore_patterns("__pycache__"))
    code, _, err = python(tmp_path, "-S", "-c", f"import sys; sys.path.remove({str(ROOT)!r}); import dfa_router")
    assert code != 0
    assert f"dfa_router needs its package 'compiler' in {tmp_path / 'compiler'}, which is missing: install" in err


@pytest.mark.parametrize(
    "command",
    [["teach", "--out", "x.html"], ["show", "-p", "a"], ["play"], ["render", "nfa", "-p", "a", "--out", "x.svg"]],
)
def test_commands_that_draw_name_another_viz(tmp_path: Path, command: list[str]) -> None:
    file = put(tmp_path, "viz", package=False)
    code, out, err = python(tmp_path, "-m", "dfa_router", *command)
    assert (code, out) == (3, "")
    assert err == (
        f"error: dfa_router needs its package 'viz' in {ROOT / 'viz'}, but Python finds under that name {file}: rename "
        "that, or run the program from another folder\n"
    )


def test_a_notebook_names_another_viz_in_place_of_the_picture(tmp_path: Path) -> None:
    file = put(tmp_path, "viz", package=False)
    metadata = tmp_path / "of_a_test-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: of-a-test\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[dfa_router.pictures]\nnotebook = viz.notebook:mimebundle\n")
    code, out, err = python(tmp_path, "-c", "import dfa_router as dr; print(dr.compile([])._repr_mimebundle_())")
    assert (code, err) == (0, "")
    assert "<Router: 0 bindings" in out
    assert f"no picture: No module named 'viz.notebook'; 'viz' is not a package; found was {file}, rename it" in out


def test_who_draws_nothing_may_have_a_viz(tmp_path: Path) -> None:
    put(tmp_path, "viz", package=False)
    assert (
        python(tmp_path, "-c", "import dfa_router as dr; print(dr.compile([('a', 'q')], engine='trie').match('a'))")[1]
        == "('q',)\n"
    )
