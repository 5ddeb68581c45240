"""Where the compiled trie is found: it is measured against, so it lives in ``benchmarks/`` and is not installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa

__all__ = ["WHERE", "Opponent", "compiled_trie"]

WHERE = "not there: it is part of a checkout (pip install -e '.[bench]'), not of the installed package"


class Opponent(Protocol):
    """A matcher of columns, built from patterns."""

    @property
    def nbytes(self) -> int:
        """Bytes of its tables."""

    def match(self, keys: pa.Array) -> Any:
        """Return ``offsets`` and ``positions``: who matches each key."""


class _Maker(Protocol):
    def __call__(self, patterns: Sequence[str]) -> Opponent: ...


def compiled_trie() -> _Maker | None:
    """Return what builds the trie, or None where there is no checkout."""
    if importlib.util.find_spec("benchmarks") is None or importlib.util.find_spec("benchmarks.compiled_trie") is None:
        return None
    maker: _Maker = importlib.import_module("benchmarks.compiled_trie").CompiledTrie
    return maker
