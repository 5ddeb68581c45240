"""Inclusion and overlap of all pairs of small patterns, against all small keys."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
import pytest

from compiler import CapacityError
from compiler.automata import positions, proofs, separation
from compiler.automata.covering import accepting_at, covering, probes
from compiler.automata.keyspace import KeySpace
from compiler.automata.positions import Budget, Positions, Side, positions_of
from tests.compiler.automata.proof_material import KEYS, PATTERNS, key_of, matches, tokens_of, truth_table
from tests.mutants import mutant
from tests.strides import strides

LENGTHS = np.array([len(key) for key in KEYS])
LONGEST = 1 << 30


@cache
def table() -> np.ndarray:
    return truth_table()


def shortest(keys: np.ndarray) -> int:
    """Return the length of the shortest of some keys, LONGEST if there is none."""
    return int(LENGTHS[keys].min()) if keys.any() else LONGEST


def machine_of(module: ModuleType = positions) -> tuple[Positions, list[Side]]:
    machine = module.positions_of([tokens_of(pattern) for pattern in PATTERNS], KeySpace())
    return machine, [machine.side([number]) for number in range(len(PATTERNS))]


def wrong_inclusions(
    escape: Callable[..., proofs.Witness | None], machine: Positions, sides: list[Side], step: int
) -> list[str]:
    """Return the pairs on which a proof of inclusion, or its witness, is wrong; every ``step``-th pair is asked."""
    wrong = []
    for pair in range(0, len(PATTERNS) ** 2, step):
        one, other = divmod(pair, len(PATTERNS))
        found = escape(machine, sides[one], sides[other], Budget(10_000))
        expected = shortest(table()[one] & ~table()[other])
        if found is None:
            right = expected == LONGEST
        else:
            key = key_of(found.words)
            right = (
                len(key) == min(expected, len(key))
                and matches(PATTERNS[one], key)
                and not matches(PATTERNS[other], key)
            )
            right = right and (expected == LONGEST) == (len(key) > 6)
        if not right:
            wrong.append(f"{PATTERNS[one]} in {PATTERNS[other]}: {found}")
    return wrong


def wrong_overlaps(
    meeting: Callable[..., proofs.Witness | None], machine: Positions, sides: list[Side], step: int
) -> list[str]:
    """Return the pairs on which a proof of overlap, or its witness, is wrong."""
    wrong = []
    for pair in range(0, len(PATTERNS) ** 2, step):
        one, other = divmod(pair, len(PATTERNS))
        if one > other:
            continue
        found = meeting(machine, sides[one], sides[other], Budget(10_000))
        expected = shortest(table()[one] & table()[other])
        if found is None:
            right = expected == LONGEST
        else:
            key = key_of(found.words)
            right = (
                len(key) == min(expected, len(key)) and matches(PATTERNS[one], key) and matches(PATTERNS[other], key)
            )
            right = right and (expected == LONGEST) == (len(key) > 6)
        if not right:
            wrong.append(f"{PATTERNS[one]} meets {PATTERNS[other]}: {found}")
    return wrong


@strides(7)
def test_inclusion_of_all_pairs(stride: int) -> None:
    """116,281 pairs, or some of them, each against 5,460 keys: right, with a shortest witness."""
    machine, sides = machine_of()
    assert len(KEYS) == sum(4**n for n in range(7)) - 1
    assert wrong_inclusions(proofs.escape, machine, sides, stride) == []


@strides(7)
def test_overlap_of_all_pairs(stride: int) -> None:
    machine, sides = machine_of()
    assert wrong_overlaps(proofs.meeting, machine, sides, stride) == []


def test_covering_is_right_and_complete_without_many() -> None:
    """What covers token by token includes; a pattern without ``#`` is included in nothing else, and fails a probe of others."""
    machine, _ = machine_of()
    everything = machine.side(range(len(PATTERNS)))
    wrong = []
    for number, pattern in enumerate(PATTERNS):
        ends = covering(machine, tokens_of(pattern), everything)
        for other, wider in enumerate(PATTERNS):
            included = not (table()[number] & ~table()[other]).any()
            covers = machine.end_of(other) in ends
            if covers != included and (covers or "#" not in pattern):
                wrong.append((pattern, wider, included))
        for words in probes(tokens_of(pattern)):
            met = accepting_at(machine, words, everything)
            assert ends <= met
            assert all(
                machine.end_of(i) in met for i in np.flatnonzero((table()[number] <= table()).all(axis=1)).tolist()
            )
    assert wrong == []


