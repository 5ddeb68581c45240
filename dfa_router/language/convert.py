"""A pattern of one dialect said in another: patterns that match the same keys, or why there are none.

Keys are compared by their words: ``a.b`` of AMQP and ``a/b`` of MQTT are one key. A pattern is a row of words, ``*`` (one
word) and ``#`` (any number), and in its one spelling (``#.*`` is ``*.#``, ``#.#`` is ``#``) it says by itself what it
matches: words never run out, so no two such rows match alike. Conversion therefore spells that row with what the target
has::

    run of wildcards     amqp     mqtt           nats, solace
    *.*                  *.*      +/+            *.*
    # behind a word      a.#      a/#            a  and  a.>      their > is one word or more
    *.#                  *.#      +/#            >
    # before a word      #.a      has no equal   has no equal     # would have to be last

Where nothing is left to match without any word for ``#``, it is the same as ``*.#``, and the shorter one is taken: ``>``
of NATS is ``#`` of AMQP, since no key of NATS is empty. (The key of one empty word is said in no dialect.)

Left out: a check of what the broker does beside matching (retained messages, queue groups, wildcard costs), and sets of
patterns turned into fewer. Rejected: dropping what cannot be said. A binding that is gone is a message that is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, product
from math import prod
from string import ascii_lowercase

from compiler import Token, Wildcard, normalize
from dfa_router.errors import ConversionError, PatternError
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.language.tokens import tokens
from dfa_router.language.validity import key_problem, pattern_problem

__all__ = ["convert"]

_MOST = 1024
"""The largest answer. A dialect with no word for "zero or more" needs two patterns for the first, four for two, ..."""

_Spelling = tuple[tuple[bytes, tuple[Token, ...]], ...]
"""The words of a pattern of the target, each with what it is meant to be."""


def convert(pattern: str, source: str | Dialect, target: str | Dialect) -> tuple[str, ...]:
    """Return the fewest patterns of ``target`` that together match what ``pattern`` matches in ``source``.

    That is: they match the same keys of those that are valid in both dialects, two keys being the same if their words
    are, and lengths being no matter; for a pattern that begins with a wildcard, keys that begin with a byte that only one
    of the dialects reserves (``$`` of MQTT and Solace) are left aside, since no wildcard there could reach them.

    So AMQP's ``*.a`` is MQTT's ``+/a``, though RabbitMQ would give it ``$SYS.a`` as well; ``$SYS.#`` is ``$SYS/#``, and
    nothing is left aside. AMQP's ``#`` is NATS's ``>``: the empty key, where they differ, is no key of NATS. A shared
    subscription stays one where the target has such, and has no equal elsewhere. Among equally many patterns those with
    the fewest words are taken; the shorter ones come first.

    Raises :class:`PatternError` if the source refuses the pattern, and its subclass :class:`ConversionError` if there is
    no such set, if it has over 1,024 patterns, or if no valid key of both matches at all (a pattern with an empty word is
    nothing to NATS): the text says which word stands in the way. Raises :class:`OptionError` for an unknown dialect.

    >>> convert("stock.*.#", "amqp", "mqtt"), convert("stock.#", "amqp", "nats"), convert("a.>", "nats", "mqtt")
    (('stock/+/#',), ('stock', 'stock.>'), ('a/+/#',))
    >>> convert("a.#.b", "amqp", "mqtt")
    Traceback (most recent call last):
    dfa_router.errors.ConversionError: 'a.#.b' of amqp has no equal in mqtt: its '#' stands before the word 'b', and mqtt...
    """
    spoken, wanted = dialect_named(source), dialect_named(target)
    if not isinstance(pattern, str):
        raise PatternError(f"the pattern is {pattern!r} ({type(pattern).__name__}): expected str")
    problem = pattern_problem(pattern, spoken)
    if problem is not None:
        raise PatternError(f"{_shown(pattern)} is no pattern of {spoken.name}: {problem}")
    try:
        group, meant = _read(pattern, spoken)
        if group is not None and wanted.shared is None:
            raise ConversionError(
                f"it is shared by the group {group.decode()!r}, and {wanted.name} has no groups: "
                "convert its filter alone, and say elsewhere who shares it"
            )
        shared = () if group is None or wanted.shared is None else (wanted.shared, group)
        return tuple(_written(spelling, shared, spoken, wanted) for spelling in _spellings(meant, spoken, wanted))
    except ConversionError as error:  # why, before it is said of which pattern
        raise ConversionError(f"{_shown(pattern)} of {spoken.name} has no equal in {wanted.name}: {error}") from None


def _shown(text: str, limit: int = 60) -> str:
    return repr(text if len(text) <= limit else text[:limit] + "...")


def _read(pattern: str, dialect: Dialect) -> tuple[bytes | None, tuple[Token, ...]]:
    """Return the group of a shared subscription, and the tokens of a pattern in their one spelling."""
    encoded = pattern.encode()
    words = encoded.split(dialect.separator)
    shared = dialect.shared is not None and len(words) > 1 and words[0] == dialect.shared
    return words[1] if shared else None, normalize(tokens(encoded, dialect))


def _spellings(meant: Sequence[Token], source: Dialect, target: Dialect) -> list[_Spelling]:
    """Return the fewest rows of the target's words that together say the tokens, the shortest first."""
    empty_key = source.empty_text and target.empty_text
    runs = [(wild, tuple(run)) for wild, run in groupby(meant, lambda token: isinstance(token, Wildcard))]
    # Keys that a pattern does not see, or is not asked about, as it begins with a wildcard.
    apart = {source.reserved, target.reserved} if runs and runs[0][0] else set()

    def sayable(spelt: Sequence[Token]) -> bool:
        """Tell whether any key matches, of those that count."""
        if not spelt:
            return empty_key
        lone_hole = len(spelt) == 1 and spelt[0] == b""
        return not lone_hole and not (isinstance(spelt[0], bytes) and spelt[0][:1] in apart)

    ways: list[list[_Spelling]] = []
    for i, (wild, run) in enumerate(runs):
        if wild:
            behind = None if i + 1 == len(runs) else runs[i + 1][1][0]
            # What is left without the run: its first words say all that is asked.
            rest = [token for j, (_, other) in enumerate(runs[:3]) if j != i for token in other[:2]]
            ways.append(_wildcards(run, behind, target, needed=not sayable(rest)))
        else:
            ways.append([tuple((word, (word,)) for word in run if isinstance(word, bytes))])
    count = prod(map(len, ways))
    if count > _MOST:
        raise ConversionError(
            f"it would take {count:,} patterns, as {target.name} has no wildcard for zero or more words, "
            f"and {_MOST:,} are the most that are written out"
        )
    rows = [tuple(item for part in parts for item in part) for parts in product(*ways)]
    spellings = [row for row in rows if sayable([token for _, meanings in row for token in meanings])]
    if not spellings:
        lacking = target if source.empty_text else source
        raise ConversionError(f"it matches the empty key alone, and {lacking.name} has no such key")
    return sorted(spellings, key=len)


