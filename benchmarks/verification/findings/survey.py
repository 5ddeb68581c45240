"""The examination of one package: campaigns, a fixed set of small cases, and a live broker that judges.

A campaign shrinks what it finds to the simplest case of its kind, so a mistake about, say, empty words hides all mistakes
that need longer cases. Each package is therefore examined in several passes, from everything that can be asked to what is
asked every day. What is outside of the scope of a pass does not count in it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.verification.findings.subjects import Subject
from dfa_router.errors import RouterError
from dfa_router.fuzz.campaign import run as run_campaign
from dfa_router.fuzz.findings import Finding
from dfa_router.fuzz.tally import Tally
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.target import Answers, Refused, Target, TargetFailure

__all__ = ["PASSES", "Examined", "Judged", "Small", "examine", "small_cases"]


def _anything(text: str, dialect: Dialect) -> bool:  # noqa: ARG001 - one of several with one signature
    return True


def _no_empty_words(text: str, dialect: Dialect) -> bool:
    return "" not in text.split(dialect.separator.decode())


def _everyday(text: str, dialect: Dialect) -> bool:
    wild = {word.decode() for word in (dialect.one, dialect.many, dialect.some) if word}
    words = text.split(dialect.separator.decode())
    return all(word in wild or re.fullmatch(r"\w+", word, re.ASCII) for word in words)


@dataclass(frozen=True, slots=True)
class Scope:
    """What counts in a pass."""

    allowed: Callable[[str, Dialect], bool]
    """Whether a pattern or key is handed to the package."""
    longer: bool = False
    """Whether answers count only for keys of more words than the pattern."""


PASSES = {
    "anything valid": Scope(_anything),
    "no empty words": Scope(_no_empty_words),
    "letters and digits": Scope(_everyday),
    "letters and digits, keys longer than the pattern": Scope(_everyday, longer=True),
}
"""The passes by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A finding, and the live broker's answer to its minimal case."""

    finding: Finding
    scope: str
    """The pass that found it."""
    verdict: tuple[int, ...] | str | None
    """Positions that the broker routes the key to, its reason if it refused, or None if no broker was asked."""
    cause: str | None
    """Why the package answers wrong, where that is known."""

    @property
    def stated(self) -> bool:
        """Whether the broker answers as we do: only then it is stated as a mistake of the package."""
        return self.verdict is not None and self.verdict == self.finding.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """Results for the fixed set of small cases."""

    cases: int
    wrong: int
    """How many of them the package answers wrong or fails to answer."""
    broker_differs: int | None
    """How many of them the live broker answers otherwise than the specification; None where no broker was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The result for one package."""

    subject: Subject
    version: str | None
    """None for a package that is not installed; the fields below are empty then."""
    cases: int = 0
    """(pattern, key) pairs that the campaigns asked the package."""
    wrong: int = 0
    """How many of them it answered wrong."""
    small: Small | None = None
    judged: tuple[Judged, ...] = ()
    seconds: float = 0.0
    """The time that the campaigns were given."""
    given_up: tuple[str, ...] = ()
    """The passes that ended early, and why."""
    broker: str | None = None
    """The broker that judged; None where none was asked."""


