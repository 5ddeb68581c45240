"""Each rule finds what was planted, twenty times, in sets that are otherwise clean."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dfa_router.errors import OptionError
from dfa_router.language.dialect_files import read_dialect
from dfa_router.language.dialects import dialect_named
from dfa_router.lint import RULES, lint_bindings, lint_topology
from dfa_router.lint.findings import PERMISSION_RULES
from dfa_router.lint.patterns import STEPS, lint_patterns
from dfa_router.lint.suppression import read_suppressions, suppressed, unused_suppressions
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, topology_of
from dfa_router.rabbitmq.checks import ADVICE
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
    "unproven-binding": lambda chance: hard_to_prove([word(chance) for _ in range(5)], chance),
}


def hard_to_prove(words: list[str], chance: random.Random) -> list[tuple[str, str]]:
    """Return a binding that all others may cover for all that short keys show, and where each of its words stood matters."""
    target = "#." + ".#.".join(words)
    by_length = ["*." * length + words[-1] for length in range(1, 60)]
    by_place = [f"#.{chance.choice(words)}{'.*' * chance.randint(1, 4)}" for _ in range(10)]
    return [(one, "p") for one in dict.fromkeys([target, *by_length, *by_place])]


SLOW = {"growing-bindings", "unproven-binding"}
"""Rules that take a second to find what they are about."""


@pytest.mark.parametrize(
    ("rule", "seeds"),
    [
        *((rule, range(2 if rule in SLOW else 20)) for rule in PLANTED),
        *(pytest.param(rule, range(2, 20), marks=pytest.mark.long) for rule in sorted(SLOW)),
    ],
)
def test_twenty_planted_defects_are_found(rule: str, seeds: range) -> None:
    for seed in seeds:
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


@pytest.mark.parametrize(("times", "told"), [(1, "to be sure"), (2, "(and 1 more place)"), (3, "(and 2 more places)")])
def test_a_finding_of_several_places_says_how_many_more(times: int, told: str) -> None:
    bindings = [Binding(vhost="/", source="x", destination="gone", routing_key=f"a{i}") for i in range(times)]
    topology = topology_of(exchanges=[Exchange(vhost="/", name="x", type="topic")], bindings=bindings)
    (finding,) = (one for one in lint_topology(topology) if one.rule.name == "undeclared-queue")
    assert finding.message.endswith(told)


def test_a_binding_without_a_proof_hides_no_other_finding() -> None:
    chance = random.Random(3)
    planted = hard_to_prove(["a"] * 4, chance)
    found = {one.rule.name for one in lint_bindings([("x.y", "z"), ("x.y", "z"), ("x.#", "r"), ("x.*", "r"), *planted])}
    assert {"unproven-binding", "equal-binding", "covered-binding"} <= found


PLANTED_ELSEWHERE: list[tuple[str, str, Callable[[random.Random], str]]] = [
    ("invalid-pattern", "amqp", lambda chance: ".".join(word(chance) for _ in range(40))),
    ("invalid-pattern", "amqp-4.3.5", lambda chance: f"#.{word(chance)}.#.{word(chance)}.#"),
    ("invalid-pattern", "mqtt", lambda chance: f"{word(chance)}/#/{word(chance)}"),
    ("invalid-pattern", "mqtt", lambda chance: f"{word(chance)}/{word(chance)}{chance.choice('+#')}"),
    ("invalid-pattern", "nats", lambda chance: chance.choice([".{}", "{}.", "x..{}", ">.{}"]).format(word(chance))),
    ("invalid-pattern", "solace", lambda chance: "/".join(chance.choices("abc", k=129))),
    ("unmatched-pattern", "solace", lambda chance: f"#P2P/{word(chance)}/{chance.choice(['*', '>', 'x'])}"),
]


@pytest.mark.parametrize(("rule", "dialect", "plant"), PLANTED_ELSEWHERE)
def test_twenty_planted_patterns_of_each_dialect_are_found(
    rule: str, dialect: str, plant: Callable[[random.Random], str]
) -> None:
    separator = dialect_named(dialect).separator.decode()
    for seed in range(20):
        chance = random.Random(seed)
        bindings = [(f"{word(chance)}{separator}{word(chance)}", "q") for _ in range(20)]
        assert lint_bindings(bindings, dialect) == ()
        planted, place = (plant(chance), "p"), chance.randrange(21)
        found = lint_bindings([*bindings[:place], planted, *bindings[place:]], dialect)
        assert [(one.rule.name, one.place, one.subject) for one in found] == [
            (rule, f"bindings[{place}]", planted[0])
        ], (seed, planted)


def test_twenty_suppressions_without_a_finding_are_found(tmp_path: Path) -> None:
    """Among suppressions that are needed; of other rules than the subject's finding, and of subjects that nothing is about."""
    for seed in range(20):
        chance = random.Random(seed)
        needed, stale = [f"{word(chance)}.#.#" for _ in range(3)], f"{word(chance)}.#.#"
        findings = lint_bindings([*clean(chance), *((pattern, "q") for pattern in needed)])
        assert [one.subject for one in findings] == needed
        unused = chance.choice([("longer-than-needed", stale), ("equal-binding", needed[0])])
        entries = [("longer-than-needed", pattern) for pattern in needed]
        place = chance.randrange(4)
        entries.insert(place, unused)
        path = tmp_path / f"{seed}.toml"
        path.write_text(
            "".join(
                f'[[suppress]]\nrule = "{rule}"\nsubject = "{subject}"\nreason = "known"\n' for rule, subject in entries
            )
        )
        suppressions = read_suppressions(path)
        others, kept = suppressed(findings, suppressions)
        assert others == ()
        (left,) = unused_suppressions(suppressions, kept)
        assert (left.rule.name, left.subject, left.place) == (
            "unused-suppression",
            unused[1],
            f"{path}: suppress[{place}]",
        )
        assert [finding.subject for finding, _ in kept] == needed


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
            ("default-alternate-exchange", {"exchanges": [Exchange(name=name, type="fanout", arguments={"alternate-exchange": ""})]}),
            ("repeated-declaration", {"queues": [q, Queue(name=name), Queue(name=name)]}),
            ("default-exchange-binding", {"bindings": [Binding(source="", destination="q", routing_key=name)]}),
            ("default-exchange-binding", {"bindings": [Binding(source="x", destination="", destination_type="exchange", routing_key=name)]}),
            ("refused-binding", {
                "exchanges": [x, Exchange(name="h", type="headers")],
                "bindings": [Binding(source="h", destination="q", arguments={"x-match": name})],
            }),
            ("refused-binding", {
                "exchanges": [x, Exchange(name="c", type="x-consistent-hash")],
                "bindings": [Binding(source="c", destination="q", routing_key=name)],
            }),
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


