"""What tests of keys share that are stored for all walkers of a sealed machine: such machines, and keys for them."""

from __future__ import annotations

import random
from typing import Any

from compiler import Wildcard, build_nfa
from compiler.machine.columns import whole
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.sealed_walker import SealedWalker
from tests.compiler.machines import answers, column

__all__ = ["ALWAYS", "NFA", "in_threads", "numbered", "readable_keys", "sealed_of", "walkers_of"]

ALWAYS = Policy(key_store=True, row_bytes=0)
NFA = build_nfa([[Wildcard.ONE] * 3 + [b"%d" % i] for i in range(60_000)])
"""Patterns that read all of a key of four words, most of which are strays."""


def numbered(count: int, *, seed: int = 0, most: int = 1 << 30) -> list[bytes | None]:
    """Return keys of four words, drawn from the first ``most``."""
    rng = random.Random(seed)
    return [
        b".".join(b"%d" % (number % base) for base in (7, 11, 13)) + b".%d" % number
        for number in (rng.randrange(most) for _ in range(count))
    ]


def sealed_of(nfa: Any, known: list[bytes | None], capacity: int = 64 << 20, policy: Policy = ALWAYS) -> LazyDfa:
    """Return a machine that knows these keys, sealed."""
    machine = LazyDfa(nfa, b".", 256 << 20, key_cache="auto", policy=Policy(doorkeeper=False, simulate=False))
    answers(machine, known)
    sealed = machine.seal()
    assert sealed is not None
    return LazyDfa(nfa, b".", capacity, key_cache="auto", policy=policy).with_seal(sealed.sealed, checked=True)


def walkers_of(machine: LazyDfa) -> list[SealedWalker]:
    """Return those of a sealed machine."""
    return [walker for walker in machine._walkers if isinstance(walker, SealedWalker)]


def in_threads(machine: LazyDfa, keys: list[bytes | None], threads: int) -> list[list[int] | None]:
    """Match keys in so many threads; return the accept tags of each."""
    found = machine.match_batch([column(keys)], threads=threads)
    sets = [found.positions[a:b].tolist() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    return [None if number < 0 else sets[number] for number in found.set_ids.tolist()]


def readable_keys(keys: list[bytes]) -> Any:
    """Lay keys out as kernels read them that store keys."""
    return whole(column(keys)._replace(valid=None))
