"""One fault is one finding, two faults are two, and what a target hung at is asked no more."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pytest

from dfa_router.fuzz import Campaign, Kind, run
from dfa_router.fuzz.aside import Aside, aside_of
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.findings import Case, Disagreement
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.shrinking import causes
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.text.report import campaign_json, summary_text
from dfa_router.language.dialects import AMQP, MQTT, dialect_named
from dfa_router.target import Answers, TargetFailure
from tests.fuzz.planted import PLANTED, RIGHT, Matcher, right_amqp, right_mqtt

pytestmark = pytest.mark.slow

BY_NAME = {fault.name: fault for fault in PLANTED}


def campaign_of(match: Matcher, dialect: str, rounds: int = 150, seed: int = 1) -> Campaign:
    language = dialect_named(dialect)
    return run(CallableTarget(match, language), language, rounds=rounds, seed=seed, keep_going=True)


def both(one: Matcher, other: Matcher, right: Matcher) -> Matcher:
    """Return a matcher that is wrong wherever one of two is."""

    def match(patterns: list[str], key: str) -> list[int]:
        truth = set(right(patterns, key))
        return sorted(truth ^ ((truth ^ set(one(patterns, key))) | (truth ^ set(other(patterns, key)))))

    return match


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hash_star_is_hash", "two_hashes_beside_each_other_need_a_word"),
        ("dots_of_the_pattern_are_any_character", "wildcards_take_word_characters_only"),
        ("the_end_is_not_anchored", "a_star_beside_an_equal_word"),
        ("case_does_not_matter", "words_are_cut_at_eight_bytes"),
        ("a_trailing_dot_is_dropped", "an_empty_key_reaches_nobody"),
        ("dollar_topics_are_like_others", "dollar_anywhere_is_reserved"),
        ("plus_takes_no_empty_level", "hash_leaves_the_parent_out"),
        ("empty_words_collapse", "hash_in_the_middle_needs_a_word"),
        ("the_tail_takes_zero_tokens", "a_token_that_begins_with_a_star_is_one"),
    ],
)
def test_two_faults_of_one_matcher_stay_two_findings(one: str, other: str) -> None:
    faults = BY_NAME[one], BY_NAME[other]
    dialect = faults[0].dialect
    right = RIGHT[dialect]
    campaign = campaign_of(both(faults[0].match, faults[1].match, right), dialect)

    def shows(name: str, case: Case) -> bool:
        patterns = list(case.patterns)
        return BY_NAME[name].match(patterns, case.key) != right(patterns, case.key)

    cases = [finding.case for finding in campaign.findings]
    for name, beside in ((one, other), (other, one)):
        assert any(shows(name, case) and not shows(beside, case) for case in cases), (name, cases)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("wildcards_take_word_characters_only", 1),
        ("words_are_a_regular_expression", 3),
        ("case_does_not_matter", 1),
        ("dots_of_the_pattern_are_any_character", 1),
    ],
)
def test_one_fault_is_not_told_again_for_each_character(name: str, most: int) -> None:
    for seed in (1, 2):
        found = campaign_of(BY_NAME[name].match, "amqp", seed=seed).findings
        assert 0 < len(found) <= most, [(one.case.patterns, one.case.key, one.shape) for one in found]


def as_an_expression(patterns: list[str], key: str) -> list[int]:
    """Most marks are escaped, wildcards within a word are not; both wildcards want a character, ``#`` also its dots."""
    found = []
    for place, pattern in enumerate(patterns):
        words = [
            {"*": "[^.]+", "#": ".*"}.get(word) or re.sub(r"([^\w*#])", r"\\\1", word) for word in pattern.split(".")
        ]
        try:
            matches = re.match(rf"{'[.]'.join(words)}\Z", key)
        except re.error:
            raise KeyError(pattern) from None
        found += [place] * bool(matches)
    return found


def of_the_first_star(patterns: list[str], key: str) -> list[int]:
    """Only the first star is a wildcard; a second one repeats what stands before it."""
    wrong = [i for i, p in enumerate(patterns) if set(p.split(".")) == {"*"} and p != "*"]
    expressions = {place: "[^.]*" + r"\.*" * patterns[place].count(".") for place in wrong}
    matched = {place for place, one in expressions.items() if re.fullmatch(one, key, re.DOTALL)}
    return sorted(matched | (set(right_amqp(patterns, key)) - set(wrong)))


