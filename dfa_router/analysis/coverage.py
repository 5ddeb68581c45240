"""Bindings that change nothing: their keys all go to the same destination by other bindings.

Each pattern is read through the automaton of all others as if it were a key (:mod:`compiler.automata.covering`), which finds
every single pattern that covers it. Where several are needed, a proof of inclusion decides; only patterns with a wildcard for
any number of words can be covered so, and two sample keys clear most of these. So a hundred thousand bindings take seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from compiler import CapacityError, Wildcard
from compiler.automata.covering import accepting_at, covering, overlapping, probes
from compiler.automata.positions import Side
from dfa_router.analysis.questions import Question, checked_patterns, listed, tokens_of
from dfa_router.language.bindings import binding_set
from dfa_router.language.convert import without_limits
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.language.rules import key_space

__all__ = [
    "COVER_BUDGET",
    "Redundancy",
    "RedundancyKind",
    "UnprovenError",
    "cover",
    "known_cover",
    "redundant",
    "unreachable",
]

COVER_BUDGET = 20_000
"""Steps of one proof that several patterns cover one: a set can ask for as many proofs as it has patterns."""
TOLD = 1 << 12
"""Bindings between two reports of how many were asked about: a tenth of a second's work or more."""


class RedundancyKind(StrEnum):
    """How a binding is covered."""

    EQUAL = "equal"
    """By one that matches the same keys and stays; of equal ones, the first is kept."""
    COVERED = "covered"
    """By one that matches more."""
    UNION = "union"
    """By several together, none of which does alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    """A binding that can be removed without changing who gets which message."""

    binding: int
    """Its position in the set."""
    by: tuple[int, ...]
    """The positions of the bindings that cover it. None of them is redundant itself."""
    kind: RedundancyKind


class UnprovenError(CapacityError):
    """A proof took over the budget: .bindings are the positions of the bindings to blame, .proven what was found before."""

    def __init__(self, message: str, bindings: tuple[int, ...], proven: tuple[Redundancy, ...] = ()) -> None:
        super().__init__(message)
        self.bindings = bindings
        self.proven = proven


def redundant(
    bindings: Iterable[tuple[str, str]],
    dialect: str | Dialect = "amqp",
    *,
    budget: int = COVER_BUDGET,
    report: Callable[[int, int], None] | None = None,
) -> tuple[Redundancy, ...]:
    """Return the bindings that can all be removed together, in order of their positions.

    ``budget`` is the most steps, a few microseconds each, of one proof that several bindings cover one. ``report`` is told now and then how
    many bindings were asked about, of how many: each is asked about twice.

    Raises :class:`PatternError` and :class:`BindingError` for what cannot be compiled, and :class:`UnprovenError` when a proof
    takes over the budget; it has the bindings that can all be removed as far as it is known.

    >>> redundant([("a.*", "q"), ("a.b", "q"), ("a.#", "other")])
    (Redundancy(binding=1, by=(0,), kind=<RedundancyKind.COVERED: 'covered'>),)
    >>> [one.by for one in redundant([("a", "q"), ("a.*.#", "q"), ("a.#", "other"), ("a.#", "q")])]
    [(3,), (3,)]
    """
    given = binding_set(bindings)
    question = Question([one.pattern for one in given], dialect, budget)
    return _Groups(question, [one.destination for one in given], report).redundant()


def cover(patterns: Iterable[str], dialect: str | Dialect = "amqp", *, budget: int = COVER_BUDGET) -> tuple[str, ...]:
    """Return those of the patterns that match all keys that any of them does, none of which could be left out.

    Those that no key matches are left out, too. ``budget`` is that of :func:`redundant`. Raises :class:`PatternError` and
    :class:`UnprovenError`, as it does.

    >>> cover(["t/1/2/+", "t/1/2/#", "g"], "mqtt")
    ('t/1/2/#', 'g')
    """
    given = listed(patterns)
    question = Question(given, dialect, budget)
    gone = {one.binding for one in _Groups(question, [""] * len(given)).redundant()}
    gone.update(unreachable(given, question.dialect))  # also where nothing is left to cover them
    return tuple(pattern for number, pattern in enumerate(given) if number not in gone)


def known_cover(patterns: Sequence[str], dialect: Dialect) -> tuple[str, ...]:
    """Return patterns that match the same keys, without those that are known to be needless: a longer list is as exact.

    They may be longer than a broker takes, or have more wildcards, as what a proof has made.
    """
    try:
        return cover(patterns, without_limits(dialect))
    except UnprovenError as error:
        needless = {one.binding for one in error.proven}
        return tuple(pattern for number, pattern in enumerate(patterns) if number not in needless)


def unreachable(patterns: Iterable[str], dialect: str | Dialect = "amqp") -> tuple[int, ...]:
    """Return the positions of the patterns that no key at all can match.

    >>> unreachable(["#P2P/a", "a/b"], "solace"), unreachable(["#"], "amqp")
    ((0,), ())
    """
    given, language = listed(patterns), dialect_named(dialect)
    space = key_space(language)
    return tuple(
        number
        for number, pattern in enumerate(checked_patterns(given, language))
        if not any(space.is_key(words) for words in probes(tokens_of(pattern, language)))
    )


class _Groups:
    """The patterns of a question by destination: those that end at one position of the automaton mean the same."""

    def __init__(
        self, question: Question, destinations: Sequence[str], report: Callable[[int, int], None] | None = None
    ) -> None:
        self.question = question
        self.report = report
        self.destinations = destinations
        self.everything = question.side(range(len(question.patterns)))
        self.first: dict[tuple[int, str], int] = {}
        """The first binding of each pattern and destination."""
        self.members: defaultdict[str, list[int]] = defaultdict(list)
        """The bindings of each destination that are the first of their kind."""
        self.gone: dict[int, Redundancy] = {}
        """The bindings that can all be removed, as far as it is known."""
        self.alone: dict[str, tuple[list[int], Question, Side]] = {}
        """Of destinations that were asked about, the bindings that were left then, the question of these alone, and the side of all of them."""
        for number, destination in enumerate(destinations):
            end = question.machine.end_of(number)
            if self.first.setdefault((end, destination), number) == number:
                self.members[destination].append(number)

    def redundant(self) -> tuple[Redundancy, ...]:
        machine, gone = self.question.machine, self.gone
        for number, destination in self._told(0):
            first = self.first[machine.end_of(number), destination]
            if first != number:
                gone[number] = Redundancy(binding=number, by=(first,), kind=RedundancyKind.EQUAL)
            elif len(self.members[destination]) > 1:
                wider = self._wider(number, destination)
                if wider is not None:
                    gone[number] = Redundancy(binding=number, by=(wider,), kind=RedundancyKind.COVERED)
        for number, destination in self._told(len(self.destinations)):
            if number not in gone and len(self.members[destination]) > 1:
                by = self._union(number)
                if by:
                    kind = RedundancyKind.UNION if len(by) > 1 else RedundancyKind.COVERED
                    gone[number] = Redundancy(binding=number, by=by, kind=kind)
        return self._proven()

    def _told(self, before: int) -> Iterator[tuple[int, str]]:
        """Yield each binding's number and destination, and report how many were before and have come since."""
        for number, destination in enumerate(self.destinations):
            if self.report is not None and number % TOLD == 0:
                self.report(before + number, 2 * len(self.destinations))
            yield number, destination

    def _proven(self) -> tuple[Redundancy, ...]:
        return tuple(self._by_kept(number) for number in sorted(self.gone))

    def _by_kept(self, number: int) -> Redundancy:
        """Return a redundancy with bindings that stay in place of those that go, too."""
        gone = self.gone
        found = gone[number]
        agenda = dict.fromkeys(found.by)
        for one in (waiting := list(agenda)):  # it grows; what covers a binding goes only if others cover that
            further = [other for other in (gone[one].by if one in gone else ()) if other not in agenda]
            agenda.update(dict.fromkeys(further))
            waiting += further
        by = tuple(sorted(one for one in agenda if one not in gone))
        if by == found.by:
            return found
        if len(by) > 1:  # one of them may do alone
            machine = self.question.machine
            ends = covering(machine, self.question.tokens[number], self.everything)
            by = next(((one,) for one in by if machine.end_of(one) in ends), by)
        kind = RedundancyKind.UNION if len(by) > 1 else RedundancyKind.COVERED
        return Redundancy(binding=number, by=by, kind=kind)

    def _wider(self, number: int, destination: str) -> int | None:
        """Return a binding of the destination whose pattern covers this one's, token by token."""
        machine = self.question.machine
        own = machine.end_of(number)
        ends = covering(machine, self.question.tokens[number], self.everything)
        found = (self.first.get((end, destination)) for end in sorted(ends) if end != own)
        return next((one for one in found if one is not None), None)

    def _near(self, number: int) -> list[int]:
        """Return the others of a binding's destination, none of which is gone, whose patterns share words with its own.

        They are asked in an automaton of their destination alone: in that of 40,500 bindings for 500 queues, where a ``#`` meets
        nearly every position, one walk took 0.8 s.
        """
        destination = self.destinations[number]
        if destination not in self.alone:
            left = [one for one in self.members[destination] if one not in self.gone]
            patterns = [self.question.patterns[one] for one in left]
            alone = Question(patterns, self.question.dialect)
            self.alone[destination] = left, alone, alone.side(range(len(left)))
        left, question, side = self.alone[destination]
        ends = overlapping(question.machine, self.question.tokens[number], side)
        others = (one for at, one in enumerate(left) if one != number and question.machine.end_of(at) in ends)
        return [one for one in others if one not in self.gone]

    def _union(self, number: int) -> tuple[int, ...]:
        """Return the fewest others that cover a pattern together, none of which is gone, as far as leaving out one by one shows it."""
        machine, tokens = self.question.machine, self.question.tokens[number]
        if Wildcard.MANY not in tokens:
            return ()  # what matches it with a word in each place that is no literal covers it alone
        for words in probes(tokens):
            if machine.space.is_key(words):
                ends = accepting_at(machine, words, self.everything)
                if not any(
                    (end, self.destinations[number]) in self.first and end != machine.end_of(number) for end in ends
                ):
                    return ()
        near = self._near(number)
        small = Question(
            [self.question.patterns[number], *(self.question.patterns[one] for one in near)],
            self.question.dialect,
            self.question.budget.steps,
        )
        try:
            if small.escape([0], range(1, len(near) + 1)) is not None:
                return ()
            kept = list(range(1, len(near) + 1))
            for one in list(kept):
                fewer = [other for other in kept if other != one]
                if small.escape([0], fewer) is None:
                    kept = fewer
        except CapacityError as error:
            names = ", ".join(repr(self.question.patterns[one]) for one in (number, *near)[:4])
            message = f"whether other bindings cover {names}: {error}"
            raise UnprovenError(message, (number, *near), self._proven()) from None
        return tuple(near[one - 1] for one in kept)
