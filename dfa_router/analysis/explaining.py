"""Why a binding matches a key, word by word, and why another does not.

A miss has four answers: how far the key could still have matched, the word that broke it, what could have stood there, and
the nearest key that does match. *Nearest* means the fewest word edits (:mod:`dfa_router.analysis.alignment`).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from compiler import Token, Wildcard
from dfa_router.analysis.alignment import Fit, could_fit, fitted, longest_prefix
from dfa_router.analysis.questions import tokens_of
from dfa_router.errors import KeyTypeError
from dfa_router.language.bindings import Binding, binding_set, pattern_bytes
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.language.rules import key_space
from dfa_router.language.validity import key_problem
from dfa_router.whole_numbers import whole_number

__all__ = ["KEY_END", "Explanation", "Match", "Miss", "explain", "why_not"]

KEY_END = "end of key"
"""What :attr:`Miss.expected` has where the key could have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A binding that matches."""

    binding: int
    """Its position in the set."""
    taken: tuple[tuple[str, tuple[str, ...]], ...]
    """Each word of the pattern with the words of the key that it took; ``>`` of NATS is shown as ``*`` and ``#``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A binding that does not match."""

    binding: int
    """Its position in the set."""
    prefix: str
    """The longest beginning of the key that could still have matched."""
    broken_by: str | None
    """The word that came next and fits nothing; None if the key ended too early."""
    expected: tuple[str, ...]
    """What could have come instead: words, wildcards, or ``end of key``."""
    nearest: str | None
    """The nearest key that matches; None if no key matches the pattern."""
    edits: int
    """How many words must be put in, left out or replaced for that; more than for any key where there is none."""
    rule: str | None = None
    """The dialect's rule that keeps the key from the binding, though its words fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a binding set says of a key."""

    key: str
    problem: str | None
    """Why the key is none of the dialect; such a key may match nothing."""
    matches: tuple[Match, ...]
    """The bindings that match, in order."""


def explain(bindings: Iterable[tuple[str, str]], key: str, dialect: str | Dialect = "amqp") -> Explanation:
    """Tell which bindings match a key, and which word of each took which words of the key.

    Raises :class:`PatternError` and :class:`BindingError` for bindings that cannot be compiled, and :class:`KeyTypeError` for
    a key that is no text, or has half of a character.

    >>> explain([("stock.#.ibm", "q"), ("forex.*", "fx")], "stock.nyse.ny.ibm").matches[0].taken
    (('stock', ('stock',)), ('#', ('nyse', 'ny')), ('ibm', ('ibm',)))
    """
    language, given, words = _asked(bindings, key, dialect)
    matches = []
    for number, (pattern, _) in enumerate(given):
        tokens = tokens_of(pattern, language)
        if could_fit(tokens, words) and _meets(tokens, key, words, language) is None:
            fit = _fit(tokens, words, language)
            if fit is not None and not fit.edits:
                taken = zip(tokens, fit.taken, strict=True)
                shown = tuple((_shown(one, language), tuple(word.decode() for word in took)) for one, took in taken)
                matches.append(Match(binding=number, taken=shown))
    return Explanation(key=key, problem=key_problem(key, language), matches=tuple(matches))


