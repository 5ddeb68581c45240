"""What two versions of rules differ in: held to the verdicts for every small topic, key and name."""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from dfa_router.cli.app import run
from dfa_router.permissions import differences, ladders
from dfa_router.permissions.differences import Shift, shifts
from dfa_router.permissions.emqx import Client
from dfa_router.permissions.files import access_list, emqx_rules, name_permissions, topic_permissions
from dfa_router.permissions.nats import Subjects, may_publish
from dfa_router.permissions.rabbitmq import TopicPermission
from tests.mutants import mutant

needs_greenery = pytest.mark.skipif(
    importlib.util.find_spec("greenery") is None, reason="needs greenery: pip install 'dfa-router[permissions]'"
)
TOPICS = ["/".join(words) for count in (1, 2, 3) for words in product(("a", "b", "c", "$s", "ann"), repeat=count)]
FILTERS = ["#", "a", "a/#", "+/b", "a/+", "+", "b/#", "$s/#", "$s/a", "+/+/c", "a/b/c", "b"]


def random_list(chance: random.Random) -> str:
    lines = []
    for user in chance.sample(["", "ann", "bob"], chance.randint(0, 3)):
        lines += [f"user {user}"] if user else []
        for _ in range(chance.randint(1, 3)):
            lines.append(f"topic {chance.choice(['read', 'write', 'readwrite', 'deny'])} {chance.choice(FILTERS)}")
    for _ in range(chance.randint(0, 2)):
        access = chance.choice(["read", "write", "deny"])
        lines.append(f"pattern {access} {chance.choice([*FILTERS, 'a/%u', '%u/#'])}")
    return "\n".join(
        sorted(lines, key=lambda line: line.startswith("user") and "ann" not in line and "bob" not in line)
    )


def check_lists(module: object, old: Path, new: Path) -> int:
    """Hold an answer to :meth:`AccessList.allows`; return how many differences were seen."""
    before, after = access_list(old), access_list(new)
    found = {(one.user, one.what.split()[0]): one for one in module.shifts(old, new)}  # type: ignore[attr-defined]
    seen = 0
    for user, access in product((None, "ann", "bob", "anyone"), ("read", "write")):
        if user in ("ann", "bob") and f"user {user}" not in old.read_text() + new.read_text():
            continue  # who has no rules is anyone
        allowed = [{one for one in TOPICS if rules.allows(access, one, user=user)} for rules in (before, after)]
        told = found.get((user or "", access))
        gained, lost = (None, None) if told is None else (told.gained, told.lost)
        for witness, here, there, small in (
            (gained, after, before, allowed[1] - allowed[0]),
            (lost, before, after, allowed[0] - allowed[1]),
        ):
            text = f"{user} {access}\n{old.read_text()}\n--\n{new.read_text()}"
            if witness is None:
                assert not small, (sorted(small)[:3], text)
            else:
                assert here.allows(access, witness, user=user), (witness, text)
                assert not there.allows(access, witness, user=user), (witness, text)
                assert all(witness.count("/") <= one.count("/") for one in small), (witness, text)
                seen += 1
    return seen


def random_pairs(folder: Path, count: int) -> list[tuple[Path, Path]]:
    chance = random.Random(7)
    pairs = []
    for number in range(count):
        old, new = folder / f"{number}.old", folder / f"{number}.new"
        old.write_text(random_list(chance))
        new.write_text(random_list(chance) if chance.random() < 0.7 else old.read_text())
        pairs.append((old, new))
    return pairs


def test_lists_differ_where_their_verdicts_do(tmp_path: Path) -> None:
    assert check_all(differences, random_pairs(tmp_path, 150)) > 300


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("(*before, *also)", "(*also,)"),
        ("(*before, *also)", "(*before,)"),
        ("if ladder.otherwise == wanted:", "if False:"),
        ("before += patterns", "before = patterns"),
    ],
)
def test_planted_bugs_are_caught(tmp_path: Path, right: str, planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "beyond", mutant(ladders, right, planted).beyond)
    pairs = random_pairs(tmp_path, 150)
    with pytest.raises(AssertionError):
        check_all(differences, pairs)


def check_all(module: object, pairs: list[tuple[Path, Path]]) -> int:
    return sum(check_lists(module, old, new) for old, new in pairs)


EXPRESSIONS = ["", "^a", "a$", "^a\\.", "^[ab]+$", "b|c", "^(a|b)\\.[a-z]*$", "^.$", "^$", "[*#]"]
TEXTS = ["".join(one) for count in (1, 2, 3) for one in product("abc.*#", repeat=count)]


@needs_greenery
def test_definitions_differ_where_their_verdicts_do(tmp_path: Path) -> None:
    chance = random.Random(11)
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for _ in range(25):
        for path in (old, new):
            named = {"user": "ann", "vhost": "/"}
            names = {one: chance.choice(EXPRESSIONS) for one in ("configure", "write", "read")}
            topics = {one: chance.choice(EXPRESSIONS) for one in ("write", "read")}
            document = {
                "permissions": [{**named, **names}] * (chance.random() < 0.8),
                "topic_permissions": [{**named, "exchange": "x", **topics}] * (chance.random() < 0.8),
            }
            path.write_text(json.dumps(document))
        found = {one.what.split()[0]: one for one in shifts(old, new)}
        for what in ("configure", "write", "read", "publish", "bind"):
            before, after = ({text for text in TEXTS if allowed(path, what, text)} for path in (old, new))
            told = found.get(what)
            for witness, small, path in (
                (None if told is None else told.gained, after - before, new),
                (None if told is None else told.lost, before - after, old),
            ):
                context = (what, witness, old.read_text(), new.read_text())
                assert (witness is None) <= (not small), context
                if witness is not None:
                    assert allowed(path, what, witness), context
                    assert not allowed(new if path is old else old, what, witness), context
                    assert all(len(witness) <= len(text) for text in small), context


