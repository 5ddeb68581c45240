r"""Which findings have one cause, as far as questions can tell: the shape of a case, with what may stand in it as well.

One fault shows in many minimal cases: a wildcard that was translated to ``\w+`` misses ``$``, ``é`` and a line end, behind either
wildcard. So a case is changed in one respect, and the target is asked again. What mends it names the cause, and the rest of the
case does not count. In this order:

* Plain letters in the place of odd characters (:mod:`dfa_router.fuzz.shrinking.characters`).
* A word in the place of each empty one: the fault is about empty words, whichever wildcard stands beside them. The empty text
  that is taken for one empty word, where it has none, is a fault of its own.
* A pattern without a ``#`` that takes no words, if such a ``#`` is also missed in a case of letters alone: it is about that,
  wherever it stands.

A pattern that is missed for some keys and matches others falsely is misread, and both findings are one. A separator that a pattern
does not insist on explains every false match of it that such a pattern has (:mod:`dfa_router.fuzz.shrinking.separators`). Where a
pattern is answered wrong beside others only, words of these do not count if a plain one in their place shows it as well.

The answer depends on the target and the case alone, so that findings of one campaign merge as those of its parts do.

Rejected: to call two cases one fault if every step on a way between them fails as well, since there is such a way between
any two faults, by way of a case that shows both; and the lines that a case runs, as all cases of a matcher that makes a regular
expression run the same ones.
"""

from __future__ import annotations

import itertools

from dfa_router.fuzz.findings import Case, Kind, canonical, oddity_of, shape_of, spelt
from dfa_router.fuzz.shrinking.characters import about_characters
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError
from dfa_router.target import Refused, TargetFailure

__all__ = ["tested_shape"]

_CALLS = 400
_PLAIN = ("q", "A", "0")
"""Words that are put in the place of words of a pattern beside the one that is answered wrong."""
_KEY_WORDS = 3
"""The most words of the keys that show whether a pattern is missed and matches falsely."""


def tested_shape(probe: Probe, case: Case, said: str) -> str:
    """Return a text that is equal for cases that probably have one cause; the target is asked some dozens of variants.

    ``said`` is what a target said that failed or refused. An error that it raises is named by what mends it, too.
    """
    untested = shape_of(probe.kind, case, probe.dialect, said)
    raised = probe.kind is Kind.FAILS and probe.about == "raised"
    if case.stateful or case.together or not (raised or probe.kind in (Kind.MISSES, Kind.MATCHES)):
        return untested
    probe.allow(_CALLS)
    try:
        if len(case.patterns) > 1:
            case = _in_plain_company(probe, case)
            untested = shape_of(probe.kind, case, probe.dialect, said)
        named = about_characters(probe, case)
        if raised and named is not None and named[0] != "misreads":
            return untested  # what it said tells more than the key at which it said so
        if named is None and not raised:
            named = _about_words(probe, case)
    except (StoppedError, Refused, TargetFailure):
        return untested  # there is no time left, or nobody to ask: the case itself has to do
    return untested if named is None else " | ".join(map(repr, named))


def _about_words(probe: Probe, case: Case) -> tuple[str, ...] | None:
    """Return what is odd about the case's words, or None if nothing is."""
    if _takes_nothing_for_a_word(probe, case):
        return str(probe.kind), "the empty text"
    if _about_empty_words(probe, case):
        return str(probe.kind), "empty words"
    if len(case.patterns) != 1:
        return None
    if probe.kind is Kind.MISSES and _takes_nothing(probe, case):
        return str(probe.kind), f"{probe.language.many} that takes no words"
    if _misread(probe, case.patterns[0]):
        return "misreads", *canonical(Case(patterns=case.patterns, key=""), probe.dialect).patterns
    return None


def _takes_nothing_for_a_word(probe: Probe, case: Case) -> bool:
    """Tell whether the empty key matches falsely as an empty word would, behind another word."""
    if case.key or probe.kind is not Kind.MATCHES or len(case.patterns) != 1:
        return False
    separator, [pattern] = probe.language.separator, case.patterns
    return bool(probe.judge.right([f"a{separator}{pattern}"], [f"a{separator}"])[0])


def _about_empty_words(probe: Probe, case: Case) -> bool:
    """Tell whether words in the place of the empty ones mend a case; the empty text has no words."""
    separator = probe.language.separator
    letter = next(letter for letter in "qxyz" if letter not in "".join(case.texts))

    def filled(text: str) -> str:
        return separator.join(word or letter for word in text.split(separator)) if text else text

    other = spelt(case, filled)
    return other != case and probe.allowed(other, case) and not probe.shows(other)


def _in_plain_company(probe: Probe, case: Case) -> Case:
    """Return the case with a plain word in the place of each run of words, of a pattern that is answered right, that does not count."""
    separator, wild = probe.language.separator, set(probe.language.wildcards)
    wrong = {place for place, _ in probe.wrong_pairs(case.patterns, [case.key])}
    for place in sorted(set(range(len(case.patterns))) - wrong):
        runs = [
            (one, list(run)) for one, run in itertools.groupby(case.patterns[place].split(separator), wild.__contains__)
        ]
        for number in range(len(runs)):
            if runs[number][0]:
                continue
            for word in _PLAIN:
                changed = itertools.chain(*([word] if one == number else run for one, (_, run) in enumerate(runs)))
                patterns = (*case.patterns[:place], separator.join(changed), *case.patterns[place + 1 :])
                other = Case(patterns=patterns, key=case.key)
                if probe.allowed(other, case) and probe.shows(other):
                    case, runs[number] = other, (False, [word])
                    break
    return case


def _takes_nothing(probe: Probe, case: Case) -> bool:
    """Tell whether the target misses a case as a wildcard for several words takes none.

    Without that wildcard it answers right, and it is wrong about the plainest cases of such a wildcard, too.
    """
    language, [pattern] = probe.language, case.patterns
    many, separator = language.many, language.separator
    words = pattern.split(separator)
    if many is None or many not in words:
        return False

    def without(gone: set[int]) -> Case:
        left = [word for place, word in enumerate(words) if place not in gone]
        return Case(patterns=(separator.join(left),), key=case.key)

    places = [place for place, word in enumerate(words) if word == many]
    simpler = [without({place}) for place in places] + [without(set(places))]
    mended = any(
        probe.judge.right_of(one) == (0,) and probe.allowed(one, case) and probe.right(one)
        for one in simpler
        if one.patterns[0] or not case.key
    )
    if not mended:
        return False
    plainest = [
        (f"a{separator}{many}", "a"),
        (f"{many}{separator}a", "a"),
        (f"a{separator}{many}{separator}b", f"a{separator}b"),
    ]
    base = [Case(patterns=(one,), key=key) for one, key in plainest]
    return any(probe.allowed(one, case) and probe.shows(one) for one in base)


def _misread(probe: Probe, pattern: str) -> bool:
    """Tell whether an ordinary pattern is missed for some ordinary keys and matches others falsely."""
    if oddity_of(pattern, probe.dialect):
        return False
    separator, wild = probe.language.separator, probe.language.wildcards
    plain = list(dict.fromkeys([*(word for word in pattern.split(separator) if word not in wild), "a", "b"]))[:2]
    keys = [
        separator.join(words) for count in range(1, _KEY_WORDS + 1) for words in itertools.product(plain, repeat=count)
    ]
    asked = [
        key for key in keys if probe.allowed(Case(patterns=(pattern,), key=key), Case(patterns=(pattern,), key="a"))
    ]
    return len(probe.sides([pattern], asked)) > 1
