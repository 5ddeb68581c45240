"""How the answers of contestants are compared: the number of (key, binding) pairs, and the sum of the bindings' positions.

Two numbers are compared, not lists: that costs milliseconds for millions of pairs, whatever the order of an answer. What it
leaves out: answers that are wrong and add up to the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import dfa_router as dr
from benchmarks.compiled_trie import Found

__all__ = ["agree", "summary", "trie_summary"]

Summary = tuple[int, int]
"""Pairs, and the sum of their bindings' positions."""


def summary(matches: dr.Matches) -> Summary:
    """Summarise a router's answer; each accept set is summed once and weighted by the number of its keys."""
    sets, ids = matches.sets, matches.set_ids
    return _weighted(
        sets.offsets.to_numpy(), sets.values.to_numpy(), np.bincount(ids.drop_null().to_numpy(), minlength=len(sets))
    )


def trie_summary(found: Found, keys: pa.Array) -> Summary:
    """Summarise the compiled trie's answer for keys, or for the dictionary of keys that are dictionary-encoded."""
    rows = len(found.offsets) - 1
    encoded = pa.types.is_dictionary(keys.type)
    weights = np.bincount(keys.indices.to_numpy(), minlength=rows) if encoded else np.ones(rows, np.int64)
    return _weighted(found.offsets, found.positions, weights)


def agree(what: str, summaries: Mapping[str, Summary]) -> None:
    """Raise ``AssertionError`` unless all summaries are the same; ``what`` says what was matched."""
    assert len(set(summaries.values())) <= 1, f"{what}: contestants disagree on (pairs, sum of positions): {summaries}"


def _weighted(offsets: Any, positions: Any, weights: Any) -> Summary:
    sums = np.concatenate(([0], np.cumsum(positions, dtype=np.int64)))
    pairs = int((np.diff(offsets.astype(np.int64)) * weights).sum())
    return pairs, int(((sums[offsets[1:]] - sums[offsets[:-1]]) * weights).sum())
