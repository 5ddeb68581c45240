"""Lists for the rows of a batch, by kernels and by Arrow, held to plain Python."""

from __future__ import annotations

import pickle
import random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import dfa_router as dr
from compiler.prepare import jit_enabled
from compiler.values import SetBatch
from dfa_router.arrow import sets as listing
from dfa_router.arrow.sets import lists_of_members, lists_of_names, name_sets, name_table
from dfa_router.results import Matches

NAMES = ["", "a", "ä", "x" * 63, "y" * 64, "z" * 65, "long" * 40, *(f"queue{number}" for number in range(20))]
BY_ARROW = 1 << 62
WAYS = [pytest.param(BY_ARROW, id="Arrow"), pytest.param(0, id="kernels")]
"""From how many rows on kernels are asked."""


def batch_of(
    chance: random.Random, *, sets: int, rows: int, nulls: bool = False, most: int = 40
) -> tuple[SetBatch, list[str]]:
    """Return a batch with so many sets, and the destination of each binding; some batches have each destination once."""
    destinations = [chance.choice(NAMES) for _ in range(60)] if chance.random() < 0.7 else list(NAMES)
    made = [
        sorted(chance.sample(range(len(destinations)), chance.choice([0, 1, chance.randrange(min(most, len(NAMES)))])))
        for _ in range(sets)
    ]
    ids = [-1 if nulls and chance.random() < 0.3 else chance.randrange(sets) for _ in range(rows)]
    ends = np.cumsum([0, *map(len, made)]).astype(np.int32)
    members = np.array([one for each in made for one in each], np.int32)
    return SetBatch(np.array(ids, np.int32), ends, members), destinations


def listed(batch: SetBatch, destinations: list[str]) -> None:
    """List a batch, and compare with what plain Python makes of it."""
    sets = [part.tolist() for part in np.split(batch.positions, batch.offsets[1:-1])]
    rows = [None if number < 0 else sets[number] for number in batch.set_ids]
    table = name_table(destinations)
    named = name_sets(batch, table)
    names = [list(dict.fromkeys(destinations[one] for one in each)) for each in sets]
    assert named.counts.tolist() == list(map(len, names))
    assert named.lengths.tolist() == [sum(len(name.encode()) for name in each) for each in names]
    members, texts = lists_of_members(batch), lists_of_names(batch.set_ids, named)
    for lists, kind in ((members, pa.list_(pa.int32())), (texts, pa.list_(pa.string()))):
        lists.validate(full=True)
        assert lists.type == kind
        assert lists.null_count == rows.count(None)
    assert members.to_pylist() == rows
    assert texts.to_pylist() == [None if number < 0 else names[number] for number in batch.set_ids]


@pytest.mark.parametrize("soon", WAYS)
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("sets", [1, 3, 40, 400])
def test_each_row_has_the_members_of_its_set_and_their_names(sets: int, nulls: bool, soon: int) -> None:
    chance = random.Random(sets)
    dr.compile([("a", "q")]).match_batch(["a"])  # kernels are asked where an engine has loaded some
    with patch.object(listing, "SOON", soon):
        for rows in (0, 1, 2, 8, 9, 170, 1700):
            for most in (1, 2, 20):
                listed(*batch_of(chance, sets=sets, rows=rows, nulls=nulls, most=most))


@pytest.mark.skipif(not jit_enabled(), reason="kernels are not compiled")
def test_kernels_are_asked_once_they_pay() -> None:
    dr.compile([("a", "q")]).match_batch(["a"])
    batch, _ = batch_of(random.Random(1), sets=3, rows=100)
    with patch.object(listing._BEFORE, "rows", 0), patch.object(listing, "_loaded", wraps=listing._loaded) as loaded:
        for _ in range(listing.SOON // (listing.CALL + 100)):
            lists_of_members(batch)
        assert not loaded.called
        for _ in range(2):
            lists_of_members(batch)
        assert loaded.called


@pytest.mark.parametrize("soon", WAYS)
def test_a_binding_that_is_none_is_refused(soon: int) -> None:
    batch = SetBatch(np.zeros(1, np.int32), np.array([0, 1], np.int32), np.array([3], np.int32))
    with patch.object(listing, "SOON", soon), pytest.raises(IndexError, match="3"):
        name_sets(batch, name_table(["a", "a", "b"]))


def test_a_router_that_was_pickled_lists_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pickle makes again can be written to, and kernels are compiled for what cannot."""
    router = dr.compile([("a.*", "x"), ("#.b", "y"), ("a.b", "x")])
    monkeypatch.setattr(listing, "SOON", 0)
    for _ in range(2):
        assert router.match_batch(["a.b", "b", "c"]).destinations().to_pylist() == [["x", "y"], ["y"], []]
        router = pickle.loads(pickle.dumps(router))


@pytest.mark.parametrize("soon", WAYS)
@pytest.mark.parametrize("engine", ["trie", "cstrie"])
def test_a_batch_names_what_it_met_of_bindings_that_change(
    soon: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was unsubscribed, and what the keys do not match, costs nothing: a router that lives long has ever more of it."""
    monkeypatch.setattr(listing, "SOON", soon)
    router = dr.compile([("#", "z"), ("a", "x"), ("b", "y")], engine=engine)
    for number in range(99):
        router.subscribe("a", f"gone {number}")
        router.unsubscribe("a", f"gone {number}")
    router.subscribe("a", "x")
    shot = router.snapshot() if engine == "cstrie" else None
    router.subscribe("a", "late")
    matches = router.match_batch(["a", "b", None, "c"])
    assert matches.destinations().to_pylist() == [["z", "x", "late"], ["z", "y"], None, ["z"]]
    assert len(matches._named_sets.texts.offsets) - 1 == 4
    assert router.match_batch(["c"])._named_sets.texts.offsets.tolist() == [0, 1]
    assert router.match_batch([None]).destinations().to_pylist() == [None]
    assert len(router.match_batch([]).destinations()) == 0
    assert pickle.loads(pickle.dumps(matches)).destinations().equals(matches.destinations())
    if shot is not None:
        assert shot.match_batch(["a", "c"]).destinations().to_pylist() == [["z", "x"], ["z"]]


@pytest.mark.parametrize("soon", WAYS)
def test_other_libraries_take_the_same_lists_in_parts(soon: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "SOON", soon)
    monkeypatch.setattr("dfa_router.results._BATCH", 7)
    batch, destinations = batch_of(random.Random(5), sets=9, rows=100, nulls=True)
    matches = Matches(batch, lambda _: name_table(destinations))
    table = pa.table(matches)
    assert table["bindings"].num_chunks == 15
    assert table["bindings"].to_pylist() == matches.bindings().to_pylist()
    assert table["destinations"].to_pylist() == matches.destinations().to_pylist()
    assert matches.bindings().equals(matches.sets.take(matches.set_ids))