@pytest.mark.parametrize("seed", [1, 2])
def test_one_fault_is_told_once_whichever_case_shows_it(seed: int) -> None:
    """``a.#`` and ``#.#``, an error and a false match, ``*.`` and ``.*``: four faults make four findings."""
    found = campaign_of(as_an_expression, "amqp", seed=seed, rounds=250).findings
    assert sorted(one.shape for one in found) == [
        "'misreads' | 'in a pattern: wildcards within a word'",
        "'misses' | '# that takes no words'",
        "'misses' | 'empty words'",
        "'misses' | 'in the key: some line ends'",
    ]
    assert {one.kind for one in found} == {Kind.MISSES, Kind.MATCHES}, "a wrong answer is told before an error"


def test_a_pattern_that_is_missed_and_matches_falsely_is_one_finding() -> None:
    found = campaign_of(of_the_first_star, "amqp").findings
    shapes = [one.shape for one in found if one.case.patterns == ("*.*",)]
    assert shapes == ["'misreads' | '*.*'"], [(one.case.patterns, one.case.key, one.shape) for one in found]


def test_two_characters_of_different_sorts_are_two_faults() -> None:
    def match(patterns: list[str], key: str) -> list[int]:
        return [] if "é" in key or "\n" in key else right_amqp(patterns, key)

    found = campaign_of(match, "amqp").findings
    shown = {character for one in found for character in "é\n" if character in one.case.key}
    assert shown == {"é", "\n"}
    assert len(found) == 2, [one.shape for one in found]


def test_where_a_wildcard_stands_and_which_it_is_make_no_other_fault_of_a_character() -> None:
    def match(patterns: list[str], key: str) -> list[int]:
        return [i for i in right_mqtt(patterns, key) if "$" not in key[1:] or patterns[i] == key]

    found = campaign_of(match, "mqtt", rounds=400).findings
    assert [one.kind for one in found] == [Kind.MISSES], [one.shape for one in found]


# --- cases of one fault that look like several ---------------------------------------------------------------------------


def first_ones_only(patterns: list[str], key: str) -> list[int]:
    """An expression in which only the first dot is escaped, and only the first star replaced."""
    found = []
    for place, pattern in enumerate(patterns):
        text = pattern.replace(".", "[.]", 1).replace("*", "[^.]+", 1).replace(">", ".+", 1)
        found += [place] * bool(re.fullmatch(text, key, re.DOTALL))
    return found


def any_rest(patterns: list[str], key: str) -> list[int]:
    """``/#`` takes any rest of the text, and a leading ``+`` no ``$``."""

    def fits(pattern: str) -> bool:
        if not pattern.endswith("/#"):
            return right_mqtt([pattern], key) == [0]
        words = ["[^/$]*" if word == "+" and not place else "[^/]*" if word == "+" else re.escape(word)
                 for place, word in enumerate(pattern[:-2].split("/"))]  # fmt: skip
        return re.fullmatch("/".join(words) + ".*", key, re.DOTALL) is not None

    return [place for place, pattern in enumerate(patterns) if fits(pattern)]


def hidden_by_another(patterns: list[str], key: str) -> list[int]:
    """``#.b`` is missed on long words where another pattern begins with ``#`` and ends with anything but a small letter."""
    ends = [pattern.split(".")[-1] for pattern in patterns if pattern.startswith("#.")]
    odd = [end for end in ends if end not in tuple("abcq")]
    long = len(key.split(".", maxsplit=1)[0]) > 15
    return [i for i in right_amqp(patterns, key) if not (long and odd and patterns[i] == "#.b")]


def shape(match: Matcher, dialect: str, case: Case, kind: Kind) -> str:
    language = dialect_named(dialect)
    judge, disagreement = Judge(language_of(language)), Disagreement(kind=kind)
    probe = Probe(CallableTarget(match, language), judge, disagreement, math.inf, Manners(False, False))
    assert probe.shows(case)
    return causes.tested_shape(probe, case, "")


