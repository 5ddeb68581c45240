"""The public interface: compile, Router, Matches, CacheStats, and what they say to wrong input."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.arrow import key_array, key_columns

ENGINES = ("dfa", "nfa", "naive")
BINDINGS = [("forex.*", "fx"), ("stock.#", "equities"), ("#", "audit"), ("stock.nyse.*", "fx")]
KEYS = ["forex.usd", "stock.nyse.ibm", None, "", "weather", "stock"]
POSITIONS = [[0, 2], [1, 2, 3], None, [2], [2], [1, 2]]
DESTINATIONS = [["fx", "audit"], ["equities", "audit", "fx"], None, ["audit"], ["audit"], ["equities", "audit"]]


@pytest.fixture(params=ENGINES)
def router(request: pytest.FixtureRequest) -> dr.Router:
    return dr.compile(BINDINGS, engine=request.param)


def test_single_keys(router: dr.Router) -> None:
    assert router.match("stock.nyse.ibm") == ("equities", "audit", "fx")
    assert router.match_bindings("stock.nyse.ibm") == (1, 2, 3)
    assert router.match(b"stock.nyse.ibm") == router.match("stock.nyse.ibm")
    assert router.any("x")
    assert not dr.compile([("a", "q")], engine=router.engine.name).any("b")


def test_remembered_answers_are_the_same_and_bounded() -> None:
    """A key that was asked for before, thousands of others in between, and keys that no dictionary can hold."""
    router = dr.compile([("a.*", "x"), ("a.1", "y")])
    for _ in range(2):
        assert router.match("a.1") == ("x", "y")
        assert router.match(b"a.1") == ("x", "y")
        assert router.match("") == ()
    for i in range(5000):
        assert router.match(f"a.{i}") == (("x", "y") if i == 1 else ("x",))
    assert len(router._single.recent) <= 1024
    assert router.match("a." + "b" * 1000) == ("x",)
    wrong: Any
    for wrong in (["a"], {}, None, 5):
        with pytest.raises(dr.KeyTypeError, match="expected str or bytes"):
            router.match(wrong)


@pytest.mark.parametrize("count", [1, 17, 100, 1 << 14, (1 << 14) + 1])
def test_remembered_answers_have_a_bounded_number_of_destinations(count: int) -> None:
    """Answers of a hundred queues are remembered, too; one that alone is over the bound is not."""
    names = tuple(f"q{i}" for i in range(count))
    router = dr.compile([("#", name) for name in names])
    remembered = router._single.recent
    for i in range(100):
        assert router.match(f"a.{i}") == router.match(f"a.{i}") == names
        assert (f"a.{i}" in remembered) is (count <= 1 << 14)
    assert sum(map(len, remembered.values())) <= 1 << 14


def test_text_and_bytes_may_be_asked_where_python_forbids_their_comparison() -> None:
    ask = """
import dfa_router as dr
for engine in ("dfa", "nfa"):
    router = dr.compile([("a.*", "x"), ("#", "y")], engine=engine)
    for key in ("a.b", b"a.b", "a.b", "", b"", b"a.b"):
        assert router.match(key) == (("x", "y") if key else ("y",))
    assert router.match_batch(["a.b", b"a.b"]).pair_count == 4
