"""What each choice of the layout is worth: the engine is built without it, and measured beside the engine as it is.

``python -m benchmarks.ablations`` copies the packages once for each choice, takes the choice out by changing a few lines, and
runs all in turns, each in a process of its own. The table is the median time of the changed engine over that of the whole
one, so 1.30 means that without the choice a key takes 30 % longer. It goes to ``ablations.md``, and takes 20 minutes of a
machine that does nothing else.

What it cannot show: choices that reach further than a few lines (positions as records, hashes beside slots, the default
successor), and how two choices work together.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.measure import machine
from compiler.kernels._lanes import permutes_bytes

__all__ = ["ABLATIONS", "Ablation", "Change", "changed", "main"]

ROOT = Path(__file__).parents[1]
ROUNDS = 5

MEASURE = """
import json, time
import pyarrow.compute as pc
import dfa_router as dr
from benchmarks.engine.workloads import make_workload
figures, pairs = {}, {}
for name, scale in (("throughput", 1.0), ("stock", 0.5), ("fleet", 0.25), ("hard", 0.3)):
    work = make_workload(name, scale=scale)
    bindings = [(pattern, "q") for pattern in work.patterns]
    def router(engine="dfa"):
        options = {"key_cache": "off", "cache_bytes": work.cache_bytes} if engine == "dfa" else {}
        return dr.compile(bindings, engine=engine, **options)
    first = router()
    for _ in range(3):  # all kernels are loaded from the disk
        first.match_batch(work.keys[:20_000]).set_ids
    first = router("nfa").match_batch(work.keys[:1000])
    runs = [(f"{name} cold", router()) for _ in range(2)]
    runs += [(f"{name} settling", runs[-1][1])] * 9 + [(f"{name} warm", runs[-1][1])] * 5
    if name == "stock":
        runs += [("stock nfa", router("nfa"))] * 3
    for what, machine in runs:
        began = time.thread_time()
        matches = machine.match_batch(work.keys)
        matches.set_ids
        figures.setdefault(what, []).append((time.thread_time() - began) * 1e9 / len(work.keys))
    pairs[name] = [matches.pair_count, pc.sum(matches.bindings().flatten()).as_py()]
figures = {what: min(times) for what, times in figures.items() if "settling" not in what}
print(json.dumps([figures, pairs]))
"""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines of a file, which are there once, and what stands in their place."""

    file: str
    lines: str
    without: str


@dataclass(frozen=True, slots=True)
class Ablation:
    """A choice, and the changes that take it out."""

    choice: str
    changes: tuple[Change, ...]


VECTORS, LANES, READING = (f"compiler/kernels/{name}.py" for name in ("_vectors", "_lanes", "reading"))
STEPS = ("mix_eight", "read_eight", "shift_eight", "step_eight", "step_eight_in_rows")

BYTE_BY_BYTE = """\
    mask = ZERO
    for i in range(64):
        mask |= np.uint64(data[at + np.uint64(i)] == separator) << np.uint64(i)
"""

GATHER = """
        indices_ = VECTOR(ir.Undefined)
        for lane, index in enumerate(indices):
            indices_ = self.builder.insert_element(indices_, index, NARROW(lane))
        base = self.spread(self.builder.ptrtoint(array.data, INT))
        size = array.data.type.pointee.width // 8
        pointers = ir.VectorType(kind.as_pointer(), LANES)
        places = self.builder.inttoptr(self.builder.add(base, self.builder.mul(indices_, self.all(size))), pointers)
        row = ir.VectorType(kind, LANES)
        name = f"llvm.masked.gather.v8i{kind.width}.v8p0"
        function = self.function(ir.FunctionType(row, [pointers, NARROW, BITS, row]), name)
        return self.builder.call(function, [places, NARROW(align), BITS([1] * LANES), row([0] * LANES)])
"""

