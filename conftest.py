"""How all tests run, doctests of the packages among them: compiled kernels, Ctrl-C, and what may run beside what.

With ``pytest -n auto`` (``make test``) each test goes to whichever process is free, except for tests of one group, which all
go to one process, one after the other:

- tests that share what is started once and is slow to start, or of which there is only one: a Spark session, the running
  brokers, the browser, the port of Spark Connect. Their marker is their group. Those that start a Java of their own in another
  process are no part of that of Spark's session.
- tests of one file that share a fixture made once for the file.

Long groups and slow tests begin first, so that no process is left with one of them when the others are done.

xdist distributes in the process that pytest was started in, and only the processes that run tests know the tests' markers:
each of those writes the groups to a file, which the first one reads. xdist's own ``--dist loadgroup`` is not used. It writes
groups into the names of tests, which has no effect from pytest 9.2 on, and no error either.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from compiler.kernels import kept

REPOSITORY = Path(__file__).parent

# Kernels believe what they are told of their arguments; tests, and the processes that they start, look at each call.
os.environ.setdefault("DFA_ROUTER_CHECK_ARGUMENTS", "1")

GROUPS = ("spark", "connect", "broker", "browser")
"""Markers whose tests share one process, the longest group first."""

GROUPS_FILE = pytest.StashKey[Path]()
"""Where the processes that run tests write the group of each test that has one."""


# Limits on time would make a loaded machine fail tests that are right.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    """Let tests of Ctrl-C work wherever pytest was started, and tests of Spark on the lowest version that is allowed.

    A shell starts background jobs with the signal ignored, and every process that a test starts would inherit that. PySpark
    4.1 leaves the sockets of its ``collect`` open, of which Python warns in whichever test the garbage collector finds them.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.suppress(PackageNotFoundError):
        if version("pyspark").startswith("4.1."):
            left_open = "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
            config.addinivalue_line("filterwarnings", left_open)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run one process more than there are cores: many tests wait for Java, a broker, a browser or a child process."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Prepare for several processes: a file for the groups, and kernels compiled once, which each of them would compile."""
    descriptor, name = tempfile.mkstemp(prefix="dfa-router-groups-")
    os.close(descriptor)
    config.stash[GROUPS_FILE] = Path(name)
    folder = kept.folder(kept.places()[0])
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "all-kernels"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be compiling them
        if done.exists():
            return
        # In a process of its own, and whether it succeeds or not: kernels that do not compile are for tests to report.
        code = "from compiler.prepare import compile_kernels; compile_kernels()"
        if subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False).returncode == 0:
            done.touch()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process that will run tests where to write the groups."""
    node.workerinput["groups"] = str(node.config.stash[GROUPS_FILE])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests by their groups, in the order in which they were collected."""
    if config.getoption("dist") != "load":  # the default with -n; whoever asks for another way gets it
        return None
    from xdist.scheduler import LoadScopeScheduling  # only where xdist has called this

    groups: dict[str, str] = {}

    class Groups(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def schedule(self) -> None:
            file = config.stash[GROUPS_FILE]
            if file.exists():  # all processes have collected, and written it
                groups.update(json.loads(file.read_text("utf-8") or "{}"))  # it is empty where collecting failed
                file.unlink()
            super().schedule()

        def _split_scope(self, nodeid: str) -> str:
            return groups.get(nodeid, nodeid)

    config.option.loadscopereorder = False
    return Groups(config, log)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the file of groups where no test was run."""
    if GROUPS_FILE in config.stash:
        config.stash[GROUPS_FILE].unlink(missing_ok=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark examples in docstrings that use a session of Spark: they share it with the tests that do. What a browser does is slow."""
    if item.get_closest_marker("browser"):
        item.add_marker("slow")
    if isinstance(item, pytest.DoctestItem) and item.name.startswith("dfa_router.spark."):
        item.add_marker("spark")


def pytest_collection_finish() -> None:
    """Leave modules and tests out of each collection of garbage: they are there to the end, and looking at them took 0.4 s."""
    gc.collect()
    gc.freeze()


def _rank(item: pytest.Item) -> int:
    """Return when a test's turn comes: groups first, then slow tests, doctests last."""
    for rank, group in enumerate(GROUPS):
        if item.get_closest_marker(group):
            return rank
    if isinstance(item, pytest.DoctestItem):
        return len(GROUPS) + 2
    return len(GROUPS) + (item.get_closest_marker("slow") is None)


def _group(item: pytest.Item) -> str | None:
    """Return the group of tests that a test must share a process with, if there is one."""
    for group in GROUPS:
        if item.get_closest_marker(group) and not (group == "spark" and item.get_closest_marker("own_java")):
            return group
    made_by = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}  # noqa: SLF001 - pytest has no other way to ask
    return item.path.stem if any(made[-1].scope == "module" for made in made_by.values()) else None


@pytest.hookimpl(trylast=True)  # after what deselects tests
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long groups to the front, and write down which group each test is in."""
    items.sort(key=_rank)
    if (told := getattr(config, "workerinput", None)) is not None:
        groups = {item.nodeid: group for item in items if (group := _group(item))}
        written = Path(f"{told['groups']}-{told['workerid']}")
        written.write_text(json.dumps(groups), "utf-8")
        written.replace(told["groups"])
