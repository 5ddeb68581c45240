"""Lists of names, made of routes: held to plain Python, where routes are few and where each message has its own."""

from __future__ import annotations

import random

import numpy as np
import pytest

from compiler.prepare import jit_enabled
from compiler.values import SetBatch
from dfa_router.arrow.lists import texts_of
from dfa_router.rabbitmq.name_lists import named_lists
from dfa_router.rabbitmq.traversal import compact

NAMES = [
    "",
    "a",
    "name of eight",
    "x" * 31,
    "y" * 32,
    "z" * 33,
    "long" * 40,
    *(f"queue{number}" for number in range(20)),
]
OTHERS = ["", "x", "exchange"]
"""Names of the second sort, behind those of the first."""
FIRST = 5
"""The output that has the first name."""


@pytest.mark.skipif(not jit_enabled(), reason="names are taken by Arrow in plain Python")
@pytest.mark.parametrize("routes", [1, 3, 40])
@pytest.mark.parametrize("messages", [0, 1, 13, 170])
def test_lists_of_names_are_those_of_each_messages_route(routes: int, messages: int) -> None:
    chance = random.Random(routes * 1000 + messages)
    for most in (0, 1, 4, 30):
        outputs = [sorted(chance.sample(range(40), chance.randint(0, most))) for _ in range(routes)]
        ids = [chance.randrange(routes) for _ in range(messages)]
        ends = np.cumsum([0, *map(len, outputs)]).astype(np.int32)
        values = np.array([one for each in outputs for one in each], np.int32)
        sorts = texts_of(NAMES, FIRST), texts_of(OTHERS, FIRST + len(NAMES))
        found = named_lists(SetBatch(np.array(ids, np.int32), ends, values), *sorts)
        for lists, names, first in ((found.lists, NAMES, FIRST), (found.others, OTHERS, FIRST + len(NAMES))):
            lists.validate(full=True)
            named = [[names[one - first] for one in each if first <= one < first + len(names)] for each in outputs]
            assert lists.to_pylist() == [named[number] for number in ids]
        found.named.validate(full=True)
        assert found.named.to_pylist() == [bool(one) for one in found.lists.to_pylist()]


@pytest.mark.parametrize(
    "codes", [[], [7], [4, 5, 6], [6, 5, 4], [4, 4, 6], [4, 6, 7], [0, 90_000, 3], [5, 5, 5], [3, 3, 5, 6]]
)
def test_codes_have_places_among_the_distinct_ones(codes: list[int]) -> None:
    distinct, places = compact(np.array(codes, np.int64))
    assert distinct.tolist() == sorted(set(codes))
    assert [distinct[place] for place in places] == codes
