"""Routers that are sealed: what becomes of the router, of answers, and of those who cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dfa_router as dr

BINDINGS = [("forex.*", "fx"), ("stock.#", "equities"), ("#", "audit"), ("#.usd", "fx")]
KEYS = ["forex.usd", "stock.nyse.ibm", "", "weather", "stock", "a.b.usd"]


def test_a_sealed_router_gives_the_answers_of_the_one_that_it_was_made_of() -> None:
    router = dr.compile(BINDINGS)
    sealed = router.seal(KEYS[:3])
    naive = dr.compile(BINDINGS, engine="naive").match_batch(KEYS)
    for keys in (KEYS, pa.array(KEYS), pa.array(KEYS).dictionary_encode(), pa.array([*KEYS, None])):
        found = sealed.match_batch(keys)
        assert found.destinations().to_pylist()[: len(KEYS)] == naive.destinations().to_pylist()
        assert found.bindings().to_pylist()[: len(KEYS)] == naive.bindings().to_pylist()
    assert [sealed.match(key) for key in KEYS] == [router.match(key) for key in KEYS]
    assert (sealed.bindings, sealed.dialect, sealed.engine) == (router.bindings, router.dialect, router.engine)
    assert sealed.stats().sealed_keys > 0
    assert router.stats().sealed_states == 0  # it stays as it is
    assert sealed.stats().capacity == router.stats().capacity


def test_keys_are_matched_until_they_are_known() -> None:
    """A cache of a large automaton builds a transition only when it was asked for several times."""
    bindings = [(f"site.{i}.*.{i % 977}.{j}", "q") for i in range(30_000) for j in "ab"]
    router = dr.compile(bindings)
    keys = [f"site.{i}.dev.{i % 977}.a" for i in range(0, 30_000, 10)]
    sealed = router.seal(keys)
    sealed.match_batch(keys)
    found = sealed.stats()
    assert found.sealed_keys == found.keys == len(keys)


class Once:
    """What hands its rows over a single time, as Arrow's interface allows."""

    def __init__(self, keys: list[str]) -> None:
        self._left = [pa.chunked_array([keys])]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._left.pop().__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("form", [iter, Once, lambda keys: pa.table({"key": keys}).to_reader()])
def test_keys_that_can_be_read_once_teach_as_much_as_a_list(form: Callable[[list[str]], Any], tmp_path: Path) -> None:
    path = tmp_path / "large.dfar"
    dr.compile([(f"site.{i}.*.{i % 977}.{j}", "q") for i in range(30_000) for j in "ab"]).save(path)
    keys = [f"site.{i}.dev.{i % 977}.a" for i in range(0, 30_000, 10)]
    # In a narrow cache a doorkeeper has a transition built when it was asked for several times.
    sealed, again = (dr.load(path, cache_bytes=4 << 20).seal(given) for given in (keys, form(keys)))
    assert again.stats().sealed_states == sealed.stats().sealed_states > len(keys)


def test_keys_to_be_sealed_need_no_order() -> None:
    router = dr.compile([("a.*", "q"), ("#.b", "r")])
    assert router.seal({"a.b", "a.c"}).stats().sealed_states == router.seal(["a.b", "a.c"]).stats().sealed_states > 0


def test_a_sealed_router_is_sealed_again_by_keys_alone() -> None:
    router = dr.compile(BINDINGS).seal(["forex.usd"])
    router.match_batch(["stock.x.y"])
    with pytest.raises(dr.OptionError, match="give keys"):
        router.seal()
    again = router.seal(["stock.x.y", "forex.usd"])
    again.match_batch(["stock.x.y", "forex.usd"])
    assert (again.stats().sealed_keys, again.stats().states) == (2, 0)


@pytest.mark.parametrize(
    ("engine", "dialect"), [("nfa", "amqp"), ("trie", "amqp"), ("naive", "amqp"), ("nfa", "mqtt"), ("nfa", "nats")]
)
def test_other_engines_have_nothing_to_seal(engine: str, dialect: str) -> None:
    with pytest.raises(dr.OptionError, match="engine='dfa'"):
        dr.compile([("a", "x")], engine=engine, dialect=dialect).seal(["a", "b"])


@pytest.mark.parametrize("dialect", ["amqp", "mqtt"])
def test_nothing_is_sealed_where_kernels_are_not_compiled_and_the_error_says_why(dialect: str) -> None:
    ask = f"""
import dfa_router as dr
try:
    dr.compile([("a", "x")], dialect={dialect!r}).seal(["a", "b"])
except dr.OptionError as error:
    print(error)
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("without NUMBA_DISABLE_JIT")


def test_a_cache_that_knows_nothing_is_not_sealed() -> None:
    with pytest.raises(dr.OptionError, match="give keys"):
        dr.compile(BINDINGS).seal()
    with pytest.raises(dr.OptionError, match="give keys"):
        dr.compile(BINDINGS, cache_bytes=0).seal(KEYS)


def test_what_had_no_room_is_not_told_as_keys_that_were_not_given() -> None:
    with pytest.raises(dr.OptionError, match=r"no room for what these keys need.*more cache_bytes"):
        dr.compile(BINDINGS, cache_bytes=100).seal(KEYS)
    with pytest.raises(dr.OptionError, match=r"knows nothing.*: give keys, or match some first$"):
        dr.compile(BINDINGS).seal([])