def test_the_broker_publishes_into_internal_exchanges_of_its_own() -> None:
    copied = Binding(source="amq.rabbitmq.trace", destination="t", destination_type="exchange", routing_key="publish.#")
    bindings = [
        copied,
        *(Binding(source="t", destination="q", routing_key=f"{key}.x") for key in ("publish", "deliver")),
    ]
    exchange = Exchange(name="t", type="topic", internal=True)
    found = lint_topology(topology_of(exchanges=[exchange], queues=[Queue(name="q")], bindings=bindings))
    assert [(one.rule.name, one.place) for one in found] == [("unreachable-binding", "bindings[2]")]


def test_what_only_another_key_in_cc_reaches_is_said_to_be_that() -> None:
    topology = topology_of(
        exchanges=[Exchange(name="in", type="topic"), Exchange(name="i", type="topic", internal=True)],
        queues=[Queue(name="q")],
        bindings=[
            Binding(source="in", destination="i", destination_type="exchange", routing_key="eu.*"),
            Binding(source="i", destination="q", routing_key="us.*"),
        ],
    )
    assert topology.route("in", "eu.x", cc=["us.x"]).queues == ("q",)
    [found] = lint_topology(topology)
    assert (found.rule.name, found.subject) == ("unreachable-binding", "us.*")
    assert "gets nothing by it, but for messages with another key in CC or BCC" in found.message


def test_bindings_repeated_beside_a_wider_one_are_each_covered_by_it() -> None:
    given = [(pattern, "q", f"line {line}") for line, pattern in enumerate(["a", "a", "b", "b", "#"], 1)]
    found = [one for one in lint_patterns(given, dialect_named("amqp")) if one.rule.name.endswith("-binding")]
    assert [(one.rule.name, one.place) for one in found] == [
        ("covered-binding", f"line {line}") for line in range(1, 5)
    ]
    assert all("'#' (line 5) match all of its keys" in one.message for one in found)


def test_every_warning_of_a_topology_is_a_finding() -> None:
    assert ADVICE.keys() <= RULES.keys()


def test_ways_through_several_bindings_may_be_longer_than_one() -> None:
    """Patterns of 152 bytes, of which two together have over the 255 that a binding may have."""
    first, second = "#." + "a" * 150, "b" * 150 + ".#"
    topology = topology_of(
        exchanges=[
            Exchange(name="in", type="topic"),
            *(Exchange(name=name, type="topic", internal=True) for name in "ij"),
        ],
        queues=[Queue(name="q")],
        bindings=[
            Binding(source="in", destination="i", destination_type="exchange", routing_key=first),
            Binding(source="i", destination="j", destination_type="exchange", routing_key=second),
            Binding(source="j", destination="q", routing_key="#.c.#"),
            Binding(source="j", destination="q", routing_key="us.*"),
        ],
    )
    [found] = lint_topology(topology)
    assert (found.rule.name, found.subject) == ("unreachable-binding", "us.*")


