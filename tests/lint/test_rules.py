"""Each rule finds what was planted, twenty times, in sets that are otherwise clean."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dfa_router.lint import RULES, lint_bindings, lint_topology
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, topology_of
from dfa_router.reference.naive import matches

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def clean(chance: random.Random) -> list[tuple[str, str]]:
    """Return bindings of which none is a finding: fixed beginnings, different destinations for what overlaps."""
    return [(f"site{i}.{chance.choice(['temp', 'load'])}.{chance.choice('*ab')}", f"q{i}") for i in range(20)]


def word(chance: random.Random) -> str:
    return "".join(chance.choices("abcdefgh", k=6))


PLANTED: dict[str, Callable[[random.Random], list[tuple[str, str]]]] = {
    "equal-binding": lambda chance: [(one := f"{word(chance)}.#.*", "p"), (one.replace("#.*", "*.#"), "p")],
    "covered-binding": lambda chance: [(f"{(one := word(chance))}.#", "p"), (f"{one}.{word(chance)}.*", "p")],
    "wildcard-in-word": lambda chance: [(f"{word(chance)}.{word(chance)}{chance.choice('*#')}.x", "p")],
    "too-many-wildcards": lambda chance: [(f"{word(chance)}.#.{word(chance)}.#.{word(chance)}.#", "p")],
    "longer-than-needed": lambda chance: [(f"{word(chance)}.#.#", "p")],
    "costly-binding": lambda chance: [(f"#.{(one := chance.choice('ab'))}.#.{one}.#.{one}.#.{one}.#.c", "p")],
    "growing-bindings": lambda chance: [(f"#.{word(chance)}.#", f"p{i}") for i in range(20)],
}


@pytest.mark.parametrize("rule", PLANTED)
def test_twenty_planted_defects_are_found(rule: str) -> None:
    for seed in range(20):
        chance = random.Random(seed)
        bindings = clean(chance)
        assert lint_bindings(bindings) == ()
        planted = PLANTED[rule](chance)
        found = lint_bindings([*bindings, *planted])
        mine = [one for one in found if one.rule.name == rule]
        assert len(mine) == 1, (seed, found)
        assert mine[0].subject in {pattern for pattern, _ in planted}
        if rule == "covered-binding":
            assert mine[0].witness is not None
            assert all(matches(pattern.encode(), mine[0].witness.encode()) for pattern, _ in planted)


@pytest.mark.parametrize(
    ("name", "pattern", "rule"),
    [
        ("mqtt", "a/#/b", "invalid-pattern"),
        ("nats", "a..b", "invalid-pattern"),
        ("solace", "#P2P/a", "unmatched-pattern"),
    ],
)
def test_patterns_of_other_dialects(name: str, pattern: str, rule: str) -> None:
    (found,) = lint_bindings([("a", "q"), (pattern, "q")], name, places=[1, 7])
    assert (found.rule, found.place, found.subject) == (RULES[rule], "7", pattern)


def test_what_topologies_lack() -> None:
    """Each rule about declarations, twenty times with other names."""
    for seed in range(20):
        name = word(random.Random(seed))
        x, q = Exchange(name="x", type="topic"), Queue(name="q")
        inner = Exchange(name=name, type="topic", internal=True)
        cases: list[tuple[str, dict[str, Any]]] = [
            ("undeclared-queue", {"bindings": [Binding(source="x", destination=name)]}),
            ("undeclared-exchange", {"bindings": [Binding(source=name, destination="q")]}),
            ("undeclared-vhost", {"vhosts": ["/"], "queues": [q, Queue(name=name, vhost=name)]}),
            ("undeclared-alternate-exchange", {"exchanges": [Exchange(name="x", type="topic", arguments={"alternate-exchange": name})]}),
            ("repeated-declaration", {"queues": [q, Queue(name=name), Queue(name=name)]}),
            ("default-exchange-binding", {"bindings": [Binding(source="", destination="q", routing_key=name)]}),
            ("unreadable-policy", {"policies": [Policy(name=name, pattern="^(")]}),
            ("costly-policy", {
                "exchanges": [Exchange(name="a" * 40 + "!", type="topic")],
                "policies": [Policy(name=name, pattern="^(a+)+$", definition={"alternate-exchange": "amq.topic"})],
            }),
            ("tied-policies", {"policies": [
                Policy(name=one + name, pattern="^x$", definition={"alternate-exchange": f"amq.{to}"}) for one, to in (("a", "topic"), ("b", "direct"))
            ]}),
            ("wildcard-in-direct-binding", {
                "exchanges": [x, Exchange(name="d", type="direct")],
                "bindings": [Binding(source="d", destination="q", routing_key=f"{name}.*")],
            }),
            ("unreachable-exchange", {"exchanges": [x, inner]}),
            ("unreachable-binding", {"exchanges": [x, inner], "bindings": [
                Binding(source="x", destination=name, destination_type="exchange", routing_key="eu.#"),
                Binding(source=name, destination="q", routing_key="#.eu"),
                Binding(source=name, destination="q", routing_key="us.*"),
            ]}),
            ("equal-binding", {"exchanges": [x, Exchange(name="f", type="fanout")], "bindings": [
                Binding(source="f", destination="q", routing_key=key) for key in ("", name)
            ]}),
        ]  # fmt: skip
        for rule, declared in cases:
            found = lint_topology(topology_of(**{"exchanges": [x], "queues": [q], **declared}))
            assert [one.rule.name for one in found] == [rule], (seed, rule, found)


def test_internal_exchanges_are_reached_through_others() -> None:
    """No finding where keys get through: by alternates, fanouts, headers exchanges, cycles, and through two hops."""
    exchanges = [
        Exchange(name="in", type="topic", arguments={"alternate-exchange": "left"}),
        *(
            Exchange(name=name, type=kind, internal=True)
            for name, kind in (("left", "topic"), ("f", "fanout"), ("h", "headers"))
        ),
        *(Exchange(name=name, type="topic", internal=True) for name in "abc"),
    ]

    def to(source: str, destination: str, key: str, kind: Any = "exchange") -> Binding:
        return Binding(source=source, destination=destination, destination_type=kind, routing_key=key)

    bindings = [
        to("in", "f", "eu.*"),
        to("f", "a", ""),
        to("a", "b", "#.x"),
        to("b", "a", "#"),
        to("in", "h", "us.#"),
        to("h", "c", ""),
        to("b", "q", "eu.x", "queue"),
        to("b", "q", "us.x", "queue"),
        to("c", "q", "anything.at.all", "queue"),
        to("left", "q", "other", "queue"),
    ]
    found = lint_topology(topology_of(exchanges=exchanges, queues=[Queue(name="q")], bindings=bindings))
    assert [(one.rule.name, one.place) for one in found] == [("unreachable-binding", "bindings[7]")]


def test_every_rule_has_a_page_and_a_test() -> None:
    readme = (PAGES / "README.md").read_text()
    for name, rule in RULES.items():
        page = (PAGES / f"{name}.md").read_text()
        assert page.startswith(f"# {name}\n\n{rule.severity.name.capitalize()}: {rule.summary}.")
        assert f"[{name}]({name}.md) | {rule.severity.name.lower()} | {rule.summary} |" in readme
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README", "corpora"}
    assert pages == set(RULES)


def test_real_defects(shared: Path) -> None:
    """GridWorks' typing error, what waggle and SDA do not declare, and govuk's pair that only looks redundant."""
    from dfa_router import load_definitions

    def rules(path: str) -> list[tuple[str, str]]:
        found = lint_topology(load_definitions(shared / "corpora" / path))
        return [(one.rule.name, one.subject) for one in found]

    assert ("wildcard-in-word", "*.*.gw.*gnr.*") in rules(
        "gridworks/gridworks__2022-12-22__5c1fc71__rabbit_definitions.json"
    )
    assert rules("govuk/definitions.json") == []
    assert rules("rabbitmq_definitions/waggle_edge_stack.json") == [("undeclared-queue", "ansible")]
    sda = rules("rabbitmq_definitions/sda_mq_federated_branch.json")
    assert sda == [
        ("undeclared-vhost", "federated"),
        ("undeclared-exchange", "to_cega"),
        ("undeclared-queue", "error"),
        ("undeclared-exchange", "localega"),
    ]


def test_equal_bindings_and_empty_sets() -> None:
    (found,) = lint_bindings([("a.#", "q")] * 10_000)
    assert "so do 9998 more" in found.message
    assert lint_bindings([]) == ()
    assert lint_topology(topology_of()) == ()
