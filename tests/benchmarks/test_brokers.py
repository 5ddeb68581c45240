"""The comparison with live brokers: what is counted, which side refuses what, and what the command says."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import __main__ as cli
from benchmarks.verification.brokers import Compared, compare, dialect_of, write
from benchmarks.verification.brokers.comparison import Counted
from benchmarks.verification.brokers.refusals import LIMITS, Mismatch, Refusals, ask_refusals, doubtful
from benchmarks.verification.brokers.shared import CASES, SharedAnswer, SharedCase, ask_shared
from dfa_router.brokers import Broker, connect
from dfa_router.brokers.broker import Asking
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.errors import EnvironmentLacksError
from dfa_router.fuzz.generating.rounds import Size
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.language.dialects import AMQP, AMQP_4_3_5, MQTT, NATS, Dialect
from dfa_router.language.validity import pattern_problem
from dfa_router.reference.naive import matches
from dfa_router.target import Answers, Refused, TargetFailure

SMALL = Size(20, 30)


class Planted(Asking):
    """An engine of ours with planted faults, in the place of a broker: the comparison must notice each fault."""

    def __init__(
        self,
        dialect: Dialect = AMQP,
        *,
        product: str = "RabbitMQ 3.10.8",
        lies: Callable[[str, str], bool] = lambda _pattern, _key: False,
        minds_too: Callable[[str], bool] = lambda _pattern: False,
        takes_too: Callable[[str], bool] = lambda _pattern: False,
        dies_after: int | None = None,
    ) -> None:
        self.dialect, self.name, self._product = dialect, f"planted://here ({product})", product
        self._lies, self._minds_too, self._takes_too, self._left = lies, minds_too, takes_too, dies_after
        self._engine = EngineTarget("trie", dialect)

    def describe(self) -> str:
        return self._product

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise EnvironmentLacksError("it was stopped")
        for at, pattern in enumerate(patterns):
            if self.minds([pattern], []):
                raise Refused("no", pattern=at)
        told = self._engine.answer(patterns, keys)
        return [
            tuple(at for at, pattern in enumerate(patterns) if (at in row) is not self._lies(pattern, key))
            for key, row in zip(keys, told, strict=True)
        ]

    def minds(self, patterns: Sequence[str], keys: Sequence[str]) -> str | None:
        bad = [
            p for p in patterns if (pattern_problem(p, self.dialect) or self._minds_too(p)) and not self._takes_too(p)
        ]
        return "malformed" if bad else None

    def close(self) -> None:
        """Nothing to do."""


# --- cases ------------------------------------------------------------------------------------------------------------


def test_cases_are_counted_when_they_are_answered() -> None:
    one = compare(Planted(), cases=5000, seed=3, size=SMALL, doubts=10)
    assert one.agrees
    assert 5000 <= one.cases < 5600
    assert (one.findings, one.disagreements, one.ended) == ((), 0, None)
    assert 0 < one.matches < one.cases
    assert 0 < one.patterns < 20 * one.rounds


def test_only_the_first_answer_of_a_round_counts() -> None:
    counted = Counted(Planted())
    for _ in range(3):
        counted.answer(["a", "#"], ["a", "b"])
    assert (counted.cases, counted.matches, counted.keys, counted.patterns) == (4, 3, 2, {"a", "#"})
    counted.begin()
    with pytest.raises(Refused):
        counted.answer(["a" * 256], ["a"])
    counted.answer(["b"], ["a"])
    assert (counted.cases, counted.matches) == (5, 3)


def test_distinct_cases_are_told_from_a_sample() -> None:
    counted = Counted(Planted())
    patterns, keys = [f"a{at}" for at in range(100)], [f"a{at}" for at in range(400)]
    for _ in range(3):
        counted.answer(patterns, keys)
        counted.begin()
    assert counted.cases == 120_000
    assert counted.distinct == pytest.approx(40_000, rel=0.1)


@pytest.mark.parametrize(
    ("dialect", "lies"),
    [
        (AMQP, lambda pattern, key: pattern.endswith(".#") and pattern[:-2] == key),
        (MQTT, lambda pattern, key: pattern == "#" and key.startswith("$")),
        (NATS, lambda pattern, key: pattern.endswith("*") and key.endswith(">")),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_wrong_answer_is_seen(dialect: Dialect, lies: Callable[[str, str], bool]) -> None:
    one = compare(Planted(dialect, lies=lies), cases=60_000, seed=1, size=SMALL, doubts=10)
    assert one.disagreements
    assert one.findings
    assert not one.agrees


def test_a_broker_that_refuses_everything_ends_the_campaign_and_does_not_agree() -> None:
    one = compare(Planted(minds_too=lambda _pattern: True), cases=2000, seed=1, size=SMALL, doubts=10)
    assert (one.cases, one.agrees) == (0, False)
    assert one.disagreements


@pytest.mark.parametrize("rounds", [0, 2])
def test_what_a_broker_answered_before_it_went_is_kept(rounds: int) -> None:
    one = compare(Planted(dies_after=rounds), cases=50_000, seed=1, size=SMALL)
    assert one.ended == "it was stopped"
    assert (one.cases > 0) is (rounds > 0)
    assert (one.rounds, one.agrees) == (rounds, False)


def test_a_broker_that_dies_while_patterns_are_asked_is_no_agreement() -> None:
    class Dying(Planted):
        def minds(self, patterns: Sequence[str], keys: Sequence[str]) -> str | None:
            if len(patterns) == 1 and not keys and patterns[0] == "a":
                raise TargetFailure("died", "gone")
            return super().minds(patterns, keys)

    class Answering(Dying):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            return self._engine.answer(patterns, keys)

    one = compare(Answering(), cases=1000, seed=1, size=SMALL, doubts=200)
    assert (one.ended, one.agrees) == ("gone", False)
    assert one.cases >= 1000


@pytest.mark.parametrize(
    ("product", "dialect"),
    [
        ("RabbitMQ 3.10.8", AMQP),
        ("RabbitMQ 4.3.4", AMQP),
        ("RabbitMQ 4.3.5", AMQP_4_3_5),
        ("RabbitMQ 4.10.0-rc.1", AMQP_4_3_5),
    ],
)
def test_rabbitmq_has_the_dialect_of_its_version(product: str, dialect: Dialect) -> None:
    assert dialect_of(Planted(product=product)) == dialect


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", [AMQP, MQTT, NATS], ids=lambda dialect: dialect.name)
def test_doubtful_patterns_are_on_both_sides(dialect: Dialect) -> None:
    patterns = doubtful(dialect, seed=1, count=300)
    refused = [pattern for pattern in patterns if pattern_problem(pattern, dialect)]
    assert len(refused) > 50
    assert len(patterns) - len(refused) > 100
    assert all(pattern_problem(source, dialect) is None for source in patterns.values() if source is not None)
    assert patterns == doubtful(dialect, seed=1, count=300)
    assert patterns != doubtful(dialect, seed=2, count=300)


def test_a_pattern_that_only_the_broker_refuses_is_no_agreement() -> None:
    told = ask_refusals(Planted(MQTT, minds_too=lambda pattern: "//" in pattern), MQTT, seed=1, doubts=100)
    assert told.unexplained
    assert all("//" in mismatch.pattern and mismatch.limit is None for mismatch in told.unexplained)
    one = compare(Planted(minds_too=lambda pattern: pattern == "a.x1.x1"), cases=1, seed=1, size=SMALL, doubts=1)
    assert one.agrees
    assert not replace(one, refusals=told).agrees


def test_patterns_that_only_we_refuse_are_told() -> None:
    told = ask_refusals(Planted(NATS, takes_too=lambda pattern: ".." in pattern), NATS, seed=1, doubts=100)
    assert told.only_we
    assert all(".." in mismatch.pattern and "empty word" in mismatch.reason for mismatch in told.only_we)
    assert not told.unexplained


def test_a_products_limit_explains_what_it_refuses_and_nothing_else() -> None:
    limit = LIMITS[0]
    assert (limit.exceeded(limit.within), limit.exceeded(limit.beyond)) == (False, True)
    known = ask_refusals(Planted(MQTT, product="mosquitto 2", minds_too=limit.exceeded), MQTT, seed=1, doubts=10)
    assert [mismatch.pattern for mismatch in known.only_broker] == [limit.beyond]
    assert not known.unexplained
    stricter = Planted(MQTT, product="mosquitto 2", minds_too=lambda pattern: pattern.count("/") > 199)
    assert [mismatch.pattern for mismatch in ask_refusals(stricter, MQTT, seed=1, doubts=10).unexplained] == [
        limit.within
    ]


def test_reasons_count_patterns_that_were_changed_in_one_place() -> None:
    told = ask_refusals(Planted(NATS), NATS, seed=1, doubts=200)
    by_ours = {reason.ours: reason for reason in told.reasons}
    empty = by_ours["it has an empty word"]
    assert (empty.theirs, empty.count >= empty.changed > 10) == ("malformed", True)
    assert empty.made_from is not None
    assert pattern_problem(empty.made_from, NATS) is None
    assert sum(reason.count for reason in told.reasons) == told.both_refuse


# --- shared subscriptions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.filter} {case.topic}")
def test_our_dialect_has_shared_subscriptions_as_the_specification_has_them(case: SharedCase) -> None:
    told = ask_shared(Planted(MQTT))[CASES.index(case)]
    assert not told.deviates
    if told.told != "refused":
        assert matches(case.filter.encode(), case.topic.encode(), MQTT) is (case.right == "matches")


def test_a_broker_that_takes_a_share_without_a_name_deviates() -> None:
    told = ask_shared(
        Planted(MQTT, takes_too=lambda pattern: pattern == "$share//a", lies=lambda p, _k: p == "$share/g/a")
    )
    assert {answer.case.filter for answer in told if answer.deviates} >= {"$share/g/a"}


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_hides_nothing(tmp_path: Path) -> None:
    one = compare(
        Planted(lies=lambda pattern, key: pattern.endswith(".#") and pattern[:-2] == key), cases=60_000, seed=1
    )
    told = Refusals(only_broker=(Mismatch(pattern="a|`\n", reason="I do not like it"),))
    shared = (SharedAnswer(CASES[0], "no match"),)
    other = replace(one, product="Other 1.0", findings=(), ended="it was stopped", refusals=told, shared=shared)
    table, page = write([one, other], tmp_path, command="the command", missing={"nats": "nobody there"})
    text = page.read_text("utf-8")
    assert "| RabbitMQ 3.10.8 | dfa" not in text
    assert "| planted://here (RabbitMQ 3.10.8) | misses |" in text
    assert "**Not asked**: nats (nobody there)." in text
    assert "**Ended early**: Other 1.0: it was stopped." in text
    assert "1 (1 of them unexplained)" in text
    assert '| I do not like it | **unexplained** | 1 | ``"a\\|`\\n"`` |' in text
    assert "| matches (§4.8.2) | no match | **deviates** |" in text
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert [row["product"] for row in rows] == ["RabbitMQ 3.10.8", "Other 1.0", ""]
    assert rows[1]["only_broker_unexplained"] == "1"
    assert rows[2]["ended"] == "not asked: nobody there"


# --- live -------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["amqp", "mqtt", "nats"])
def live(request: pytest.FixtureRequest) -> Iterator[Broker]:
    try:
        broker = connect(f"{request.param}://127.0.0.1")
    except EnvironmentLacksError as error:
        pytest.skip(str(error))
    with broker:
        yield broker


@pytest.mark.broker
def test_a_live_broker_agrees(live: Broker) -> None:
    told: list[tuple[str, int, int]] = []
    one: Compared = compare(live, cases=50_000, seed=2, doubts=60, progress=lambda *step: told.append(step))
    assert one.agrees, (one.findings, one.refusals.unexplained, one.ended)
    assert one.cases >= 50_000
    assert one.refusals.both_refuse
    assert {step[0].partition(", ")[2] for step in told} == {"thousands of cases", "patterns asked one by one"}
    assert bool(one.shared) is (live.dialect == MQTT)


@pytest.mark.broker
def test_the_command_names_brokers_that_do_not_answer(
    live: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scheme = live.name.partition(":")[0]
    closed = [f"--{other}={other}://127.0.0.1:1" for other in ("amqp", "mqtt", "nats") if other != scheme]
    code = cli.run(["brokers", "--cases", "2000", "--out", str(tmp_path), *closed])
    assert code == ExitCode.ENVIRONMENT
    assert capsys.readouterr().err.count("not asked: no ") == 2
    assert (tmp_path / "brokers.md").read_text("utf-8").count("**Not asked**") == 2


def test_an_address_of_another_protocol_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["brokers", "--amqp", "nats://127.0.0.1"]) == ExitCode.USAGE
    assert "'nats://127.0.0.1' is no amqp:// address" in " ".join(capsys.readouterr().err.split())
