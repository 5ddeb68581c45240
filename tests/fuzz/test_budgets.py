"""Budgets hold, and nothing that a target does starves a campaign: it is asked on, and each cause is shrunk once."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from dfa_router.fuzz import Kind, Scope, assert_agrees, run
from dfa_router.fuzz.accusing import _answer
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.findings import Case, Disagreement
from dfa_router.fuzz.judging.manners import manners_of
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.text.report import campaign_json, summary_text
from dfa_router.language.dialects import AMQP, MQTT, NATS
from dfa_router.target import Answers, OutOfTimeError, TargetFailure
from tests.fuzz.planted import right_amqp, right_mqtt, right_nats

PROGRAM = """
import json, os, sys, time
from itertools import count
def say(value): print(json.dumps(value), flush=True)
def words(text): return text.split(".") if text else []
def fits(p, k):
    if p[:1] == ["#"]: return any(fits(p[1:], k[n:]) for n in range(len(k) + 1))
    return p[0] in ("*", k[0]) and fits(p[1:], k[1:]) if p and k else p == k
sets = count(1)
for line in sys.stdin:
    question = json.loads(line)
    if "patterns" in question:
        patterns, number = question["patterns"], next(sets)
        say(True)
        continue
    BEHAVIOUR
    say([i for i, pattern in enumerate(patterns) if fits(words(pattern), words(question["key"]))])
