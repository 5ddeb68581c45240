"""Columns matched in blocks: the same answers, each within a number of bytes."""

from __future__ import annotations

import random
from itertools import chain
from typing import Any

import pyarrow as pa
import pytest

import dfa_router as dr
from tests.router.memory import MB, needs_proc, peak

WORDS = [f"w{number}" for number in range(20)]
ANY_OF_20 = [(f"#.{word}.#", word) for word in WORDS]
"""Patterns with 2^20 different answers."""


def keys_of(count: int) -> list[str | None]:
    chance = random.Random(5)
    keys: list[str | None] = [".".join(chance.sample(WORDS, chance.randrange(12))) for _ in range(count)]
    return [None, *keys, ""]


def answer_bytes(block: Any) -> int:
    """The size of the arrays that an answer is."""
    return sum(part.nbytes for part in block._batch)


@pytest.mark.parametrize("engine", ["dfa", "nfa", "trie"])
@pytest.mark.parametrize("most", [1, 300, 20_000, 1 << 26])
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_are_the_batch_cut_up_and_small_enough(engine: str, most: int, threads: int) -> None:
    keys = keys_of(600 if most > 1 else 60)
    router = dr.compile(ANY_OF_20, engine=engine)
    blocks = list(router.match_blocks(keys, most_bytes=most, threads=threads))
    whole = router.match_batch(keys)
    assert list(chain.from_iterable(block.bindings().to_pylist() for block in blocks)) == whole.bindings().to_pylist()
    assert sum(map(len, blocks)) == len(keys)
    assert all(answer_bytes(block) <= most or len(block) == 1 for block in blocks)
    assert (len(blocks) == 1) == (most == 1 << 26)


@pytest.mark.parametrize(
    "keys", [pa.array(["w1", "w2.w1", None] * 50).dictionary_encode(), pa.chunked_array([["w1"], [], ["x"] * 99])]
)
def test_columns_of_every_kind_are_cut_up(keys: Any) -> None:
    router = dr.compile(ANY_OF_20)
    blocks = router.match_blocks(keys, most_bytes=1000)
    assert list(chain.from_iterable(block.bindings().to_pylist() for block in blocks)) == [
        None if key is None else list(router.match_bindings(key)) for key in keys.to_pylist()
    ]


ANY_OF_50 = [(f"#.w{number}.#", "q") for number in range(50)]


def long_keys(count: int, chance: random.Random) -> pa.Array:
    """Keys that 48 of 50 bindings match, all different."""
    return pa.array([".".join(f"w{number}" for number in chance.sample(range(50), 48)) for _ in range(count)])


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("count", [450, 501, 999, 1000, 1001])
def test_a_dictionary_may_have_more_keys_than_a_block_has_rows(count: int, *, chunked: bool) -> None:
    """Up to twice as many were once matched with every block, also those that none of its rows names."""
    chance = random.Random(count)
    most, router = 136_000, dr.compile(ANY_OF_50)
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array(chance.choices(range(count), k=700), pa.int32()), keys)
        for keys in (long_keys(count, chance) for _ in range(3 if chunked else 1))
    ]
    column = pa.chunked_array(chunks)
    blocks = list(router.match_blocks(column, most_bytes=most))
    assert list(map(len, blocks)) == [500] * (len(column) // 500) + [len(column) % 500] * (len(column) % 500 > 0)
    assert max(map(answer_bytes, blocks)) <= most
    assert sum(block.pair_count for block in blocks) == 48 * len(column)
    assert router.match_batch(column).bindings().to_pylist() == list(
        chain.from_iterable(block.bindings().to_pylist() for block in blocks)
    )


def test_no_keys_are_no_blocks() -> None:
    assert list(dr.compile(ANY_OF_20).match_blocks([])) == []


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, None])
def test_a_bound_that_is_none_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(dr.OptionError, match=r"most_bytes is .*: expected a number of bytes from 1 up"):
        dr.compile(ANY_OF_20).match_blocks(["a"], most_bytes=wrong)


@pytest.mark.parametrize("most", [1 << 62, 1 << 80])
def test_a_bound_may_be_beyond_what_there_can_be(most: int) -> None:
    assert [len(block) for block in dr.compile(ANY_OF_20).match_blocks(["a", None], most_bytes=most)] == [2]


def test_literals_exclude_each_other_and_so_blocks_of_a_fleet_are_long() -> None:
    fleet = dr.compile([(f"site{site}.device{number}.*", "q") for site in range(50) for number in range(50)])
    assert [len(block) for block in fleet.match_blocks(["site1.device2.x"] * 10_000, most_bytes=1 << 20)] == [10_000]


KEYS = f"""
import random
chance = random.Random(1)
words = {WORDS!r}
keys = pa.array([".".join(chance.sample(words, 10)) for _ in range(300_000)])
router = dr.compile({ANY_OF_20!r}, cache_bytes=1 << 20)
"""


@needs_proc
@pytest.mark.slow
def test_the_largest_answer_is_bounded() -> None:
    """There are 184,756 sets of ten words, so the answer for all keys at once takes some ten megabytes, and as much again to make."""
    whole = peak("found = router.match_batch(keys)", KEYS)
    blocks = peak("sizes = [len(block) for block in router.match_blocks(keys, most_bytes=1 << 20)]", KEYS)
    assert whole > 12 * MB
    assert blocks < 8 * MB
