"""Random binding sets with streams of keys and bounds on the cache, and what the engine does with them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

import dfa_router as dr
from dfa_router.cli.page_dialects import page_dialect
from dfa_router.language.dialects import DIALECTS, Dialect

CAPACITIES = (
    0,
    1000,
    1200,
    1300,
    1500,
    2000,
    2500,
    3000,
    4000,
    6000,
    10_000,
    16_384,
    20_000,
    30_000,
    70_000,
    1 << 20,
    64 << 20,
)


@dataclass(frozen=True)
class Stream:
    """Keys for a router of these patterns, whose cache takes so many bytes."""

    patterns: list[str]
    dialect: Dialect
    capacity: int
    keys: list[str]

    def question(self) -> dict[str, Any]:
        """Return it as ``ask.js`` takes it."""
        return {
            "what": "stream",
            "patterns": self.patterns,
            "dialect": page_dialect(self.dialect),
            "capacity": self.capacity,
            "keys": self.keys,
        }

    def router(self) -> dr.Router:
        """Return a router of these bindings."""
        bindings = [(pattern, pattern) for pattern in self.patterns]
        return dr.compile(bindings, dialect=self.dialect, cache_bytes=self.capacity)

    def traced(self) -> list[dict[str, Any]]:
        """Return what the engine does, as JSON has it."""
        traces: list[dict[str, Any]] = json.loads(
            json.dumps([one.as_dict() for one in dr.trace(self.router(), self.keys)])
        )
        return traces


def random_streams(seed: int, count: int) -> list[Stream]:
    """Return streams of all dialects: from one pattern to sixty, from two words to forty, from no cache to an ample one."""
    choose = random.Random(seed)
    return [choose.choice([_mixed, _mixed, _mixed, _blow_up, _tight, _strays])(choose) for _ in range(count)]


def _blow_up(
    choose: random.Random, capacities: tuple[int, ...] = CAPACITIES, counts: tuple[int, ...] = (5, 60)
) -> Stream:
    """Return a set with so many states that building them is paused, and keys that ask for them."""
    patterns = [".".join(["#", "a", *["*"] * choose.randint(2, 11)]) for _ in range(choose.randint(1, 2))]
    keys = [".".join(choose.choices("abc", k=choose.randint(8, 40))) for _ in range(choose.choice(counts))]
    return Stream(patterns, dr.AMQP, choose.choice(capacities), keys)


def _tight(choose: random.Random) -> Stream:
    """Return one of them whose cache has room for whole keys, until its tables near the bound."""
    return _blow_up(choose, (16_384, 20_000, 30_000, 70_000), (60,))


def _strays(choose: random.Random) -> Stream:
    """Return a set in which one state has many literals, and keys with words that are literals of other states."""
    words = [f"w{i}" for i in range(60)]
    patterns = [*(f"a.#.{word}.c" for word in words[:20]), *(f"b.{word}" for word in words[20:])]
    keys = [".".join(["a", *choose.choices(words, k=choose.randint(2, 9))]) for _ in range(choose.choice([20, 100]))]
    return Stream(patterns, dr.AMQP, choose.choice(CAPACITIES), keys)


def _mixed(choose: random.Random) -> Stream:
    dialect = DIALECTS[choose.choice(["amqp"] * 5 + list(DIALECTS))]
    separator = dialect.separator.decode()
    words = [chr(97 + i % 26) + str(i // 26 or "") for i in range(choose.choice([2, 3, 5, 12, 40]))]
    words += ["$a"] if dialect.reserved else [""]
    wild = [word.decode() for word in (dialect.one, dialect.many, dialect.some) if word]
    patterns: list[str] = []
    wanted, longest = choose.choice([1, 2, 4, 8, 20, 60]), choose.choice([3, 6, 9])
    while len(patterns) < wanted:
        spelt = [
            choose.choice(wild if wild and choose.random() < 0.4 else words) for _ in range(choose.randint(1, longest))
        ]
        pattern = separator.join(spelt)
        if dr.pattern_problem(pattern, dialect) is None:
            patterns.append(pattern)
    words, longest = [*words, "zz"], choose.choice([3, 8, 20])
    keys = [
        separator.join(choose.choice(words) for _ in range(choose.randint(0, longest)))
        for _ in range(choose.choice([3, 10, 60, 200]))
    ]
    return Stream(patterns, dialect, choose.choice(CAPACITIES), keys)
