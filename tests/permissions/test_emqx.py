"""EMQX' access rules: read, held to a plain reading of the broker's, and searched for subscriptions that get past them."""

from __future__ import annotations

import importlib.util
import random
from itertools import product
from pathlib import Path

import pytest

from dfa_router.cli.app import run
from dfa_router.errors import InputError
from dfa_router.language.dialects import MQTT
from dfa_router.permissions import subscriptions
from dfa_router.permissions.emqx import Client, EmqxRules, read_emqx_rules
from dfa_router.permissions.passages import Passage, passages
from dfa_router.reference.naive import matches
from tests.mutants import mutant

needs_greenery = pytest.mark.skipif(
    importlib.util.find_spec("greenery") is None, reason="needs greenery: pip install 'dfa-router[permissions]'"
)
SUBSCRIPTIONS = ["/".join(one) for n in (1, 2, 3) for one in product("abc+#", repeat=n) if "#" not in one[:-1]]
TOPICS = ["/".join(one) for n in (1, 2, 3, 4) for one in product("abc", repeat=n)]
GETS = {
    one: [topic for topic in TOPICS if matches(one.encode(), topic.encode(), MQTT)]
    for one in SUBSCRIPTIONS
    if set("+#") & set(one)
}


def words_match(filter_: list[str], words: list[str]) -> bool:
    """The broker's reading of a filter, where words of a subscription may be wildcards."""
    if filter_ == ["#"] or not filter_ or not words:
        return filter_ == ["#"] or filter_ == words
    return filter_[0] in ("+", words[0]) and words_match(filter_[1:], words[1:])


def decided(rules: list[tuple[str, list[tuple[str, bool]]]], topic: str, otherwise: bool) -> bool:
    for verb, filters in rules:
        for filter_, exact in filters:
            if filter_ == topic if exact else words_match(filter_.split("/"), topic.split("/")):
                return verb == "allow"
    return otherwise


def random_rules(chance: random.Random) -> list[tuple[str, list[tuple[str, bool]]]]:
    def filter_() -> tuple[str, bool]:
        words = [chance.choice("ab+") for _ in range(chance.randint(1, 3))]
        return "/".join([*words[:-1], "#"] if chance.random() < 0.35 else words), chance.random() < 0.2

    return [
        (chance.choice(["allow", "deny"]), [filter_() for _ in range(chance.randint(1, 2))])
        for _ in range(chance.randint(1, 4))
    ]


def written(rules: list[tuple[str, list[tuple[str, bool]]]]) -> str:
    def shown(filters: list[tuple[str, bool]]) -> str:
        return ", ".join(f'{{eq, "{one}"}}' if exact else f'"{one}"' for one, exact in filters)

    return "".join(f"{{{verb}, all, subscribe, [{shown(filters)}]}}.\n" for verb, filters in rules)


def leaks(file: Path, no_match: bool) -> list[Passage]:
    return [one for one in passages(file, no_match=no_match) if one.rule == "leaking-subscription"]


def check_leaks(file: Path, seeds: range) -> int:
    """Hold verdicts and findings to all small subscriptions and topics; return in how many sets something leaks."""
    seen = 0
    for seed in seeds:
        chance = random.Random(seed)
        rules, otherwise = random_rules(chance), chance.random() < 0.5
        file.write_text(written(rules))
        read = read_emqx_rules(file.read_text(), no_match=otherwise)
        ladder = {one: decided(rules, one, otherwise) for one in (*SUBSCRIPTIONS, *TOPICS)}
        for one in chance.sample(SUBSCRIPTIONS, 25):
            assert read.allows("subscribe", one, Client()) == ladder[one], (one, file.read_text())
        known = any(ladder[one] and not all(ladder[topic] for topic in gets) for one, gets in GETS.items())
        found = leaks(file, otherwise)
        assert bool(found) == known, (file.read_text(), otherwise, found)
        for passage in found:
            assert passage.binding is not None
            assert passage.key is not None
            assert decided(rules, passage.binding, otherwise), (file.read_text(), passage)
            assert not decided(rules, passage.key, otherwise), (file.read_text(), passage)
            assert matches(passage.binding.encode(), passage.key.encode(), MQTT)
        seen += known
    return seen


def test_there_is_a_finding_where_some_small_subscription_gets_past_the_rules(tmp_path: Path) -> None:
    assert check_leaks(tmp_path / "acl.conf", range(50)) > 12