APART = Change(
    LANES,
    "        b, pairs = self.builder, []\n",
    "        b, pairs = self.builder, [[self.builder.shl(i, INT(1)) for i in indices]]\n"
    "        pairs.append([b.or_(i, INT(1)) for i in pairs[0]])\n"
    "        return self.gather(array, pairs[0]), self.gather(array, pairs[1])\n",
)

ABLATIONS = (
    Ablation(
        "keys are split 64 bytes at a time (instead of byte by byte)",
        (
            Change(READING, "    mask = equal64(data, at, separator)\n", BYTE_BY_BYTE),
            Change(
                VECTORS,
                "look_eight: Any = intrinsic(_look_eight)",
                "from compiler.kernels._plain import look_eight",
            ),
        ),
    ),
    Ablation(
        "all words of a key are cut out by one permutation of bytes (instead of one by one)",
        (Change(VECTORS, "if not permutes_bytes():", "if True:"),),
    ),
    Ablation(
        "eight keys take a step in vectors (instead of one by one)",
        tuple(
            Change(VECTORS, f"{step}: Any = intrinsic(_{step})", f"from compiler.kernels._plain import {step}")
            for step in STEPS
        ),
    ),
    Ablation(
        "numbers are gathered by loads (instead of the processor's instruction for eight)",
        (Change(LANES, "        found = ir.VectorType(kind, LANES)(ir.Undefined)\n", GATHER), APART),
    ),
    Ablation("two numbers that lie together are loaded together", (APART,)),
    Ablation(
        "scratch space begins at a line of the processor's cache (instead of 8 bytes behind)",
        (
            Change(
                "compiler/kernels/work.py",
                "first = -room.ctypes.data % 64 // 8",
                "first = (8 - room.ctypes.data) % 64 // 8",
            ),
        ),
    ),
    Ablation(
        "every key gets an answer, also one that goes on (instead of a question)",
        (
            Change(
                READING,
                "        out[rows[i]] = base + np.int64(info[TWO * states[i]] >> UPPER_HALF) - 1\n",
                "        if is_read(info, begins[i], ends[i], states[i]):\n"
                "            out[rows[i]] = base + np.int64(info[TWO * states[i]] >> UPPER_HALF) - 1\n",
            ),
        ),
    ),
    Ablation(
        "transitions, states and positions are prefetched",
        (
            Change(
                "compiler/kernels/_jit.py",
                "builder.call(function, [pointer, number(0), number(3), number(1)])",
                "len([pointer])",
            ),
        ),
    ),
    Ablation(
        "128 keys are walked or simulated together (instead of 8)",
        (Change("compiler/kernels/tables.py", "BLOCK = 128\n", "BLOCK = 8\n"),),
    ),
    Ablation(
        "a transition takes 16 bytes of its table, half of them free (instead of 32, as entries of 16 bytes would)",
        (
            Change(
                "compiler/kernels/determinize.py",
                "if 2 * (meta[TRANSITIONS] + 1) >",
                "if 4 * (meta[TRANSITIONS] + 1) >",
            ),
        ),
    ),
    Ablation(
        "a filter of literals spares transitions to the default successor",
        (
            Change(
                "compiler/kernels/advance.py",
                "work.counts[LITERAL_FILTER] = np.int64(literals)",
                "work.counts[LITERAL_FILTER] = np.int64(0 if work.counts[FINAL_FLAG] else -1)",
            ),
        ),
    ),
    Ablation(
        "small automata get rows of successors",
        (Change("compiler/machine/dense_rows.py", "DENSE_BYTES = 256 << 10", "DENSE_BYTES = -1"),),
    ),
    Ablation(
        "a doorkeeper stands before the cache of a far automaton",
        (Change("compiler/machine/walker.py", "FAR_BYTES = 4 << 20", "FAR_BYTES = 1 << 60"),),
    ),
    Ablation(
        "many children of a position are found in a hash table (instead of one by one)",
        (Change("compiler/machine/program.py", "FEW_CHILDREN = 4", "FEW_CHILDREN = 1 << 30"),),
    ),
    Ablation(
        "128 keys are simulated together (instead of 1)",
        (
            Change(
                "compiler/kernels/work.py",
                "return max(1, min(BLOCK, 65536 // max(1, lines(program))))",
                "return 1",
            ),
            Change("compiler/kernels/simulate_bits.py", "min(BLOCK, stop - row)", "min(1, stop - row)"),
        ),
    ),
    Ablation(
        "helpers, building among them, are compiled into the kernels that call them",
        (
            Change(
                "compiler/kernels/_jit.py",
                "numba.njit(forceinline=True, **_OPTIONS)",
                "numba.njit(**_OPTIONS)",
            ),
        ),
    ),
    Ablation(
        "numba counts no references",
        (Change("compiler/kernels/_jit.py", '    "_nrt": False,\n', ""),),
    ),
)


