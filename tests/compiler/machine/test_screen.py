"""Keys that match nothing by a rule: the kernel against the plain test, and both against keys built to fail in one place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.machine.screen import Screen
from compiler.values import KeyColumn
from tests.borders import LENGTHS, between

SCREENS = [
    Screen(separator=b".", empty_text=empty_text, empty_words=empty_words, wrong=wrong, prefix=prefix)
    for empty_text in (True, False)
    for empty_words in (True, False)
    for wrong in (b"", b"+", b"+#\0", b"\xff.")
    for prefix in (b"", b"$", b"#P2P", b"a.b", b"p" * 70)
]
PIECES = st.sampled_from(
    [b"a", b"b", b".", b"..", b"+", b"\0", b"\xff", b"$", b"#P2P", b"p" * 69, b"w" * 63, b"w" * 64]
)
KEYS = st.lists(st.lists(PIECES, max_size=8).map(b"".join), max_size=40)


def column(keys: Sequence[bytes], before: bytes = b"") -> KeyColumn:
    """Lay keys out as Arrow does, behind some bytes that are no key's, and with nothing behind the last."""
    offsets = np.full(len(keys) + 1, len(before), np.int32)
    offsets[1:] += np.cumsum([len(key) for key in keys], dtype=np.int32)
    return KeyColumn(offsets, np.frombuffer(before + b"".join(keys), np.uint8), None)


@given(st.sampled_from(SCREENS), KEYS, st.sampled_from([b"", b".", b"a.", b"$+" * 50]))
@settings(max_examples=500, deadline=None)
def test_the_kernel_says_what_the_plain_test_says(screen: Screen, keys: list[bytes], before: bytes) -> None:
    expected = [screen.passes(key) for key in keys]
    assert screen.mask(column(keys, before)).tolist() == expected
    assert screen.mask(column(keys, before), jit=False).tolist() == expected


@given(st.sampled_from(SCREENS), KEYS)
@settings(max_examples=200, deadline=None)
def test_the_plain_test_says_what_the_rules_say(screen: Screen, keys: list[bytes]) -> None:
    for key in keys:
        rules = [
            key != b"" or screen.empty_text,
            key == b"" or screen.empty_words or all(key.split(b".")),
            not any(byte in screen.wrong for byte in key),
            screen.prefix == b"" or key[: len(screen.prefix)] != screen.prefix,
        ]
        assert screen.passes(key) is all(rules)


@pytest.mark.parametrize("length", between(LENGTHS, 1, 500))
def test_one_wrong_byte_at_every_place_of_a_key(length: int) -> None:
    """The first and the last byte, those around blocks of 64, and the bytes beside a key, which are not its own."""
    screen = Screen(separator=b"/", empty_words=False, wrong=b"!", prefix=b"?")
    clean = b"w" * length
    keys = [clean[:at] + b"!" + clean[at + 1 :] for at in range(length)]
    assert not screen.mask(column(keys)).any()
    assert screen.mask(column([clean])).all()
    between = [key for wrong in keys for key in (wrong, clean)]
    assert screen.mask(column(between, b"!/")).tolist() == [False, True] * length
    # A separator makes an empty word at either end only, and two of them anywhere.
    single = [clean[:at] + b"/" + clean[at + 1 :] for at in range(length)]
    assert screen.mask(column(single)).tolist() == [0 < at < length - 1 for at in range(length)]
    double = [clean[:at] + b"//" + clean[at:] for at in range(length + 1)]
    assert not screen.mask(column(double)).any()
    # Keys that end with a separator, next to keys that begin with one: each key by itself.
    assert screen.mask(column([b"w/", b"w", b"/w", b"w/w", b"?", b"w?"])).tolist() == [
        False,
        True,
        False,
        True,
        False,
        True,
    ]


def test_a_column_without_bytes() -> None:
    for empty_text in (True, False):
        screen = Screen(separator=b".", empty_text=empty_text, empty_words=False, wrong=b"+", prefix=b"a")
        assert screen.mask(column([b"", b""])).tolist() == [empty_text] * 2
        assert screen.mask(column([])).tolist() == []


def test_a_column_of_many_keys() -> None:
    """More keys than are handled at once, the wrong ones known by their number."""
    screen = Screen(separator=b".", empty_words=False, wrong=b"+")
    keys = [b"a..%d" % i if i % 7 == 0 else b"a.+%d" % i if i % 11 == 0 else b"a.%d" % i for i in range(20_000)]
    expected = np.array([i % 7 != 0 and i % 11 != 0 for i in range(20_000)])
    assert np.array_equal(screen.mask(column(keys)), expected)
