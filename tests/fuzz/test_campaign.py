"""Campaigns: they repeat, split, replay, and lose nothing."""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from dfa_router.engines.registry import engine_info, engines
from dfa_router.errors import EnvironmentLacksError, OptionError
from dfa_router.fuzz import DisagreementError, Kind, Plan, Scope, Size, Tally, assert_agrees, run, work
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.findings import Case
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners, manners_of
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.fuzz.text.report import campaign_json, finding_text, summary_text
from dfa_router.language.dialects import AMQP, DIALECTS, MQTT, NATS, Dialect, dialect_named
from dfa_router.target import Answers, Refused, Round, TargetFailure
from tests.fuzz.planted import PLANTED, fits, right_amqp, right_mqtt, right_nats, words

SPOKEN = [
    (engine, dialect) for dialect in DIALECTS.values() for engine in engines() if engine_info(engine).speaks(dialect)
]


@pytest.mark.parametrize(("engine", "dialect"), SPOKEN, ids=lambda value: getattr(value, "name", value))
def test_no_engine_of_ours_is_accused(engine: str, dialect: Dialect) -> None:
    campaign = run(open_target(engine, dialect), dialect, rounds=40, seed=4)
    assert campaign.agrees, [finding_text(finding) for finding in campaign.findings]
    assert campaign.manners.patterns


def several(patterns: list[str], key: str) -> list[int]:
    """Several faults at once."""
    found = []
    for position, pattern in enumerate(patterns):
        tokens, left = words(pattern), words(key)
        says = fits(tokens, left)
        if pattern.endswith(".#") and left == tokens[:-1]:
            says = False
        if "**" in tokens and len(left) == len(tokens):
            says = True
        if "é" in key and "*" in tokens:
            says = False
        if says:
            found.append(position)
    return found


def test_a_split_campaign_finds_the_same() -> None:
    target = CallableTarget(several, AMQP)
    plan = Plan(dialect=AMQP, seed=9, keep_going=True)
    whole = work(target, plan, range(200))
    parts = [range(120, 200), range(3), range(3, 120)]
    split = Tally()
    for part in parts:
        split.merge(pickle.loads(pickle.dumps(work(target, plan, part))))
    assert split == whole
    assert len(whole.findings) >= 3
    assert [finding.number for finding in split.findings.values()]
    assert {(f.shape, f.number) for f in split.findings.values()} == {
        (f.shape, f.number) for f in whole.findings.values()
    }
    again = work(target, plan, range(200))
    assert again == whole
    assert run(target, AMQP, rounds=200, seed=9, keep_going=True).tally == whole


