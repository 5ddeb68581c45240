"""What is wrong with the patterns of one matcher: an exchange, or a list of subscriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from dfa_router.analysis.costs import broker_cost, growth
from dfa_router.analysis.coverage import RedundancyKind, UnprovenError, redundant, unreachable
from dfa_router.analysis.normalising import normalise
from dfa_router.counted import counted
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.lint.findings import RULES, Finding, so_do
from dfa_router.reports import Report

__all__ = ["STEPS", "lint_patterns"]

STEPS = (
    "reading patterns",
    "comparing bindings",
    "looking for patterns that no key matches",
    "walking as a broker does",
)
"""What a report is told that is being done to the bindings of a matcher, in this order."""
_MANY = 10_000
"""Bindings of a matcher from which on there is anything to report: fewer take less than a second."""

_COSTLY = 1_000_000
"""Steps of a broker's walk for one key, about a tenth of a microsecond each, from which on a binding is called costly."""
_GROWTH_BUDGET = 100_000
_FEWEST_STATES = 5_000
"""States from which on a set is said to grow: those of a hundred plain patterns are hundreds."""

Given = Sequence[tuple[str, str, str]]
"""Pattern, destination and place of each binding."""


def lint_patterns(
    given: Given, dialect: Dialect, *, vhost: str = "", where: str = "", report: Report | None = None
) -> Iterator[Finding]:
    """Yield what is wrong with bindings; ``where`` names the matcher in messages, as in ``exchange 'events'``.

    Of many bindings a report is told which of :data:`STEPS` is taken.
    """
    if report is None or len(given) < _MANY:
        report = _nobody
    reading, comparing, reaching, walking = (partial(report, step) for step in STEPS)
    valid = []
    for number, (pattern, destination, place) in enumerate(given):
        if number % _MANY == 0:
            reading(number, len(given))
        problem = pattern_problem(pattern, dialect)
        many = dialect.many is not None and dialect.name == "amqp"
        if problem is not None:
            yield _finding("invalid-pattern", place, vhost, pattern, f"{dialect.name} refuses it: {problem}")
            continue
        valid.append((pattern, destination, place))
        yield from _words(pattern, place, vhost, dialect)
        if many:
            yield from _normal(pattern, place, vhost)
    yield from _redundant(valid, dialect, vhost, where, comparing)
    reaching(0, 0)
    for number in unreachable([pattern for pattern, _, _ in valid], dialect):
        pattern, _, place = valid[number]
        yield _finding("unmatched-pattern", place, vhost, pattern, f"no key of {dialect.name} matches it: remove it")
    if dialect.many is not None and not dialect.tail_only:
        walking(0, 0)
        yield from _costs(valid, vhost, where)


def _nobody(step: str, done: int, known: int) -> None:
    """Take a report that nobody wants."""


def _words(pattern: str, place: str, vhost: str, dialect: Dialect) -> Iterator[Finding]:
    wildcards = [one.decode() for one in (dialect.one, dialect.many, dialect.some) if one is not None]
    for word in pattern.split(dialect.separator.decode()):
        inside = [wildcard for wildcard in wildcards if wildcard in word and word not in wildcards]
        if inside:
            yield _finding(
                "wildcard-in-word",
                place,
                vhost,
                pattern,
                f"{inside[0]!r} in the word {word!r} is a literal character, as wildcards are whole words: it matches only "
                f"keys with the word {word!r}; set a separator between, or write the wildcard alone",
                _plain(pattern, dialect),
            )
            return


def _plain(pattern: str, dialect: Dialect) -> str:
    """Return a key of the pattern: one word for each wildcard."""
    words = pattern.split(dialect.separator.decode())
    wild = {one.decode() for one in (dialect.one, dialect.many, dialect.some) if one is not None}
    return dialect.separator.decode().join("x" if word in wild else word for word in words)