"""
    told = subprocess.run([sys.executable, "-bb", "-c", ask], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr


def test_a_batch_in_every_form(router: dr.Router) -> None:
    """The same answer however the column is laid out: types, slices, chunks, dictionaries, a list."""
    plain = pa.array(KEYS)
    padded = pa.array(["other", *KEYS, "stock", None])
    forms: list[Any] = [
        KEYS,
        tuple(KEYS),
        (key for key in KEYS),
        [None if key is None else key.encode() for key in KEYS],
        plain,
        plain.cast(pa.large_string()),
        plain.cast(pa.string_view()),
        plain.cast(pa.binary()),
        plain.cast(pa.large_binary()),
        padded.slice(1, len(KEYS)),
        padded.cast(pa.large_string()).slice(1, len(KEYS)),
        plain.dictionary_encode(),
        padded.dictionary_encode().slice(1, len(KEYS)),
        padded.cast(pa.large_string()).dictionary_encode().slice(1, len(KEYS)),
        pa.chunked_array([plain[:2], plain[2:2], plain[2:]]),
        pa.chunked_array([plain[:2].dictionary_encode(), plain[2:].dictionary_encode()]),
    ]
    for form in forms:
        matches = router.match_batch(form)
        assert matches.bindings().to_pylist() == POSITIONS, form
        assert matches.destinations().to_pylist() == DESTINATIONS, form


def test_a_dictionary_may_hold_null_as_a_value(router: dr.Router) -> None:
    """A row is null by its index or by the value that its index leads to."""
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int8()), pa.array(["forex.a", None]))
    assert router.match_batch(column).bindings().to_pylist() == [[0, 2], None, None, [0, 2]]


def test_a_slice_is_matched_for_the_keys_that_it_names() -> None:
    """A slice comes with the dictionary of the whole column, of which it may need little."""
    router = dr.compile([("a.*", "x"), ("#", "y")])
    dictionary = pa.array([None if i == 7 else f"{'ab'[i % 2]}.{i}" for i in range(1000)])
    column = pa.DictionaryArray.from_arrays(pa.array([999, 8, 7, None, 8, 600], pa.int16()), dictionary)
    expected = [[1], [0, 1], None, None, [0, 1], [0, 1]]
    for some in (column, pa.chunked_array([column])):
        assert router.match_batch(some).bindings().to_pylist() == expected
    assert router.match_batch(column[1:3]).bindings().to_pylist() == expected[1:3]
    assert router.match_batch(column[3:4]).bindings().to_pylist() == [None]
    assert router.stats().keys < 20
    assert (
        router.match_batch(column.take(pa.array([0, 1, 4] * 500))).bindings().to_pylist() == [[1], [0, 1], [0, 1]] * 500
    )


def test_an_index_beyond_the_dictionary_is_an_error(router: dr.Router) -> None:
    """Arrow checks indices only where it makes them; a file may hold any."""
    for index in (2, -1):
        for rows in (1, 100):
            indices = pa.array([index] * rows, pa.int32())
            wrong = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
            with pytest.raises(dr.KeyTypeError):
                router.match_batch(wrong)
            large = pa.DictionaryArray.from_arrays(
                pa.array([index if index < 0 else 1000] * rows, pa.int32()), pa.array(["a"] * 1000), safe=False
            )
            with pytest.raises(dr.KeyTypeError):
                router.match_batch(large)


def test_empty_batches(router: dr.Router) -> None:
    forms: tuple[Any, ...] = (
        [],
        pa.array([], pa.string()),
        pa.chunked_array([], pa.string()),
        pa.array([], pa.string()).dictionary_encode(),
    )
    for empty in forms:
        matches = router.match_batch(empty)
        assert len(matches) == matches.pair_count == 0
        assert matches.bindings().to_pylist() == matches.destinations().to_pylist() == []
    assert router.match_batch(pa.nulls(2)).bindings().to_pylist() == [None, None]
    assert router.match_batch([None]).pair_count == 0


def test_the_compact_form(router: dr.Router) -> None:
    matches = router.match_batch(KEYS)
    assert matches.set_ids.type == pa.int32()
    assert matches.set_ids.null_count == 1
    assert [None if s is None else matches.sets[s].as_py() for s in matches.set_ids.to_pylist()] == POSITIONS
    assert matches.bindings().type.value_type == pa.int32()
    assert matches.destinations().type.value_type == pa.string()
    assert matches.pair_count == 9
    assert len(matches) == len(KEYS)


def test_no_bindings_at_all(router: dr.Router) -> None:
    none = dr.compile([], engine=router.engine.name)
    assert none.match("a") == ()
    assert none.match_batch(["a", None]).destinations().to_pylist() == [[], None]


def test_a_destination_is_named_once_in_order_of_its_first_match(router: dr.Router) -> None:
    many = dr.compile([("#", "b"), ("a", "a"), ("*", "b"), ("a.#", "c"), ("#.a", "a")], engine=router.engine.name)
    assert many.match("a") == ("b", "a", "c")
    assert many.match_batch(["a"]).destinations().to_pylist() == [["b", "a", "c"]]
    assert many.match_batch(["a"]).pair_count == 5


def test_pickles(router: dr.Router) -> None:
    copy = pickle.loads(pickle.dumps(router))
    assert copy.match_batch(KEYS).destinations().to_pylist() == DESTINATIONS


@pytest.mark.parametrize("token", ["a", "+"])
@pytest.mark.parametrize("engine", [name for name in dr.engines() if dr.engine_info(name).speaks(dr.MQTT)])
def test_a_pattern_may_have_more_words_than_python_recurses(engine: str, token: str) -> None:
    deep, key = "/".join([token] * 1200), "/".join("a" * 1200)
    router = dr.compile([(deep, "q"), (deep + "/#", "below")], engine=engine, dialect="mqtt")
    for one in (router, pickle.loads(pickle.dumps(router)), copy.deepcopy(router)):
        assert [one.match(asked) for asked in (key, key + "/b", "b" + key)] == [
            ("q", "below"),
            ("below",),
            ("q", "below") if token == "+" else (),
        ]


@pytest.mark.parametrize("engine", [name for name in dr.engines() if "topics" in dr.engine_info(name).options])
def test_a_topic_may_have_more_words_than_python_recurses(engine: str) -> None:
    deep = ".".join("a" * 1200)
    router = dr.compile([("a.#", "q"), ("b", "r")], engine=engine, topics=[deep, "b"])
    for one in (router, pickle.loads(pickle.dumps(router)), copy.deepcopy(router)):
        assert [one.match(deep), one.match("b")] == [("q",), ("r",)]
        with pytest.raises(dr.InputError, match="outside the topic space"):
            one.match("c")


def test_threads_share_a_router(router: dr.Router) -> None:
    found: list[bool] = []

    def work() -> None:
        for _ in range(20):
            found.append(router.match_batch(KEYS * 10).bindings().to_pylist() == POSITIONS * 10)
            found.append(router.match_bindings("stock") == (1, 2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert all(found)


def test_threads_of_one_batch(router: dr.Router) -> None:
    assert router.match_batch(KEYS * 5000, threads=2).bindings().to_pylist() == POSITIONS * 5000
    wrong: Any
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(dr.OptionError, match="expected a number of threads from 1 up"):
            router.match_batch(KEYS, threads=wrong)


def test_stats_count_what_happened() -> None:
    router = dr.compile(BINDINGS, cache_bytes=1 << 20)
    assert dataclasses.asdict(router.stats()).keys() >= {
        "states",
        "transitions",
        "bytes",
        "hits",
        "misses",
        "clears",
        "fallbacks",
    }
    router.match_batch(["stock.a.b"] * 1000)
    stats = router.stats()
    assert stats.keys == 1000
    assert stats.words == stats.hits + stats.misses
    assert stats.misses < 500
    assert 0 < stats.bytes <= stats.capacity == 1 << 20
    assert dr.compile(BINDINGS, engine="naive").stats() == dr.CacheStats()


def test_results_do_not_depend_on_what_came_before() -> None:
    """Numbers of sets are a batch's own; the sets behind them are the same in every order and after every history."""
    router = dr.compile(BINDINGS, cache_bytes=2000)
    first = router.match_batch(KEYS).bindings()
    router.match_batch([f"stock.{i}.{i}" for i in range(1000)])
    assert router.match_batch(KEYS).bindings() == first
    assert router.match_batch(KEYS[::-1]).bindings().to_pylist() == POSITIONS[::-1]


