"""Explanations: they agree with the specification, and name what decides."""

from __future__ import annotations

import itertools
import re

import pytest

from dfa_router.fuzz import run
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.text.explain import explain
from dfa_router.fuzz.text.report import finding_text
from dfa_router.language.dialects import AMQP, DIALECTS, Dialect, dialect_named
from dfa_router.language.validity import pattern_problem
from dfa_router.reference.naive import matches
from tests.fuzz.planted import right_amqp


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_all_small_patterns_and_keys(dialect: Dialect) -> None:
    language = language_of(dialect)
    tokens = ["a", "b", "", "$a", *language.wildcards]
    words = ["a", "b", "", "$a", *language.wildcards[:1]]
    keys = [language.separator.join(key) for n in range(4) for key in itertools.product(words, repeat=n)]
    seen = 0
    for length in range(4):
        for made in itertools.product(tokens, repeat=length):
            pattern = language.separator.join(made)
            if pattern_problem(pattern, dialect) is not None:
                continue
            for key in keys:
                told = explain(pattern, key, dialect)
                right = matches(pattern.encode(), key.encode(), dialect)
                assert told.matches is right, (pattern, key, told)
                assert told.sentence
                taken = [word for _, words in told.alignment for word in words]
                wanted = key.split(language.separator) if key else []
                assert taken == (wanted if right else wanted[: len(taken)])
                seen += 1
    assert seen > 4000


@pytest.mark.parametrize(
    ("dialect", "pattern", "key", "sentence"),
    [
        ("amqp", "a.#", "a", "`#` stands for zero or more words"),
        ("amqp", "a.*", "a.", "`*` stands for exactly one word, and the empty word is one"),
        ("amqp", "a*", "a*", "`a*` is a word like any other, as `*` is a wildcard only by itself"),
        ("amqp", "", "a", "nothing takes the word `a`: the empty pattern has no words, and the key has 1"),
        ("amqp", "a.b", "a", "the key ends after `a`, and `b` of the pattern is left over: `b` takes the equal word only"),
        ("amqp", "", ".", "nothing takes the word '': the empty pattern has no words, and the key has 2"),
        ("amqp", "a.", "a", "the key ends after `a`, and '' of the pattern is left over: the empty word is a word, and takes an empty word only"),
        ("amqp", "a", "\n", "nothing takes the word '\\n': `a` takes the equal word only"),
        ("amqp", "e\u0301", "\u00e9", "nothing takes the word `\u00e9`: 'e\\u0301' takes the equal word only"),
        ("mqtt", "+/b", "$a/b", "a wildcard at the beginning matches no key that begins with `$`, as `$a` does"),
        ("mqtt", "#", "a/+", "no pattern matches the key: it has '+', which is for patterns only"),
        ("nats", "a.>", "a", "the key ends after `a`, and `>` of the pattern is left over: `>` stands for one or more words"),
        ("solace", ">/>", ">/a", "`>` is a word like any other, as `>` is a wildcard only as the last word"),
        ("solace", ">/a", "b/a", "nothing takes the word `b`: `>` is a word like any other, as `>` is a wildcard only as the last word"),
        ("nats", "*", "a.", "the key has an empty word, which nats does not have, so nothing matches it"),
    ],
)  # fmt: skip
def test_what_decides(dialect: str, pattern: str, key: str, sentence: str) -> None:
    assert explain(pattern, key, dialect_named(dialect)).sentence == sentence


def test_a_report_tells_the_size_of_texts_that_are_too_long_to_count() -> None:
    def cut(patterns: list[str], key: str) -> list[int]:
        return right_amqp([pattern[:60] for pattern in patterns], key[:60])

    (finding,) = run(CallableTarget(cut, AMQP), AMQP, rounds=400, seed=1).findings
    report = finding_text(finding).splitlines()
    told = [line.rpartition(" (")[2] for line in report if line.startswith(("  pattern 0", "  key"))]
    texts = (*finding.case.patterns, finding.case.key)
    assert max(map(len, texts)) == 61
    for text, line in zip(texts, told, strict=True):
        if len(text) > 40:
            assert re.fullmatch(rf"{text.count('.') + 1} words?, {len(text)} bytes\)", line)