def examine(
    subject: Subject,
    broker: Target | None,
    *,
    seconds: float,
    seed: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> Examined:
    """Examine a package for about ``seconds``.

    ``progress`` is called with what is going on, the passes that are done, and their number. Without a broker no finding is
    stated. Raises :class:`RouterError` if one of our own engines is wrong.
    """
    version = subject.version
    if version is None:
        return Examined(subject=subject, version=None)
    package = open_target(subject.target, subject.dialect)
    try:
        tallies: dict[str, Tally] = {}
        scoped: dict[str, _Scoped] = {}
        for number, (scope, about) in enumerate(PASSES.items()):
            if progress is not None:
                progress(f"{subject.name} {version}: {scope}", number, len(PASSES))
            scoped[scope] = _Scoped(package, about)
            campaign = run_campaign(
                scoped[scope],
                subject.dialect,
                seconds=seconds / len(PASSES),
                seed=seed,
                keep_going=True,
                validity=False,  # what the dialect refuses is not asked: these are matchers, not brokers
            )
            if campaign.interrupted:  # Ctrl-C: a campaign returns what it has, but half a survey makes no table
                raise KeyboardInterrupt
            tallies[scope] = campaign.tally
        small = _small(package, broker, subject.dialect)
    finally:
        package.close()
    return Examined(
        subject=subject,
        version=version,
        cases=sum(target.cases for target in scoped.values()),
        wrong=sum(tally.disagreements for tally in tallies.values()),
        small=small,
        judged=tuple(_judged(tallies, subject, broker)),
        seconds=seconds,
        given_up=tuple(f"{scope}: {tally.given_up}" for scope, tally in tallies.items() if tally.given_up),
        broker=None if broker is None else broker.name,
    )


class _Scoped:
    """A target that is asked only what counts in a pass; everything else is answered right in its place."""

    def __init__(self, target: Target, scope: Scope) -> None:
        self.name, self.dialect = target.name, target.dialect
        self.cases = 0
        self._target, self._scope = target, scope
        self._separator = target.dialect.separator.decode()
        self._right = EngineTarget("dfa", target.dialect)

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return the target's answers to what is in the scope, and right answers to the rest."""
        allowed, separator = self._scope.allowed, self._separator
        positions = [i for i, pattern in enumerate(patterns) if allowed(pattern, self.dialect)]
        numbers = [i for i, key in enumerate(keys) if allowed(key, self.dialect)]
        asked, of = [patterns[i] for i in positions], [keys[i] for i in numbers]
        told: Answers = [()] * len(of)
        if asked and of:
            told = self._target.answer(asked, of)
        if len(asked) == len(patterns) and len(of) == len(keys) and not self._scope.longer:
            self.cases += len(asked) * len(of)
            return told
        answers = self._right.answer(patterns, keys)
        words = [pattern.count(separator) for pattern in patterns]
        for number, found in zip(numbers, told, strict=True):
            most = keys[number].count(separator)
            counted = {i for i in positions if not self._scope.longer or words[i] < most}
            self.cases += len(counted)
            theirs = counted.intersection(positions[i] for i in found)
            answers[number] = tuple(sorted(theirs.union(i for i in answers[number] if i not in counted)))
        return answers

    def close(self) -> None:
        """Do nothing: whoever opened the target closes it."""


def _judged(tallies: Mapping[str, Tally], subject: Subject, broker: Target | None) -> Iterator[Judged]:
    """Yield the findings of all passes, each shape once, with the broker's verdict."""
    seen: set[str] = set()
    for scope, tally in tallies.items():
        for finding in sorted(tally.findings.values(), key=lambda finding: finding.shape):
            if finding.accused != subject.target:
                raise RouterError(f"our own engine {finding.accused!r} is wrong, mend that first: {finding}")
            if finding.shape in seen:
                continue
            seen.add(finding.shape)
            case = finding.case
            cause = subject.causes.get((" ".join(case.patterns), case.key), subject.other_cause)
            yield Judged(finding=finding, scope=scope, verdict=_verdict(broker, finding), cause=cause)


def _verdict(broker: Target | None, finding: Finding) -> tuple[int, ...] | str | None:
    if broker is None:
        return None
    try:
        return broker.answer(finding.case.patterns, [finding.case.key])[0]
    except Refused as refused:
        return f"refuses: {refused.reason}"
    except TargetFailure as failure:
        return f"{failure.kind}: {failure.reason}"


def small_cases(dialect: Dialect) -> tuple[list[str], list[str]]:
    """Return all valid patterns of up to three words and all keys of up to four, over very few words.

    >>> from dfa_router.language.dialects import AMQP
    >>> patterns, keys = small_cases(AMQP)
    >>> len(patterns), len(keys), patterns[:4]
    (155, 120, ['', '*', '#', 'a'])
    """
    separator = dialect.separator.decode()
    wild = [word.decode() for word in (dialect.one, dialect.many, dialect.some) if word]
    plain = ["a", "b" if dialect.reserved is None else dialect.reserved.decode() + "b"]

    def texts(words: Sequence[str], most: int) -> list[str]:
        made = (separator.join(text) for n in range(1, most + 1) for text in itertools.product(words, repeat=n))
        return list(dict.fromkeys(made))

    patterns = [text for text in texts(["", *wild, *plain], 3) if pattern_problem(text, dialect) is None]
    keys = [text for text in texts(["", *plain], 4) if text or dialect.empty_text]
    return patterns, keys


def _small(package: Target, broker: Target | None, dialect: Dialect) -> Small:
    patterns, keys = small_cases(dialect)
    right = EngineTarget("naive", dialect).answer(patterns, keys)
    return Small(
        cases=len(patterns) * len(keys),
        wrong=_wrong(package, patterns, keys, right),
        broker_differs=None if broker is None else _wrong(broker, patterns, keys, right),
    )


def _wrong(target: Target, patterns: Sequence[str], keys: Sequence[str], right: Answers) -> int:
    """Return how many pairs are answered wrong; a pair that the target refuses or fails on counts as wrong.

    A refused or failed request is split in halves until it is one pair.
    """
    try:
        told = target.answer(patterns, keys)
        return sum(len(set(one) ^ set(other)) for one, other in zip(told, right, strict=True))
    except (Refused, TargetFailure):
        if len(patterns) == len(keys) == 1:
            return 1
        if len(patterns) > 1:
            half = len(patterns) // 2
            left = [tuple(i for i in row if i < half) for row in right]
            others = [tuple(i - half for i in row if i >= half) for row in right]
            return _wrong(target, patterns[:half], keys, left) + _wrong(target, patterns[half:], keys, others)
        half = len(keys) // 2
        return _wrong(target, patterns, keys[:half], right[:half]) + _wrong(target, patterns, keys[half:], right[half:])