def test_another_seed_asks_something_else_and_the_same_seed_the_same() -> None:
    asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    class Recorded(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            asked.append((tuple(patterns), tuple(keys)))
            return super().answer(patterns, keys)

    def questions(seed: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        asked.clear()
        run(Recorded(right_amqp, AMQP), AMQP, rounds=30, seed=seed)
        return list(asked)

    first = questions(1)
    assert questions(1) == first
    assert questions(2) != first


def test_it_stops_at_the_first_unless_it_is_told_to_go_on() -> None:
    one = run(CallableTarget(several, AMQP), AMQP, rounds=200, seed=9)
    assert len(one.findings) == 1
    assert one.tally.rounds < 30
    many = run(CallableTarget(several, AMQP), AMQP, rounds=200, seed=9, keep_going=True)
    assert {finding.kind for finding in many.findings} == {Kind.MISSES, Kind.MATCHES}
    assert many.tally.rounds > 180
    assert len({finding.shape for finding in many.findings}) == len(many.findings)
    assert "kinds of disagreement" in summary_text(many)


def test_bounds() -> None:
    target = CallableTarget(right_amqp, AMQP)
    assert run(target, AMQP, rounds=7).tally.rounds == 7
    assert 5000 <= run(target, AMQP, cases=5000).tally.cases < 10_000
    assert 0.3 <= run(target, AMQP, seconds=0.3).seconds < 5
    assert run(target, AMQP, rounds=3, size=Size(2, 5)).tally.cases <= 3 * 4 * 5
    for wrong in ({"seconds": 0}, {"rounds": -1}, {"cases": 0}, {"seconds": float("nan")}):
        with pytest.raises(OptionError, match="above 0"):
            run(target, AMQP, **wrong)


def test_a_run_that_ends_before_its_rounds_goes_on_at_the_first_that_it_did_not_ask() -> None:
    target = CallableTarget(right_amqp, AMQP)
    part = run(target, AMQP, cases=5000, seed=9)
    assert run(target, AMQP, rounds=part.next_round, seed=9).tally == part.tally
    wrong = CallableTarget(lambda patterns, key: [], AMQP)
    kept = Round(patterns=("a",), keys=("a",))
    assert run(wrong, AMQP, rounds=9, first=5, corpus=[("kept.txt:1", kept)]).next_round == 5, "the corpus showed it"
    assert run(wrong, AMQP, rounds=9, first=5).next_round > 5


def test_an_automaton_of_ours_that_is_wrong_is_reported_as_our_own_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = EngineTarget.answer

    def wrong(self: EngineTarget, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        answers = answer(self, patterns, keys)
        return (
            [() if key.startswith("b") else told for key, told in zip(keys, answers, strict=True)]
            if self.name == "dfa"
            else answers
        )

    monkeypatch.setattr(EngineTarget, "answer", wrong)
    campaign = run(CallableTarget(right_amqp, AMQP), AMQP, rounds=30, size=Size(20, 40))
    assert [finding.accused for finding in campaign.findings] == ["dfa"]
    assert campaign.findings[0].kind is Kind.MISSES
    # And where the target is wrong as well, both are named.
    both = run(CallableTarget(lambda patterns, key: [], AMQP), AMQP, rounds=60, seed=2, keep_going=True)
    assert {"dfa"} < {finding.accused for finding in both.findings}


def test_a_target_that_fails_again_and_again_is_given_up() -> None:
    def hopeless(patterns: list[str], key: str) -> list[int]:
        raise RuntimeError("out of order")

    campaign = run(CallableTarget(hopeless, AMQP), AMQP, rounds=100, keep_going=True)
    assert campaign.tally.rounds == 3
    assert campaign.tally.given_up is not None
    assert "out of order" in campaign.tally.given_up
    assert not campaign.agrees
    assert campaign.findings[0].kind is Kind.FAILS
    assert "given up" in summary_text(campaign)


def test_a_target_that_goes_away_leaves_what_was_found() -> None:
    class Leaving(CallableTarget):
        left = 1000

        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            self.left -= 1
            if self.left < 0:
                raise EnvironmentLacksError("the broker is gone: start it again")
            return super().answer(patterns, keys)

    campaign = run(Leaving(several, AMQP), AMQP, rounds=2000, seed=9, keep_going=True)
    assert campaign.findings
    assert campaign.tally.given_up == "the broker is gone: start it again"
    gone = Leaving(several, AMQP)
    gone.left = 0
    with pytest.raises(EnvironmentLacksError, match="start it again"):
        run(gone, AMQP, rounds=5)


@pytest.mark.parametrize("left", [1, 60])
def test_ctrl_c_ends_with_what_was_found(left: int) -> None:
    asked = 0

    class Interrupted(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            nonlocal asked
            asked += 1
            if asked == left:
                raise KeyboardInterrupt
            return super().answer(patterns, keys)

    campaign = run(Interrupted(several, AMQP), AMQP, rounds=2000, seed=9, keep_going=True)
    assert campaign.interrupted
    assert bool(campaign.findings) is (left == 60)
    assert "interrupted" in summary_text(campaign)


def test_a_disagreement_that_is_interrupted_while_it_is_shrunk_is_kept() -> None:
    wrong = False

    def interrupted(patterns: list[str], key: str) -> list[int]:
        nonlocal wrong
        if wrong:
            raise KeyboardInterrupt
        wrong = key == "a.b"
        return [] if wrong else right_amqp(patterns, key)

    campaign = run(CallableTarget(interrupted, AMQP), AMQP, rounds=200)
    assert campaign.interrupted
    assert [finding.kind for finding in campaign.findings] in ([], [Kind.MISSES])


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_finding_that_is_interrupted_while_its_lines_are_looked_for_is_kept() -> None:
    class Telling(CallableTarget):
        tells_lines = True
        lines = interrupted

    campaign = run(Telling(several, AMQP), AMQP, rounds=200, seed=9)
    assert campaign.interrupted
    assert campaign.findings == run(CallableTarget(several, AMQP), AMQP, rounds=200, seed=9).findings


@pytest.mark.parametrize("moment", ["_answer", "tested_shape", "Judge.verdicts"])
def test_a_finding_that_is_interrupted_while_it_is_described_is_kept(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"dfa_router.fuzz.accusing.{moment}", interrupted)
    campaign = run(CallableTarget(several, AMQP), AMQP, rounds=200, seed=9, keep_going=True)
    assert campaign.interrupted
    [finding] = campaign.findings
    assert finding.case.patterns
    assert "the target says it does" in finding_text(finding)


def test_an_accusation_of_our_own_engine_that_is_interrupted_ends_the_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EngineTarget, "answer", lambda self, patterns, keys: [()] * len(keys))
    monkeypatch.setattr(Judge, "verdicts", interrupted)
    campaign = run(CallableTarget(right_amqp, AMQP), AMQP, rounds=30, size=Size(20, 40), keep_going=True)
    assert campaign.interrupted
    assert len(campaign.findings) == 1


def test_a_flaky_target_is_reported_as_flaky() -> None:
    calls = 0

    def flaky(patterns: list[str], key: str) -> list[int]:
        nonlocal calls
        calls += 1
        return [] if calls % 97 == 0 else right_amqp(patterns, key)

    campaign = run(CallableTarget(flaky, AMQP), AMQP, rounds=100, keep_going=True)
    assert campaign.findings
    assert all(finding.flaky for finding in campaign.findings)
    assert len(campaign.findings) == 1
    text = finding_text(campaign.findings[0])
    assert "but not every time" in text
    assert "asked again, it may be right" in text


# --- validity ---------------------------------------------------------------------------------------------------------


def test_a_matcher_that_leaves_validity_to_others_is_not_asked_about_it() -> None:
    def bare(patterns: list[str], key: str) -> list[int]:
        """Right for what is valid, and whatever it is for the rest."""
        return [i for i, p in enumerate(patterns) if p == "#" and set(key) & set("+#")] or right_mqtt(patterns, key)

    assert manners_of(CallableTarget(bare, MQTT)) == Manners(patterns=False, keys=False)
    campaign = assert_agrees(bare, "mqtt")
    assert "refuses no pattern" in summary_text(campaign)
    assert campaign.tally.classes["validity"] == 0
    with pytest.raises(DisagreementError):
        assert_agrees(bare, "mqtt", validity=True)
    assert assert_agrees(right_nats, "nats").manners == Manners(patterns=False, keys=True)


def test_a_target_that_refuses_an_invalid_key_is_right() -> None:
    class Strict(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            for number, key in enumerate(keys):
                if key == "" or set(key) & set("+#"):
                    raise Refused("no topic name", key=number)
            return super().answer(patterns, keys)

    campaign = run(Strict(right_mqtt, MQTT), MQTT, rounds=200)
    assert campaign.agrees
    assert campaign.manners.keys


def test_a_target_that_refuses_a_valid_key_or_pattern_is_wrong() -> None:
    class Prim(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            if "" in keys:
                raise Refused("no key", key=list(keys).index(""))
            if any("$" in pattern for pattern in patterns):
                raise Refused("no dollars", pattern=0)
            return super().answer(patterns, keys)

    campaign = run(Prim(right_amqp, AMQP), AMQP, rounds=200, keep_going=True)
    assert {(finding.kind, finding.detail) for finding in campaign.findings} == {
        (Kind.REFUSES, "no key"),
        (Kind.REFUSES, "no dollars"),
    }
    texts = {finding.case.patterns[0] for finding in campaign.findings}
    assert texts == {"", "$"}


def test_a_target_that_hangs_at_what_is_invalid_is_said_to() -> None:
    class Hanging(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            if any("#" in pattern.split("/")[:-1] for pattern in patterns):
                raise TargetFailure("hung", "no answer within 3 seconds")
            return super().answer(patterns, keys)

    campaign = run(Hanging(right_mqtt, MQTT), MQTT, rounds=50)
    assert campaign.agrees
    assert "asked something invalid, the target fails" in summary_text(campaign)
    strict = run(Hanging(right_mqtt, MQTT), MQTT, rounds=500, validity=True, keep_going=True)
    assert Kind.FAILS in {finding.kind for finding in strict.findings}


def test_a_broker_may_keep_clients_from_reserved_keys() -> None:
    class Guarded(CallableTarget):
        asked = 0

        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            self.asked += 1
            for number, key in enumerate(keys):
                if key.startswith("$SYS"):
                    raise Refused("not authorized", key=number)
            return super().answer(patterns, keys)

    target = Guarded(right_mqtt, MQTT)
    campaign = run(target, MQTT, rounds=200)
    assert campaign.agrees
    assert "it begins with '$SYS'" in campaign.tally.declined
    assert target.asked < 300
    assert "were left out" in summary_text(campaign)
    amqp = run(Guarded(right_amqp, AMQP), AMQP, rounds=200)
    assert amqp.findings[0].case.key == "$SYS"


@pytest.mark.parametrize("kind", ["hung", "died", "flooded", "nonsense"])
def test_a_failure_is_never_agreement(kind: str) -> None:
    class Failing(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            if "b" in keys:
                raise TargetFailure(kind, f"it {kind}", patterns, keys)
            return super().answer(patterns, keys)

    campaign = run(Failing(right_nats, NATS), NATS, rounds=200)
    [finding] = campaign.findings
    assert finding.kind is Kind.FAILS
    assert finding.case.key == "b"
    assert f"it {kind}" in finding_text(finding)


@pytest.mark.parametrize("kind", ["nonsense", "died", "flooded"])
def test_what_fails_alone_in_another_way_is_shrunk_to_that(kind: str) -> None:
    """An answer without the end of its line is one with the next answer where there is one, and none where there is not."""

    class Joining(CallableTarget):
        def restart(self, *, wholly: bool = False) -> None:
            pass

        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            told = super().answer(patterns, keys)
            for number, answer in enumerate(told):
                if len(answer) > 1:
                    last = number == len(keys) - 1
                    raise TargetFailure("hung" if last else kind, f"{last=}", tuple(patterns), tuple(keys[number:]))
            return told

    campaign = run(Joining(right_amqp, AMQP), AMQP, rounds=50)
    [finding] = campaign.findings
    assert not finding.flaky
    assert (finding.kind, finding.case, finding.detail) == (Kind.FAILS, Case(patterns=("a", "a"), key="a"), "last=True")


def test_nonsense_of_a_callable() -> None:
    for answer in ([7], ["a"], [-1], [1.5]):
        with pytest.raises(DisagreementError, match=r"expected \[\] or \[0\]"):
            assert_agrees(lambda patterns, key, answer=answer: answer)
    for value in (None, 5, "0", b"\0", {0: "a"}):
        with pytest.raises(
            DisagreementError, match=f"it answered {re.escape(repr(value))}: {re.escape('expected [] or [0]')}"
        ):
            assert_agrees(lambda patterns, key, value=value: value)
    assert assert_agrees(lambda patterns, key: iter(right_amqp(patterns, key) * 2), cases=500).agrees
    with pytest.raises(OptionError, match="expected a callable"):
        assert_agrees("mymodule:match")  # type: ignore[arg-type]


def test_a_target_with_fewer_answers_than_keys_is_nonsense() -> None:
    class Short(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            return super().answer(patterns, keys)[:1]

    [finding] = run(Short(right_amqp, AMQP), AMQP, rounds=5).findings
    assert finding.kind is Kind.FAILS
    assert finding.detail == "it gave 1 answer to 20 keys"


# --- what is told -----------------------------------------------------------------------------------------------------


def test_shrinking_that_was_cut_short_is_not_said_of_a_slow_target() -> None:
    """Each case that needs a history starts a process, which takes long, however fast it answers."""
    [finding] = run(CallableTarget(lambda patterns, key: [], AMQP), AMQP, rounds=20).findings
    assert "Shrinking" not in finding_text(finding)
    text = finding_text(replace(finding, complete=False))
    assert "a smaller case may exist, and more --seconds may find it" in text
    assert "the target is slow" not in text


def test_the_report_of_every_planted_fault_reads_well() -> None:
    for fault in PLANTED[::3]:
        dialect = dialect_named(fault.dialect)
        scope = Scope(shared=True if dialect.shared else None)  # those that know $share not are not asked it otherwise
        campaign = run(CallableTarget(fault.match, dialect), dialect, rounds=500, scope=scope)
        [finding] = campaign.findings
        text = finding_text(finding)
        assert "the target says it does" in text
        assert "the specification" in text
        speaking = [name for name in engines() if engine_info(name).speaks(dialect)]
        assert {name for name, _ in finding.verdicts} == set(speaking)
        assert f"all {len(speaking)} engines" in text
        assert "As a test case:" in text
        told = campaign_json(campaign)
        assert told["agrees"] is False
        assert told["findings"][0]["expected"] == list(finding.expected or ())


def test_the_judge_checks_a_sample_of_large_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(language_of(AMQP))
    patterns, keys = [f"a.{number}.#" for number in range(30)], [f"a.{number}" for number in range(30)]
    answers, wrong = judge.expected(patterns, keys)
    assert answers == judge.right(patterns, keys)
    assert wrong == []
    monkeypatch.setattr(judge._engine, "answer", lambda patterns, keys: [tuple(range(30))] * 30)
    answers, wrong = judge.expected(patterns, keys)
    assert len(wrong) > 5
    assert answers[wrong[0]] == judge.right(patterns, [keys[wrong[0]]])[0]


def test_kernels_are_loaded_when_they_are_needed_and_not_at_the_end() -> None:
    judge = Judge(language_of(AMQP))
    case = Case(patterns=("a.#",), key="a")
    assert {"dfa", "nfa"}.isdisjoint(dict(Judge(language_of(AMQP), ends=time.monotonic()).verdicts(case)))
    assert judge.expected(["a"], ["a"]) == ([(0,)], [])
    assert "_engine" not in vars(judge)
    assert ("dfa" in dict(judge.verdicts(case))) is (judge.engine == "dfa")


def test_large_rounds_near_the_end_are_judged_without_kernels() -> None:
    patterns, keys = [f"a.{number}.#" for number in range(30)], [f"a.{number}" for number in range(30)]
    judge = Judge(language_of(AMQP), ends=time.monotonic() + 1)
    assert judge.expected(patterns, keys) == (judge.right(patterns, keys), [])
    assert judge.engine == judge._engine.name == "trie"


def test_a_finding_does_not_wait_for_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they were never compiled, which takes long, engines without kernels judge."""
    monkeypatch.setattr("dfa_router.fuzz.judging.judge.kernels_kept", lambda: False)
    campaign = run(CallableTarget(lambda patterns, key: [], AMQP), AMQP, rounds=30, size=Size(20, 40))
    [finding] = campaign.findings
    assert Judge(language_of(AMQP)).engine == "trie"
    assert {"dfa", "nfa"}.isdisjoint(dict(finding.verdicts))
    assert "the 9 engines asked" in finding_text(finding)
    assert run(CallableTarget(right_amqp, AMQP), AMQP, rounds=10, size=Size(20, 40)).agrees