"""


class Timed(CallableTarget):
    """A target with a clock of its own: what it is asked takes a second, and after its deadline it does not answer."""

    timeout = 10.0

    def __init__(self, seconds: float) -> None:
        super().__init__(right_amqp, AMQP)
        self.left, self.deadline = seconds, float("inf")

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        self.left -= 1
        if self.left < 0:
            raise OutOfTimeError("it had not answered")
        return super().answer(patterns, keys)


def test_time_that_is_over_ends_the_campaign_and_is_no_disagreement() -> None:
    campaign = run(Timed(60), AMQP, rounds=500)
    assert campaign.agrees
    assert 0 < campaign.tally.rounds < 60
    assert not campaign.findings


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_target_that_never_answers_is_said_to(seconds: int) -> None:
    campaign = run(Timed(seconds), AMQP, rounds=500)
    assert not campaign.agrees
    assert campaign.tally.rounds == 0
    assert "it never answered" in summary_text(campaign)


def test_a_case_of_one_pattern_has_its_answer_though_the_time_is_over() -> None:
    for kind, answer in ((Kind.MISSES, ()), (Kind.MATCHES, (0,)), (Kind.FAILS, None)):
        assert _answer(Timed(0), Case(patterns=("a",), key="a"), Disagreement(kind=kind)) == (answer, "")
    several = Case(patterns=("a", "b"), key="a")
    assert _answer(Timed(0), several, Disagreement(kind=Kind.MISSES)) == (None, "")


def test_a_deadline_reaches_a_program_that_hangs(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("BEHAVIOUR", "time.sleep(600)"))
    target = open_target(f"cmd:{sys.executable} -IS {program}", AMQP, timeout=600)
    try:
        campaign = run(target, AMQP, seconds=1)
    finally:
        target.close()
    assert not campaign.agrees
    assert "it never answered" in summary_text(campaign)


def test_the_start_of_a_command_counts_and_leaves_a_quarter_of_the_time() -> None:
    class Told(CallableTarget):
        deadline = 0.0

    now = time.monotonic()
    for since, least, most in ((now, 80, 102), (now - 20, 60, 82), (now - 500, 20, 32)):
        target = Told(right_amqp, AMQP)
        run(target, AMQP, seconds=100, since=since, rounds=1)
        assert least < target.deadline - now < most


@pytest.mark.parametrize("behaviour", ["os._exit(3)", "raise SystemExit('out of order')"])
def test_a_target_that_fails_at_every_third_set_is_asked_to_the_end(tmp_path: Path, behaviour: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("BEHAVIOUR", f"if number % 3 == 0: {behaviour}"))
    target = open_target(f"cmd:{sys.executable} -IS {program}", AMQP)
    try:
        campaign = run(target, AMQP, rounds=40, keep_going=True)
    finally:
        target.close()
    assert campaign.tally.rounds > 35
    assert campaign.tally.given_up is None
    assert [finding.kind for finding in campaign.findings] == [Kind.FAILS]


def test_an_error_is_shrunk_once_and_the_rest_of_its_round_is_asked() -> None:
    asked = 0

    def fails(patterns: list[str], key: str) -> list[int]:
        nonlocal asked
        asked += 1
        if any(pattern.startswith("a") for pattern in patterns):
            raise IndexError("list index out of range")
        return [i for i in right_amqp(patterns, key) if "#" not in patterns[i] or not key.startswith("b")]

    campaign = run(CallableTarget(fails, AMQP), AMQP, rounds=60, keep_going=True)
    kinds = [finding.kind for finding in campaign.findings]
    assert kinds.count(Kind.FAILS) == 1
    assert Kind.MISSES in kinds, "what is beside the error is found, too"


def test_what_depends_on_what_was_asked_before_hides_no_plain_fault(tmp_path: Path) -> None:
    """Histories take long to shrink and are limited in number; a fault without one is found beside them."""
    program = tmp_path / "program.py"
    wrong = (
        "if number % 7 == 0: say([]); continue\n    if question['key'] == 'c' and 'c' in patterns: say([]); continue"
    )
    program.write_text(PROGRAM.replace("BEHAVIOUR", wrong))
    target = open_target(f"cmd:{sys.executable} -IS {program}", AMQP)
    try:
        campaign = run(target, AMQP, rounds=100, keep_going=True)
    finally:
        target.close()
    cases = [(finding.case.patterns, finding.case.key) for finding in campaign.findings if not finding.case.stateful]
    assert (("c",), "c") in cases
    assert any(finding.case.stateful for finding in campaign.findings)


# --- nobody is accused of what he never promised ------------------------------------------------------------------------


def test_an_error_is_no_refusal() -> None:
    """One IndexError at an invalid pattern does not make a validator of a match function."""

    def fragile(patterns: list[str], key: str) -> list[int]:
        if any(pattern in ("$share/g", "") for pattern in patterns):
            raise IndexError("list index out of range")
        return right_mqtt(patterns, key)

    campaign = assert_agrees(fragile, "mqtt")
    assert not campaign.manners.patterns


def test_shared_subscriptions_are_asked_of_those_that_know_them() -> None:
    def without(patterns: list[str], key: str) -> list[int]:
        return right_mqtt([f"x{p}" if p.startswith("$share/") else p for p in patterns], key)

    campaign = assert_agrees(without, "mqtt")
    assert campaign.manners.scope.shared is False
    assert "it was not asked about $share" in summary_text(campaign)
    assert assert_agrees(right_mqtt, "mqtt").manners.scope.shared is True
    told = run(CallableTarget(without, MQTT), MQTT, rounds=500, scope=Scope(shared=True))
    assert told.findings[0].case.patterns[0].startswith("$share/")


def test_a_key_is_not_shrunk_to_one_that_no_broker_can_be_asked() -> None:
    def careless(patterns: list[str], key: str) -> list[int]:
        if "" in key.split("."):
            return list(range(len(patterns)))
        return right_nats(patterns, key)

    campaign = run(CallableTarget(careless, NATS), NATS, rounds=300, keep_going=True)
    assert campaign.findings
    assert all(finding.case.key for finding in campaign.findings)


@pytest.mark.parametrize(
    ("scope", "wrong"),
    [
        (Scope(empty_words=False), lambda text: "" in text.split(".")),
        (Scope(plain_words=True), lambda text: any(c not in "abcdefghijklmnopqrstuvwxyz0123456789_*#." for c in text.lower())),
        (Scope(max_words=2, growth=True), lambda text: text.count(".") > 1),
        (Scope(max_wildcards=1), lambda text: text.split(".").count("#") > 1),
    ],
)  # fmt: skip
def test_what_is_out_of_scope_is_never_asked(scope: Scope, wrong: object) -> None:
    asked: set[str] = set()

    class Recorded(CallableTarget):
        def replay(self, patterns, steps):  # type: ignore[no-untyped-def]
            asked.update(patterns)
            asked.update(step for step in steps if scope.max_wildcards is None)
            return super().replay(patterns, steps)

    campaign = run(Recorded(right_amqp, AMQP), AMQP, rounds=300, scope=scope)
    assert campaign.agrees
    assert campaign.tally.cases > 3000
    assert not [text for text in asked if wrong(text)]  # type: ignore[operator]


def test_a_limit_that_a_target_documents_is_no_finding() -> None:
    class LimitError(ValueError):
        limit = True

    def bounded(patterns: list[str], key: str) -> list[int]:
        if any(pattern.count("#") > 2 for pattern in patterns):
            raise LimitError("at most two #")
        return right_amqp(patterns, key)

    campaign = assert_agrees(bounded, "amqp")
    assert "a limit that it states" in summary_text(campaign)


def test_a_target_that_takes_nothing_at_all_is_not_said_to_agree() -> None:
    class LimitError(ValueError):
        limit = True

    def nothing(patterns: list[str], key: str) -> list[int]:
        raise LimitError("never")

    for rounds in (1, 60):
        campaign = run(CallableTarget(nothing, AMQP), AMQP, rounds=rounds)
        assert (campaign.agrees, campaign.findings) == (False, [])
        assert ": nothing was compared" in summary_text(campaign)
        told = campaign_json(campaign)
        assert told["limited_keys"] == told["keys"] > 0
        assert "refused all" in told["given_up"]


def test_the_most_ordinary_case_is_told() -> None:
    def misses(patterns: list[str], key: str) -> list[int]:
        return [i for i in right_amqp(patterns, key) if not (key in ("", ".") or patterns[i] == f"{key}.#")]

    for seed in range(5):
        campaign = run(CallableTarget(misses, AMQP), AMQP, rounds=100, seed=seed)
        assert campaign.findings[0].case.patterns == ("a.#",), seed
        assert campaign.findings[0].case.key == "a"


def test_a_target_says_what_it_may_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stating.py").write_text(
        "def match(patterns, key):\n"
        "    assert len(patterns) <= 3 and '' not in [*patterns, key]\n"
        "    return [i for i, p in enumerate(patterns) if p == key]\n"
        "match.scope = {'max_bindings': 3, 'empty_words': False, 'unknown': 1}\n"
    )
    monkeypatch.chdir(tmp_path)
    from dfa_router.language.dialects import EXACT

    target = open_target("stating:match", EXACT)
    try:
        campaign = run(target, EXACT, rounds=100, validity=False)
        assert campaign.agrees, summary_text(campaign)
        assert campaign.manners.scope.max_bindings == 3
    finally:
        target.close()


def test_a_target_that_dies_beyond_what_it_states_is_right(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(
        "import json, os, sys\n"
        "def fits(p, k):\n"
        "    if p[:1] == ['#']: return any(fits(p[1:], k[n:]) for n in range(len(k) + 1))\n"
        "    return p[0] in ('*', k[0]) and fits(p[1:], k[1:]) if p and k else p == k\n"
        "def words(text):\n"
        "    return found if len(found := text.split('.')) <= 4 and '' not in found else os.abort()\n"
        "table = []\n"
        "for line in sys.stdin:\n"
        "    told = json.loads(line)\n"
        "    if 'patterns' in told:\n"
        "        table = [words(one) for one in told['patterns']]\n"
        "        answer = {'ready': True, 'changes': True, 'scope': {'max_words': 4, 'empty_words': False}}\n"
        "    elif 'bind' in told: answer = not table.append(words(told['bind']))\n"
        "    elif 'unbind' in told: table[told['unbind']], answer = None, True\n"
        "    else: answer = [n for n, p in enumerate(table) if p is not None and fits(p, words(told['key']))]\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    target = open_target(f"cmd:{sys.executable} -I {tmp_path / 'small.py'}", AMQP)
    try:
        campaign = run(target, AMQP, rounds=100)
        assert campaign.agrees, summary_text(campaign)
        assert (campaign.manners.trouble, campaign.manners.changing) == ("", True)
        assert "follow each other and change" in summary_text(campaign)
        kept = run(target, AMQP, rounds=20, scope=Scope(changes=False))
        assert "follow each other:" in summary_text(kept)
    finally:
        target.close()


def test_what_a_target_states_is_kept_where_it_dies_of_something_invalid() -> None:
    class Mortal(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            if any(len(pattern) > 255 for pattern in patterns):
                raise TargetFailure("died", "it was killed by SIGABRT")
            return super().answer(patterns, keys)

    target = Mortal(right_amqp, AMQP)
    target.scope, target.changing = {"empty_words": False}, True
    manners = manners_of(target)
    assert "SIGABRT" in manners.trouble
    assert (manners.scope.empty_words, manners.changing) == (False, True)


def test_a_failure_that_does_not_come_back_names_the_key_that_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    (tmp_path / "once.py").write_text(
        "import json, os, sys\n"
        "from tests.fuzz.planted import right_amqp\n"
        "table, asked = [], 0\n"
        "for line in sys.stdin:\n"
        "    told = json.loads(line)\n"
        "    table, asked = told.get('patterns', table), asked + 1\n"
        f"    if asked == 500 and not os.path.exists({str(tmp_path / 'gone')!r}):\n"
        f"        open({str(tmp_path / 'gone')!r}, 'w').write(json.dumps(told))\n"
        "        sys.exit(0)\n"
        "    print(json.dumps(right_amqp(table, told['key']) if 'key' in told else True), flush=True)\n"
    )
    target = open_target(f"cmd:{sys.executable} {tmp_path / 'once.py'}", AMQP)
    try:
        [finding] = run(target, AMQP, rounds=100, seed=1).findings
    finally:
        target.close()
    assert finding.flaky
    assert {"key": finding.case.key} == json.loads((tmp_path / "gone").read_text())
    assert f"asked for the key {finding.case.key!r}" in finding.detail


def test_failures_are_no_agreement() -> None:
    class Failing(CallableTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            raise TargetFailure("died", "it died")

    campaign = run(Failing(right_amqp, AMQP), AMQP, rounds=50, keep_going=True)
    assert not campaign.agrees
    assert "it fails, and never answered a round" in summary_text(campaign)
