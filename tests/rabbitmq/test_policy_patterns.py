"""Patterns of policies: what the broker's engine reads, where it gives up, and what is said about it."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dfa_router.rabbitmq import load_definitions, topology_of
from dfa_router.rabbitmq.declared import Exchange, Policy

LONG = "a" * 40 + "!"
"""A name in which ``a+`` nested in a repetition is tried in two to the power of forty ways."""

COSTLY = [r"^(a+)+$", r"^(?=a)(a+)+$", r"^(a+)+\1$", r"^(a|aa)+$"]

SEARCH = r"""
import sys
from dfa_router.rabbitmq import load_definitions
topology = load_definitions(sys.argv[1])
print(topology.route(sys.argv[2], "k").queues)
print(*(f"{one.kind} {one.name} {one.place}" for one in topology.warnings), sep="\n")
"""


def definitions(path: Path, name: str, *patterns: str) -> Path:
    """Write a topology whose exchange has the alternate exchange A, which leads to q, where the first pattern matches."""
    document = {
        "exchanges": [{"name": name, "type": "topic"}, {"name": "A", "type": "fanout"}],
        "queues": [{"name": "q"}],
        "bindings": [{"source": "A", "destination": "q", "destination_type": "queue", "routing_key": ""}],
        "policies": [
            {"name": f"p{i}", "pattern": pattern, "priority": -i, "definition": {"alternate-exchange": "A"}}
            for i, pattern in enumerate(patterns)
        ],
    }
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("pattern", COSTLY)
def test_a_pattern_that_takes_too_long_does_not_apply_and_is_named(tmp_path: Path, pattern: str) -> None:
    file = definitions(tmp_path / "defs.json", LONG, pattern)
    # In a process of its own, as an engine without a limit does not notice that a test has taken too long.
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, file, LONG], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == ["()", f"costly-policy p0 {file}: policies[0].pattern"]


def test_a_costly_pattern_leaves_its_place_to_the_next_policy(tmp_path: Path) -> None:
    topology = load_definitions(definitions(tmp_path / "defs.json", LONG, COSTLY[0], "^a"))
    assert topology.route(LONG, "k").queues == ("q",)
    (warning,) = topology.warnings
    assert (warning.kind, warning.name) == ("costly-policy", "p0")
    assert "takes more steps" in warning.advice
    assert "rewrite the pattern" in warning.advice
    assert repr(LONG) in warning.advice


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a{99999999999}", "number too big in {} quantifier"),
        ("(" * 3000 + "a" + ")" * 3000, "too deeply nested"),
        ("(a", "missing closing parenthesis"),
        ("\ud800", "surrogate"),
        (r"\x{61}", r"write bytes as \xhh"),
        ("^a{,1}$", "write {0,n}"),
        ("^a{ 1}$", "write {0,n}"),
        ("^a{1 }$", "write {0,n}"),
        (r"^\\a{1, 2}$", "write {0,n}"),
        ("^a{ 1,}$", "write {0,n}"),
    ],
    ids=["number", "nesting", "open", "surrogate", "braces", "least", "before", "behind", "within", "endless"],
)
def test_a_pattern_that_cannot_be_read_is_a_problem_of_its_policy(tmp_path: Path, pattern: str, reason: str) -> None:
    file = definitions(tmp_path / "defs.json", "a", pattern)
    topology = load_definitions(file)
    (warning,) = topology.warnings
    assert (warning.kind, warning.name) == ("unreadable-policy", "p0")
    assert warning.place == f"{file}: policies[0].pattern"
    assert reason in warning.advice
    assert topology.route("a", "k").queues == (), "the policy is ignored"


CASES = [
    (r"^(?!amq\.)", "orders", True),
    (r"^(?!amq\.)", "amq.topic", False),
    (r"^[[:alpha:]]+$", "abc", True),
    (r"^[[:alpha:]]+$", "ab1", False),
    (r"a\Z", "a\n", True),
    (r"a\z", "a\n", False),
    (r"a$", "a\n", True),
    (r"\Aa++b", "aab", True),
    (r"^a++a", "aaa", False),
    (r"^\Qa.b\E$", "a.b", True),
    (r"^\Qa.b\E$", "axb", False),
    (r"(?<n>a)\k<n>", "aa", True),
    (r"x(?i)ab", "xAB", True),
    (r"x(?i)ab", "XAB", False),
    (r"^..$", "\u00e9", True),
    (r"^.$", "\u00e9", False),
    (r"\\\\u", r"\\u", True),
    (r"^(?:a|b(?R)?c)$", "a", True),
    (r"^a\{,1}$", "a{,1}", True),
    ("^a{1,2}b{1,}c{1}$", "aabc", True),
    ("^a{x}$", "a{x}", True),
    ("^a{,}$", "a{,}", True),
    ("^a{ }$", "a{ }", True),
    ("", "", True),
]
"""(pattern, name, whether it is found there), as Erlang's ``re`` answers."""


@pytest.mark.parametrize(("pattern", "name", "found"), CASES)
def test_patterns_mean_what_they_mean_to_the_broker(pattern: str, name: str, found: bool) -> None:
    topology = topology_of(exchanges=[Exchange(name=name, type="topic")], policies=[Policy(name="p", pattern=pattern)])
    for one in (topology, pickle.loads(pickle.dumps(topology))):
        assert (one.policy(Exchange(name=name, type="topic")) is not None) == found
        assert [warning.kind for warning in one.warnings if warning.kind != "default-exchange-binding"] == []


@pytest.mark.broker
def test_the_broker_answers_the_same() -> None:
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl")
    pairs = [*((p, n, f) for p, n, f in CASES), *((pattern, LONG, False) for pattern in COSTLY)]

    def erlang(text: str) -> str:
        return f"<<{','.join(map(str, text.encode()))}>>"

    asked = ",".join(f"{{{erlang(pattern)},{erlang(name)}}}" for pattern, name, _ in pairs)
    done = subprocess.run(
        ["rabbitmqctl", "-q", "eval", f"[re:run(N,P,[{{capture,none}}])==match || {{P,N}} <- [{asked}]]."],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"rabbitmqctl reaches no broker: {done.stderr.strip()[:100]}")
    assert done.stdout.strip("[]\n").replace("\n", "").replace(" ", "").split(",") == [
        str(found).lower() for *_, found in pairs
    ]