def why_not(
    bindings: Iterable[tuple[str, str]], key: str, dialect: str | Dialect = "amqp", *, most: int = 3
) -> tuple[Miss, ...]:
    """Tell why bindings do not match a key: the nearest ``most`` of those that do not, by fewest word edits.

    Raises what :func:`explain` raises.

    >>> why_not([("stock.*.ibm", "q")], "stock.nyse.msft")[0]
    Miss(binding=0, prefix='stock.nyse', broken_by='msft', expected=('ibm',), nearest='stock.nyse.ibm', edits=1, rule=None)
    """
    most = whole_number("most", most, 0, "a number of bindings from 0 up")
    language, given, words = _asked(bindings, key, dialect)
    if not most:
        return ()
    routed, known = key_space(language).is_key(words), set(words)
    misses: list[tuple[int, int, list[Token], str | None]] = []
    """The nearest so far, at most as many as are asked for: no two have the same number, which comes second."""
    for number, (pattern, _) in enumerate(given):
        tokens = tokens_of(pattern, language)
        # Each literal that the key does not have is put in, or replaces a word. Of a large set hardly a pattern is left, and to fit
        # one takes a tenth of a millisecond.
        if len(misses) == most and _foreign(tokens, known) >= misses[-1][0]:
            continue
        fit = _fit(tokens, words, language)
        if fit is None:
            insort(misses, (len(tokens) + len(words) + 1, number, tokens, None))  # farther than any key is
        elif fit.edits:
            insort(misses, (fit.edits, number, tokens, language.separator.join(fit.key()).decode()))
        del misses[most:]
    found = []
    for edits, number, tokens, nearest in misses:
        rule = _meets(tokens, key, words, language)
        length, states = longest_prefix(tokens, words)
        found.append(
            Miss(
                binding=number,
                prefix=language.separator.join(words[:length]).decode(),
                broken_by=words[length].decode() if length < len(words) else None,
                expected=tuple(_next(tokens, states, language)),
                nearest=nearest,
                edits=edits,
                rule=rule if rule is not None else None if routed else key_problem(key, language),
            )
        )
    return tuple(found)


def _asked(
    bindings: Iterable[tuple[str, str]], key: str, dialect: str | Dialect
) -> tuple[Dialect, tuple[Binding, ...], list[bytes]]:
    language = dialect_named(dialect)
    if not isinstance(key, str):
        raise KeyTypeError(f"the key is {key!r} ({type(key).__name__}): expected str")
    given = binding_set(bindings)
    for position, binding in enumerate(given):
        pattern_bytes(binding.pattern, position, language)
    try:
        encoded = key.encode()
    except UnicodeEncodeError:
        raise KeyTypeError(f"the key is {key!r}: {key_problem(key, language)}") from None
    return language, given, encoded.split(language.separator) if key else []


def _fit(tokens: Sequence[Token], words: Sequence[bytes], dialect: Dialect) -> Fit | None:
    """Return how the words of a key fit a pattern, with the fewest edits; None where no key matches it."""
    space = key_space(dialect)
    (fresh,) = islice(space.fresh({*words, *(one for one in tokens if isinstance(one, bytes))}), 1)
    return fitted(tokens, words, space, fresh)


def _foreign(tokens: Sequence[Token], known: set[bytes]) -> int:
    """Return how many literals of a pattern a key with these words does not have."""
    return sum([isinstance(token, bytes) and token not in known for token in tokens])


def _meets(tokens: Sequence[Token], key: str, words: Sequence[bytes], dialect: Dialect) -> str | None:
    """Return the rule by which a key does not come to a pattern, whatever its words, or None."""
    space = key_space(dialect)
    if not space.is_key(words):
        return key_problem(key, dialect) or "no key of the dialect is written so"
    first = tokens[0] if tokens else None
    if isinstance(first, Wildcard) and space.reserved and words and words[0].startswith(space.reserved):
        return f"no wildcard at the beginning of a pattern matches a key that begins with {space.reserved.decode()!r}"
    return None


def _next(tokens: Sequence[Token], states: Iterable[int], dialect: Dialect) -> list[str]:
    ends = [at for at in sorted(states) if at < len(tokens)]
    return [*dict.fromkeys(_shown(tokens[at], dialect) for at in ends), *[KEY_END] * (len(tokens) in states)]


def _shown(token: Token, dialect: Dialect) -> str:
    """Return a token as text: the dialect's wildcard where it has one for it."""
    if isinstance(token, bytes):
        return token.decode()
    return ((dialect.one if token is Wildcard.ONE else dialect.many) or token.value.encode()).decode()
