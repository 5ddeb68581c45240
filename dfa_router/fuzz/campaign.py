"""A campaign: a target is asked rounds, and what it gets wrong is shrunk and gathered.

The unit of work is a range of round numbers of a seed (:func:`work`). Its result is a plain value (:class:`Tally`) that
pickles and merges, so that ranges can be worked on anywhere. :func:`run` works on one range until the time, the cases or
the rounds are used up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count

from dfa_router.errors import RouterError
from dfa_router.fuzz.asked import check_campaign, check_limit, check_number, rounds_of
from dfa_router.fuzz.bench import Bench, Origin
from dfa_router.fuzz.generating.rounds import Size, numbered_round
from dfa_router.fuzz.judging.manners import Manners, manners_of
from dfa_router.fuzz.judging.subject import Subject
from dfa_router.fuzz.patience import GRACE, within
from dfa_router.fuzz.scope import Scope
from dfa_router.fuzz.spoken import spoken_by
from dfa_router.fuzz.tally import Campaign, Plan, Tally
from dfa_router.language.dialects import Dialect
from dfa_router.target import OutOfTimeError, Round, Target

__all__ = ["bounded", "ending", "mannered", "run", "work"]


def work(
    target: Target,
    plan: Plan,
    numbers: Iterable[int],
    *,
    manners: Manners | None = None,
    corpus: Iterable[tuple[str, Round]] = (),
    going_on: Callable[[Tally], bool] = lambda _: True,
    asked: Callable[[int], None] = lambda _: None,
    tally: Tally | None = None,
    ends: float = math.inf,
) -> Tally:
    """Ask a target the rounds of these numbers and return what came of it.

    With ``plan.keep_going`` the tallies of several ranges, merged (:meth:`Tally.merge`), hold the findings of one
    campaign over all of them, if the target answers in the same way every time. Without it the first finding ends the
    work.

    Args:
        target: what is under test.
        plan: dialect, seed and sizes of the rounds.
        numbers: which rounds of the seed are asked.
        manners: what to expect of the target when it is asked something invalid; it is asked to find out if this is
            left out.
        corpus: rounds that are asked first, each with where it comes from.
        going_on: called after every round with what there is so far; False ends the work.
        asked: called with the number of every round that was asked to its end: one that is cut off has to be asked again.
        tally: what to add to. A caller who passes one still has the rounds before an exception, such as an interrupt.
        ends: the time, of the monotonic clock, at which the work ends, in the middle of a round and of shrinking, too.

    Raises :class:`OptionError` for a plan in a dialect whose separator or wildcards the target reads otherwise, and for
    what is no target or corpus.
    """
    spoken_by(target, plan.dialect)
    corpus = rounds_of(corpus)
    tally = Tally() if tally is None else tally
    bounded(target, ends)
    try:
        _work(target, plan, numbers, manners, corpus, going_on, asked, tally, ends)
    except OutOfTimeError as late:
        if not tally.rounds and not tally.findings:
            tally.given_up = f"it never answered a round in the time that there was: {late}"
    return tally


def _work(
    target: Target,
    plan: Plan,
    numbers: Iterable[int],
    manners: Manners | None,
    corpus: Iterable[tuple[str, Round]],
    going_on: Callable[[Tally], bool],
    asked: Callable[[int], None],
    tally: Tally,
    ends: float,
) -> None:
    subject = Subject(target, manners or mannered(target, plan))
    subject.renew()  # so that nothing that it was asked to find out its manners has a part in what it answers
    bench = Bench(subject, plan, tally, ends)
    replays = ((replayed, Origin(place=place)) for place, replayed in corpus)
    rounds = (
        (numbered_round(plan.language, plan.seed, number, plan.size), Origin(seed=plan.seed, number=number))
        for number in numbers
    )
    for material, origin in chain(replays, rounds):
        try:
            bench.round(material, origin)
        except OutOfTimeError as late:
            if not late.overdue:
                raise
            again = f"--seed {origin.seed} --round {origin.number} with" if origin.place is None else "it takes"
            tally.given_up = f"{late}: {again} more --seconds to tell whether it ever answers"
            break
        if origin.number is not None:
            asked(origin.number)
        if bench.done or not going_on(tally):
            break


def run(
    target: Target,
    dialect: str | Dialect | None = None,
    *,
    seconds: float | None = None,
    since: float | None = None,
    rounds: int | None = None,
    cases: int | None = None,
    seed: int = 0,
    size: Size | None = None,
    keep_going: bool = False,
    validity: bool | None = None,
    scope: Scope | None = None,
    first: int = 0,
    replay_only: bool = False,
    corpus: Sequence[tuple[str, Round]] = (),
    progress: Callable[[Tally, float], None] | None = None,
) -> Campaign:
    """Run a campaign against a target and return its result.

    It ends after ``seconds``, ``rounds`` or ``cases``, whichever comes first, and after 10 seconds if none of them is
    given. An interrupt (Ctrl-C) ends the campaign and not the program.

    Args:
        target: what is under test.
        dialect: a dialect, or the name of one; the target's own if it is left out.
        seconds: how long to ask.
        since: the time, of the monotonic clock, from which these seconds count; from now if it is left out. A quarter
            of them are left for asking in any case.
        rounds: how many rounds to ask.
        cases: how many (pattern, key) pairs to ask.
        seed: the same seed asks the same rounds.
        size: how many patterns and keys a round has; small rounds are mixed with larger ones if it is left out.
        keep_going: whether to go on after the first finding.
        validity: whether the target must refuse what the dialect refuses; None finds out whether it refuses anything.
        scope: what the target may be asked, apart from what it states itself.
        first: the number of the first round.
        replay_only: whether only the corpus is asked.
        corpus: rounds that are asked first, each with where it comes from.
        progress: called after every round with what there is so far and the seconds that went by.

    Raises :class:`OptionError` for a dialect that is unknown, or whose separator or wildcards the target reads otherwise, for
    what is no target, and for a limit that is not above 0 or another value that cannot be used.

    >>> import dfa_router as dr
    >>> from dfa_router.fuzz.targets import open_target
    >>> run(open_target("trie", dr.AMQP), rounds=50).agrees
    True
    """
    language = spoken_by(target, dialect)
    check_campaign(seconds=seconds, since=since, size=size, validity=validity, scope=scope, progress=progress)
    rounds, cases = check_limit("rounds", rounds), check_limit("cases", cases)
    seed, first = check_number("seed", seed, 0), check_number("first", first, 0)
    corpus = rounds_of(corpus)
    if seconds is None and rounds is None and cases is None:
        seconds = 10.0
    plan = Plan(
        dialect=language, seed=seed, size=size, keep_going=keep_going, validity=validity, scope=scope or Scope()
    )
    started = time.monotonic()
    ends = ending(seconds, since, started)
    next_round = first
    total, interrupted, manners = Tally(), False, Manners(patterns=False, keys=False)

    def going_on(tally: Tally) -> bool:
        passed = time.monotonic() - started
        if progress is not None:
            progress(tally, passed)
        return time.monotonic() < ends and (cases is None or tally.cases < cases)

    def asked(number: int) -> None:
        nonlocal next_round
        next_round = number + 1

    try:
        bounded(target, ends)
        manners = mannered(target, plan)
        numbers: Iterable[int] = count(first) if rounds is None else range(first, first + rounds)
        work(
            target,
            plan,
            () if replay_only else numbers,
            manners=manners,
            corpus=corpus,
            going_on=going_on,
            asked=asked,
            tally=total,
            ends=ends,
        )
    except KeyboardInterrupt:
        interrupted = True
    except OutOfTimeError as late:
        total.given_up = f"it never answered in the time that there was: {late}"
    except RouterError as error:  # the target is gone, as a broker that was stopped: keep what was found
        if not total.rounds:
            raise
        total.given_up = str(error)
    total.close()
    return Campaign(
        target=target.name,
        plan=plan,
        tally=total,
        manners=manners,
        seconds=time.monotonic() - started,
        interrupted=interrupted,
        next_round=next_round,
    )


def ending(seconds: float | None, since: float | None, started: float) -> float:
    """Return the time, of the monotonic clock, at which a campaign ends that was ``started`` after its process, at ``since``."""
    if seconds is None:
        return math.inf
    return max((started if since is None else since) + seconds, started + seconds / 4)


def bounded(target: Target, ends: float) -> None:
    """Let a target answer until shortly after a campaign's end, and bound its time for each answer accordingly."""
    if hasattr(target, "deadline"):
        target.deadline = ends + GRACE
        within(target, ends - time.monotonic())


def mannered(target: Target, plan: Plan) -> Manners:
    """Return a target's manners: those that the plan insists on, or else those that it shows when it is asked."""
    return manners_of(target, plan.scope, insists=plan.validity)
