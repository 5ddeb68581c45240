"""Cases as text: they read back as what they are, here and in the suite's own reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dfa_router.errors import OptionError
from dfa_router.fuzz import Case, Finding, Kind, run
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.findings import shape_of
from dfa_router.fuzz.text.casefile import CorpusError, format_finding
from dfa_router.fuzz.text.corpus import parse_rounds, read_corpus, write_corpus
from dfa_router.fuzz.text.report import finding_text, summary_text
from dfa_router.language.dialects import AMQP, MQTT, Dialect, dialect_named
from dfa_router.target import Bind, Chapter, Step, Unbind
from tests.fuzz.planted import PLANTED, right_amqp
from tests.suite.cases import DATA, parse_cases


def finding(patterns: tuple[str, ...], key: str, dialect: Dialect = AMQP, kind: Kind = Kind.MISSES) -> Finding:
    case = Case(patterns=patterns, key=key)
    return Finding(
        accused="x:y", kind=kind, case=case, dialect=dialect, expected=(), answered=(), shape=shape_of(kind, case,
        dialect)
    )  # fmt: skip


AWKWARD = [
    "",
    "none",
    "a b",
    '"a"',
    "a\\b",
    "é",
    "e\u0301",
    "😀",
    "\x00\t\n",
    "//",
    "[a]",
    "'",
    "#.*",
    "\u2028",
    "]",
    "a\u00a0b",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_every_text_reads_back(text: str) -> None:
    written = format_finding(finding((text, "#"), text))
    [(_, dialect, read)] = parse_rounds(written, "x.txt")
    assert (dialect, read.patterns, read.keys) == ("amqp", (text, "#"), (text,))
    [case] = parse_cases(written, "x.txt")
    assert [pattern for pattern, _ in case.bindings] == [text, "#"]
    assert text in case.expected
    assert case.expected[text][-1] == 1
    assert len(written.encode().splitlines()) == 5


def test_planted_faults_make_cases_for_the_suite() -> None:
    for fault in PLANTED[::4]:
        dialect = dialect_named(fault.dialect)
        campaign = run(CallableTarget(fault.match, dialect), dialect, rounds=300)
        [case] = parse_cases(format_finding(campaign.findings[0]), "x.txt")
        found = campaign.findings[0]
        assert case.expected[found.case.key] == list(found.expected or ())
        assert case.dialect == fault.dialect


def test_the_suites_own_files_can_be_replayed() -> None:
    rounds = read_corpus(DATA, AMQP)
    assert len(rounds) > 40
    assert not run(CallableTarget(right_amqp, AMQP), AMQP, rounds=1, corpus=rounds, keep_going=True).findings
    removed = next(found for place, found in rounds if found.patterns == ("args-test",))
    assert removed.keys == ("args-test",)


def test_a_corpus_grows_and_is_replayed(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    assert read_corpus(folder, AMQP) == []
    fault = next(fault for fault in PLANTED if fault.name == "the_third_hash_is_a_word")
    first = run(CallableTarget(fault.match, AMQP), AMQP, rounds=500)
    [path] = write_corpus(folder, first.findings)
    assert write_corpus(folder, first.findings) == []
    again = run(CallableTarget(fault.match, AMQP), AMQP, rounds=500, corpus=read_corpus(folder, AMQP))
    assert again.replayed == 1
    assert again.tally.rounds == 1
    assert again.findings[0].place == f"{path}:2"
    assert read_corpus(folder, MQTT) == []
    healed = run(CallableTarget(right_amqp, AMQP), AMQP, rounds=10, corpus=read_corpus(folder, AMQP))
    assert healed.agrees
    assert path.exists()


def test_a_refused_pattern_is_kept_and_replayed(tmp_path: Path) -> None:
    def lenient(patterns: list[str], key: str) -> list[int]:
        return []

    write_corpus(tmp_path, [finding(("a/#/b",), "a", MQTT, Kind.ACCEPTS)])
    corpus = read_corpus(tmp_path, MQTT)
    campaign = run(CallableTarget(lenient, MQTT), MQTT, rounds=5, corpus=corpus, validity=True)
    assert campaign.findings[0].kind is Kind.ACCEPTS
    assert campaign.tally.rounds == 1


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for text, message in [
        ("bind a", "x.txt:1: expected a title"),
        ("[t]\nbound a", "x.txt:2: cannot read 'bound a'"),
        ("[t]\nbind", "x.txt:2: cannot read"),
        ('[t]\nbind "a', "x.txt:2: cannot read"),
        ('[t]\nbind "\\xz"', "x.txt:2: cannot read"),
    ]:
        with pytest.raises(CorpusError, match=message):
            parse_rounds(text, "x.txt")
    (tmp_path / "x.txt").write_bytes(b"\xff")
    with pytest.raises(CorpusError, match=r"x\.txt"):
        read_corpus(tmp_path, AMQP)
    with pytest.raises(OptionError, match="is no folder"):
        read_corpus(tmp_path / "x.txt", AMQP)


def test_a_set_that_was_changed_before_it_is_asked_can_be_replayed_with_any_target() -> None:
    """One that offers no changes is asked what is bound at the first key; a changed set was asked of it without what joined it."""
    text = "[t]\nbind a\nunbind 0\nbind b\nbind c\nunbind 1\nbind c\nmatch c 2 3\nmatch a none\n"
    [(_, _, read)] = parse_rounds(text, "x.txt")
    assert (read.patterns, read.keys) == (("c", "c"), ("c", "a"))
    assert [chapter.patterns for chapter in read.then] == [("a",)]


def test_what_joined_a_set_before_it_was_asked_is_kept_apart_from_what_it_began_with(tmp_path: Path) -> None:
    """A case whose target failed only at what joins passed when it was read back."""

    class Joining:
        """Takes a final # of a joined pattern for one word or more."""

        def __init__(self, patterns: list[str]) -> None:
            self.patterns, self.first = list(patterns), len(patterns)

        def bind(self, pattern: str) -> None:
            self.patterns.append(pattern)

        def unbind(self, position: int) -> None:
            self.patterns[position] = "\x00"

        def match(self, key: str) -> list[int]:
            found = right_amqp(self.patterns, key)
            return [one for one in found if one < self.first or self.patterns[one] != f"{key}.#"]

    target = CallableTarget(Joining, AMQP)
    campaign = run(target, AMQP, rounds=2000)
    [found] = campaign.findings
    assert any(isinstance(step, Bind) for step in found.case.before)
    write_corpus(tmp_path, campaign.findings)
    [(_, read)] = read_corpus(tmp_path, AMQP)
    assert run(target, AMQP, rounds=1, corpus=[("x", read)]).findings[0].shape == found.shape
    [case] = parse_cases(format_finding(found), "x.txt")
    assert case.expected[found.case.key] == list(found.expected or ())