def test_unions() -> None:
    """Sets of up to four patterns against sets: inclusion, overlap, and the shortest keys of the difference."""
    machine, _ = machine_of()
    chance = random.Random(7)
    for _ in range(400):
        left, right = (chance.sample(range(len(PATTERNS)), chance.randint(0, 4)) for _ in range(2))
        ours, theirs = (
            np.logical_or.reduce(table()[side]) if side else np.zeros(len(KEYS), bool) for side in (left, right)
        )
        one, other = machine.side(left), machine.side(right)
        found = proofs.escape(machine, one, other, Budget(100_000))
        expected = shortest(ours & ~theirs)
        assert (LONGEST if found is None else len(found.words)) == expected or (found and len(found.words) > 6)
        both = proofs.meeting(machine, one, other, Budget(100_000))
        assert (LONGEST if both is None else len(both.words)) == shortest(ours & theirs) or (
            both and len(both.words) > 6
        )
        several = separation.separations(machine, one, other, 3, Budget(100_000))
        assert [len(witness.words) for witness in several] == sorted(len(witness.words) for witness in several)
        assert bool(several) == (found is not None)
        assert len(set(several)) == len(several)
        assert separation.separations(machine, one, other, 12, Budget(100_000))[:3] == several
        for witness in several:
            key = key_of(witness.words)
            assert any(matches(PATTERNS[tag], key) for tag in left)
            assert not any(matches(PATTERNS[tag], key) for tag in right)
        if several:
            assert len(several[0].words) == len(found.words)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("module", "right", "planted"),
    [
        (positions, "if self._labels[position] == MANY:\n            yield position", "if False:\n            yield position"),
        (positions, "self._labels[child] == MANY and child in side.useful", "False"),
        (positions, "if at < last and self._labels[at] == symbol:", "if at + 1 < last and self._labels[at] == symbol:"),
        (positions, "at = self._parents[at]", "at = self._parents[self._parents[at]]"),
        (proofs, "any(smaller <= states for smaller in known)", "any(smaller >= states for smaller in known)"),
        (proofs, "other.accepting.isdisjoint(states):", "not other.accepting.issuperset(states):"),
        (proofs, "    if machine.wild(position):\n        yield OTHER", "    if machine.loops(position):\n        yield OTHER"),
        (proofs, "if p in one.accepting and q in other.accepting", "if p in one.accepting"),
        (proofs, "agenda.popleft()", "agenda.pop()"),
        (proofs, "{*machine.symbols([p], one), *machine.symbols([q], other)}", "{*machine.symbols([p], one)}"),
        (proofs, "machine.wild(p) and machine.wild(q)", "machine.loops(p) and machine.loops(q)"),
    ],
)  # fmt: skip
def test_planted_bugs_are_caught(module: ModuleType, right: str, planted: str) -> None:
    """Bugs in the product, in the complement and in the search for witnesses."""
    broken = mutant(module, right, planted)
    machine, sides = machine_of(broken if module is positions else positions)
    prover = broken if module is proofs else proofs
    wrong = 0
    for check, prove in ((wrong_inclusions, prover.escape), (wrong_overlaps, prover.meeting)):
        try:
            wrong += len(check(prove, machine, sides, 7))
        except (CapacityError, IndexError, AttributeError):
            wrong += 1
    assert wrong > 0


def test_a_budget_ends_a_question() -> None:
    machine = positions_of([tokens_of("#a****b#a****b"), tokens_of("#b*****#a***")], KeySpace())
    with pytest.raises(CapacityError, match="over 3 steps: give a larger budget"):
        proofs.escape(machine, machine.side([0]), machine.side([1]), Budget(3))
    with pytest.raises(CapacityError):
        proofs.meeting(machine, machine.side([0]), machine.side([1]), Budget(0))