def allowed(path: Path, what: str, text: str) -> bool:
    if what in ("configure", "write", "read"):
        return any(one.allows(what, text) for one in name_permissions(path))
    if not name_permissions(path):
        return False
    topics = topic_permissions(path) or (TopicPermission(user="ann", exchange="x", write=".*", read=".*"),)
    return topics[0].may_publish(text) if what == "publish" else topics[0].may_bind(text)


SUBJECTS = [".".join(words) for count in (1, 2, 3) for words in product("abc", repeat=count)]
OF_SUBJECTS = [">", "a", "a.>", "*.b", "a.*", "*", "b.>", "*.*.c", "a.b.c"]


def check(
    told: Shift | None, verdicts: list[dict[str, bool]], here: Sequence[Callable[[str], bool]], separator: str
) -> int:
    """Hold what is told of two versions to their verdicts; return how many differences were seen."""
    seen = 0
    for witness, one, other in ((told.gained if told else None, 1, 0), (told.lost if told else None, 0, 1)):
        small = [key for key in verdicts[0] if verdicts[one][key] and not verdicts[other][key]]
        if witness is None:
            assert small == []
            continue
        assert here[one](witness)
        assert not here[other](witness)
        assert all(witness.count(separator) <= key.count(separator) for key in small)
        seen += 1
    return seen


def lets_publish(subjects: Subjects | None, key: str) -> bool:
    return subjects is not None and may_publish(subjects, key)


def test_nats_users_differ_where_their_verdicts_do(tmp_path: Path) -> None:
    chance, seen = random.Random(5), 0
    paths = [tmp_path / "old.conf", tmp_path / "new.conf"]
    for _ in range(60):
        rules: list[Subjects | None] = []
        for path in paths:
            allow, deny = (tuple(chance.sample(OF_SUBJECTS, chance.randint(0, 2))) for _ in range(2))
            asked = json.dumps({"publish": {"allow": allow, "deny": deny}} if allow else {"publish": {"deny": deny}})
            ann = chance.random() < 0.9
            users = ["{user: bob}", *([f"{{user: ann, permissions: {asked}}}"] if ann else [])]
            path.write_text(f"authorization {{ users = [{', '.join(users)}] }}")
            rules.append(Subjects(allow=allow, deny=deny) if ann else None)
        told = {(one.user, one.what): one for one in shifts(*paths, broker="nats")}
        here = [partial(lets_publish, one) for one in rules]
        verdicts = [{key: asks(key) for key in SUBJECTS} for asks in here]
        seen += check(told.get(("ann", "publish to subjects")), verdicts, here, ".")
        assert not [user for user, _ in told if user == "bob"]
    assert seen > 60


@pytest.mark.parametrize("no_match", [True, False])
def test_rules_of_emqx_differ_where_their_verdicts_do(tmp_path: Path, no_match: bool) -> None:
    chance, seen = random.Random(6), 0
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    paths = [tmp_path / name / "acl.conf" for name in ("old", "new")]
    for _ in range(40):
        for path in paths:
            rules = []
            for _ in range(chance.randint(1, 3)):
                who, what = chance.choice(['{user, "ann"}', "all"]), chance.choice(["publish", "subscribe", "all"])
                topics = json.dumps(chance.sample(FILTERS, chance.randint(1, 2)))
                rules.append(f"{{{chance.choice(['allow', 'deny'])}, {who}, {what}, {topics}}}.\n")
            path.write_text("".join(rules))
        told = {(one.user, one.what.split()[0]): one for one in shifts(*paths, broker="emqx", no_match=no_match)}
        for user, action in product((None, "ann"), ("publish", "subscribe")):
            if user and not any(user in path.read_text() for path in paths):
                continue  # who has no rules is anyone
            both = [emqx_rules(path, no_match=no_match) for path in paths]
            here = [partial(one.allows, action, client=Client(user=user)) for one in both]
            verdicts = [{key: asks(key) for key in TOPICS} for asks in here]
            seen += check(told.get((user or "anyone", action)), verdicts, here, "/")
    assert seen > 80


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    old, new = tmp_path / "old.acl", tmp_path / "new.acl"
    old.write_text("user ann\ntopic read a/#\n")
    new.write_text("user ann\ntopic read a/+\ntopic write b\npattern read in/%u\n")
    assert run(["permissions", str(new), "--against", str(old)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "'ann' gains: read topics, for instance 'in/ann'",
        "'ann' loses: read topics, for instance 'a'",
        "'ann' gains: write topics, for instance 'b'",
        "'anyone' gains: read topics, for instance 'in/anyone'",
    ]
    assert run(["permissions", str(new), "--against", str(new)]) == 0
    assert capsys.readouterr().out == "both versions allow the same\n"
    assert run(["permissions", str(new), "--against", str(old), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)[0] == {
        "user": "ann",
        "what": "read topics",
        "gained": "in/ann",
        "lost": "a",
    }
    definitions = tmp_path / "d.json"
    definitions.write_text("{}")
    for arguments, problem in (
        (["--against", str(definitions)], "are of two kinds"),
        (["--against", str(old), "--user", "ann", "--key", "a"], "compares all users"),
        (["--against", str(tmp_path / "none")], "cannot be read"),
    ):
        assert run(["permissions", str(new), *arguments]) == 2
        assert problem in capsys.readouterr().err.replace("\n", " ")
