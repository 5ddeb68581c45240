"""The test vectors of other projects, answered by every engine that speaks their dialect, in every configuration."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from tests.suite.matrix import CONFIGURATIONS, Configuration

OURS = ("amqp", "mqtt", "nats")
EXPECTED_ROWS = {
    "amqp_*.jsonl": {
        "amqp": 560,
        # Rows that state another product's deviation from RabbitMQ, by the name they give it.
        "amqp-star-only": 5,
        "amqp-qlobber-default(* needs a non-empty word)": 4,
        "pgmq": 2,
        "rabbitmq-mock(* needs a non-empty word)": 1,
    },
    "mqtt_*.jsonl": {"mqtt": 240},
    "nats*.jsonl": {"nats": 155},
    "router_skupper.jsonl": {
        "amqp": 11,
        "mqtt": 12,
        # Skupper's own address patterns, which skip separators at the front.
        "skupper-address(separators . and /, leading separators skipped)": 59,
        "skupper-mqtt(leading separators skipped, no $ rule)": 12,
        "skupper-amqp0-10(leading separators skipped)": 7,
    },
    "historic_bugs.jsonl": {"amqp": 34, "mqtt": 18, "nats": 11},
}
"""How many rows of which dialect there are; those of other dialects than ours are counted here and not asked."""
NO_MATCH_CALL = {"isolation": 1, "leak": 1, "remove": 1, "remove+reuse": 1}
"""Kinds of historic bug that one question to one set does not show, all AMQP: tests/reference/test_historic_bugs.py."""
ROWS = {"amqp": 560 + 11 + 34 - 4, "mqtt": 240 + 12 + 18, "nats": 155 + 11}
"""How many rows are asked."""
REFUSED = {"amqp": 0, "mqtt": 34, "nats": 3}
"""How many patterns in them are not valid: compiling one is an error, and it is not expected to match."""
VALIDITY_ROWS = {"mqtt-filter": 121, "nats": 24, "nats-literal": 22, "amqp-rabbitmq-4.3.5+": 20}
VALIDITY: dict[str, Callable[[str], str | None]] = {
    "mqtt-filter": lambda text: dr.pattern_problem(text, dr.MQTT),
    "nats": lambda text: dr.pattern_problem(text, dr.NATS),
    "nats-literal": lambda text: dr.key_problem(text, dr.NATS),
    "amqp-rabbitmq-4.3.5+": lambda text: dr.pattern_problem(text, dr.AMQP_4_3_5),
}
"""What decides about the rows of each kind."""
MOSQUITTOS_LIMIT = "/" * 202 + "a"
"""Refused by Mosquitto, which takes at most 200 levels; the protocol has no such limit, and other brokers take it."""


@cache
def vectors(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of our dialects from all files, once it is clear that no row is missing or of an unknown dialect."""
    rows = []
    for name, counts in EXPECTED_ROWS.items():
        found = [json.loads(line) for path in sorted(folder.glob(name)) for line in path.read_text().splitlines()]
        assert Counter(row["dialect"] for row in found) == counts, name
        rows += [row for row in found if row["dialect"] in OURS]
    unasked = Counter(row["kind"] for row in rows if row.get("kind") in NO_MATCH_CALL)
    assert unasked == NO_MATCH_CALL
    return [row for row in rows if row.get("kind") not in NO_MATCH_CALL]


def right(row: dict[str, Any], configuration: Configuration) -> bool:
    """Ask an engine a row's questions, one by one and as a batch, and compare; patterns that are refused match nothing."""
    patterns: dict[str, str] = row["patterns"] if "patterns" in row else {"p": row["filter"]}
    valid = {
        name: pattern
        for name, pattern in patterns.items()
        if dr.pattern_problem(pattern, dr.dialect_named(row["dialect"])) is None
    }
    keys: list[str] = row["keys"] if "keys" in row else [row["key"]]
    names = list(valid)
    router = configuration.router([(pattern, name) for name, pattern in valid.items()], keys, row["dialect"])
    found = [{names[position] for position in router.match_bindings(key)} for key in keys]
    batch = [
        {names[position] for position in positions} for positions in router.match_batch(keys).bindings().to_pylist()
    ]
    if batch != found or [router.any(key) for key in keys] != list(map(bool, found)):
        return False
    if "patterns" in row:
        return _agrees(row, found[0])
    matching = sorted(key for key, names_found in zip(keys, found, strict=True) if names_found)
    if "expected_keys" in row:
        return matching == sorted(row["expected_keys"])
    return len(matching) == int(row["expected_count"])


