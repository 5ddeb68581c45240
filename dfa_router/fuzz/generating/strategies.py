"""Hypothesis strategies over the same generators that campaigns use.

They need the package hypothesis (``pip install hypothesis``). Failing examples shrink to few bindings and short words::

    @given(st.data())
    def test_my_matcher(data):
        bindings = data.draw(binding_sets("mqtt"))
        key = data.draw(keys_for(bindings, "mqtt"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dfa_router.errors import BindingError, EnvironmentLacksError, OptionError
from dfa_router.fuzz.generating.choices import DrawnChoices
from dfa_router.fuzz.generating.classes import classes_of
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.generating.making import Maker, text
from dfa_router.fuzz.generating.rounds import Size, make_round
from dfa_router.fuzz.validity import invalid_pattern
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Round
from dfa_router.whole_numbers import whole_number

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["binding_sets", "keys_for", "patterns", "rounds"]


def patterns(dialect: str | Dialect = "amqp") -> SearchStrategy[str]:
    """Return a strategy for valid patterns of a dialect, of every class of historic bug."""

    def build(make: Maker) -> str:
        language = make.language
        if make.below(2):
            found = [text(make.allowed(words), language) for words in make.pick(classes_of(language)).sketch(make)[0]]
            found = [pattern for pattern in found if invalid_pattern(pattern, language.dialect) is None]
            if found:
                return make.pick(found)
        pattern = text(make.pattern(), language)
        return pattern if invalid_pattern(pattern, language.dialect) is None else "a"

    return _drawn(dialect, build)


def binding_sets(
    dialect: str | Dialect = "amqp", *, min_size: int = 1, max_size: int = 6
) -> SearchStrategy[list[tuple[str, str]]]:
    """Return a strategy for binding lists as ``dr.compile`` takes them: (pattern, destination) pairs.

    Patterns of a set are related: prefixes of each other, literals beside wildcards, duplicates.

    Raises :class:`OptionError` for an unknown dialect, and for sizes that are no numbers of bindings or of which ``min_size`` is the larger.
    """
    min_size = whole_number("min_size", min_size, 0, "a number of bindings from 0 up")
    max_size = whole_number("max_size", max_size, 0, "a number of bindings from 0 up")
    if min_size > max_size:
        raise OptionError(f"min_size is {min_size} and max_size {max_size}: expected 0 <= min_size <= max_size")

    def build(make: Maker) -> list[tuple[str, str]]:
        size = min_size + make.below(max_size - min_size + 1)
        if size == 0:
            return []
        first = make.pick(classes_of(make.language))
        made = make_round(make.choices, make.language, first, Size(size, 1)).patterns
        chosen = _some(make, [made[place % len(made)] for place in range(size)], max(1, min_size))
        return [(pattern, f"q{make.below(size)}") for pattern in chosen]

    return _drawn(dialect, build)


def keys_for(bindings: Iterable[str | tuple[str, str]], dialect: str | Dialect = "amqp") -> SearchStrategy[str]:
    """Return a strategy for keys that the bindings match or nearly match.

    A binding is a pattern, or a pair that begins with one.

    Raises :class:`OptionError` for an unknown dialect, and :class:`BindingError` for what is no list of bindings, such as one pattern, whose
    characters would be patterns, and for an entry that is none; the text names its position.
    """
    patterns = _patterns_of(bindings)

    def build(make: Maker) -> str:
        language = make.language
        if not patterns or make.once_in(12):
            return text(make.key(), language)
        pattern = make.pick(patterns)
        key = make.matching(pattern.split(language.separator) if pattern else [])
        for _ in range(make.below(3)):
            key = make.changed(key)
        return text(key, language)

    return _drawn(dialect, build)


def rounds(dialect: str | Dialect = "amqp", *, patterns: int = 4, keys: int = 8) -> SearchStrategy[Round]:
    """Return a strategy for rounds of at most ``patterns`` related patterns and ``keys`` keys that are aimed at them.

    Raises :class:`OptionError` for an unknown dialect, and for ``patterns`` or ``keys`` that are no number from 1 up.
    """
    most = Size(patterns, keys)

    def build(make: Maker) -> Round:
        first = make.pick(classes_of(make.language))
        made = make_round(
            make.choices, make.language, first, Size(1 + make.below(most.patterns), 1 + make.below(most.keys))
        )
        return Round(
            patterns=tuple(_some(make, made.patterns, 1)), keys=tuple(_some(make, made.keys, 1)), classes=made.classes
        )

    return _drawn(dialect, build)


def _patterns_of(bindings: Iterable[str | tuple[str, str]]) -> list[str]:
    """Return the pattern of each binding."""
    if isinstance(bindings, str | bytes | Mapping) or not isinstance(bindings, Iterable):
        raise BindingError(
            f"bindings is {bindings!r}: expected patterns, or bindings, in a list, such as ['a.*', 'a.#']"
        )
    patterns = []
    for position, entry in enumerate(bindings):
        pattern = entry[0] if isinstance(entry, tuple | list) and entry else entry
        if not isinstance(pattern, str):
            raise BindingError(
                f"binding {position} is {entry!r}: expected a pattern, or a pair that begins with one, such as ('stock.#', 'q')"
            )
        patterns.append(pattern)
    return patterns


def _some(make: Maker, made: Sequence[str], fewest: int) -> list[str]:
    """Leave some out, at least ``fewest`` remaining. The simplest choices leave out most, so shrinking does too."""
    kept = list(made)
    for place in range(len(kept) - 1, -1, -1):
        if len(kept) > fewest and make.below(4) == 0:
            del kept[place]
    return kept


def _drawn(dialect: str | Dialect, build: Callable[[Maker], Any]) -> SearchStrategy[Any]:
    """Return the strategy whose values ``build`` makes; raises :class:`OptionError` for an unknown dialect."""
    language = language_of(dialect_named(dialect))
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
