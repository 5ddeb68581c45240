"""requirements-dev.lock fits pyproject.toml, names no place to download from, and has hashes."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).parents[2]
LOCK = REPOSITORY / "requirements-dev.lock"
PYTHONS = ("3.11", "3.12", "3.13")


def _required(project: dict[str, Any], extra: str) -> list[Requirement]:
    """Return what an extra needs, those of the extras that it names included."""
    found = []
    for line in project["optional-dependencies"][extra]:
        requirement = Requirement(line)
        if requirement.name == project["name"]:
            found += [one for inner in sorted(requirement.extras) for one in _required(project, inner)]
        else:
            found.append(requirement)
    return found


def _locked(text: str) -> list[tuple[Requirement, int]]:
    """Return the requirements of a lock, each with how many hashes it has."""
    entries = re.findall(r"^(\w[^\\\n]*?) ?\\?\n((?:    --hash=.*\n)*)", text, re.MULTILINE)
    return [(Requirement(line), hashes.count("--hash=sha256:")) for line, hashes in entries]


@pytest.mark.parametrize("python", PYTHONS)
def test_it_has_an_allowed_version_of_everything_that_is_required(python: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    where = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": "linux", "extra": ""}
    pinned = defaultdict(list)
    for entry, _ in _locked(LOCK.read_text("utf-8")):
        if entry.marker is None or entry.marker.evaluate(where):
            (version,) = entry.specifier
            pinned[entry.name].append(version.version)
    required = [Requirement(line) for line in project["dependencies"]] + _required(project, "all")
    assert len(required) > 20
    wrong = [
        f"{requirement}: {pinned[requirement.name]}"
        for requirement in required
        if len(found := pinned[requirement.name]) != 1 or not requirement.specifier.contains(found[0])
    ]
    assert wrong == [], "run `make lock`"


def test_every_version_is_exact_and_has_hashes() -> None:
    entries = _locked(LOCK.read_text("utf-8"))
    assert len(entries) > 40
    assert [str(entry) for entry, _ in entries if not re.fullmatch(r"==[\w.]+", str(entry.specifier))] == []
    assert [str(entry) for entry, hashes in entries if not hashes] == []


def test_it_names_no_index() -> None:
    text = LOCK.read_text("utf-8")
    assert re.findall(r"\w+://|^-.*", text, re.MULTILINE) == []
