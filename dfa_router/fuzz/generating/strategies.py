"""Hypothesis strategies over the same generators that campaigns use.

They need the package hypothesis (``pip install hypothesis``), and shrink to small words and few bindings::

    @given(st.data())
    def test_my_matcher(data):
        bindings = data.draw(binding_sets("mqtt"))
        key = data.draw(keys_for(bindings, "mqtt"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dfa_router.errors import EnvironmentLacksError, OptionError
from dfa_router.fuzz.generating.choices import DrawnChoices
from dfa_router.fuzz.generating.classes import classes_of
from dfa_router.fuzz.generating.language import Language, language_of
from dfa_router.fuzz.generating.making import Maker, text
from dfa_router.fuzz.generating.rounds import Size, invalid_pattern, make_round
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Round

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["binding_sets", "keys_for", "patterns", "rounds"]


def patterns(dialect: str | Dialect = "amqp") -> SearchStrategy[str]:
    """Return a strategy for valid patterns of a dialect, of every class of historic bug."""
    language = language_of(dialect_named(dialect))

    def build(make: Maker) -> str:
        if make.below(2):
            found = [text(make.allowed(words), language) for words in make.pick(classes_of(language)).sketch(make)[0]]
            found = [pattern for pattern in found if invalid_pattern(pattern, language.dialect) is None]
            if found:
                return make.pick(found)
        pattern = text(make.pattern(), language)
        return pattern if invalid_pattern(pattern, language.dialect) is None else "a"

    return _drawn(language, build)


def binding_sets(
    dialect: str | Dialect = "amqp", *, min_size: int = 1, max_size: int = 6
) -> SearchStrategy[list[tuple[str, str]]]:
    """Return a strategy for binding lists as ``dr.compile`` takes them: (pattern, destination) pairs.

    Patterns of a set are related: prefixes of each other, literals beside wildcards, duplicates.
    """
    if not 0 <= min_size <= max_size:
        raise OptionError(f"min_size is {min_size} and max_size {max_size}: expected 0 <= min_size <= max_size")
    language = language_of(dialect_named(dialect))

    def build(make: Maker) -> list[tuple[str, str]]:
        size = min_size + make.below(max_size - min_size + 1)
        if size == 0:
            return []
        made = make_round(make.choices, language, make.pick(classes_of(language)), Size(size, 1)).patterns
        chosen = _some(make, [made[place % len(made)] for place in range(size)], max(1, min_size))
        return [(pattern, f"q{make.below(size)}") for pattern in chosen]

    return _drawn(language, build)


def keys_for(bindings: Sequence[str | tuple[str, str]], dialect: str | Dialect = "amqp") -> SearchStrategy[str]:
    """Return a strategy for keys that the bindings (patterns, or pairs that begin with one) match, or nearly match."""
    language = language_of(dialect_named(dialect))
    words = [
        pattern.split(language.separator) if pattern else []
        for pattern in (entry if isinstance(entry, str) else entry[0] for entry in bindings)
    ]

    def build(make: Maker) -> str:
        if not words or make.once_in(12):
            return text(make.key(), language)
        key = make.matching(make.pick(words))
        for _ in range(make.below(3)):
            key = make.changed(key)
        return text(key, language)

    return _drawn(language, build)


def rounds(dialect: str | Dialect = "amqp", *, patterns: int = 4, keys: int = 8) -> SearchStrategy[Round]:
    """Return a strategy for whole rounds: up to so many related patterns, and keys that are aimed at them."""
    language = language_of(dialect_named(dialect))

    def build(make: Maker) -> Round:
        first = make.pick(classes_of(language))
        made = make_round(make.choices, language, first, Size(1 + make.below(patterns), 1 + make.below(keys)))
        return Round(
            patterns=tuple(_some(make, made.patterns, 1)), keys=tuple(_some(make, made.keys, 1)), classes=made.classes
        )

    return _drawn(language, build)


def _some(make: Maker, made: Sequence[str], fewest: int) -> list[str]:
    """Leave some out: the simplest choice leaves out as many as it may, so that shrinking does."""
    kept = list(made)
    for place in range(len(kept) - 1, -1, -1):
        if len(kept) > fewest and make.below(4) == 0:
            del kept[place]
    return kept


def _drawn(language: Language, build: Callable[[Maker], Any]) -> SearchStrategy[Any]:
    try:
        from hypothesis import strategies as st
    except ImportError as error:
        raise EnvironmentLacksError(
            "the strategies need the package hypothesis: pip install 'dfa-router[fuzz]', or pip install hypothesis"
        ) from error

    @st.composite
    def strategy(draw: Callable[[SearchStrategy[int]], int]) -> Any:
        return build(Maker(DrawnChoices(lambda bound: draw(st.integers(0, bound - 1))), language))

    return strategy()
