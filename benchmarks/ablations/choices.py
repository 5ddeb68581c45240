"""The choices, each with the lines of source that take it out.

A change names a file and lines that it has exactly once, so that a source that moved on is an error and not a table that
lies: the tests hold every change to the present sources.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ABLATIONS", "Ablation", "Change"]


@dataclass(frozen=True, slots=True)
class Change:
    """Lines of a file that occur in it once, and what replaces them."""

    file: str
    """The path from the root of the checkout."""
    lines: str
    without: str


@dataclass(frozen=True, slots=True)
class Ablation:
    """A choice, and the changes that take it out."""

    choice: str
    """What the engine does; in parentheses what it does without the choice, where that is not plain."""
    changes: tuple[Change, ...]


VECTORS, WORDS, LANES, READING, LEAVING = (
    f"compiler/kernels/{name}.py" for name in ("_vectors", "_word_vectors", "_lanes", "reading", "leaving")
)
STEPS = (
    (WORDS, "read_eight"),
    *((VECTORS, name) for name in ("ask_eight", "shift_eight", "step_eight", "step_eight_in_rows")),
)

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
                WORDS,
                "look_eight: Any = intrinsic(_look_eight)",
                "from compiler.kernels._plain import look_eight",
            ),
        ),
    ),
    Ablation(
        "all words of a key are cut out by one permutation of bytes (instead of one by one)",
        (Change(LANES, 'return {"+avx512vbmi", "+avx512vbmi2"} <= features()', "return False"),),
    ),
    Ablation(
        "eight keys take a step in vectors (instead of one by one)",
        tuple(
            Change(file, f"{step}: Any = intrinsic(_{step})", f"from compiler.kernels._plain import {step}")
            for file, step in STEPS
        ),
    ),
    Ablation(
        "eight numbers are gathered by eight loads (instead of by the processor's gather instruction)",
        (Change(LANES, "        found = ir.VectorType(kind, LANES)(ir.Undefined)\n", GATHER), APART),
    ),
    Ablation("two adjacent numbers are loaded together (instead of one after the other)", (APART,)),
    Ablation(
        "scratch arrays begin at a line of the processor's cache (instead of 8 bytes after one)",
        (
            Change(
                "compiler/kernels/work.py",
                "first = -room.ctypes.data % 64 // 8",
                "first = (8 - room.ctypes.data) % 64 // 8",
            ),
        ),
    ),
    Ablation(
        "an answer is written for every key, finished or not (instead of only after asking)",
        (
            Change(
                LEAVING,
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
            Change(LANES, "b.call(function, [at, NARROW(0), NARROW(3), NARROW(1)])", "len([at])"),
        ),
    ),
    Ablation(
        "128 keys are walked or simulated together (instead of 8)",
        (Change("compiler/kernels/tables.py", "BLOCK = 128\n", "BLOCK = 8\n"),),
    ),
    Ablation(
        "a transition takes 16 bytes: an entry of 8, and one that is free (instead of 32, as entries of 16 would)",
        (
            Change(
                "compiler/kernels/transitions.py",
                "HALF_EIGHTHS, FULL_EIGHTHS = 4, 5",
                "HALF_EIGHTHS, FULL_EIGHTHS = 2, 2",
            ),
        ),
    ),
    Ablation(
        "a filter of literals saves most transitions to the default successor",
        (
            Change(
                "compiler/kernels/advance.py",
                "work.counts[LITERAL_FILTER] = np.int64(literals)",
                "work.counts[LITERAL_FILTER] = np.int64(0 if work.counts[FINAL_FLAG] else 2**63 - 1)",
            ),
        ),
    ),
    Ablation(
        "a small cache is written out as dense rows",
        (Change("compiler/machine/dense_rows.py", "DENSE_BYTES = 4 << 20", "DENSE_BYTES = -1"),),
    ),
    Ablation(
        "a doorkeeper stands before the cache of an automaton that the processor's caches cannot hold",
        (Change("compiler/machine/bounded_cache.py", "= 4 << 20, 1 << 20, 16", "= 1 << 60, 1 << 60, 1"),),
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
        "helpers, building among them, are compiled into the kernels that call them (instead of called)",
        (
            Change(
                "compiler/kernels/_jit.py",
                '"forceinline": True, ',
                "",
            ),
        ),
    ),
    Ablation(
        "numba's counting of references is switched off",
        (Change("compiler/kernels/_jit.py", '    "_nrt": False,\n', ""),),
    ),
)
