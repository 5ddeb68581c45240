"""What the engine benchmark yields: measurements, and the targets that they are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["DFA_COLD", "DFA_WARM", "DISTINCT", "KEY_CACHE", "NFA", "TRIE", "Claim", "Row", "claims"]

DFA_WARM, DFA_COLD, NFA = "dfa, warm", "dfa, cold", "nfa"
KEY_CACHE = "dfa, warm, key cache"
DISTINCT = "dfa, warm, the distinct keys and a take"
INDEX_IN, JOIN, RE2, TRIE = "pyarrow index_in", "DuckDB hash join", "google-re2 Set", "compiled trie"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One contestant on one workload."""

    workload: str
    contestant: str
    ns_per_key: float | None
    """None where the contestant did not run; ``note`` says why."""
    ratio: float | None
    """Of its time to that of pyarrow's ``index_in`` for the same keys in the same rounds; None where ``index_in`` did not run."""
    build_seconds: float | None = None
    """Seconds to compile the bindings, where that is shown."""
    keys: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A target, and what was measured for it."""

    workload: str
    what: str
    measured: float | None
    """None where a contestant that it needs did not run."""
    unit: str
    sense: Literal["<=", ">="]
    bound: float
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where it was not measured."""
        if self.measured is None:
            return None
        return self.measured <= self.bound if self.sense == "<=" else self.measured >= self.bound


RATIOS: tuple[tuple[str, str, tuple[str, ...], Literal["<=", ">="], float], ...] = (
    ("throughput", DFA_WARM, (INDEX_IN,), "<=", 1.5),
    ("throughput", KEY_CACHE, (INDEX_IN,), "<=", 1.0),
    ("stock", DFA_WARM, (INDEX_IN,), "<=", 0.25),
    ("stock", DFA_COLD, (INDEX_IN,), "<=", 0.75),
    ("stock", DFA_COLD, (JOIN,), "<=", 1.0),
    ("stock", TRIE, (INDEX_IN,), "<=", 4.0),
    ("fleet", DFA_WARM, (INDEX_IN,), "<=", 0.25),
    ("fleet", DFA_COLD, (INDEX_IN,), "<=", 1.0),
    ("hard", RE2, (DFA_WARM,), ">=", 15.0),
    ("hard", RE2, (DFA_COLD,), ">=", 15.0),
    ("rabbit2011", TRIE, (DFA_WARM,), ">=", 3.0),
    ("nservicebus", DFA_WARM, (NFA, TRIE), "<=", 1.2),
    ("nservicebus", DFA_COLD, (NFA, TRIE), "<=", 1.2),
    ("repeat", DFA_WARM, (DISTINCT,), "<=", 1.1),
)
"""Targets that are ratios of time per key: the workload, the contestant, the others (the fastest of them is the divisor), the
sense, and the bound."""


def claims(rows: Sequence[Row]) -> Iterator[Claim]:
    """Yield the targets of :data:`RATIOS` for the workloads among these rows, with what the rows say."""
    times = {(row.workload, row.contestant): row.ns_per_key for row in rows}
    for workload, one, others, sense, bound in RATIOS:
        if not any(row.workload == workload for row in rows):
            continue
        time = times.get((workload, one))
        against = [found for other in others if (found := times.get((workload, other))) is not None]
        measured = time / min(against) if time is not None and len(against) == len(others) else None
        held = next((row.note for row in rows if row.contestant == DFA_WARM), "")
        memory = next((row.note for row in rows if row.contestant == TRIE), "") if workload == "rabbit2011" else ""
        yield Claim(
            workload=workload,
            what=f"{one} to {' or '.join(others)}",
            measured=measured,
            unit="x",
            sense=sense,
            bound=bound,
            note=f"the cache: {held}; the trie: {memory}" if memory else "",
        )