def _normal(pattern: str, place: str, vhost: str) -> Iterator[Finding]:
    words = pattern.split(".")
    if words.count("#") < 2 and "#.*" not in pattern:
        return
    normal = normalise(pattern)
    if words.count("#") > 2:
        if normal.accepted:
            advice = f"write {normal.pattern!r}, which matches the same keys"
        else:
            assert normal.proof is not None
            advice = (
                f"no pattern with fewer matches the same keys (one that matches {normal.proof.matched[0]!r} and as many words "
                f"as you like for each '#' also matches keys such as {normal.proof.unmatched[0][:60]!r}): bind several "
                "patterns, or change the keys"
            )
        message = f"it has {words.count('#')} '#', and RabbitMQ from 4.3.5 on takes at most two: {advice}"
        yield _finding("too-many-wildcards", place, vhost, pattern, message)
    elif len(normal.pattern.split(".")) < len(words):
        yield _finding(
            "longer-than-needed", place, vhost, pattern, f"write {normal.pattern!r}, which matches the same keys"
        )


def _redundant(
    valid: Given, dialect: Dialect, vhost: str, where: str, report: Callable[[int, int], None]
) -> Iterator[Finding]:
    bindings = [(pattern, destination) for pattern, destination, _ in valid]
    try:
        found = redundant(bindings, dialect, report=report)
    except UnprovenError as error:
        pattern, _, place = valid[error.bindings[0]]
        yield _finding(
            "unproven-binding", place, vhost, pattern, f"it is not known whether it changes anything: {error}"
        )
        found = error.proven
    repeats = Counter(one.by for one in found if one.kind is RedundancyKind.EQUAL)
    for one in found:
        pattern, destination, place = valid[one.binding]
        others = ", ".join(f"{valid[by][0]!r} ({valid[by][2]})" for by in one.by[:4])
        to = f" for {destination}" if destination else ""
        at = f" of {where}" if where else ""
        if one.kind is not RedundancyKind.EQUAL:
            more = f" and {counted(len(one.by) - 4, 'other')}" if len(one.by) > 4 else ""
            message = f"{others}{more}{at} match all of its keys{to}: remove it, or narrow the others if they were meant to be"
            yield _finding("covered-binding", place, vhost, pattern, message, _plain(pattern, dialect))
        elif one.by in repeats:  # of many that are equal, one finding speaks for all
            more = so_do(repeats.pop(one.by) - 1)
            message = f"it matches the same keys{to} as {others}{at}{more}: keep one of them"
            yield _finding("equal-binding", place, vhost, pattern, message)


def _costs(valid: Given, vhost: str, where: str) -> Iterator[Finding]:
    wild = [one for one in valid if one[0].split(".").count("#") > 1]
    if wild:
        cost = broker_cost([(pattern, destination) for pattern, destination, _ in wild])
        if cost.steps > _COSTLY and cost.binding is not None:
            pattern, _, place = wild[cost.binding]
            yield _finding(
                "costly-binding",
                place,
                vhost,
                pattern,
                f"one message can make the broker walk {cost.steps:,} steps ({cost.versions}), and a plain key of that length "
                f"{cost.plain_steps:,}: use fewer '#'",
                cost.key,
            )
    leading = Counter(pattern.split(".", 1)[0] for pattern, _, _ in valid)
    if leading["#"] + leading["*"]:  # else states are as many as the trie has nodes, times what '*' and '#' add
        found = growth(
            [(pattern, destination) for pattern, destination, _ in valid if pattern[:1] in ("#", "*")],
            budget=_GROWTH_BUDGET,
        )
        if not found.complete and found.states > _FEWEST_STATES:
            wilds = [one for one in valid if one[0][:1] in ("#", "*")]
            pattern, _, place = wilds[found.blamed[0][0]]
            blamed = ", ".join(repr(wilds[number][0]) for number, _ in found.blamed[:3])
            yield _finding(
                "growing-bindings",
                place,
                vhost,
                pattern,
                f"the bindings{f' of {where}' if where else ''} need over {found.states:,} states of a complete automaton, most of "
                f"them for {blamed}: automata that are built as keys need them stay within their cache, and clear it often",
            )


def _finding(rule: str, place: str, vhost: str, subject: str, message: str, witness: str | None = None) -> Finding:
    return Finding(rule=RULES[rule], place=place, vhost=vhost, subject=subject, message=message, witness=witness)
