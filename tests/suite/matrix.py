"""Every engine in every configuration that it has, and every way of asking: what the suite of cases is run over.

An engine that is entered in ``dfa_router.engines`` is run with its defaults; a configuration more is one line here.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

import dfa_router as dr
from dfa_router.engines.registry import engine_spec

__all__ = ["CONFIGURATIONS", "WAYS", "Configuration"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """An engine and the options that it is built with."""

    engine: str
    options: dict[str, Any]
    needs_topics: bool = False
    """Built over a topic space, which is the keys that it will be asked."""

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.options.items()] + ["topics"] * self.needs_topics
        return f"{self.engine}({', '.join(given)})"

    @property
    def info(self) -> dr.EngineInfo:
        return dr.engine_info(self.engine)

    def speaks(self, dialect: str | dr.Dialect) -> bool:
        """Tell whether it can be built for a dialect; what is built over a topic space knows no further rules."""
        language = dr.dialect_named(dialect)
        return self.info.speaks(language) and (language.plain or not (self.needs_topics or "topics" in self.options))

    def router(
        self, bindings: Sequence[tuple[str, str]], keys: Sequence[str], dialect: str | dr.Dialect = "amqp"
    ) -> dr.Router:
        topics: dict[str, Any] = {"topics": list(keys)} if self.needs_topics else {}
        return dr.compile(bindings, engine=self.engine, dialect=dialect, **self.options, **topics)


# Beside each engine's defaults: options, and whether it is built over the topic space.
_FURTHER: dict[str, list[tuple[dict[str, Any], bool]]] = {
    "dfa": [
        ({"key_cache": "on"}, False),
        ({"cache_bytes": 1}, False),
        ({"cache_bytes": 4096}, False),
        ({"cache_bytes": 1 << 40}, False),
    ],
    "codegen": [({"max_states": 4}, False)],
    "scan": [({"split": "every"}, False)],
    "trie": [({}, True), ({"topics": (), "unknown": "add"}, False)],
    "inverted": [({"unknown": "add"}, False)],
    "cstrie": [({"cells": "locked"}, False)] + [({"cells": "atomic"}, False)] * (find_spec("cereggii") is not None),
    "word_cache": [({"max_words": 1}, False)],
}

CONFIGURATIONS = [
    configuration
    for name in dr.engines()
    for configuration in [
        Configuration(name, {}, dr.engine_info(name).needs_topics),
        *(Configuration(name, options, topics) for options, topics in _FURTHER.get(name, [])),
    ]
]


def _one_by_one(router: dr.Router, keys: Sequence[str]) -> list[list[int]]:
    return [list(router.match_bindings(key)) for key in keys]


def _as_bytes(router: dr.Router, keys: Sequence[str]) -> list[list[int]]:
    return [list(router.match_bindings(key.encode())) for key in keys]


def _pickled(router: dr.Router, keys: Sequence[str]) -> list[list[int]]:
    return _one_by_one(pickle.loads(pickle.dumps(router)), keys)


def _saved(router: dr.Router, keys: Sequence[str]) -> list[list[int]]:
    """Ask what comes back from a file; an engine that has no files is asked as it is."""
    if engine_spec(router.engine.name).restore is None:
        return _one_by_one(router, keys)
    with tempfile.TemporaryDirectory() as folder:
        router.save(f"{folder}/router")
        return _one_by_one(dr.load(f"{folder}/router"), keys)


def _batch(column: Callable[[Sequence[str]], Any]) -> Callable[[dr.Router, Sequence[str]], list[list[int]]]:
    def ask(router: dr.Router, keys: Sequence[str]) -> list[list[int]]:
        rows: list[list[int]] = router.match_batch(column(keys)).bindings().to_pylist()
        return rows

    return ask


def _sliced(keys: Sequence[str]) -> pa.Array:
    return pa.array(["before", *keys, "after"], pa.string()).slice(1, len(keys))


def _chunked(keys: Sequence[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array([key], pa.string()) for key in keys], pa.string())


WAYS: dict[str, Callable[[dr.Router, Sequence[str]], list[list[int]]]] = {
    "one by one": _one_by_one,
    "as bytes": _as_bytes,
    "after pickling": _pickled,
    "after saving": _saved,
    "list": _batch(list),
    "string": _batch(lambda keys: pa.array(keys, pa.string())),
    "large_string": _batch(lambda keys: pa.array(keys, pa.large_string())),
    "binary": _batch(lambda keys: pa.array([key.encode() for key in keys], pa.binary())),
    "sliced": _batch(_sliced),
    "chunked": _batch(_chunked),
    "dictionary": _batch(lambda keys: pa.array([*keys, *keys], pa.string()).dictionary_encode().slice(0, len(keys))),
}
"""How a router can be asked for the positions of a list of keys."""
