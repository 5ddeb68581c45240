"""Demands on fields: the kernels are held to their plain twins, and both to trying every demand."""

from __future__ import annotations

import pickle
import random
import tracemalloc

import numpy as np
import pytest

from compiler.criteria import counting
from compiler.criteria.counting import Demands
from compiler.criteria.demands import Criterion, Demand, Field, criteria_of
from compiler.criteria.vocabulary import FieldColumns, Vocabulary
from compiler.kernels.tables import Keys
from compiler.machine.columns import whole
from compiler.values import KeyColumn

NAMES = [b"", b"a", b"ab", b"x" * 7, b"x" * 8, b"x" * 9, b"CC", b"y" * 8]
VALUES = [b"", b"v", b"v\0", b"w" * 7, b"w" * 8, b"w" * 20, b"w" * 19 + b"z", "ü".encode()]


def keys_of(texts: list[bytes]) -> Keys:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    return whole(KeyColumn(offsets, np.frombuffer(b"".join(texts), np.uint8), None))


def columns_of(messages: list[list[Field]]) -> FieldColumns:
    flat = [field for fields in messages for field in fields]
    ends = np.cumsum([0, *map(len, messages)]).astype(np.int32)
    names, values = keys_of([name for name, _, _ in flat]), keys_of([value for _, _, value in flat])
    return FieldColumns(ends, names, values, np.array([kind for _, kind, _ in flat], np.uint8))


def drawn(chance: random.Random) -> Criterion:
    kind = chance.randrange(4)
    return chance.choice(NAMES), kind, chance.choice(VALUES) if kind else b""


def demands_of(chance: random.Random, count: int, *, single: bool) -> list[Demand]:
    found = []
    for _ in range(count):
        criteria = {drawn(chance) for _ in range(chance.randrange(5))}
        if single:  # one criterion on a field, as bindings have
            criteria = set({one[0]: one for one in criteria}.values())
        found.append(Demand(tuple(sorted(criteria)), every=chance.random() < 0.6))
    return found


def by_trying(demands: list[Demand], message: list[Field]) -> list[int]:
    met = criteria_of(message)
    return [n for n, (criteria, every) in enumerate(demands) if (all if every else any)(one in met for one in criteria)]


def matched(vocabulary: Vocabulary, own: Demands, messages: list[list[Field]]) -> list[list[int]]:
    ids, ends, members = vocabulary.combine(columns_of(messages))
    _, offsets, found = own.satisfied_by(ends, members, np.arange(len(ends) - 1, dtype=np.int32))
    return [found[offsets[one] : offsets[one + 1]].tolist() for one in ids]


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200, 3000])
@pytest.mark.parametrize("narrow", [0, 32])
def test_the_kernels_the_twins_and_trying_agree(
    count: int, single: bool, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whole bitmaps and by counting, with few demands and many, with fields that come twice and ones nobody asks for."""
    monkeypatch.setattr(counting, "NARROW", narrow)
    monkeypatch.setattr(counting, "ROOM", 1000)  # so that answers come in several runs
    chance = random.Random(count)
    demands = demands_of(chance, count, single=single)
    messages = [[drawn(chance) for _ in range(chance.randrange(8))] for _ in range(400)] + [[]]
    vocabulary = Vocabulary(demands)
    own = Demands(vocabulary, demands)
    found = matched(vocabulary, own, messages)
    for message, answer in zip(messages, found, strict=True):
        assert answer == by_trying(demands, message) == list(own.satisfied(vocabulary.met(message))), message
    again = pickle.loads(pickle.dumps(own))
    assert matched(pickle.loads(pickle.dumps(vocabulary)), again, messages) == found


def test_several_matchers_share_a_vocabulary() -> None:
    chance = random.Random(5)
    parts = [demands_of(chance, 40, single=True) for _ in range(20)]
    vocabulary = Vocabulary([one for part in parts for one in part])
    messages = [[drawn(chance) for _ in range(6)] for _ in range(100)]
    for part in parts:
        assert matched(vocabulary, Demands(vocabulary, part), messages) == [by_trying(part, one) for one in messages]


def test_messages_of_equal_criteria_have_one_combination_unless_hardly_any_recur() -> None:
    demands = [Demand(((b"a", 1, b"%d" % n),), every=True) for n in range(20_000)]
    vocabulary = Vocabulary(demands)
    recurring = [[(b"a", 1, b"%d" % (n % 7)), (b"b", 1, b"unknown")] for n in range(20_000)]
    ids, ends, _ = vocabulary.combine(columns_of(recurring))
    assert len(ends) - 1 == 7
    assert ids.tolist() == [n % 7 for n in range(20_000)]
    fresh = [[(b"a", 1, b"%d" % n)] for n in range(20_000)]
    ids, ends, members = vocabulary.combine(columns_of(fresh + fresh))
    assert 20_000 < len(ends) - 1 <= 40_000, "after a while they are not looked for"
    assert [vocabulary.criteria[members[ends[one]]] for one in ids] == [message[0] for message in fresh + fresh]


def test_the_room_is_in_proportion_to_the_criteria() -> None:
    """A hundred thousand demands, each on a field of its own, are no hundred thousand bitmaps of 12 KB."""
    demands = [Demand(((b"f%d" % n, 0, b""), (b"g", 1, b"%d" % n)), every=True) for n in range(100_000)]
    vocabulary = Vocabulary(demands)
    own = Demands(vocabulary, demands)
    messages = [[(b"f%d" % n, 1, b"x"), (b"g", 1, b"%d" % (n + n % 2))] for n in range(0, 100_000, 501)]
    assert matched(vocabulary, own, messages) == [[] if n % 2 else [n] for n in range(0, 100_000, 501)]
    tables = own._tables()
    assert sum(array.nbytes for array in tables) < 60 * 200_000


def test_no_more_room_is_asked_for_while_tables_are_made() -> None:
    """Of a million demands on values of their own, whole bitmaps are 117 GiB, which no machine gives, though none is used."""
    demands = [Demand(((b"g", 1, b"%d" % n),), every=True) for n in range(20_000)]
    own = Demands(Vocabulary(demands), demands)
    tracemalloc.start()
    try:
        own._tables()
        assert tracemalloc.get_traced_memory()[1] < 15_000_000  # whole bitmaps are 50 MB
    finally:
        tracemalloc.stop()