def changed(ablation: Ablation, folder: Path) -> Path:
    """Copy the packages into a folder without the choice; raises ValueError if its lines are not there once."""
    for package in ("compiler", "dfa_router", "viz", "benchmarks"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "results"))
    for change in ablation.changes:
        path = folder / change.file
        source = path.read_text()
        count = source.count(change.lines)
        if count != 1:
            raise ValueError(f"{change.file} has {count} times the lines {change.lines!r}, not once")
        path.write_text(source.replace(change.lines, change.without))
    return folder


def main() -> None:
    """Measure all choices in turns and write the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folders = {"": ROOT}
        for number, ablation in enumerate(ABLATIONS):
            folders[ablation.choice] = changed(ablation, Path(temporary) / str(number))
        caches = {choice: Path(temporary) / f"cache{number}" for number, choice in enumerate(folders)}
        print(f"compiling {len(folders)} engines", file=sys.stderr)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = [pairs for _, pairs in pool.map(_measured, folders.values(), caches.values())]
        for choice, pairs in zip(folders, answers, strict=True):
            if pairs != answers[0]:
                raise ValueError(f"without this the answers are others, {pairs} and not {answers[0]}: {choice}")
        figures: dict[str, list[dict[str, float]]] = {choice: [] for choice in folders}
        for turn in range(1, ROUNDS + 1):
            for choice, folder in folders.items():
                print(f"turn {turn} of {ROUNDS}: {choice or 'the engine as it is'}", file=sys.stderr)
                figures[choice].append(_measured(folder, caches[choice])[0])
    columns = list(figures[""][0])
    lines = [
        "# What each choice of the layout is worth",
        "",
        "Written by `python -m benchmarks.ablations`. Time of the engine without the choice over that of the engine as it is:",
        f"medians of {ROUNDS} turns in processes of their own, the whole-key cache off, one thread, processor time.",
        f"{machine()}; this processor {'permutes' if permutes_bytes() else 'cannot permute'} the bytes of a vector.",
        "Where a choice cannot matter, a figure shows the noise: the doorkeeper on `stock` and `hard`, rows on `fleet`.",
        "",
        f"| choice | {' | '.join(columns)} |",
        "|---|" + "---:|" * len(columns),
    ]
    whole = {column: median(run[column] for run in figures[""]) for column in columns}
    lines.append(f"| the engine as it is, ns a key | {' | '.join(f'{whole[column]:.0f}' for column in columns)} |")
    for choice in list(folders)[1:]:
        ratios = [median(run[column] for run in figures[choice]) / whole[column] for column in columns]
        lines.append(f"| {choice} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |")
    (ROOT / "benchmarks" / "results" / "ablations.md").write_text("\n".join(lines) + "\n")


def _measured(folder: Path, cache: Path) -> tuple[dict[str, float], dict[str, list[int]]]:
    """Return nanoseconds per key, and what the matches add up to."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache)}
    told = subprocess.run(
        [sys.executable, "-c", MEASURE], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    figures, pairs = json.loads(told.stdout)
    return figures, pairs


if __name__ == "__main__":
    main()
