"""The compiled trie, which the engine is measured against: it answers as the specification does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.compiled_trie import CompiledTrie
from dfa_router.reference.naive import matches

WORDS = ["a", "b", "c", "", "longer-than-8", "longer-than-9", "eightbyt"]
PATTERNS = st.lists(
    st.lists(st.sampled_from([*WORDS, "*", "#", "#"]), max_size=6).map(".".join), min_size=1, max_size=12
)
KEYS = st.lists(
    st.lists(st.sampled_from([*WORDS, "other", "longer-than-", "a\0"]), max_size=8).map(".".join), max_size=40
)


def answers(trie: CompiledTrie, keys: pa.Array) -> list[list[int]]:
    found = trie.match(keys)
    assert len(found.offsets) == len(keys) + 1
    return [sorted(found.positions[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]


def expected(patterns: list[str], keys: list[str]) -> list[list[int]]:
    return [[i for i, p in enumerate(patterns) if matches(p.encode(), key.encode())] for key in keys]


@given(PATTERNS, KEYS)
@settings(max_examples=400, deadline=None)
def test_it_answers_as_the_specification_does(patterns: list[str], keys: list[str]) -> None:
    assert answers(CompiledTrie(patterns), pa.array(keys, pa.string())) == expected(patterns, keys)


def test_each_key_is_found_once_below_many_hashes() -> None:
    """Nodes below a second ``#`` are reached on many paths; with over 64 of them a key's set has two numbers."""
    patterns = [f"#.{a}.#.{b}.#.{c}" for a in "abcde" for b in "abcde" for c in "abcd"]
    keys = ["a.b.c.a.b.c.a", "a", "", "e.e.e.d", "a.a.a.a.a.a.a.a.a.a"] * 100
    assert answers(CompiledTrie(patterns), pa.array(keys)) == expected(patterns, keys[:5]) * 100


def test_its_buffers_grow() -> None:
    """More pairs of key and node, more matches and more words than the first buffers hold."""
    patterns = [".".join(["*" if n >> bit & 1 else "a" for bit in range(8)]) for n in range(256)] + ["#"] * 300
    trie = CompiledTrie([*patterns, *(f"word-number-{i}.{i}" for i in range(5000))])
    keys = [".".join("a" * 8)] * 300 + ["b"] * 3 + ["word-number-4999.4999"]
    found = answers(trie, pa.array(keys))
    assert found[0] == list(range(556))
    assert found[0] == found[299]
    assert found[300] == list(range(256, 556))
    assert found[-1] == [*range(256, 556), 556 + 4999]


def test_sliced_columns_and_long_keys() -> None:
    patterns = ["x.#.end", "#." + "y" * 1000, "a.b"]
    keys = ["before", "x." * 5000 + "end", "q." * 300 + "y" * 1000, "a.b", "a.b.", "after"]
    assert answers(CompiledTrie(patterns), pa.array(keys).slice(1, 4)) == [[0], [1], [2], []]
    assert answers(CompiledTrie(patterns), pa.array([], pa.string())) == []


def test_other_columns_are_refused() -> None:
    with pytest.raises(TypeError, match="nulls"):
        CompiledTrie(["a"]).match(pa.array(["a", None]))
    with pytest.raises(TypeError, match="large_string"):
        CompiledTrie(["a"]).match(pa.array(["a"], pa.large_string()))


def test_it_shares_no_matching_code_with_the_engine() -> None:
    """Of the compiler it imports the decorators and machine instructions alone."""
    import benchmarks.compiled_trie as package

    imported = {
        line.split()[1]
        for source in (file.read_text("utf-8") for file in _sources(package.__path__[0]))
        for line in source.splitlines()
        if line.startswith(("from compiler", "from dfa_router", "import compiler", "import dfa_router"))
    }
    assert imported == {"compiler.kernels._jit"}


def _sources(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.py"))


def test_its_tables_are_of_one_type_each() -> None:
    """Each kernel is compiled once, whatever it was given before."""
    from benchmarks.compiled_trie.insertion import insert
    from benchmarks.compiled_trie.walking import walk

    trie = CompiledTrie(["a.#"])
    for keys in (pa.array(["a"]), pa.array(["a", "b" * 100]).slice(1), pa.array(["a.b"] * 1000)):
        trie.match(keys)
    kernels: list[Any] = [insert, walk]
    assert np.all([len(kernel.signatures) == 1 for kernel in kernels])
