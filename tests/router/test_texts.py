"""Lists of texts as columns: by the kernel that parts them where one is worth loading, and by their lengths where not."""

from __future__ import annotations

import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest

import dfa_router as dr
from compiler.kernels.parting import part_texts
from compiler.kernels.tables import PADDING
from compiler.prepare import jit_enabled
from dfa_router.arrow import key_array, keys
from tests.borders import LENGTHS

compiled = pytest.mark.skipif(not jit_enabled(), reason="vectors are for compiled kernels")


def drawn_texts(rng: np.random.Generator, count: int, letters: str = "abc.") -> list[str]:
    lengths = rng.choice([0, 1, 2, *(size for size in LENGTHS if size < 200)], count)
    return ["".join(rng.choice(list(letters), length)) for length in lengths]


@compiled
@pytest.mark.parametrize("letters", ["abc.", "aé漢🐇.", "a\0b"])
@pytest.mark.parametrize("soon", [0, 1 << 62])
def test_a_list_of_texts_is_a_column_of_them(letters: str, soon: int) -> None:
    rng = np.random.default_rng(8)
    with patch("dfa_router.arrow.keys.SOON", soon):
        for count in [1, 2, 3, 63, 64, 65, 700]:
            texts = drawn_texts(rng, count, letters)
            column = key_array(texts)
            assert column.to_pylist() == texts
            column.validate(full=True)


@compiled
def test_the_kernel_parts_what_nobody_has_to_ask_for_lengths() -> None:
    texts = ["a.b", "", "c" * 300, "é"] * 100
    with (
        patch("dfa_router.arrow.keys.SOON", 0),
        patch("dfa_router.arrow.keys._measured", wraps=keys._measured) as measured,
    ):
        assert key_array(texts).to_pylist() == texts
        measured.assert_not_called()
        key_array(["a", "b\0c"])
        measured.assert_called_once()


@compiled
@pytest.mark.parametrize(("other", "expected"), [(b"a", [[0], [0]]), (None, [[0], None])])
def test_bytes_and_nulls_among_texts_are_keys_too(other: bytes | None, expected: list[list[int] | None]) -> None:
    with patch("dfa_router.arrow.keys.SOON", 0):
        assert dr.compile([("a", "q")], engine="naive").match_batch(["a", other]).bindings().to_pylist() == expected


@compiled
@pytest.mark.parametrize("wrong", [5, "\ud800"])
def test_what_is_no_key_among_texts_is_named(wrong: object) -> None:
    with patch("dfa_router.arrow.keys.SOON", 0), pytest.raises(dr.KeyTypeError, match=r"keys\[1\] is "):
        key_array(["a", wrong])


@compiled
def test_nothing_is_written_beyond_the_room_that_there_is() -> None:
    """Also where a list got longer between being counted and being joined."""
    joined = np.frombuffer(b"\0".join([b"abc", b"", b"d" * 130, b"e"]), np.uint8)
    for room in range(1, 7):
        offsets, data = np.full(room + 2, -7, np.int32), np.full(len(joined) + PADDING, 9, np.uint8)
        found = part_texts(joined, offsets[: room + 1], data[:-8])
        assert offsets[room + 1] == -7
        assert (data[-8:] == 9).all()
        assert found == 4 if room >= 4 else found > room
        if room >= 4:
            assert offsets[:5].tolist() == [0, 3, 3, 133, 134]
            assert data[:134].tobytes() == b"abc" + b"d" * 130 + b"e"


def test_engines_without_kernels_start_no_compiler_for_texts() -> None:
    code = """
import sys
import dfa_router as dr
from dfa_router.arrow import keys
keys.SOON = 0
assert dr.compile([("a", "q")], engine="naive").match_batch(["a"] * 3000).pair_count == 3000
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")