WORDS = st.sampled_from(["a", "b", "c", "", "é", "longer-than-eight"])
TOKENS = st.one_of(WORDS, st.sampled_from(["*", "#", "#"]))
SETS = st.lists(st.lists(TOKENS, max_size=6).map(".".join), max_size=10)


@given(SETS, st.lists(st.lists(WORDS, max_size=7).map(".".join), max_size=30), st.randoms())
@settings(max_examples=200, deadline=None)
def test_all_engines_agree_whatever_the_cache_and_the_order(patterns: list[str], keys: list[str], random: Any) -> None:
    """Random sets, caches from a few states to unbounded, keys in two orders: one answer."""
    bindings = [(pattern, f"q{i % 3}") for i, pattern in enumerate(patterns)]
    expected = dr.compile(bindings, engine="naive").match_batch(keys).bindings().to_pylist()
    order = list(range(len(keys)))
    random.shuffle(order)
    for engine, cache_bytes in [("nfa", 0), *(("dfa", size) for size in (1100, 1400, 2500, 10_000, 1 << 40))]:
        router = dr.compile(bindings, engine=engine, cache_bytes=cache_bytes)
        assert router.match_batch(keys).bindings().to_pylist() == expected
        shuffled = router.match_batch([keys[i] for i in order]).bindings().to_pylist()
        assert shuffled == [expected[i] for i in order]
        assert router.stats().bytes <= cache_bytes


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"bindings": [("a",)]}, dr.BindingError, "binding 0 is ('a',): expected a (pattern, destination) pair"),
        ({"bindings": [("a", "b"), ("a", 1)]}, dr.BindingError, "binding 1 is ('a', 1): expected"),
        (
            {"bindings": [("a", "b"), ("a", "q\ud800")]},
            dr.BindingError,
            "binding 1: the destination 'q\\ud800' has a lone",
        ),
        ({"bindings": "a.b"}, dr.BindingError, "bindings is 'a.b': expected a list of (pattern, destination) pairs"),
        ({"bindings": 7}, dr.BindingError, "bindings is 7: expected a list of (pattern, destination) pairs"),
        (
            {"bindings": {"a": "q"}},
            dr.BindingError,
            "bindings is a dict: expected a list of (pattern, destination) pairs: give its items()",
        ),
        (
            {"bindings": pa.table({"pattern": ["a"], "destination": ["q"]})},
            dr.BindingError,
            "bindings is a Table: expected a list of (pattern, destination) pairs: give its rows, such as zip(table['pattern'].to_pylist(), ",
        ),
        (
            {"bindings": pl.DataFrame({"pattern": ["a"], "destination": ["q"]})},
            dr.BindingError,
            "bindings is a DataFrame: expected a list of (pattern, destination) pairs: give its rows, such as zip(table['pattern'], ",
        ),
        ({"bindings": [("a" * 256, "q")]}, dr.PatternError, "has 256 bytes, but amqp carries at most 255: shorten it"),
        ({"bindings": [("é" * 128, "q")]}, dr.PatternError, "has 256 bytes"),
        (
            {"bindings": [("a\ud800", "q")]},
            dr.PatternError,
            "binding 0: the pattern 'a\\ud800' is refused: it has a lone",
        ),
        ({"engine": "trai"}, dr.OptionError, "unknown engine 'trai': use one of dfa, nfa"),
        ({"dialect": "amqq"}, dr.OptionError, "unknown dialect 'amqq': use one of 'amqp'"),
        ({"cache_bytes": -1}, dr.OptionError, "cache_bytes is -1: expected a number of bytes"),
        ({"cache_bytes": 1.5}, dr.OptionError, "cache_bytes is 1.5: expected a number of bytes"),
        ({"cache_bytes": -1, "engine": "naive"}, dr.OptionError, "cache_bytes is -1: expected a number of bytes"),
        ({"speed": 1}, dr.OptionError, "engine 'dfa' has no option 'speed'; its options: "),
    ],
)
def test_wrong_input_is_named(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        dr.compile(**{"bindings": [("a", "b")], **arguments})
    assert message in str(caught.value)
    assert isinstance(caught.value, dr.RouterError)
    assert isinstance(caught.value, ValueError)


def test_a_bound_may_be_a_number_of_numpy(tmp_path: Path) -> None:
    bound: Any = np.int64(1 << 20)
    router = dr.compile([("a.*", "q")], cache_bytes=bound)
    router.save(tmp_path / "router.dfr")
    for one in (router, dr.load(tmp_path / "router.dfr"), dr.load(tmp_path / "router.dfr", cache_bytes=bound)):
        assert (one.match("a.b"), one.stats().capacity) == (("q",), 1 << 20)


def test_numbers_of_calls_may_be_numbers_of_numpy() -> None:
    two: Any = np.int64(2)
    router = dr.compile([("#.a.#", "x"), ("#.b.#", "y")])
    assert router.match_batch(["a"], threads=two).destinations().to_pylist() == [["x"]]
    blocks = router.match_blocks(["a", "b.a", "c"], most_bytes=80 * two, threads=two)
    assert [len(block) for block in blocks] == [2, 1]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("a.b", "keys is 'a.b' (str): expected an Arrow array of strings or a list of str"),
        (5, "keys is 5 (int): expected"),
        (np.array("a"), "keys is ndarray: expected an Arrow array of strings or a list of str"),
        ([1], "keys[0] is 1 (int): expected str, bytes, or None for a missing key"),
        (["a", float("nan")], "keys[1] is nan (float): expected str, bytes, or None for a missing key"),
        ({"a", "b"}, "keys is set: expected an Arrow array of strings or a list of str; a set has no order"),
        (frozenset({"a"}), "for the answers to follow: hand over a list, such as sorted(keys)"),
        (["a", "\ud800"], "keys[1] is '\\ud800', with a lone surrogate at character 0"),
        (pa.array([1, 2]), "keys is an Arrow column of int64: cast it to string first"),
        (
            pa.array([["a", "b"]]),
            "keys is an Arrow column of list<item: string>: a row must be one key: join its words",
        ),
        (pa.array([b"\xff"], pa.binary(1)), "keys is an Arrow column of fixed_size_binary[1]: cast it to binary first"),
        (pa.array([1, 2]).dictionary_encode(), "keys is an Arrow column of dictionary"),
        (pa.RunEndEncodedArray.from_arrays([2], [1]), "keys is an Arrow column of run_end_encoded"),
    ],
)
def test_wrong_keys_are_named(keys: Any, message: str) -> None:
    with pytest.raises(dr.KeyTypeError) as caught:
        dr.compile([("a", "b")]).match_batch(keys)
    assert message in str(caught.value)


