"""Memory as the system counts it: how much a new process takes while it compiles bindings and while it matches.

The new process makes its bindings and keys, and then stops before each step until this process tells it to go on. In
between, this process reads from ``/proc`` how much memory the other one holds (``VmRSS``) and the most that it has held
since the step began (``VmHWM``, reset through ``clear_refs``).

The *program* is what compiling has left behind. While it matches, the process may grow by ``cache_bytes``, ten per cent of
that and of the program, and the largest batch's answer, which belongs to the caller. Keys are matched in batches of
:data:`BATCH`, whose answers are dropped; batches are small because an answer exists more than once while it is put
together, and it is the cache that is measured here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from benchmarks.engine.rows import Claim, Row
from benchmarks.measure import every_core
from benchmarks.workloads import make_workload

__all__ = ["BATCH", "memory"]

BATCH = 1 << 11
"""Keys of a batch."""
CASES = (
    ("stock", (4 << 20, 16 << 20, 64 << 20)),
    ("hard", (4 << 20, 64 << 20)),
    ("nservicebus", (4 << 20,)),
    ("fleet", (32 << 20, 256 << 20)),
)
"""Workloads, and the bounds on the cache, in bytes, that each is run with."""
MB = 1e6

CHILD = f"""
import json, sys
import numpy as np
import pyarrow as pa
from benchmarks.resident import give_back
from dfa_router.arrow import key_array, key_columns
from compiler.prepare import compile_kernels
from dfa_router.language.dialects import AMQP
from dfa_router.engines.registry import engine_spec

def stop(**facts):
    give_back()
    print(json.dumps(facts), flush=True)
    sys.stdin.readline()

path, cache_bytes = sys.argv[1], int(sys.argv[2])
pa.set_memory_pool(pa.system_memory_pool())
patterns = [text.encode() for text in pa.ipc.open_file(path + "/patterns").read_all().column(0).to_pylist()]
keys = pa.concat_arrays(pa.ipc.open_file(path + "/keys").read_all().column(0).chunks)
spec = engine_spec("dfa")
compile_kernels()
warm_up = spec.build([b"#.a.*", b"b"], AMQP, cache_bytes=1 << 20)
warm_up.match_batch(key_columns(key_array(keys.slice(0, 1000))))
stop()
matcher = spec.build(patterns, AMQP, cache_bytes=cache_bytes)
stop()
largest = pairs = 0
for _ in range(2):
    for start in range(0, len(keys), {BATCH}):
        found = matcher.match_batch(key_columns(key_array(keys.slice(start, {BATCH}))))
        largest = max(largest, sum(array.nbytes for array in found))
        pairs += int(np.diff(found.offsets.astype(np.int64))[found.set_ids].sum())
    del found
stats = matcher.stats()
stop(largest=largest, pairs=pairs, clears=stats.clears, fallbacks=stats.fallbacks, bytes=stats.bytes)
"""


def memory(scale: float, _rounds: int, progress: Callable[[str], None]) -> Iterator[Row | Claim]:
    """Measure workloads within several bounds, each in a process of its own."""
    if not Path("/proc/self/clear_refs").exists():
        yield Claim(
            workload="memory",
            what="memory from outside",
            measured=None,
            unit="MB",
            sense="<=",
            bound=0.0,
            note="needs Linux's /proc",
        )
        return
    for name, bounds in CASES:
        progress(f"memory: {name} in new processes")
        workload = make_workload(name, scale=scale)
        pairs = set()
        with tempfile.TemporaryDirectory() as folder, every_core():
            _store(pa.array(workload.patterns, pa.string()), f"{folder}/patterns")
            _store(workload.keys, f"{folder}/keys")
            for bound in bounds:
                claim, found, program = _measured(folder, name, bound)
                pairs.add(found)
                yield claim
                if name == "fleet" and bound == bounds[-1]:
                    yield Claim(
                        workload="fleet",
                        what="the program, from outside",
                        measured=program / MB,
                        unit="MB",
                        sense="<=",
                        bound=200.0,
                        note=f"what building {len(workload.patterns):,} bindings has left behind",
                    )
        assert len(pairs) == 1, f"memory: {name} has {pairs} pairs, depending on cache_bytes"


def _measured(folder: str, name: str, bound: int) -> tuple[Claim, int, int]:
    """Return the target for a workload within a bound, the number of pairs that were found, and the program's bytes."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, folder, str(bound)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None

        def next_stop() -> dict[str, int]:
            line = child.stdout.readline() if child.stdout else ""
            if not line:
                raise AssertionError(f"memory: the process for {name} at {bound} bytes has died: see its message above")
            facts: dict[str, int] = json.loads(line)
            return facts

        def go_on() -> None:
            Path(f"/proc/{child.pid}/clear_refs").write_text("5")  # resets VmHWM
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()

        next_stop()
        before = _status(child.pid, "VmRSS")
        go_on()
        next_stop()
        compiled, build_peak = _status(child.pid, "VmRSS"), _status(child.pid, "VmHWM")
        go_on()
        facts = next_stop()
        peak = _status(child.pid, "VmHWM")
        go_on()
    program, grown = compiled - before, peak - compiled
    allowed = 1.1 * bound + 0.1 * program + facts["largest"]
    note = (
        f"program {program / MB:.1f} MB ({(build_peak - before) / MB:.1f} at most while it was built), cache as counted "
        f"{facts['bytes'] / MB:.1f} MB, largest answer {facts['largest'] / MB:.1f} MB, {facts['clears']} clears, "
        f"{facts['fallbacks']} fallbacks"
    )
    claim = Claim(
        workload="memory",
        what=f"{name} within {bound / 2**20:g} MiB: growth while matching",
        measured=grown / MB,
        unit="MB",
        sense="<=",
        bound=allowed / MB,
        note=note,
    )
    return claim, facts["pairs"], program


def _status(pid: int, field: str) -> int:
    """Read a figure of a process's memory, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def _store(column: pa.Array, path: str) -> None:
    table = pa.table({"column": column})
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