@pytest.mark.parametrize(
    ("match", "dialect", "cases"),
    [
        (first_ones_only, "nats", [(("a.a.a",), "a.aaa"), (("a.a.>",), "a.aa.a")]),
        (any_rest, "mqtt", [(("a/#",), "aa"), (("+/#",), "$")]),
    ],
)
def test_a_separator_that_is_not_insisted_on_is_one_fault(
    match: Matcher, dialect: str, cases: list[tuple[tuple[str, ...], str]]
) -> None:
    shapes = [shape(match, dialect, Case(patterns=patterns, key=key), Kind.MATCHES) for patterns, key in cases]
    assert set(shapes) == {"'falsely matches' | 'separator'"}


def test_a_fault_beside_that_of_separators_keeps_its_name() -> None:
    assert shape(first_ones_only, "nats", Case(patterns=("*.*",), key="a"), Kind.MATCHES) == "'misreads' | '*.*'"


def test_what_else_stands_in_the_pattern_beside_does_not_count() -> None:
    key = "aaaaaaaaaaaaaaaa.b"
    shapes = {
        shape(hidden_by_another, "amqp", Case(patterns=patterns, key=key), Kind.MISSES)
        for patterns in (("#.b", "#.A"), ("#.b", "#.."), ("#.b", "#.!.é"))
    }
    assert len(shapes) == 1, shapes


def test_what_stands_in_the_pattern_beside_counts_where_the_fault_needs_it() -> None:
    def twice(patterns: list[str], key: str) -> list[int]:
        return [i for i in right_amqp(patterns, key) if patterns.count(patterns[i]) < 2]

    def starred(patterns: list[str], key: str) -> list[int]:
        return [i for i in right_amqp(patterns, key) if patterns[i] == "*" or "*" not in patterns]

    double = shape(twice, "amqp", Case(patterns=("a", "a"), key="a"), Kind.MISSES)
    assert double != shape(starred, "amqp", Case(patterns=("a", "*"), key="a"), Kind.MISSES)


# --- what a target hung at --------------------------------------------------------------------------------------------


class Hanging(CallableTarget):
    """Hangs at two ``#``, and misses ``c``."""

    hung = 0

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        if any(pattern.split(".").count("#") > 1 for pattern in patterns):
            self.hung += 1
            raise TargetFailure("hung", "no answer")
        return super().answer(patterns, keys)


def test_what_a_target_hung_at_is_asked_no_more_and_the_campaign_goes_on() -> None:
    def misses(patterns: list[str], key: str) -> list[int]:
        return [i for i in right_amqp(patterns, key) if patterns[i] != "c"]

    target = Hanging(misses, AMQP)
    campaign = run(target, AMQP, rounds=400, keep_going=True, validity=False)
    assert campaign.tally.aside == {"patterns with '#' and then '#'"}
    assert {finding.kind for finding in campaign.findings} == {Kind.FAILS, Kind.MISSES}
    assert campaign.tally.rounds > 350
    once = target.hung
    run(target, AMQP, rounds=40, keep_going=True, validity=False)
    assert target.hung <= 2 * once, "a campaign ten times as long hangs no more often"
    assert "it hung, and was not asked again: patterns with '#' and then '#'" in summary_text(campaign)
    assert campaign_json(campaign)["set_aside"] == ["patterns with '#' and then '#'"]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (Case(patterns=("a.#.#",), key="a"), Aside("patterns", ("#", "#"))),
        (Case(patterns=("*.é.#",), key="a"), Aside("patterns", ("*", "é", "#"))),
        (Case(patterns=("#", "*.é.#"), key="a"), None),
        (Case(patterns=("#",), key="a.é"), Aside("keys", ("é",))),
        (Case(patterns=("a",), key="a.b.c.d"), Aside("keys", length=4)),
        (Case(patterns=("a",), key="a"), None),
    ],
)
def test_the_sort_that_is_set_aside(case: Case, expected: Aside | None) -> None:
    assert aside_of(case, language_of(AMQP)) == expected


def test_a_sort_has_its_words_in_their_order() -> None:
    language = language_of(MQTT)
    sort = Aside("patterns", ("+", "#"))
    assert [sort.has(text, language) for text in ("a/+/b/#", "+/a", "#", "")] == [True, False, False, False]
    assert [Aside("keys", length=3).has(text, language) for text in ("a/b/c", "a/b")] == [True, False]