def test_a_destination_that_is_no_text_is_named() -> None:
    router = dr.compile([("a.*", "b")])
    assert (router.topics("b"), router.topics("nobody's")) == (("a.*",), ())
    with pytest.raises(dr.BindingError, match=r"the destination is 5 \(int\): expected str"):
        router.topics(5)  # type: ignore[arg-type]


def test_a_single_wrong_key_is_named() -> None:
    with pytest.raises(dr.KeyTypeError, match="the routing key is None"):
        dr.compile([("a", "b")]).match(None)  # type: ignore[arg-type]


def test_keys_over_the_protocols_limit_are_matched_as_usual(router: dr.Router) -> None:
    router = dr.compile([("a.#", "q")], engine=router.engine.name)
    assert router.match("a." * 10_000) == ("q",)


def test_keys_that_are_no_utf8_are_matched_as_bytes() -> None:
    router = dr.compile([("*.b", "q")])
    column = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 3, 4], np.int32)), pa.py_buffer(b"\xff.bc")]
    )
    for form in (column, column.cast(pa.binary()), pa.array([b"\xff.b", b"c"], pa.large_binary())):
        assert router.match_batch(form).destinations().to_pylist() == [["q"], []]
    assert router.match(b"\xff.b") == ("q",)


def test_plain_columns_are_not_copied() -> None:
    array = pa.array(["abc", "def"])
    (column,) = key_columns(key_array(array))
    assert column.data.ctypes.data == array.buffers()[2].address
    assert column.offsets.ctypes.data == array.buffers()[1].address


