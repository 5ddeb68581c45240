"""The kernels of the key store, on tables and keys drawn at random, beside a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels._text_vectors import ADDENDS
from compiler.kernels.key_store import ALIKE, BLOCK, count_different, look_up_stored, rehash_stored, store_keys
from compiler.kernels.store_tables import (
    PER_KEYS,
    RECORDS_BEHIND,
    STORED,
    STORED_BYTES,
    STORED_MOST,
    STORED_NUMBERS,
    TOGETHER,
    Asked,
    Store,
    scratch,
)
from compiler.kernels.tables import PADDING, Keys, frozen
from compiler.prepare import jit_enabled
from tests.borders import LENGTHS

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled kernels")


def column(keys: list[bytes | None], behind: int = 0) -> Keys:
    offsets = np.cumsum([0, *(len(key or b"") for key in keys)]).astype(np.int32)
    data = np.frombuffer(b"".join(key or b"" for key in keys) + bytes([behind]) * PADDING, np.uint8)
    valid = np.array([key is not None for key in keys]) if None in keys else np.empty(0, np.bool_)
    return Keys(frozen(offsets), frozen(data), frozen(valid))


def empty(slots: int = 1 << 12, numbers: int = 1 << 15) -> Store:
    counts = np.zeros(3, np.int64)
    counts[STORED_NUMBERS], counts[STORED_MOST] = 1, slots // 2
    return Store(np.zeros(slots, np.uint64), np.zeros(numbers, np.uint64), counts, 1)


def now(store: Store) -> Store:
    """Return the tables as they are read from now on."""
    return store._replace(known=int(store.counts[STORED_NUMBERS]))


def asked_for(
    store: Store, keys: list[bytes | None], behind: int = 0, first: int = 0
) -> tuple[list[Any], Asked, Keys, list[int]]:
    """Return what each key from ``first`` on is answered, None for one that is not known; and what :func:`store_keys` needs."""
    where, asked, out = column(keys, behind), scratch(len(keys) - first), np.full(len(keys), -7, np.int32)
    found = look_up_stored(now(store), asked, where, first, len(keys), 100, out, len(keys), PER_KEYS)
    count = found & 0xFFFFFFFF
    assert found >> 32 == len(keys) - first
    lost = asked.rows[:count].tolist()
    told: list[Any] = out.tolist()
    for row in lost:
        told[row] = None
    return told, asked, where, lost


def drawn_keys(rng: np.random.Generator, count: int) -> list[bytes | None]:
    """Return keys of all lengths about eights, some of which differ in their last or first byte alone; and nulls."""
    keys: list[bytes | None] = []
    for length in rng.choice(
        [*(size for size in LENGTHS if size < 300), 0, 5, 5, STORED_BYTES, STORED_BYTES + 1], count
    ):
        key = bytearray(b"abcdefgh" * 200)[:length]
        if length:
            key[int(rng.choice([0, length - 1]))] = int(rng.choice([97, 98, 0]))
        keys.append(bytes(key) if rng.random() < 0.95 else None)
    return keys


def test_what_is_stored_is_found_and_nothing_else() -> None:
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(60):
        store = empty()
        known: dict[bytes, int] = {}
        for _ in range(4):
            keys = drawn_keys(rng, int(rng.integers(1, 9 * TOGETHER)))
            first = int(rng.integers(0, len(keys)))
            told, asked, where, lost = asked_for(store, keys, int(rng.integers(0, 256)), first)
            assert told == [-7] * first + [-1 if key is None else known.get(key) for key in keys[first:]]
            hits += sum(number is not None and number >= 0 for number in told)
            ids = rng.integers(-4, 200, len(lost)).astype(np.int32)  # below 100, the number is no accept set's
            assert store_keys(store, asked, where, 0, len(lost), 100, ids) == len(lost)
            for row, number in zip(lost, ids.tolist(), strict=True):
                key = keys[row]
                assert key is not None
                if number >= 100 and len(key) <= STORED_BYTES:
                    known.setdefault(key, number)
        assert store.counts[STORED] == len(known)
    assert hits > 1000


@pytest.mark.parametrize(("slots", "numbers", "stored"), [(16, 1 << 10, 8), (1 << 10, 1 + 2 * 20 + RECORDS_BEHIND, 20)])
def test_a_full_table_stops_before_it_is_overrun(slots: int, numbers: int, stored: int) -> None:
    keys: list[bytes | None] = [b"key%04d" % i for i in range(50)]
    store = empty(slots, numbers)
    _, asked, where, lost = asked_for(store, keys)
    ids = np.arange(100, 150, dtype=np.int32)
    assert store_keys(store, asked, where, 0, 50, 100, ids) == stored
    told, *_ = asked_for(store, keys)
    assert told == [*range(100, 100 + stored), *[None] * (50 - stored)]
    larger = Store(np.zeros(128, np.uint64), np.append(store.records, np.zeros(200, np.uint64)), store.counts, 1)
    rehash_stored(store.slots, larger.slots)
    larger.counts[STORED_MOST] = 64
    assert store_keys(larger, asked, where, stored, 50, 100, ids) == 50
    assert asked_for(larger, keys)[0] == list(range(100, 150))
    assert lost == list(range(50))


def test_the_last_record_is_written_where_no_number_is_left_behind() -> None:
    """A key of no bytes has none to be written either: eight numbers behind its record would be one too many."""
    for keys in ([b""], [b"a" * 64], [b"a" * 65, b""], [b"key", b""]):
        size = 1 + sum(1 + -(-len(key) // 8) for key in keys) + RECORDS_BEHIND
        records = np.zeros(size + 1, np.uint64)
        records[size] = 77
        store = empty(16)._replace(records=records[:size])
        _, asked, where, _ = asked_for(store, [*keys])
        assert store_keys(
            store, asked, where, 0, len(keys), 100, np.arange(100, 100 + len(keys), dtype=np.int32)
        ) == len(keys)
        assert records[size] == 77
        assert asked_for(store, [*keys])[0] == list(range(100, 100 + len(keys)))


def of_one_hash(behind: bytes) -> list[bytes | None]:
    """Return two keys with such an end whose hashes have the same upper half."""
    keys: list[bytes | None] = [b"key%08d%s" % (i, behind) for i in range(300_000)]
    _, asked, _, _ = asked_for(empty(), keys)
    uppers = asked.hashes[: len(keys)] >> np.uint64(32)
    order = np.argsort(uppers, kind="stable")
    pairs = np.flatnonzero(np.diff(uppers[order]) == 0)
    assert len(pairs)
    return [keys[row] for row in order[pairs[0] : pairs[0] + 2]]


@pytest.mark.parametrize("behind", [b"", b"x" * 65])
def test_two_keys_with_such_a_hash_are_both_found(behind: bytes) -> None:
    one, other = of_one_hash(behind)
    for two in ([one, other], [other, one]):
        store = empty()
        _, asked, where, lost = asked_for(store, two)
        assert lost == [0, 1]
        store_keys(store, asked, where, 0, 1, 100, np.array([100], np.int32))
        told, asked, where, lost = asked_for(store, two)
        assert (told, lost) == ([100, None], [1])  # a row, without what marks that it was doubted
        before = now(store)
        store_keys(store, asked, where, 0, 1, 100, np.array([101], np.int32))
        out = np.zeros(2, np.int32)
        # What was stored since is not believed.
        assert look_up_stored(before, asked, where, 0, 2, 100, out, 2, PER_KEYS) == 2 << 32 | 1
        told, _, _, lost = asked_for(store, [*two, None, b"none", *two])
        assert (told, lost) == ([100, 101, -1, None, 100, 101], [3])
        assert store.counts[STORED] == 2
        larger = np.zeros(4 * len(store.slots), np.uint64)
        rehash_stored(store.slots, larger)
        assert asked_for(store._replace(slots=larger), two)[0] == [100, 101]


def test_of_keys_that_were_chosen_for_their_hash_a_few_are_stored() -> None:
    """With their first four bytes, and what is added to them, a product is 0 whatever the next four are."""
    first = -int(ADDENDS[0]) % (1 << 32)
    keys: list[bytes | None] = [(first | number << 32).to_bytes(8, "little") for number in range(1, 21)]
    store = empty()
    told, asked, where, lost = asked_for(store, keys)
    assert len(set(asked.hashes[:20].tolist())) == 1
    assert lost == list(range(20))
    assert store_keys(store, asked, where, 0, 20, 100, np.arange(100, 120, dtype=np.int32)) == 20
    told, *_ = asked_for(store, keys)
    assert told == [*range(100, 100 + int(ALIKE)), *[None] * (20 - int(ALIKE))]


def test_a_search_always_ends_as_one_slot_of_a_block_stays_empty() -> None:
    """Whatever the keys are, and however many the index is said to take."""
    block = int(BLOCK)
    keys: list[bytes | None] = [b"key%04d" % i for i in range(2 * block)]
    store = empty(block)
    store.counts[STORED_MOST] = 2 * block
    _, asked, where, lost = asked_for(store, keys)
    assert store_keys(store, asked, where, 0, len(lost), 100, np.arange(100, 100 + len(lost), dtype=np.int32)) == len(
        keys
    )
    assert np.count_nonzero(store.slots) == store.counts[STORED] == block - 1
    told, *_ = asked_for(store, keys)
    assert told == [100 + row if row < block - 1 else None for row in range(len(keys))]


def test_no_text_is_such_a_key() -> None:
    halves = [half for addend in ADDENDS for half in (int(addend) & 0xFFFFFFFF, int(addend) >> 32)]
    for half in halves:
        assert max((-half % (1 << 32)).to_bytes(4, "little")) > 0xF7  # a byte that UTF-8 does not have


def test_a_key_that_comes_twice_is_stored_once() -> None:
    store = empty()
    keys: list[bytes | None] = [b"a.b"] * 300
    _, asked, where, lost = asked_for(store, keys)
    store_keys(store, asked, where, 0, len(lost), 100, np.full(300, 105, np.int32))
    assert store.counts[STORED] == 1
    assert asked_for(store, keys)[0] == [105] * 300


@pytest.mark.parametrize("key", [b"", b"a.b", b"y" * 100])
def test_what_is_stored_after_tables_were_read_is_not_believed(key: bytes) -> None:
    """The index may lead to a record of which another thread has written nothing yet, or only the length."""
    store = empty()
    _, asked, where, _ = asked_for(store, [b"other"])
    store_keys(store, asked, where, 0, 1, 100, np.array([107], np.int32))
    before = now(store)
    at = int(store.counts[STORED_NUMBERS])
    _, asked, where, lost = asked_for(store, [key])
    store_keys(store, asked, where, 0, len(lost), 100, np.array([105], np.int32))
    complete = store.records.copy()
    for written in range(len(complete[at : at + 20])):
        store.records[at + written :] = 0
        out = np.full(2, -7, np.int32)
        assert look_up_stored(before, scratch(2), column([key, b"other"]), 0, 2, 100, out, 2, PER_KEYS) == 2 << 32 | 1
        assert out[1] == 107
        store.records[:] = complete
    assert asked_for(store, [key, b"other"])[0] == [105, 107]


def test_different_keys_are_counted_by_marks() -> None:
    """About: two that have one mark count as one, which of 300 keys and 32,768 marks befalls one or two."""
    rng = np.random.default_rng(11)
    marks = np.full(512, 2**64 - 1, np.uint64)  # whatever the last count has left
    for _ in range(40):
        keys = drawn_keys(rng, int(rng.integers(1, 300)))
        first = int(rng.integers(0, len(keys)))
        different = len({key or b"" for key in keys[first:]})
        assert different - 6 <= count_different(column(keys, 97), first, len(keys), marks) <= different
