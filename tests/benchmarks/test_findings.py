"""The fuzzer on released packages: adapters ask the real code, and only what a live broker confirms is stated."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks import __main__ as cli
from benchmarks.verification.findings import SUBJECTS, Examined, Judged, Subject, examine, write
from benchmarks.verification.findings.survey import PASSES, Small, _judged, _Scoped, _wrong, small_cases
from dfa_router.brokers import Broker, connect
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.errors import EnvironmentLacksError, RouterError
from dfa_router.fuzz.findings import Case, Finding, Kind
from dfa_router.fuzz.tally import Tally
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.language.dialects import AMQP, MQTT
from dfa_router.target import Answers, Refused, Target, TargetFailure

BY_NAME = {subject.name: subject for subject in SUBJECTS}
KNOWN_WRONG = {
    ("kombu", "5.7.0"): 959,
    ("faststream", "0.7.8"): 2133,
    ("hyperscan", "0.9.1"): 0,
    ("google-re2", "1.1.20251105"): 0,
    ("aiomqtt", "2.5.1"): 201,
    ("paho", "2.2.0"): 0,
    ("paho-matcher", "2.2.0"): 0,
    ("amqtt", "0.12.1"): 0,
}
"""Small cases that these versions answer wrong."""

each_subject = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)


def opened(subject: Subject) -> Target:
    if subject.version is None:
        pytest.skip(f"{subject.package} is not installed")
    return open_target(subject.target, subject.dialect, timeout=60)


@pytest.fixture
def rabbitmq() -> Iterator[Broker]:
    try:
        broker = connect("amqp://127.0.0.1")
    except EnvironmentLacksError as error:
        pytest.skip(str(error))
    with broker:
        yield broker


# --- adapters ---------------------------------------------------------------------------------------------------------


@each_subject
def test_an_adapter_answers_what_everybody_gets_right(subject: Subject) -> None:
    target = opened(subject)
    try:
        separator, dialect = subject.dialect.separator.decode(), subject.dialect
        one, many = (dialect.one or b"").decode(), (dialect.many or b"").decode()
        patterns = [
            separator.join(words) for words in (("x", one), ("x", many), ("x", "y"), (one, one), ("x", one), ("y",))
        ]
        keys = [separator.join(words) for words in (("x", "y"), ("y", "x"), ("y",), ("x", "y", "z"))]
        assert target.answer(patterns, keys) == [(0, 1, 2, 3, 4), (3,), (5,), (1,)]
        # Another set: nothing of the one before is left, whatever the package keeps in its module.
        assert target.answer(patterns[2:], keys) == [(0, 1, 2), (1,), (3,), ()]
        assert target.answer([], keys) == [()] * 4
    finally:
        target.close()


@each_subject
def test_small_cases_of_known_versions(subject: Subject) -> None:
    target = opened(subject)
    known = KNOWN_WRONG.get((subject.name, str(subject.version)))
    if known is None:
        pytest.skip(f"nothing is known of {subject.package} {subject.version}")
    patterns, keys = small_cases(subject.dialect)
    right = EngineTarget("naive", subject.dialect).answer(patterns, keys)
    try:
        assert _wrong(target, patterns, keys, right) == known
    finally:
        target.close()


def test_amqtt_is_asked_its_subscription_check_too() -> None:
    target = opened(BY_NAME["amqtt"])
    try:
        with pytest.raises(Refused, match="refuses the filter 'a#'"):
            target.answer(["a", "a#"], ["a"])
    finally:
        target.close()


# --- passes -----------------------------------------------------------------------------------------------------------


class Wrong:
    """Answers the opposite of what is right, and records what it was asked."""

    name, dialect = "wrong", AMQP

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[str]]] = []

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        self.asked.append((list(patterns), list(keys)))
        right = EngineTarget("naive", AMQP).answer(patterns, keys)
        return [tuple(i for i in range(len(patterns)) if i not in row) for row in right]

    def close(self) -> None:
        """Nothing to do."""


PATTERNS, KEYS = ["a", ".a", "a-b.#", "#", "a.*"], ["a", "", "a.", "a-b", "a.b"]


@pytest.mark.parametrize("scope", PASSES)
def test_a_pass_counts_what_is_in_its_scope_and_nothing_else(scope: str) -> None:
    wrong = Wrong()
    scoped = _Scoped(wrong, PASSES[scope])
    right = EngineTarget("naive", AMQP).answer(PATTERNS, KEYS)
    told = scoped.answer(PATTERNS, KEYS)
    different = {
        (PATTERNS[i], key) for key, one, other in zip(KEYS, told, right, strict=True) for i in set(one) ^ set(other)
    }
    everyday = {"a", "#", "a.*"}
    expected = {
        "anything valid": {(pattern, key) for pattern in PATTERNS for key in KEYS},
        "no empty words": {(pattern, key) for pattern in everyday | {"a-b.#"} for key in ("a", "a-b", "a.b")},
        "letters and digits": {(pattern, key) for pattern in everyday for key in ("a", "a.b")},
        "letters and digits, keys longer than the pattern": {("a", "a.b"), ("#", "a.b")},
    }[scope]
    assert different == expected
    assert scoped.cases == len(expected)
    if scope == "letters and digits":
        assert wrong.asked == [(["a", "#", "a.*"], ["a", "a.b"])]


def test_small_cases_are_valid_and_distinct() -> None:
    patterns, keys = small_cases(MQTT)
    assert len(set(patterns)) == len(patterns) == 104
    assert {"#", "+/$b", "a/#"} <= set(patterns)
    assert not {"", "#/a"} & set(patterns)
    assert {"$b", "/", "a/$b//a"} <= set(keys)
    assert "" not in keys


@pytest.mark.parametrize("error", [Refused("no"), TargetFailure("raised", "no")])
def test_a_case_that_is_refused_or_fails_is_wrong_and_costs_no_other(error: RouterError) -> None:
    class Picky(EngineTarget):
        def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
            if "a.*" in patterns and {"a.b", "a"} & set(keys):
                raise error
            return super().answer(patterns, keys)

    right = EngineTarget("naive", AMQP).answer(PATTERNS, KEYS)
    assert _wrong(Picky("dfa", AMQP), PATTERNS, KEYS, right) == 2
    assert _wrong(EngineTarget("dfa", AMQP), PATTERNS, KEYS, right) == 0
    assert _wrong(Wrong(), PATTERNS, KEYS, right) == 25


# --- what is stated ---------------------------------------------------------------------------------------------------


def finding(pattern: str = "a.#", key: str = "a", *, accused: str = "x:y", kind: Kind = Kind.MISSES) -> Finding:
    return Finding(
        accused=accused,
        kind=kind,
        case=Case(patterns=(pattern,), key=key),
        dialect=AMQP,
        expected=(0,),
        answered=None if kind is Kind.FAILS else (),
        detail="Traceback:\n  somewhere\nKeyError: 'a'",
        shape=f"{kind} {pattern} {key}",
    )


def examined(*judged: Judged, **changes: object) -> Examined:
    fields: dict[str, object] = {
        "subject": BY_NAME["kombu"],
        "version": "1.0",
        "cases": 1234,
        "small": Small(cases=100, wrong=7, broker_differs=0),
        "judged": judged,
        "broker": "a broker",
    }
    return Examined(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("verdict", "stated"), [((0,), True), ((), False), (None, False), ("refuses: no", False)])
def test_only_what_the_broker_confirms_is_stated(
    tmp_path: Path, verdict: tuple[int, ...] | str | None, stated: bool
) -> None:
    judged = Judged(finding=finding(), scope="no empty words", verdict=verdict, cause=None)
    assert judged.stated is stated
    table, page = write([examined(judged)], tmp_path, command="the command")
    text = page.read_text("utf-8")
    claims = text.split("## Findings\n\n")[1].split("## ")[0]
    assert ('`"a.#"`' in claims) is stated
    assert ("## Not confirmed" in text) is not stated
    assert '`"a.#"`' in text
    assert "7 of 100 (7.0%)" in text
    (row,) = csv.DictReader(table.read_text("utf-8").splitlines())
    assert row["stated"] == str(stated)
    assert (row["patterns"], row["key"], row["expected"], row["answered"]) == ('["a.#"]', '"a"', "[0]", "[]")


def test_packages_without_findings_and_packages_that_are_missing_are_listed(tmp_path: Path) -> None:
    missing = Examined(subject=BY_NAME["amqtt"], version=None)
    table, page = write([examined(given_up=("no empty words: it died",)), missing], tmp_path, command="the command")
    text = page.read_text("utf-8")
    assert "| kombu 1.0 |" in text
    assert "1,234 | 7 of 100 (7.0%) | none |" in text
    assert "Not installed, and not asked: amqtt" in text
    assert "* kombu: no empty words: it died" in text
    assert [row["version"] for row in csv.DictReader(table.read_text("utf-8").splitlines())] == ["1.0", "not installed"]


def test_tables_survive_any_text(tmp_path: Path) -> None:
    judged = [
        Judged(finding=finding("a|b`c", "\n", kind=Kind.FAILS), scope="anything valid", verdict=(0,), cause="because"),
        Judged(finding=finding("\u2028", "ü"), scope="anything valid", verdict=(0,), cause=None),
    ]
    text = write([examined(*judged)], tmp_path, command="the command")[1].read_text("utf-8")
    rows = [line for line in text.split("\n") if line.startswith("| kombu") and "broker" not in line]
    assert rows[0] == ('| kombu 1.0 | ``"a\\|b`c"`` | `"\\n"` | matches | fails: KeyError: \'a\' | matches | because |')
    assert len(rows) == 2
    assert all(row.replace("\\|", "").count("|") == 8 for row in rows)


def test_a_mistake_of_our_own_engine_is_no_finding_about_a_package() -> None:
    subject = BY_NAME["kombu"]
    tally = Tally()
    tally.add(finding(accused="dfa"))
    with pytest.raises(RouterError, match="our own engine 'dfa' is wrong"):
        list(_judged({"anything valid": tally}, subject, None))


@pytest.mark.broker
def test_a_campaign_with_a_live_broker(rabbitmq: Broker, tmp_path: Path) -> None:
    subject = BY_NAME["faststream"]
    opened(subject).close()
    told: list[tuple[str, int, int]] = []
    one = examine(subject, rabbitmq, seconds=6, seed=1, progress=lambda *step: told.append(step))
    assert [step[1:] for step in told] == [(number, len(PASSES)) for number in range(len(PASSES))]
    assert one.small is not None
    assert one.small.broker_differs == 0
    assert one.cases > 1000
    if subject.version == "0.7.8":
        cases = {(judged.finding.case.patterns, judged.finding.case.key) for judged in one.judged if judged.stated}
        assert (("a.#",), "a") in cases
        assert all(judged.stated for judged in one.judged)
    write([one], tmp_path, command="the command")


def test_without_a_broker_nothing_is_stated() -> None:
    subject = BY_NAME["aiomqtt"]
    opened(subject).close()
    one = examine(subject, None, seconds=2, seed=1)
    assert one.judged or subject.version != "2.5.1"
    assert not any(judged.stated for judged in one.judged)
    assert one.small is not None
    assert one.small.broker_differs is None


# --- the command --------------------------------------------------------------------------------------------------------


def test_the_command_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody = "127.0.0.1:9"  # the port that discards, where no broker is
    arguments = ["findings", "paho", "--seconds", "0.5", "--seed", "7", "--mqtt", f"mqtt://{nobody}"]
    assert cli.run([*arguments, "--out", str(tmp_path)]) == ExitCode.OK
    said = capsys.readouterr().err
    assert "nothing will be stated without a broker" in said
    assert "`python -m benchmarks findings paho --seconds 0.5 --seed 7`" in (tmp_path / "findings.md").read_text(
        "utf-8"
    )
    assert (tmp_path / "findings.csv").exists()


def test_the_command_names_the_packages_it_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["findings", "pika"]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "no package 'pika'" in said
    assert all(name in said.replace("\n", " ") for name in BY_NAME)


def test_the_help_names_every_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["findings", "--help"]) == ExitCode.OK
    said = capsys.readouterr().out
    assert all(name in said for name in BY_NAME)
