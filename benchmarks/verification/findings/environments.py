"""An environment for each package: a virtual one of Python, or a folder with ``node_modules``, so that none disturbs another."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.verification.findings.subjects import Subject

__all__ = ["ADAPTERS", "Environment", "InstallError", "installed"]

ADAPTERS = Path(__file__).with_name("adapters")
_SECONDS = 300


class InstallError(Exception):
    """A package cannot be installed here; the text is the reason that its row of the table gives."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a package is installed."""

    subject: Subject
    folder: Path
    version: str

    @property
    def python(self) -> str | None:
        """The interpreter of a Python package's environment."""
        return str(self.folder / "bin" / "python") if self.subject.registry == "PyPI" else None

    @property
    def target(self) -> str:
        """The target as the fuzzer's command line names it, in the folder of the adapters."""
        if self.subject.registry == "PyPI":
            return self.subject.adapter
        return f"cmd:node node/protocol.mjs {self.subject.name} {self.folder}"

    @property
    def traced(self) -> str:
        """The same target as one that can tell which lines of the package run, which is slower for a program of Node.js."""
        return self.target if self.subject.registry == "PyPI" else f"{self.target} lines"

    def own(self, file: str) -> str:
        """Return a file of the installed packages as its name below them, or an empty text for any other file."""
        installed = ("site-packages", "node_modules")
        if not file.startswith(str(self.folder)):
            return ""
        return next((file.rpartition(f"/{name}/")[2] for name in installed if f"/{name}/" in file), "")

    def place(self) -> str:
        """Return ``file:line`` of the code that decides, where the package has its source; else an empty text."""
        name, text = self.subject.source
        if not name:
            return ""
        if self.subject.registry == "PyPI":
            found = sorted(self.folder.glob(f"lib/python*/site-packages/{name}"))
        else:
            found = sorted(self.folder.glob(f"node_modules/**/{name}")) or [self.folder / "node_modules" / name]
        for file in found:
            if file.is_file():
                lines = file.read_text("utf-8", errors="replace").splitlines()
                number = next((number for number, line in enumerate(lines, 1) if text in line), 0)
                return f"{name}:{number}" if number else name
        return ""


def installed(subject: Subject, folder: Path) -> Environment:
    """Install a package into ``folder``, unless it is there already; raises :class:`InstallError` with the reason."""
    place = folder / subject.registry.lower() / subject.name.replace("/", "+")
    done = place / "installed.json"
    if not done.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        version = _pip(subject, place) if subject.registry == "PyPI" else _npm(subject, place)
        done.write_text(json.dumps({"version": version}), "utf-8")
    return Environment(subject, place, json.loads(done.read_text("utf-8"))["version"])


def _pip(subject: Subject, place: Path) -> str:
    python = sys.executable
    if subject.python:
        python = _interpreter(subject.python)
    _run([python, "-m", "venv", str(place)])
    own = str(place / "bin" / "python")
    _run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *subject.installs])
    name = subject.installs[0].partition("[")[0]
    return _run([own, "-c", f"from importlib.metadata import version; print(version({name!r}))"]).strip()


def _interpreter(version: str) -> str:
    """Return an interpreter of that version that starts; raises :class:`InstallError` where there is none."""
    manager = Path.home() / ".pyenv" / "versions"
    found = sorted(manager.glob(f"{version}.*/bin/python"))
    candidates = [*map(str, reversed(found)), f"python{version}"]
    for candidate in candidates:
        if shutil.which(candidate):
            return candidate
    raise InstallError(f"it needs Python {version}, which is not here")


def _npm(subject: Subject, place: Path) -> str:
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise InstallError("it needs Node.js and npm, which are not here")
    (place / "package.json").write_text('{"private": true}', "utf-8")
    _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", *subject.installs], place)
    about = place / "node_modules" / subject.name / "package.json"
    return str(json.loads(about.read_text("utf-8"))["version"])


def _run(command: list[str], folder: Path | None = None) -> str:
    try:
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise InstallError(f"it was not installed within {_SECONDS} s") from None
    if ended.returncode:
        said = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip()]
        if command[0] == "npm":
            raise InstallError("npm does not find it, or cannot install it" + (f": {said[0][:150]}" if said else ""))
        raise InstallError(said[-1][:200] if said else f"{command[0]} ended with {ended.returncode}")
    return ended.stdout