@pytest.mark.parametrize("by_policy", [False, True])
def test_dead_letters_reach_an_internal_exchange_with_any_key(by_policy: bool) -> None:
    dead = {"dead-letter-exchange": "dlx"}
    policy = Policy(name="dead", pattern="^work$", apply_to="queues", definition=dead)
    arguments = {} if by_policy else {f"x-{name}": value for name, value in dead.items()}

    def found(*queues: Queue) -> list[tuple[str, str]]:
        topology = topology_of(
            exchanges=[
                Exchange(name="in", type="topic"),
                Exchange(name="dlx", type="topic", internal=True),
                Exchange(name="behind", type="fanout", internal=True),
            ],
            queues=[*queues, Queue(name="dead")],
            bindings=[
                Binding(source="in", destination="dlx", destination_type="exchange", routing_key="eu.#"),
                Binding(source="dlx", destination="behind", destination_type="exchange", routing_key="us.#"),
                Binding(source="behind", destination="dead"),
            ],
            policies=[policy] if by_policy else [],
        )
        return [(one.rule.name, one.subject) for one in lint_topology(topology)]

    assert found() == [("unreachable-exchange", "behind"), ("unreachable-binding", "us.#")]
    assert found(Queue(name="work", arguments=arguments)) == []


def test_every_rule_has_a_page() -> None:
    readme = (PAGES / "README.md").read_text()
    for name, rule in {**RULES, **PERMISSION_RULES}.items():
        page = (PAGES / f"{name}.md").read_text()
        assert page.startswith(f"# {name}\n\n{rule.severity.name.capitalize()}: {rule.summary}.")
        assert f"[{name}]({name}.md) | {rule.severity.name.lower()} | {rule.summary} |" in readme
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README", "corpora"}
    assert pages == set(RULES) | set(PERMISSION_RULES)


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
    (found,) = lint_bindings([("a.#", "q")] * 3)
    assert "so does 1 more" in found.message
    assert lint_bindings([]) == ()
    assert lint_topology(topology_of()) == ()


@pytest.mark.long
def test_a_hundred_thousand_bindings_of_a_fleet() -> None:
    """Four planted defects among them are found, nothing else is, and a process of its own needs less than 2 GB for it."""
    program = """
import resource
from dfa_router.lint import lint_bindings
fleet = [(f"fleet.site{n % 1000}.device{n // 1000}.{'#' if n % 7 else '*.state'}", f"q{n}") for n in range(100_000)]
fleet[70_000:70_000] = [
    ("fleet.site3.device1.#", "q1003"), ("fleet.site2.device1.on.*", "q1002"), ("fleet.si*.x", "q"), ("fleet.#.#", "q0")
]
for one in lint_bindings(fleet):
    print(one.rule.name, one.place)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *found, megabytes = done.stdout.splitlines()
    assert found == [
        "covered-binding bindings[0]",
        "equal-binding bindings[70000]",
        "covered-binding bindings[70001]",
        "wildcard-in-word bindings[70002]",
        "longer-than-needed bindings[70003]",
    ]
    assert int(megabytes) < 2_000


def test_toml_may_begin_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    """As editors on Windows write it, and as definitions and lists may."""
    suppressions, dialect = tmp_path / "quiet.toml", tmp_path / "team.toml"
    suppressions.write_text('[[suppress]]\nrule = "equal-binding"\nsubject = "a"\nreason = "known"\n', "utf-8-sig")
    dialect.write_text('name = "team"\nlike = "amqp"\n', "utf-8-sig")
    assert [one.subject for one in read_suppressions(suppressions)] == ["a"]
    assert read_dialect(dialect).name == "team"


def test_a_binding_of_the_default_exchange_makes_no_internal_exchange_reachable() -> None:
    found = lint_topology(
        topology_of(
            exchanges=[Exchange(name="inner", type="topic", internal=True)],
            queues=[Queue(name="q")],
            bindings=[
                Binding(source="", destination="inner", destination_type="exchange", routing_key="inner"),
                Binding(source="inner", destination="q", routing_key="a"),
            ],
        )
    )
    assert [one.rule.name for one in found] == ["default-exchange-binding", "unreachable-exchange"]


def test_what_is_no_topology_is_refused_with_what_makes_one(tmp_path: Path) -> None:
    given: list[Any] = ["defs.json", tmp_path / "defs.json", {"exchanges": []}, [], None, topology_of().compile()]
    for wrong in given:
        with pytest.raises(
            OptionError,
            match=rf"^topology is {type(wrong).__name__}: expected a Topology, as dfa_router\.load_definitions\(path\) returns it$",
        ):
            lint_topology(wrong)


def test_of_many_bindings_it_is_told_what_is_being_done() -> None:
    """A million take over a minute."""
    told: list[tuple[str, int, int]] = []
    bindings = [(f"a.{number}.*", "q") for number in range(10_000)]
    assert lint_bindings(bindings, report=lambda *what: told.append(what)) == ()
    assert list(dict.fromkeys(step for step, _, _ in told)) == list(STEPS)
    compared = [done for step, done, _ in told if step == STEPS[1]]
    assert compared == sorted(compared)
    assert compared[0] == 0
    assert 10_000 in compared
    assert {known for step, _, known in told if step == STEPS[1]} == {20_000}
    told.clear()
    lint_bindings(bindings[1:], report=lambda *what: told.append(what))
    assert not told
