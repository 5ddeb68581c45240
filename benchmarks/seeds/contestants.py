"""The contestants: every engine, some with several options; and the random topics that they are given."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from dfa_router.engines.protocol import Matcher
from dfa_router.engines.registry import engine_info, engine_spec, engines
from dfa_router.language.dialects import AMQP

__all__ = ["CONTESTANTS", "Contestant", "contestant", "random_topics"]

_OWN_OPTIONS: dict[str, list[tuple[str, dict[str, Any], bool]]] = {
    "scan": [("scan, split every time", {"split": "every"}, False)],
    "trie": [("trie, branch-indexed", {}, True)],
    "cstrie": [("cstrie, locked cells", {"cells": "locked"}, False)] * (find_spec("cereggii") is not None),
    "dfa": [],
}
"""Engine -> (label, options, whether it is built over a topic space) of further contestants, beside the engine's defaults."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """An engine with its options."""

    label: str
    engine: str
    options: dict[str, Any] = field(default_factory=dict)
    needs_topics: bool = False

    @property
    def dynamic(self) -> bool:
        """Whether subscriptions can be added and removed one by one."""
        return engine_info(self.engine).dynamic

    def build(self, patterns: Sequence[str], topics: Sequence[str]) -> Matcher:
        """Build the bare engine, without a router around it."""
        info = engine_info(self.engine)
        options = dict(self.options) | ({"topics": list(topics)} if self.needs_topics else {})
        if "cache_bytes" in info.options:
            options.setdefault("cache_bytes", 64 << 20)
        return engine_spec(self.engine).build([pattern.encode() for pattern in patterns], AMQP, **options)


CONTESTANTS = [
    contestant
    for name in engines()
    for contestant in [
        Contestant(name, name, {}, engine_info(name).needs_topics),
        *(Contestant(label, name, options, topics) for label, options, topics in _OWN_OPTIONS.get(name, [])),
    ]
]
"""All contestants, in the order of the engines."""


def contestant(label: str) -> Contestant:
    """Return the contestant of that label."""
    return next(one for one in CONTESTANTS if one.label == label)


def random_topics(count: int, words: int = 5, *, seed: int = 2016) -> list[str]:
    """Make ``count`` distinct topics of random words.

    >>> len(set(random_topics(100)))
    100
    """
    chance = random.Random(seed)
    topics: dict[str, None] = {}
    while len(topics) < count:
        topics[".".join(f"{chance.getrandbits(31):x}" for _ in range(words))] = None
    return list(topics)
