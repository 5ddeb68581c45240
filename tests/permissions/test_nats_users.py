"""The users of NATS' configuration files, in the many ways that the format has, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dfa_router.cli.app import run
from dfa_router.errors import InputError
from dfa_router.permissions.differences import shifts
from dfa_router.permissions.files import nats_users
from dfa_router.permissions.nats import Subjects
from dfa_router.permissions.nats_users import read_nats_users


def test_configurations(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DFA_ROUTER_SUBJECT", "from.env")
    file = tmp_path / "server.conf"
    file.write_text(
        """# a server
listen: 127.0.0.1:4222, max_payload: 1MB
DEFAULT = {publish: {allow: ["a.b" # one
  'c.d']}, sub: $DFA_ROUTER_SUBJECT}
authorization {
  default_permissions = $DEFAULT
  users = [
    {user: ann, password: $2a$11$hash, permissions {subscribe {deny "*.secret"}, allow_responses: true}}
    {nkey: UX}
  ]
}
accounts { A: {users: [{user: bob, permissions: {pub: "x\\x2ey"}}]
  default_permissions: {sub: q} // for others
}, SYS: {} }
"""
    )
    ann, key, bob = nats_users(file)
    assert (ann.name, ann.subscribe, ann.line) == ("ann", Subjects(deny=("*.secret",)), 8)
    assert (key.name, key.publish.allow, key.subscribe.allow) == ("UX", ("a.b", "c.d"), ("from.env",))
    assert (bob.name, bob.account, bob.publish.allow, bob.subscribe) == ("bob", "A", ("x.y",), Subjects())
    assert run(["permissions", str(file)]) == 1
    assert capsys.readouterr().out.startswith(
        f"{file}:8: warning overlapped-denial: user 'ann': the subscription 'any.*'"
    )
    assert run(["permissions", str(file), "--user", "ann", "--binding", "foo.*", "--key", "foo.secret"]) == 1
    assert "gets foo.secret by it: no" in capsys.readouterr().out
    old = tmp_path / "old.conf"
    old.write_text(file.read_text().replace("c.d", "c.*"))
    assert run(["permissions", str(file), "--against", str(old)]) == 1
    assert capsys.readouterr().out == "'UX' loses: publish to subjects, for instance 'c.b'\n"
    assert run(["permissions", str(file), "--user", "bob", "--key", "x.y"]) == 0
    assert capsys.readouterr().out == "may publish to x.y in account A: yes\nmay subscribe to x.y in account A: yes\n"
    assert run(["permissions", str(file), "--user", "eve", "--key", "a"]) == 2
    assert "has no user 'eve': name one of 'ann'" in capsys.readouterr().err.replace("\n", " ")


def test_users_of_one_name_are_told_apart_by_their_accounts(tmp_path: Path) -> None:
    users = "accounts {{ B: {{users: [{{user: bob, permissions: {{pub: {0}}}}}]}}, A: {{users: [{{user: bob, permissions: {{pub: {1}}}}}]}} }}"
    old, new = tmp_path / "old.conf", tmp_path / "new.conf"
    old.write_text(users.format("x", "y"))
    new.write_text(users.format("y", "z"))
    told = [(one.user, one.gained, one.lost) for one in shifts(old, new, broker="nats")]
    assert told == [("bob of account A", "z", "y"), ("bob of account B", "y", "x")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("authorization {\n users = [{user: a}; {user: b}]}", "nats.conf:2: found '; {user: b}]}', expected the end"),
        ("include other.conf", "nats.conf:1: found 'include other.conf', expected entries themselves"),
        ("a: (\nb\n)", "nats.conf:1: found '(', expected no block"),
        ("a: $NOWHERE", "nats.conf:1: found '$NOWHERE', expected a key 'NOWHERE' before this line"),
        ("a: {b: 1", "nats.conf:1: found 'the end of the file', expected a key or '}'"),
        ("a: 'b", "expected a value"),
        ('a: "\\q"', "expected one of the escapes"),
        ("a: " + "[" * 99, "expected at most 50 values within each other"),
        ("port: 4222", "nats.conf: names no users"),
        ("authorization: 1", "nats.conf:1: expected a map with 'users'"),
        ("authorization {users: {user: a}}", "expected a list of users"),
        ("authorization {users: [{password: a}]}", "expected a user's name"),
        ("authorization {\nusers: [{user: a, permissions: {sub: 'a b'}}]}", "nats.conf:2: expected a subject alone"),
        ("authorization {users: [{user: a, permissions: {sub: 1}}]}", "in quotes if it looks like a number"),
        ("authorization {users: [{user: a, permissions: {sub: a..b}}]}", "'a..b', which is refused"),
        (
            "authorization {users: [{user: a, permissions: {read: b}}]}",
            "expected publish, subscribe or allow_responses",
        ),
        ("authorization {users: [{user: a, permissions: {sub: {only: b}}}]}", "expected 'allow' or 'deny'"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        read_nats_users(text)
    assert problem in str(refused.value)