@pytest.mark.parametrize(
    ("right", "planted"),
    [("[*made[:place], many]", "made"), ("if key is not None", "if key is None")],
)
def test_planted_bugs_are_caught(tmp_path: Path, right: str, planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfa_router.permissions.passages.leaking", mutant(subscriptions, right, planted).leaking)
    with pytest.raises((AssertionError, TypeError)):
        check_leaks(tmp_path / "acl.conf", range(50))


DEFAULT = """%% the rules that the broker comes with
{allow, {username, {re, "^dash"}}, subscribe, ["$SYS/#"]}.
{allow, {ipaddr, "127.0.0.1"}, all, ["$SYS/#", "#"]}.
{deny, all, subscribe, ["$SYS/#", {eq, "#"}, {eq, "+/#"}]}.
{allow, all}.
"""


@needs_greenery
def test_who_and_what_rules_are_about() -> None:
    rules = read_emqx_rules(DEFAULT)
    dashboard, local, ann = Client(user="dashboard"), Client(address="127.0.0.1"), Client(user="ann")
    for topic, who, allowed in (
        ("$SYS/x", dashboard, True),
        ("$SYS/x", local, True),
        ("$SYS/x", ann, False),
        ("$share/group/$SYS/x", ann, False),
        ("#", ann, False),
        ("#", local, True),
        ("+/#", ann, False),
        ("+/+", ann, True),
        ("a/#", ann, True),
    ):
        assert rules.allows("subscribe", topic, who) is allowed, (topic, who)
    assert rules.allows("publish", "$SYS/x", ann)  # by no_match: what begins with '#' is not about '$' topics
    assert not read_emqx_rules(DEFAULT, no_match=False).allows("publish", "$SYS/x", ann)


def test_names_and_conditions() -> None:
    rules = read_emqx_rules(
        """{allow, {'and', [{user, <<"ann">>}, {client, "c1"}]}, publish, ["in/${username}/${clientid}"]}.
        {allow, {'or', [{clientid, "c2"}, {ipaddrs, ["10.0.0.0/8", "::1"]}]}, pubsub, ["in/%u", "x/%c/#"]}.
        {allow, all, subscribe, "of/${username}"}. {deny, all}.""",
        no_match=False,
    )

    def asked(topic: str, **who: str) -> bool:
        return rules.allows("publish", topic, Client(**who))

    assert asked("in/ann/c1", user="ann", client="c1")
    assert not asked("in/ann/c1", user="ann")
    assert asked("x/c2/y", client="c2")
    assert asked("in/bob", user="bob", address="10.1.2.3")
    assert not asked("in/bob", user="bob", address="11.1.2.3")
    assert not asked("in/", address="10.1.2.3"), "who has no name gets no topic with a place for it"
    assert rules.allows("subscribe", "of/eve", Client(user="eve"))
    assert asked("x/anything/y", client="+", address="::1"), "a wildcard for a name is one in the filter"


def test_a_rule_without_topics_is_not_called_useless(tmp_path: Path) -> None:
    """Of no topics none is decided about before."""
    file = tmp_path / "acl.conf"
    file.write_text("{allow, all, publish, []}.\n{deny, all}.\n")
    assert [one.rule for one in passages(file, broker="emqx")] == []


def test_findings_and_verdicts_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rules.conf"
    file.write_text(
        """{allow, {user, "ann"}, subscribe, ["a/+", "in/${username}"]}.
{deny, all, all, ["secret/#"]}.
{allow, all, publish, ["secret/x"]}.
{deny, all}.
"""
    )
    assert run(["permissions", str(file)]) == 1
    useless, leak = capsys.readouterr().out.splitlines()
    assert useless.startswith(f"{file}:3: warning useless-rule: user 'anyone': the rule does nothing")
    assert leak.startswith(f"{file}:1: error leaking-subscription: user 'ann': the subscription 'a/#' is accepted")
    assert run(["permissions", str(file), "--user", "ann", "--binding", "a/#", "--key", "a/b/c"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "may publish to a/b/c: no",
        "may subscribe to a/#: yes",
        "gets a/b/c by it: yes",
    ]
    assert run(["permissions", str(file), "--user", "bob", "--binding", "a/#", "--key", "a/b/c"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == ["may subscribe to a/#: no", "gets a/b/c by it: no"]
    new = tmp_path / "new.conf"
    new.write_text(file.read_text().replace("{allow, {user", '{deny, all, subscribe, [{eq, "a/#"}]}.\n{allow, {user'))
    assert run(["permissions", str(new), "--against", str(file)]) == 1
    assert capsys.readouterr().out == "'ann' loses: subscribe to topics, for instance 'a/#'\n"
    new.write_text('{deny, all, subscribe, ["secret/x"]}.\n{deny, all, subscribe, [{eq, "#"}]}.\n')
    assert run(["permissions", str(new), "--no-match", "deny"]) == 0
    assert run(["permissions", str(new)]) == 1
    assert "subscription '+/#' is accepted, as no rule is about its text" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{allow, all}", "acl.conf:1: found 'the end of the file', expected a full stop"),
        ("\n{allow, all,}.", "acl.conf:2: found '}', expected a term behind the comma"),
        (
            '{allow, {user, "a"}, read, []}.',
            "acl.conf:1: is no rule that is read here: expected subscribe, publish, or all",
        ),
        ('{allow, {user, "a"}, {publish, [{qos, 1}]}, []}.', "publish without conditions on quality of service"),
        ("{maybe, all}.", "expected {allow, all}, or {allow or deny, WHO"),
        ('{allow, {zone, "a"}, all, []}.', "as the clients of a rule all, {user"),
        ('{allow, {ipaddr, "a"}, all, []}.', "a network such as 10.0.0.0/8 instead of 'a'"),
        ('{allow, all, all, ["a/${zone}"]}.', "instead of ${zone}, which is not read here"),
        ('{allow, all, all, ["a/#/b"]}.', "acl.conf:1: the filter 'a/#/b' is refused"),
        ('\n{deny, all, subscribe, [{eq, "a+"}]}.', "acl.conf:2: the filter 'a+' is refused"),
        ('{allow, all, all, ["eq a/#/b"]}.', "acl.conf:1: the filter 'a/#/b' is refused"),
        ("{allow, all, all, [a]}.", "as a filter"),
        ("{allow, 1.5}.", "expected a tuple, a list, an atom"),
        ("[" * 99, "at most 50 terms within each other"),
        ('{allow, "a\\q"}.', "one of the escapes"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        read_emqx_rules(text)
    assert problem in str(refused.value)


def test_no_rules_and_a_thousand_equal_ones(tmp_path: Path) -> None:
    assert read_emqx_rules("%% nothing\n") == EmqxRules(())
    file = tmp_path / "acl.conf"
    file.write_text('{allow, all, subscribe, ["a"]}.\n' * 200)
    found = passages(file, "emqx", no_match=False)
    assert [one.rule for one in found] == ["useless-rule"] * 199
