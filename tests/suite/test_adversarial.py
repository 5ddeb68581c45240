"""Families that no cache can hold, at sizes for every day: right answers, bounded bytes, and counters that prove both.

``python -m benchmarks engine adversarial`` runs the same at full size.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import dfa_router as dr
from benchmarks.engine.adversarial import (
    Case,
    check,
    de_bruijn,
    leading_hashes,
    stars_behind_a_hash,
    words_anywhere,
)

CASES = {
    "#.a.*^4": partial(stars_behind_a_hash, 4),
    "#.a.*^9": partial(stars_behind_a_hash, 9),
    "#.a.*^14": partial(stars_behind_a_hash, 14),
    "#.w_i.#, 5": partial(words_anywhere, 5),
    "#.w_i.#, 13": partial(words_anywhere, 13),
    "800 leading #": partial(leading_hashes, 800, 3000),
}


@pytest.mark.parametrize("cache_bytes", [0, 2000, 16_384, 1 << 20, 64 << 20])
@pytest.mark.parametrize("name", CASES)
def test_answers_are_right_and_bytes_bounded(name: str, cache_bytes: int) -> None:
    """``check`` compares every row with the family's formula or the compiled trie, and some with the reference trie."""
    check(CASES[name](), cache_bytes, sample=40)


@pytest.mark.parametrize("name", ["#.a.*^14", "#.w_i.#, 13", "800 leading #"])
def test_a_small_cache_is_cleared_and_given_up_on(name: str) -> None:
    case = CASES[name]()
    _, stats = check(case, 16_384, sample=10)
    assert stats.clears > 0
    assert stats.fallbacks > 0
    assert stats.keys == len(case.keys)
    assert stats.bytes <= stats.capacity == 16_384


def test_a_cache_that_holds_all_states_has_all_states() -> None:
    """2^(n+1) states of ``#.a.*^n``, and as many of ``#.w_i.#`` as there are subsets, no more and no fewer."""
    _, stats = check(stars_behind_a_hash(6), 64 << 20)
    assert (stats.states, stats.clears, stats.fallbacks) == (2**7, 0, 0)
    _, stats = check(words_anywhere(6), 64 << 20)
    assert (stats.states, stats.accept_sets, stats.fallbacks) == (2**6, 2**6, 0)


def test_a_wrong_answer_is_caught() -> None:
    """Cases that expect something else than they get: one of pairs, one of positions, one that only a judge can tell."""
    case = stars_behind_a_hash(5)
    assert case.pairs is not None
    with pytest.raises(AssertionError, match="pairs"):
        check(replace(case, pairs=1 - case.pairs), 1 << 20)
    case = words_anywhere(5)
    assert case.sums is not None
    with pytest.raises(AssertionError, match="sums of positions"):
        check(replace(case, sums=case.sums + 1), 1 << 20)


def test_the_judge_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine whose batches are empty is caught by the compiled trie, and by the reference trie alone as well."""
    from benchmarks.engine import adversarial

    compiled = dr.compile

    def blind(bindings: list[tuple[str, str]], **options: Any) -> dr.Router:
        return compiled(bindings if "engine" in options else [("nothing.at.all", "q")], **options)

    monkeypatch.setattr(dr, "compile", blind)
    with pytest.raises(AssertionError, match="contestants disagree"):
        check(leading_hashes(50, 200), 1 << 20)
    monkeypatch.setattr(adversarial, "agree", lambda *_: None)
    with pytest.raises(AssertionError, match="matches"):
        check(leading_hashes(50, 200), 1 << 20)


@pytest.mark.parametrize("n", range(1, 13))
def test_a_de_bruijn_sequence_has_every_run_once(n: int) -> None:
    sequence = de_bruijn(n)
    again = np.concatenate([sequence, sequence[: n - 1]])
    runs = {tuple(again[i : i + n].tolist()) for i in range(len(sequence))}
    assert len(sequence) == len(runs) == 2**n


def test_the_keys_hold_every_run() -> None:
    """Cutting the sequence into keys loses no run of n + 1 words."""
    n = 7
    runs = set()
    for key in stars_behind_a_hash(n).keys.to_pylist():
        words = key.split(".")
        runs |= {tuple(words[i : i + n + 1]) for i in range(len(words) - n)}
    assert len(runs) == 2 ** (n + 1)


def test_every_subset_of_the_words_has_its_key() -> None:
    case: Case = words_anywhere(6)
    subsets = {frozenset(key.split(".")) - {"stranger", ""} for key in case.keys.to_pylist()}
    assert len(subsets) == len(case.keys) == 2**6