@pytest.mark.parametrize("dialect", OURS)
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_every_vector(shared: Path, configuration: Configuration, dialect: str) -> None:
    """Each row's keys reach exactly the expected patterns, in the single-key call and in a batch."""
    if not configuration.speaks(dialect):
        with pytest.raises(dr.OptionError, match="does not (speak|know the rules of) '?" + dialect):
            configuration.router([("a", "q")], ["a"], dialect)
        return
    rows = [row for row in vectors(shared / "vectors") if row["dialect"] == dialect]
    assert len(rows) == ROWS[dialect]
    assert [(row.get("source", row.get("project")), row) for row in rows if not right(row, configuration)] == []


@pytest.mark.parametrize("dialect", OURS)
def test_patterns_that_are_not_valid_are_refused_and_expected_to_match_nothing(shared: Path, dialect: str) -> None:
    refused = 0
    for row in vectors(shared / "vectors"):
        patterns = row["patterns"] if "patterns" in row else {"p": row["filter"]}
        for name, pattern in patterns.items():
            if row["dialect"] == dialect and dr.pattern_problem(pattern, dr.dialect_named(dialect)) is not None:
                refused += 1
                assert name not in (row.get("expected") or row.get("correct") or [])
                assert not row.get("expected_keys")
                assert not row.get("expected_count")
                with pytest.raises(dr.PatternError, match=r"binding 0: the pattern .* is refused: "):
                    dr.compile([(pattern, name)], dialect=dialect)
    assert refused == REFUSED[dialect]


def _agrees(row: dict[str, Any], found: set[str]) -> bool:
    """Compare with whatever the row states: the patterns, how many, whether any, or which subscribers."""
    stated = []
    expected = row.get("correct", row.get("expected"))
    if expected is not None:
        stated.append(found == set(expected))
    if "expected_count" in row:
        stated.append(len(found) == row["expected_count"])
    if "expected_any" in row:
        stated.append(bool(found) == row["expected_any"])
    if "expected_subscribers" in row:
        subscribers = row["expected_subscribers"]
        stated.append({name.split(":")[0] for name in found} == set(subscribers) or found == set(subscribers))
    assert stated, row
    return all(stated)


def test_every_row_about_validity(shared: Path) -> None:
    """What a broker takes, we take; what it refuses, we refuse; but for one product's own limit."""
    lines = (shared / "vectors" / "validity.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert Counter(row["dialect"] for row in rows) == VALIDITY_ROWS
    wrong = [row["pattern"] for row in rows if (VALIDITY[row["dialect"]](row["pattern"]) is None) != row["valid"]]
    assert wrong == [MOSQUITTOS_LIMIT]


def test_what_is_not_valid_is_refused_when_it_is_compiled(shared: Path) -> None:
    """The same rows by way of ``compile``: patterns that no broker takes reach no engine."""
    dialects = {"mqtt-filter": "mqtt", "nats": "nats", "amqp-rabbitmq-4.3.5+": "amqp-4.3.5"}
    asked = Counter[bool]()
    for line in (shared / "vectors" / "validity.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["dialect"] not in dialects or row["pattern"] == MOSQUITTOS_LIMIT:
            continue
        asked[row["valid"]] += 1
        if row["valid"]:
            assert len(dr.compile([(row["pattern"], "q")], dialect=dialects[row["dialect"]])) == 1
        else:
            with pytest.raises(dr.PatternError, match=r"binding 0: the pattern .* is refused: "):
                dr.compile([(row["pattern"], "q")], dialect=dialects[row["dialect"]])
    assert asked == {True: 93, False: 71}
