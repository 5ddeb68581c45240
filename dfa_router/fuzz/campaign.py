"""A campaign: rounds are asked of a target, and what it gets wrong is shrunk and gathered.

The unit of work is a range of round numbers of a seed (:func:`work`), and what comes of it is a plain value
(:class:`Tally`) that pickles and merges, so that ranges can be worked on anywhere. A round's findings depend on the round
alone. :func:`run` works on one range until the time, the cases or the rounds are used up.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count

from dfa_router.errors import OptionError, RouterError
from dfa_router.fuzz.findings import Case, Disagreement, Finding, Kind, canonical, rank, shape_of
from dfa_router.fuzz.generating.rounds import Size, invalid_pattern, round_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners, manners_of
from dfa_router.fuzz.shrinking.shrink import shrink
from dfa_router.fuzz.tally import Campaign, Plan, Tally
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Refused, Round, Target, TargetFailure

__all__ = ["run", "work"]

_SHRUNK_A_ROUND = 4
"""Disagreements of a kind that are shrunk in a round, the simplest ones; the others are counted."""
_REMEMBERED = 20_000
"""Cases that a range of rounds remembers, so as not to shrink them again: a few megabytes."""
_FAILURES = 3
"""Rounds in a row in which a target fails before it is given up."""


def work(
    target: Target,
    plan: Plan,
    numbers: Iterable[int],
    *,
    judge: Judge | None = None,
    manners: Manners | None = None,
    corpus: Iterable[tuple[str, Round]] = (),
    going_on: Callable[[Tally], bool] = lambda _: True,
    tally: Tally | None = None,
) -> Tally:
    """Ask a target the rounds of these numbers and return what came of it.

    Ranges may be worked on anywhere and merged (:meth:`Tally.merge`): with ``plan.keep_going`` the findings are those
    of one campaign over all of them, if the target answers alike every time. ``manners`` saves asking for them again.
    ``corpus`` holds rounds that are asked first, each with where it comes from. ``going_on`` is asked after every round.
    Without ``plan.keep_going`` the first finding ends the work. A caller who gives a ``tally`` to add to has in it what
    came of the rounds before an exception, such as an interrupt.
    """
    tally = Tally() if tally is None else tally
    bench = _Bench(target, plan, judge or Judge(plan.dialect), manners or mannered(target, plan), tally)
    replays = ((asked, None, place) for place, asked in corpus)
    rounds = ((round_of(plan.seed, number, plan.dialect, plan.size), number, None) for number in numbers)
    for asked, number, place in chain(replays, rounds):
        bench.round(asked, number, place)
        if bench.done or not going_on(tally):
            break
    return tally


def run(
    target: Target,
    dialect: str | Dialect = "amqp",
    *,
    seconds: float | None = None,
    rounds: int | None = None,
    cases: int | None = None,
    seed: int = 0,
    size: Size | None = None,
    keep_going: bool = False,
    validity: bool | None = None,
    corpus: Sequence[tuple[str, Round]] = (),
    progress: Callable[[Tally, float], None] | None = None,
) -> Campaign:
    """Point a campaign at a target, for so many seconds, rounds or cases, whichever is first (10 seconds if nothing is
    said).

    ``seed`` repeats a campaign; ``corpus`` holds rounds that are asked first, each with where it comes from;
    ``progress`` is called after every round with what there is so far and the seconds that went by. An interrupt
    (Ctrl-C) ends the campaign and not the program.

    >>> from dfa_router.fuzz.targets import open_target
    >>> run(open_target("trie", dialect_named("amqp")), rounds=50).agrees
    True
    """
    language = dialect_named(dialect)
    for name, value in (("seconds", seconds), ("rounds", rounds), ("cases", cases)):
        if value is not None and not value > 0:
            raise OptionError(f"{name} is {value!r}: expected a number above 0")
    if seconds is None and rounds is None and cases is None:
        seconds = 10.0
    plan = Plan(dialect=language, seed=seed, size=size, keep_going=keep_going, validity=validity)
    started = time.monotonic()
    total, interrupted, manners = Tally(), False, Manners(patterns=False, keys=False)

    def going_on(tally: Tally) -> bool:
        passed = time.monotonic() - started
        if progress is not None:
            progress(tally, passed)
        return (seconds is None or passed < seconds) and (cases is None or tally.cases < cases)

    try:
        manners = mannered(target, plan)
        numbers = count() if rounds is None else range(rounds)
        work(target, plan, numbers, manners=manners, corpus=corpus, going_on=going_on, tally=total)
    except KeyboardInterrupt:
        interrupted = True
    except RouterError as error:  # the target is gone, such as a broker that was stopped: what was found is kept
        if not total.rounds:
            raise
        total.given_up = str(error)
    return Campaign(
        target=target.name,
        plan=plan,
        tally=total,
        manners=manners,
        seconds=time.monotonic() - started,
        interrupted=interrupted,
    )


def mannered(target: Target, plan: Plan) -> Manners:
    """Return what to expect of a target that is asked something invalid."""
    if plan.validity is None:
        return manners_of(target)
    return Manners(patterns=plan.validity, keys=plan.validity)


class _Bench:
    """Where rounds are asked one after the other."""

    def __init__(self, target: Target, plan: Plan, judge: Judge, manners: Manners, tally: Tally) -> None:
        self.target, self.plan, self.judge, self.manners = target, plan, judge, manners
        self.tally = tally
        self.done = False
        self._failures = 0
        self._interrupted = False
        self._seen: set[str] = set()

    def round(self, asked: Round, number: int | None, place: str | None = None) -> None:
        """Ask one round, and shrink what is wrong with it."""
        examined = self.judge.examine(self.target, asked.patterns, asked.keys, self.manners)
        tally = self.tally
        tally.declined |= self.judge.declined
        tally.replayed += place is not None
        if examined.cases:
            tally.rounds += 1
            tally.cases += examined.cases
            tally.keys += len(examined.keys)
            tally.classes.update(asked.classes)
        if examined.ours:
            self._accuse("dfa", asked.patterns, examined.keys[min(examined.ours)], number)
        if not examined.found:
            self._failures = 0
            return
        tally.disagreements += len(examined.found)
        for disagreement, plain in self._chosen(asked.patterns, examined.keys, examined.found):
            shape = str((disagreement.kind, disagreement.about, plain))
            if shape in self._seen:
                continue
            if self._shows(plain, disagreement.kind):
                if len(self._seen) < _REMEMBERED:
                    self._seen.add(shape)
                known = Disagreement(kind=disagreement.kind, pattern=0, key=0, about=disagreement.about)
                tally.add(self._finding(self.target, known, plain.patterns, [plain.key], number, place))
            else:
                tally.add(self._finding(self.target, disagreement, asked.patterns, examined.keys, number, place))
            if self._interrupted:
                raise KeyboardInterrupt
        self.done = self.done or not self.plan.keep_going
        failed = any(found.kind is Kind.FAILS for found in examined.found)
        self._failures = self._failures + 1 if failed else 0
        if self._failures >= _FAILURES:
            self.done = True
            tally.given_up = f"it failed in {_FAILURES} rounds in a row: {examined.found[0].detail}"

    def _chosen(
        self, patterns: Sequence[str], keys: Sequence[str], found: Sequence[Disagreement]
    ) -> Iterator[tuple[Disagreement, Case]]:
        """Yield the disagreements to shrink, each with its pattern and key alone and in plain words.

        Which they are depends on the round and not on what was found before it, so that a campaign that is split finds
        the same.
        """
        dialect = self.plan.dialect

        def plain(disagreement: Disagreement) -> Case:
            key = keys[disagreement.key] if disagreement.key is not None else ""
            place = disagreement.pattern
            case = Case(patterns=tuple(patterns) if place is None else (patterns[place],), key=key)
            return canonical(case, dialect)

        cases = [(plain(disagreement), disagreement) for disagreement in found]
        cases.sort(key=lambda entry: (rank(entry[0], dialect), entry[1].kind))
        kinds: Counter[Kind] = Counter()
        chosen: set[tuple[Kind, Case]] = set()
        for case, disagreement in cases:
            if (disagreement.kind, case) in chosen or kinds[disagreement.kind] >= _SHRUNK_A_ROUND:
                continue
            kinds[disagreement.kind] += 1
            chosen.add((disagreement.kind, case))
            yield disagreement, case
            if not self.plan.keep_going:
                break

    def _shows(self, case: Case, kind: Kind) -> bool:
        """Tell whether a case of one pattern and key shows a disagreement of that kind by itself."""
        if len(case.patterns) != 1 or kind not in (Kind.MISSES, Kind.MATCHES):
            return False
        found = self.judge.examine(self.target, case.patterns, [case.key], self.manners).found
        return any(disagreement.kind is kind for disagreement in found)

    def _finding(
        self,
        target: Target,
        disagreement: Disagreement,
        patterns: Sequence[str],
        keys: Sequence[str],
        number: int | None,
        place: str | None = None,
        *,
        blamed: bool = False,
    ) -> Finding:
        shrunk = shrink(target, self.judge, disagreement, patterns, keys)
        self._interrupted = self._interrupted or shrunk.interrupted
        case = shrunk.case
        valid = all(invalid_pattern(pattern, self.plan.dialect) is None for pattern in case.patterns)
        answered, detail = disagreement.answered, disagreement.detail
        if not shrunk.flaky:
            answered, detail = _answer(target, case, disagreement)
        finding = Finding(
            accused=target.name,
            kind=disagreement.kind,
            case=case,
            dialect=self.plan.dialect,
            expected=self.judge.right(case.patterns, [case.key])[0] if valid else None,
            answered=answered,
            detail=detail,
            found_as=Case(patterns=tuple(patterns), key=keys[disagreement.key or 0] if keys else ""),
            flaky=shrunk.flaky,
            complete=shrunk.complete,
            verdicts=self.judge.verdicts(case.patterns, case.key),
            seed=self.plan.seed if number is not None else None,
            number=number,
            place=place,
            shape=_FLAKY if shrunk.flaky else shape_of(disagreement.kind, case, self.plan.dialect, disagreement.about),
        )
        if valid and not blamed:
            for engine, verdict in finding.verdicts:
                if verdict != str(list(finding.expected or ())) and not verdict.startswith("cannot"):
                    self._accuse(engine, case.patterns, case.key, number)
        return finding

    def _accuse(self, engine: str, patterns: Sequence[str], key: str, number: int | None) -> None:
        """Report what an engine of our own got wrong."""
        ours = EngineTarget(engine, self.plan.dialect)
        manners = Manners(patterns=True, keys=True)
        for disagreement in self.judge.examine(ours, patterns, [key], manners, exactly=True).found[:1]:
            self.tally.add(self._finding(ours, disagreement, patterns, [key], number, blamed=True))
        self.done = self.done or not self.plan.keep_going


_FLAKY = "flaky"
"""The shape of all findings that do not repeat: what they are cannot be known."""


def _answer(target: Target, case: Case, disagreement: Disagreement) -> tuple[tuple[int, ...] | None, str]:
    """Ask the minimal case once more, for what to report."""
    try:
        told = target.answer(case.patterns, [*case.before, case.key])
    except Refused as refusal:
        return None, refusal.reason
    except TargetFailure as failure:
        return None, failure.reason
    answer = tuple(told[-1]) if told else None
    if disagreement.kind is Kind.ACCEPTS:
        return answer, f"it answers that {list(answer or ())} match {case.key!r}"
    return answer, disagreement.detail