@pytest.mark.parametrize(
    ("patterns", "steps"),
    [
        (("a",), (Bind("b"), Bind("c"), "a")),
        ((), (Bind("b"), "b", Bind("c"), "c")),
        (("a",), (Unbind(0), Bind("b"), "b")),
        (("a",), (Bind("b"), Unbind(0), Bind("c"), "c")),
        (("a",), ("a", Bind("b"), Bind("c"), "c")),
    ],
)
def test_histories_read_back(patterns: tuple[str, ...], steps: tuple[Step, ...]) -> None:
    *before, key = steps
    assert isinstance(key, str)
    case = Case(patterns=patterns, key=key, before=tuple(before))
    found = replace(finding(("a",), "a"), case=case)
    [(_, _, read)] = parse_rounds(format_finding(found), "x.txt")
    assert read.then == (Chapter(patterns, steps),)


def test_cases_that_are_replayed_are_no_sign_of_classes_that_were_left_out(tmp_path: Path) -> None:
    """The summary named all 25 of them."""
    write_corpus(tmp_path, [finding(("a.#",), "a")])
    corpus = read_corpus(tmp_path, AMQP)
    target = CallableTarget(right_amqp, AMQP)
    replayed = run(target, AMQP, replay_only=True, corpus=corpus)
    assert replayed.agrees
    assert "classes: 0 of 25\n" in summary_text(replayed)
    assert "; not reached: " in summary_text(run(target, AMQP, rounds=1, seed=1))


def test_a_report_has_a_long_history_once() -> None:
    """One that was cut short while it was made smaller had thousands of lines, twice."""
    before = [Bind(f"b{number}") for number in range(500)]
    case = Case(patterns=("a",), key="a", before=tuple(before))
    text = finding_text(replace(finding(("a",), "a"), case=case, complete=False))
    assert (text.count("`b250`"), text.count("join    b250")) == (0, 1)
    assert text.count("`b0`") == text.count("`b499`") == 1
    assert "  ... and 461 lines more, which the test case below has ...\n" in text
    short = finding_text(replace(finding(("a",), "a"), case=replace(case, before=tuple(before[:50]))))
    assert all(f"`b{number}`" in short for number in range(50))