def test_engines_are_listed_and_described() -> None:
    assert {"dfa", "nfa", "naive"} <= set(dr.engines())
    for name in dr.engines():
        info = dr.engine_info(name)
        assert info.name == name
        assert info.summary
    with pytest.raises(dr.OptionError, match="unknown engine"):
        dr.engine_info("no")


def test_everything_exported_is_there() -> None:
    assert sorted(dr.__all__) == dr.__all__
    assert all(hasattr(dr, name) for name in dr.__all__)


def offsets_patched(kind: Any, offsets: list[int], data: bytes = b"stock.a") -> pa.Array:
    wide = np.int64 if kind in (pa.large_string(), pa.large_binary()) else np.int32
    buffers = [None, pa.py_buffer(np.array(offsets, wide)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("offsets", [[0, 3, 2**30, 7], [0, 5, 3, 7], [0, 3, -9, 7]], ids=str)
def test_keys_outside_of_their_data_are_refused(router: dr.Router, kind: Any, offsets: list[int]) -> None:
    """Arrow looks at the first and the last offset only: kernels would read whatever lies there."""
    column = offsets_patched(kind, offsets)
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), column)
    for keys in (column, column.slice(1, 1), pa.chunked_array([pa.array(["a"], kind), column]), dictionary):
        with pytest.raises(dr.KeyTypeError, match="damaged Arrow column"):
            router.match_batch(keys)


def test_what_a_slice_leaves_out_may_be_damaged(router: dr.Router) -> None:
    column = offsets_patched(pa.string(), [0, 3, 2**30, 7, 7])
    assert router.match_batch(column.slice(3)).set_ids.null_count == 0


def test_remembered_answers_are_bounded() -> None:
    """A thousand answers of thousands of destinations would be memory that nobody counts."""
    router = dr.compile([("#", f"queue-{number}") for number in range(5000)], cache_bytes=100_000)
    tracemalloc.start()
    try:
        for number in range(300):
            assert len(router.match(f"a.{number}")) == 5000
            assert len(router.match_bindings(f"a.{number}")) == 5000
        assert tracemalloc.get_traced_memory()[0] < 4 << 20  # 15 MB and more where answers are kept
    finally:
        tracemalloc.stop()
