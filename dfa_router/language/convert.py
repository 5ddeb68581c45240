"""Conversion of a pattern to another dialect: patterns that match the same keys, or the reason why there are none.

Keys are compared by their words: ``a.b`` of AMQP and ``a/b`` of MQTT are the same key. A pattern is a sequence of words,
``*`` (one word) and ``#`` (any number). Normalised (``#.*`` is ``*.#``, ``#.#`` is ``#``), different sequences match
different keys, because a key may have any word. Conversion therefore normalises the pattern, and writes that sequence
with the wildcards of the target::

    run of wildcards     amqp     mqtt           nats, solace
    *.*                  *.*      +/+            *.*
    # after a word       a.#      a/#            a  and  a.>      their > is one word or more
    *.#                  *.#      +/#            >
    # before a word      #.a      has no equal   has no equal     # would have to be last

If no key matches with zero words for ``#``, then ``#`` and ``*.#`` mean the same, and the shorter one is written: AMQP's
``#`` becomes ``>`` of NATS, since no key of NATS is empty. (No dialect can write the key of one empty word.)

Left out: what a broker does beside matching (retained messages, queue groups, costs of wildcards), and merging several
patterns into fewer. Rejected: leaving out what cannot be converted. A binding that is missing is a message that is lost.
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
from dfa_router.language.rules import tokens, without_group
from dfa_router.language.validity import key_problem, pattern_problem

__all__ = ["convert", "spelled", "without_limits"]

_MOST = 1024
"""The most patterns of an answer: a dialect without a zero-or-more wildcard needs 2^n patterns for n of them."""

_Spelling = tuple[tuple[bytes, tuple[Token, ...]], ...]
"""The words of a pattern of the target, each with the tokens that it is meant to be."""


def convert(pattern: str, source: str | Dialect, target: str | Dialect) -> tuple[str, ...]:
    """Return the fewest patterns of ``target`` that together match what ``pattern`` matches in ``source``.

    Only keys that are valid in both dialects count; two keys are the same if their words are; limits on length are
    ignored. For a pattern that begins with a wildcard, keys that begin with a byte which only one of the dialects
    reserves (``$`` in MQTT and Solace) do not count, since in that dialect no such pattern matches them.

    So AMQP's ``*.a`` becomes MQTT's ``+/a``, though RabbitMQ would also match ``$SYS.a``; ``$SYS.#`` becomes ``$SYS/#``,
    exactly. AMQP's ``#`` becomes NATS's ``>``: they differ on the empty key, which is not valid in NATS. A shared
    subscription stays one if the target has shared subscriptions, and has no equal otherwise. Of equally many patterns
    those with the fewest words are returned; shorter ones come first.

    Raises :class:`PatternError` if the pattern is not valid in the source, and its subclass :class:`ConversionError` if
    there is no such set, if it has over 1,024 patterns, or if no key that is valid in both dialects matches at all (a
    pattern with an empty word in NATS): the text says which word is the reason. Raises :class:`OptionError` for an
    unknown dialect.

    >>> convert("stock.*.#", "amqp", "mqtt"), convert("stock.#", "amqp", "nats"), convert("a.>", "nats", "mqtt")
    (('stock/+/#',), ('stock', 'stock.>'), ('a/+/#',))
    >>> convert("a.#.b", "amqp", "mqtt")
    Traceback (most recent call last):
    dfa_router.errors.ConversionError: 'a.#.b' of amqp has no equal in mqtt: its '#' stands before the word 'b', and mqtt...
    """
    spoken, wanted = dialect_named(source), dialect_named(target)
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
    except ConversionError as error:  # its text is the reason; the pattern and the dialects are added here
        raise ConversionError(f"{_shown(pattern)} of {spoken.name} has no equal in {wanted.name}: {error}") from None


def spelled(meant: Sequence[Token], dialect: Dialect) -> tuple[str, ...]:
    """Return the fewest and shortest patterns that together match what the tokens mean, whatever their lengths.

    Raises :class:`ConversionError` if the dialect has no such patterns, or if no key of it can match.

    >>> from dfa_router.language.dialects import NATS
    >>> spelled([b"a", Wildcard.MANY], NATS)
    ('a', 'a.>')
    """
    unlimited = without_limits(dialect)
    return tuple(
        _written(spelling, (), unlimited, unlimited) for spelling in _spellings(normalize(meant), unlimited, unlimited)
    )


def without_limits(dialect: Dialect) -> Dialect:
    """Return the dialect of patterns that a proof has made, which may be longer than a broker takes, or have more wildcards.

    >>> from dfa_router.language.dialects import AMQP_4_3_5
    >>> pattern_problem("#.a.#.b.#", AMQP_4_3_5) is None, pattern_problem("#.a.#.b.#", without_limits(AMQP_4_3_5)) is None
    (False, True)
    """
    return replace(dialect, max_bytes=None, max_words=None, max_many=None)


def _shown(text: str, limit: int = 60) -> str:
    return repr(text if len(text) <= limit else text[:limit] + "...")


def _read(pattern: str, dialect: Dialect) -> tuple[bytes | None, tuple[Token, ...]]:
    """Return the group of a shared subscription or None, and the normalised tokens of the pattern."""
    encoded = pattern.encode()
    group, _ = without_group(encoded.split(dialect.separator), dialect)
    return group, normalize(tokens(encoded, dialect))


def _spellings(meant: Sequence[Token], source: Dialect, target: Dialect) -> list[_Spelling]:
    """Return the fewest rows of the target's words that together mean the tokens, the shortest first."""
    empty_key = source.empty_text and target.empty_text
    runs = [(wild, tuple(run)) for wild, run in groupby(meant, lambda token: isinstance(token, Wildcard))]
    # Keys that begin with these bytes do not count: the pattern begins with a wildcard.
    apart = {source.reserved, target.reserved} if runs and runs[0][0] else set()

    def sayable(spelt: Sequence[Token]) -> bool:
        """Tell whether any key matches, of those that count and that a dialect can write."""
        if not spelt:
            return empty_key
        lone_empty_word = len(spelt) == 1 and spelt[0] == b""
        return not lone_empty_word and not (isinstance(spelt[0], bytes) and spelt[0][:1] in apart)

    ways: list[list[_Spelling]] = []
    for i, (wild, run) in enumerate(runs):
        if wild:
            behind = None if i + 1 == len(runs) else runs[i + 1][1][0]
            # What is left without the run; the first two tokens of a part are enough for sayable().
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
    """Return how the target writes a run of wildcards: as one spelling, or as two whose patterns are both needed.

    ``behind`` is the word that follows, or None. If ``needed``, a key without a word for the run never matches, so that
    ``#`` and ``*.#`` mean the same.
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
    """Return the error for a zero-or-more wildcard before a word, where the target has it as the last word only."""
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
    """Return the pattern, after checking that the target reads it as meant and that some key matches it."""
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
    """Return why no key that is valid in both dialects matches the tokens, or None if one does."""
    reason = None
    for letter, more in product(ascii_lowercase.encode(), range(2)):  # one of these words is subject to no rule
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
