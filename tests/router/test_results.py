"""What an answer says of itself; and answers that are larger than an Arrow column can be, told before anything of that size is made."""

from __future__ import annotations

import pyarrow as pa
import pytest

import dfa_router as dr


def test_an_answer_says_what_it_holds() -> None:
    router = dr.compile([("a.*", "q"), ("a.b", "p")])
    assert repr(router.match_batch(["a.b", "a.c", "d"])) == "<Matches: 3 keys, 3 pairs, 3 sets>"
    assert repr(router.match_batch(["a.c"])) == "<Matches: 1 key, 1 pair, 1 set>"


def test_more_pairs_than_a_list_column_can_hold_are_an_error_before_they_are_made() -> None:
    """Arrow's own take does not notice: the offsets of its lists become negative."""
    router = dr.compile([("#", f"q{number % 4}") for number in range(5000)])
    matches = router.match_batch(pa.nulls(500_000, pa.string()).fill_null("a.b"))
    assert matches.pair_count == 2_500_000_000
    with pytest.raises(dr.CapacityError, match=r"has 2,500,000,000 entries.*smaller batches, or use set_ids and sets"):
        matches.bindings()
    assert matches.sets[matches.set_ids[0].as_py()].as_py() == list(range(5000))
    assert len(matches.destinations()) == 500_000  # four entries each


def test_more_bytes_of_destinations_than_a_text_column_can_hold_are_an_error_before_they_are_made() -> None:
    router = dr.compile([("#", f"{number}-" + "x" * 20_000) for number in range(100)])
    matches = router.match_batch(["a"] * 1100 + [None])
    with pytest.raises(dr.CapacityError, match=r"has 2,200,319,000 bytes of names.*smaller batches"):
        matches.destinations()
    assert len(matches.bindings()) == 1101
    assert len(router.match_batch(["a"] * 3).destinations().flatten()) == 300


def test_sets_of_an_answer_may_name_more_bytes_than_a_text_column_can_hold() -> None:
    """A set for each key, and each destination with a long name."""
    words = [f"w{number}" for number in range(12)]
    router = dr.compile([(f"#.{word}.#", word * 60_000) for word in words])
    keys = [".".join(word for at, word in enumerate(words) if number >> at & 1) for number in range(4096)]
    assert router.match_batch(keys[1:2]).destinations().to_pylist() == [["w0" * 60_000]]
    matches = router.match_batch(keys)
    with pytest.raises(dr.CapacityError, match="bytes of names"):
        matches.destinations()
    assert matches.pair_count == 6 * 4096
    assert router.match_batch(keys[3:4]).destinations().to_pylist() == [["w0" * 60_000, "w1" * 60_000]]
