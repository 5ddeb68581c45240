"""How faults are entered: by the modules that plant them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["BY_MODULE", "Matcher", "Planted", "pair", "planted"]

Matcher = Callable[[list[str], str], list[int]]


@dataclass(frozen=True)
class Planted:
    name: str
    dialect: str
    match: Matcher
    kind: str
    """In which direction the fault shows: ``misses``, ``falsely matches``, or ``either``."""


BY_MODULE: dict[str, list[Planted]] = {}


def planted(dialect: str, kind: str) -> Callable[[Matcher], Matcher]:
    def enter(match: Matcher) -> Matcher:
        BY_MODULE.setdefault(match.__module__, []).append(Planted(match.__name__, dialect, match, kind))
        return match

    return enter


def pair(dialect: str, kind: str) -> Callable[[Callable[[str, str], bool]], Callable[[str, str], bool]]:
    """Enter a function of one pattern and a key."""

    def enter(one: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
        def match(patterns: list[str], key: str) -> list[int]:
            return [position for position, pattern in enumerate(patterns) if one(pattern, key)]

        BY_MODULE.setdefault(one.__module__, []).append(Planted(one.__name__, dialect, match, kind))
        return one

    return enter
