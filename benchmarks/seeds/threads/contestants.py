"""The contestants of several threads: dynamic reference matchers with bindings that threads may change, as a router keeps them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Any

from dfa_router.engines.live import LiveMatcher, live_matcher
from dfa_router.language.bindings import Binding
from dfa_router.language.dialects import AMQP

__all__ = ["THREADED", "TRIES", "UNLOCKED", "bare", "live"]

THREADED: dict[str, tuple[str, dict[str, Any], bool]] = {
    "scan": ("scan", {}, False),
    "inverted": ("inverted", {}, True),
    "inverted_opt": ("inverted_opt", {}, False),
    "trie": ("trie", {}, False),
    "trie, branch-indexed": ("trie", {}, True),
    "cstrie": ("cstrie", {}, False),
    "cstrie, locked cells": ("cstrie", {"cells": "locked"}, False),
    "word_cache": ("word_cache", {}, False),
    "word_index": ("word_index", {}, False),
}
"""Label -> module of ``dfa_router.reference``, options, and whether it is built over a topic space."""
TRIES = ("trie", "cstrie", "cstrie, locked cells")
"""Those that are measured as in "Breaking and Entering", too; ``trie`` behind its lock stands there for gnatsd's."""
UNLOCKED = ("trie", "cstrie", "trie, branch-indexed")
"""Those that are measured without the interpreter's lock, where all cells of a CS-trie have locks."""


def bare(label: str, patterns: Sequence[str], topics: Sequence[str]) -> Any:
    """Build the engine alone."""
    module, options, needs_topics = THREADED[label]
    if needs_topics:
        options = {**options, "topics": list(topics)}
    engine = importlib.import_module(f"dfa_router.reference.{module}").ENGINE
    return engine.build([pattern.encode() for pattern in patterns], AMQP, **options)


def live(label: str, patterns: Sequence[str], topics: Sequence[str]) -> LiveMatcher:
    """Build the engine with its bindings: behind a lock if it needs one."""
    bindings = [Binding(pattern, "subscriber") for pattern in patterns]
    return live_matcher(bindings, bare(label, patterns, topics), AMQP, partial(bare, label, (), topics))
