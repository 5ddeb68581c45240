"""The fuzzer on released packages: adapters ask the real code, and only what a live broker confirms is stated."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import __main__ as cli
from benchmarks.verification.findings import (
    SUBJECTS,
    Environment,
    Examined,
    InstallError,
    Judged,
    Subject,
    installed,
    write,
)
from benchmarks.verification.findings.environments import ADAPTERS
from benchmarks.verification.findings.survey import Small, _judged, _wrong, examine, small_cases
from dfa_router.brokers import Broker, connect
from dfa_router.cli.exit_codes import ExitCode
from dfa_router.errors import EnvironmentLacksError, RouterError
from dfa_router.fuzz import run
from dfa_router.fuzz.check import CallableTarget
from dfa_router.fuzz.findings import Case, Finding, Kind
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.language.dialects import AMQP, MQTT
from dfa_router.target import Answers, Refused, TargetFailure

BY_NAME = {subject.name: subject for subject in SUBJECTS}
PYTHON = [subject for subject in SUBJECTS if subject.registry == "PyPI"]
KNOWN_WRONG = {
    ("kombu", "5.7.0"): 959,
    ("faststream", "0.7.8"): 2133,
    ("hyperscan", "0.9.1"): 0,
    ("google-re2", "1.1.20251105"): 0,
    ("aiomqtt", "2.5.1"): 201,
    ("paho-mqtt", "2.2.0"): 0,
    ("paho-matcher", "2.2.0"): 0,
    ("amqtt", "0.12.1"): 0,
}
"""Small cases that these versions answer wrong."""

each_subject = pytest.mark.parametrize("subject", PYTHON, ids=lambda subject: subject.name)


def here(subject: Subject) -> str:
    """Return the version of a package that is installed beside us; skips where there is none."""
    name = subject.installs[0].partition("[")[0]
    try:
        return version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")


@pytest.fixture
def adapters() -> Iterator[None]:
    with chdir(ADAPTERS):
        yield


@pytest.fixture
def rabbitmq() -> Iterator[Broker]:
    try:
        broker = connect("amqp://127.0.0.1")
    except EnvironmentLacksError as error:
        pytest.skip(str(error))
    with broker:
        yield broker


def beside_us(subject: Subject, tmp_path: Path) -> Environment:
    """Return an environment whose Python is ours."""
    found = here(subject)
    (tmp_path / "bin").mkdir(exist_ok=True)
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return Environment(subject, tmp_path, found)


# --- adapters ---------------------------------------------------------------------------------------------------------


@each_subject
def test_an_adapter_answers_what_everybody_gets_right(subject: Subject, adapters: None) -> None:
    here(subject)
    target = open_target(subject.adapter, subject.dialect, timeout=60)
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
def test_small_cases_of_known_versions(subject: Subject, adapters: None) -> None:
    known = KNOWN_WRONG.get((subject.name, here(subject)))
    if known is None:
        pytest.skip(f"nothing is known of {subject.name}")
    target = open_target(subject.adapter, subject.dialect, timeout=60)
    patterns, keys = small_cases(subject.dialect)
    patterns = [pattern for pattern in patterns if not pattern.startswith("$share")]
    right = EngineTarget("naive", subject.dialect).answer(patterns, keys)
    try:
        assert _wrong(target, patterns, keys, right) == known
    finally:
        target.close()


def test_adapters_know_nothing_of_this_project() -> None:
    """They are asked by interpreters of other environments, where it is not installed."""
    for file in ADAPTERS.rglob("*.py"):
        assert "dfa_router" not in file.read_text("utf-8"), file
    names = {subject.name for subject in SUBJECTS if subject.registry == "npm"}
    text = (ADAPTERS / "node" / "adapters.mjs").read_text("utf-8")
    assert {name for name in names if f"  {name}: (" in text or f'  "{name}": (' in text} == names - {"mock-node-nats"}


def test_a_package_that_nobody_has_is_named_with_the_reason(tmp_path: Path) -> None:
    subject = Subject(
        name="dfa-router-no-such-package", registry="PyPI", asked="it", dialect=AMQP, broker="amqp", python="9.9"
    )
    with pytest.raises(InstallError, match=r"it needs Python 9\.9"):
        installed(subject, tmp_path)


# --- small cases ------------------------------------------------------------------------------------------------------


PATTERNS, KEYS = ["a", ".a", "a-b.#", "#", "a.*"], ["a", "", "a.", "a-b", "a.b"]


class Wrong(EngineTarget):
    """Answers the opposite of what is right."""

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        return [tuple(i for i in range(len(patterns)) if i not in row) for row in super().answer(patterns, keys)]


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
    assert _wrong(Wrong("naive", AMQP), PATTERNS, KEYS, right) == 25


# --- what is stated ---------------------------------------------------------------------------------------------------


def finding(
    pattern: str = "a.#", key: str = "a", *, accused: str = "x:y", kind: Kind = Kind.MISSES, broker: str = "confirms"
) -> Finding:
    return Finding(
        accused=accused,
        kind=kind,
        case=Case(patterns=(pattern,), key=key),
        dialect=AMQP,
        expected=(0,),
        answered=None if kind is Kind.FAILS else (),
        detail="Traceback:\n  somewhere\nKeyError: 'a'",
        broker=broker,
        shape=f"{kind} {pattern} {key}",
    )


def examined(*judged: Judged, **changes: object) -> Examined:
    fields: dict[str, object] = {
        "subject": BY_NAME["kombu"],
        "version": "1.0",
        "cases": 1234,
        "small": Small(cases=100, wrong=7),
        "judged": judged,
        "broker": "a broker",
        "place": "kombu/exchange.py:7",
    }
    return Examined(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("broker", "reproduced", "stated"),
    [("confirms", True, True), ("confirms", False, False), ("answers []", True, False), ("", True, False)],
)
def test_only_what_the_broker_confirms_and_what_comes_back_is_stated(
    tmp_path: Path, broker: str, reproduced: bool, stated: bool
) -> None:
    judged = Judged(finding=finding(broker=broker), reproduced=reproduced)
    assert judged.stated is stated
    table, page = write([examined(judged)], tmp_path, command="the command")
    text = page.read_text("utf-8")
    claims = text.split("## Findings\n\n")[1].split("## ")[0]
    assert ('`"a.#"`' in claims) is stated
    assert ("## Not confirmed" in text) is not stated
    assert '`"a.#"`' in text
    assert "7 of 100 (7.0%)" in text
    assert "`kombu/exchange.py:7`" in text
    (row,) = csv.DictReader(table.read_text("utf-8").splitlines())
    assert row["stated"] == str(stated)
    assert (row["patterns"], row["key"], row["expected"], row["answered"]) == ('["a.#"]', '"a"', "[0]", "[]")


def test_packages_without_findings_and_packages_that_are_missing_are_listed(tmp_path: Path) -> None:
    missing = Examined(subject=BY_NAME["amqtt"], reason="npm does not find it")
    table, page = write([examined(given_up="it\ndied"), missing], tmp_path, command="the command")
    text = page.read_text("utf-8")
    assert "| kombu 1.0 (PyPI) |" in text
    assert "1,234 | 7 of 100 (7.0%) | none |" in text
    assert "not asked: npm does not find it" in text
    assert "1 of 2 were asked" in text
    assert "* kombu: died" in text
    assert [row["reason"] for row in csv.DictReader(table.read_text("utf-8").splitlines())] == [
        "",
        "npm does not find it",
    ]


def test_tables_survive_any_text(tmp_path: Path) -> None:
    judged = [
        Judged(finding=finding("a|b`c", "\n", kind=Kind.FAILS), reproduced=True),
        Judged(finding=finding("\u2028", "ü"), reproduced=True),
    ]
    text = write([examined(*judged)], tmp_path, command="the command")[1].read_text("utf-8")
    rows = [line for line in text.split("\n") if line.startswith("| kombu") and "a broker" not in line]
    assert (
        rows[0] == '| kombu 1.0 | ``"a\\|b`c"`` | `"\\n"` | matches | fails: KeyError: \'a\' | confirms | not located |'
    )
    assert len(rows) == 2
    assert all(row.replace("\\|", "").count("|") == 8 for row in rows)


def test_each_finding_says_where_it_is_in_the_source_and_how_exactly(tmp_path: Path) -> None:
    one = Judged(finding=finding(), reproduced=True, suspects="kombu/exchange.py:9")
    other = Judged(finding=finding(), reproduced=True, decided="ran and decided: in `fits`, kombu/exchange.py:7-20")
    native = examined(Judged(finding=finding(), reproduced=True), place="")
    text = write([examined(one, other), native], tmp_path, command="the command")[1].read_text("utf-8")
    cells = [line.split(" | ")[-1] for line in text.splitlines() if "| confirms |" in line]
    assert cells == [
        "suspect: kombu/exchange.py:9 |",
        "ran and decided: in `fits`, kombu/exchange.py:7-20 |",
        "compiled: its source is not in the package |",
    ]


def test_a_mistake_of_our_own_engine_is_no_finding_about_a_package() -> None:
    target = CallableTarget(lambda patterns, key: [], AMQP)
    campaign = run(target, AMQP, rounds=1)
    with pytest.raises(RouterError, match="our own engine 'dfa' is wrong"):
        _judged(target, campaign, finding(accused="dfa"))


@pytest.mark.broker
def test_a_campaign_with_a_live_broker(rabbitmq: Broker, tmp_path: Path) -> None:
    subject = BY_NAME["faststream"]
    environment = beside_us(subject, tmp_path)
    told: list[tuple[str, int, int]] = []
    one = examine(environment, rabbitmq, seconds=6, seed=1, progress=lambda *step: told.append(step))
    assert [step[1:] for step in told] == [(number, 3) for number in range(3)]
    assert one.small is not None
    assert one.cases > 1000
    if one.version == "0.7.8":
        cases = {(judged.finding.case.patterns, judged.finding.case.key) for judged in one.judged if judged.stated}
        assert (("a.#",), "a") in cases
    write([one], tmp_path, command="the command")


@pytest.mark.skipif(find_spec("aiomqtt") is None, reason="aiomqtt is not installed")
def test_without_a_broker_nothing_is_stated(tmp_path: Path) -> None:
    one = examine(beside_us(BY_NAME["aiomqtt"], tmp_path), None, seconds=2, seed=1)
    assert one.judged or one.version != "2.5.1"
    assert not any(judged.stated for judged in one.judged)


# --- the command --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_command_installs_and_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody = "127.0.0.1:9"  # the port that discards, where no broker is
    arguments = ["findings", "asyncio-mqtt", "--seconds", "0.5", "--seed", "7", "--mqtt", f"mqtt://{nobody}"]
    assert cli.run([*arguments, "--out", str(tmp_path)]) == ExitCode.OK
    said = capsys.readouterr().err
    assert "nothing will be stated without a broker" in said
    assert "`python -m benchmarks findings asyncio-mqtt --seconds 0.5 --seed 7`" in (
        tmp_path / "findings.md"
    ).read_text("utf-8")
    assert (tmp_path / "findings.csv").exists()


def test_the_command_names_the_packages_it_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["findings", "pika"]) == ExitCode.USAGE
    said = capsys.readouterr().err.replace("\n", " ")
    assert "no package 'pika'" in said
    assert all(name in said for name in ("kombu", "qlobber", "nats-micro"))


def test_at_least_twenty_five_packages_are_in_the_table() -> None:
    assert len(SUBJECTS) >= 25
    assert len(BY_NAME) == len(SUBJECTS)
