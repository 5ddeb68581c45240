"""The trial of a wheel has what the README's sessions import, and leaves out those for which it has nothing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).parents[2]
SCRIPT = (REPOSITORY / "scripts" / "try_wheel.sh").read_text("utf-8")


def _imported() -> set[str]:
    """Return the packages of others that the README's sessions import."""
    text = (REPOSITORY / "README.md").read_text("utf-8")
    named = set(re.findall(r"^(?:>>>|\.\.\.) +(?:import|from) (\w+)", text, re.MULTILINE))
    return named - {"dfa_router"} - sys.stdlib_module_names


def _of(requirements: list[str]) -> set[str]:
    return {Requirement(line).name for line in requirements}


def test_each_import_of_the_readme_is_installed() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"EXTRAS:-([\w,-]+)", SCRIPT)
    installed = _of(project["dependencies"])
    for extra in extras.split(","):
        installed |= _of(project["optional-dependencies"][extra])
    distributions = packages_distributions()
    assert {name for name in _imported() if not installed & set(distributions.get(name, [name]))} == set()


@pytest.mark.parametrize("missing", [(), ("duckdb",), ("duckdb", "pyspark")], ids=" and ".join)
def test_sessions_without_their_package_are_left_out(missing: tuple[str, ...], tmp_path: Path) -> None:
    """The script's own program, in a folder with the README, where packages are hidden and no session is run."""
    (program,) = re.findall(r"sessions\.py\" <<'END'\n(.*?)^END$", SCRIPT, re.MULTILINE | re.DOTALL)
    beginning = f"""
import doctest, sys
sys.prefix = {str(REPOSITORY)!r}
sys.modules.update(dict.fromkeys({missing!r}))  # None stands for what cannot be found
doctest.testfile = lambda *_, **__: doctest.TestResults(0, 99)
"""
    page = tmp_path / "README.md"
    page.write_text((REPOSITORY / "README.md").read_text("utf-8"), "utf-8")
    subprocess.run([sys.executable, "-c", beginning + program], cwd=tmp_path, check=True, capture_output=True)
    text = page.read_text("utf-8")
    assert (">>> import duckdb" in text) == ("duckdb" not in missing)
    assert ("\n## On Spark\n" in text) == ("pyspark" not in missing)
    assert all(f"\n## {section}\n" in text for section in ("Dialects", "Prove what a binding table does"))
