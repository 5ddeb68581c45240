"""The default bound of a cache: by the automaton, and by the memory that there is."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from compiler import build_nfa
from compiler.machine import memory
from compiler.machine.lazy import LazyDfa
from compiler.machine.memory import available_memory, default_capacity

MIB = 1 << 20


def machine_of(folder: Path, monkeypatch: pytest.MonkeyPatch, meminfo: str, group: dict[str, str]) -> None:
    """Let the module read these files as the system's."""
    (folder / "meminfo").write_text(meminfo)
    for name, text in group.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(memory, "_MEMINFO", folder / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", folder)


LARGE = "MemTotal:       33554432 kB\nMemAvailable:   16777216 kB\n"
STAT = (
    f"anon {50 * MIB}\nfile {910 * MIB}\nshmem {10 * MIB}\ninactive_file {600 * MIB}\nactive_file {300 * MIB}\nslab 5\n"
)
"""A group of version 2 that has read a large log."""
STAT_1 = f"cache 7\ninactive_file 7\nactive_file 7\ntotal_inactive_file {600 * MIB}\ntotal_active_file {300 * MIB}\n"
"""Of version 1: first the group by itself, then with those below it."""


@pytest.mark.parametrize(
    ("meminfo", "group", "available"),
    [
        (LARGE, {}, 16 << 30),
        (LARGE, {"memory.max": "max\n", "memory.current": "5\n"}, 16 << 30),
        (LARGE, {"memory.max": f"{1 << 30}\n", "memory.current": f"{256 * MIB}\n"}, 768 * MIB),
        (LARGE, {"memory.max": "100\n", "memory.current": "300\n"}, 0),
        (LARGE, {"memory/memory.limit_in_bytes": f"{1 << 30}\n", "memory/memory.usage_in_bytes": "0\n"}, 1 << 30),
        (LARGE, {"memory.max": f"{1 << 30}\n", "memory.current": f"{1023 * MIB}\n", "memory.stat": STAT}, 901 * MIB),
        (LARGE, {"memory.max": f"{1 << 30}\n", "memory.current": f"{1023 * MIB}\n", "memory.stat": "file\n"}, MIB),
        (LARGE, {"memory.max": f"{1 << 30}\n", "memory.current": f"{800 * MIB}\n", "memory.stat": STAT}, 1 << 30),
        (
            LARGE,
            {
                "memory/memory.limit_in_bytes": f"{1 << 30}\n",
                "memory/memory.usage_in_bytes": f"{1023 * MIB}\n",
                "memory/memory.stat": STAT_1,
            },
            901 * MIB,
        ),
        ("MemAvailable: lots\n", {"memory.max": f"{1 << 20}\n", "memory.current": "0\n"}, 1 << 20),
    ],
)
def test_memory_is_what_machine_and_control_group_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meminfo: str, group: dict[str, str], available: int
) -> None:
    machine_of(tmp_path, monkeypatch, meminfo, group)
    assert available_memory() == available


def test_the_default_follows_the_automaton_up_to_an_eighth_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_of(tmp_path, monkeypatch, LARGE, {})
    assert default_capacity(0) == 64 * MIB
    assert default_capacity(100 * MIB) == 164 * MIB
    assert default_capacity(8 << 30) == 2 << 30
    machine_of(tmp_path, monkeypatch, LARGE, {"memory.max": f"{80 * MIB}\n", "memory.current": "0\n"})
    assert default_capacity(100 * MIB) == 10 * MIB


def test_a_log_that_was_read_leaves_the_default_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file cache of a group fills it up to its limit; what processes have for themselves bounds the default, to nothing if need be."""
    group = {"memory.max": f"{1 << 30}\n", "memory.current": f"{(1 << 30) - 4096}\n"}
    machine_of(tmp_path, monkeypatch, LARGE, {**group, "memory.stat": STAT})
    assert default_capacity(0) == 64 * MIB
    machine_of(tmp_path, monkeypatch, LARGE, {**group, "memory.stat": "inactive_file 0\nactive_file 0\n"})
    assert default_capacity(0) == 512


def test_a_machine_that_tells_nothing_does_not_bound_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert default_capacity(1 << 40) == (1 << 40) + 64 * MIB


def test_a_copy_on_another_machine_asks_that_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nfa = build_nfa([[b"a", b"b"]])
    here, given = LazyDfa(nfa, b".", None), LazyDfa(nfa, b".", 5000)
    assert 0 < here.stats().capacity <= 65 * MIB
    packed = pickle.dumps((here, given))
    machine_of(tmp_path, monkeypatch, "MemAvailable: 800 kB\n", {})
    there, same = pickle.loads(packed)
    assert there.stats().capacity == 100 << 10
    assert same.stats().capacity == 5000
    assert there.match(b"a.b") == (0,)