def _wildcards(run: Sequence[Token], behind: Token | None, target: Dialect, *, needed: bool) -> list[_Spelling]:
    """Return how the target says a run of wildcards: one way, or two that it takes together.

    ``behind`` is the word that follows, if one does. Where some word is ``needed``, ``#`` and ``*.#`` are the same.
    """
    ones = run.count(Wildcard.ONE)
    one: _Spelling = () if target.one is None else ((target.one, (Wildcard.ONE,)),)
    many: _Spelling = () if target.many is None else ((target.many, (Wildcard.MANY,)),)
    some: _Spelling = () if target.some is None else ((target.some, (Wildcard.ONE, Wildcard.MANY)),)
    if Wildcard.MANY not in run:
        if not one:
            raise ConversionError(f"{target.name} has no wildcard for one word")
        return [one * ones]
    if not many and not some:
        raise ConversionError(f"{target.name} has no wildcard for any number of words")
    if behind is not None and target.tail_only:
        raise _endless(ones, behind, target)
    if needed and ones <= 1:
        return [many or some]
    if ones == 0:
        return [many] if many else [(), some]
    if some and (one or ones == 1):
        return [one * (ones - 1) + some]
    if some and not target.tail_only:
        return [some * ones]
    if many and one:
        return [one * ones + many]
    raise ConversionError(f"{target.name} has no wildcard for one word")


def _endless(ones: int, behind: Token, target: Dialect) -> ConversionError:
    """Say why no wildcard of the target stands before a word."""
    assert isinstance(behind, bytes)
    tail = (target.many or target.some or b"").decode(errors="backslashreplace")
    problem = (
        f"its '#' stands before the word {behind.decode()!r}, and {target.name} has {tail!r} as the last word only"
    )
    if target.one is not None:
        rows = [[*[target.one] * (ones + more), behind] for more in range(3)]
        examples = ", ".join(repr(target.separator.join(row).decode(errors="backslashreplace")) for row in rows)
        problem += f": there it would take {examples}, and so on without end"
    return ConversionError(problem)


def _written(spelling: _Spelling, shared: Sequence[bytes], source: Dialect, target: Dialect) -> str:
    """Return the pattern, and see that the target reads it as it is meant, and that some key can match it."""
    meant = tuple(token for _, meanings in spelling for token in meanings)
    for token in (*shared[1:], *meant):
        if isinstance(token, bytes) and target.separator in token:
            raise ConversionError(
                f"its word {token.decode()!r} has {target.separator.decode()!r} in it, which separates words there"
            )
    text = target.separator.join([*shared, *(word for word, _ in spelling)]).decode(errors="surrogateescape")
    problem = pattern_problem(text, target)
    if problem is not None:
        raise ConversionError(f"{_shown(text)} would be refused: {problem}")
    if normalize(tokens(text.encode(), target)) != normalize(meant):
        wildcards = (target.one, target.many, target.some)
        wild = next((word for word, meanings in spelling if meanings == (word,) and word in wildcards), None)
        if wild is not None:
            raise ConversionError(f"its word {wild.decode()!r} is a wildcard there")
        raise ConversionError(f"{text!r} is a shared subscription there")
    void = _void(meant, source, target)
    if void is not None:
        raise ConversionError(void)
    return text


def _void(meant: Sequence[Token], source: Dialect, target: Dialect) -> str | None:
    """Return why no key that both dialects have matches the tokens, or None if one does."""
    reason = None
    for letter, more in product(ascii_lowercase.encode(), range(2)):  # any word will do that no rule is about
        fill = {Wildcard.ONE: [bytes([letter])], Wildcard.MANY: [bytes([letter])] * more}
        words = [word for token in meant for word in ([token] if isinstance(token, bytes) else fill[token])]
        for dialect in (source, target):
            unlimited = replace(dialect, max_bytes=None, max_words=None)
            problem = key_problem(dialect.separator.join(words).decode(), unlimited)
            if problem is not None:
                reason = reason or f"no key of {dialect.name} matches it: {problem}"
                break
        else:
            return None
    return reason
