"""NATS' permissions, held to a server: what it lets a client subscribe to, and what it delivers."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from dfa_router.language.dialects import NATS
from dfa_router.permissions.files import nats_users
from dfa_router.permissions.nats import Subjects, asks_at_delivery, may_publish, may_receive, may_subscribe
from dfa_router.permissions.nats_users import NatsUser
from dfa_router.permissions.passages import Passage, of_nats
from dfa_router.reference.naive import matches

WORDS = ["a", "b", "secret"]


def pattern(chance: random.Random) -> str:
    words = [chance.choice([*WORDS, "*"]) for _ in range(chance.randint(1, 3))]
    return ".".join([*words, ">"] if chance.random() < 0.3 else words)


def subject(chance: random.Random) -> str:
    return ".".join(chance.choice(WORDS) for _ in range(chance.randint(1, 4)))


def rules(chance: random.Random) -> Subjects:
    allow, deny = (tuple(pattern(chance) for _ in range(chance.randint(0, most))) for most in (2, 3))
    return Subjects(allow=allow, deny=deny)


def test_the_bypass_by_overlap() -> None:
    """A subscription ``foo.*`` against ``deny: *.secret``: accepted, and what it must not get is kept back."""
    denied = Subjects(deny=("*.secret",))
    assert may_subscribe(denied, "foo.*")
    assert not may_receive(denied, "foo.*", "foo.secret")
    assert may_receive(denied, "foo.*", "foo.public")
    assert not asks_at_delivery(denied, ["foo.*"]), "an older server lets it through"


class Client:
    """A connection to a server, by its text protocol."""

    def __init__(self, port: int, user: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = self.socket.makefile("rb")
        self.lines.readline()
        self.send(f'CONNECT {{"verbose":false,"user":"{user}","pass":"p"}}\r\n')
        self.settle()

    def close(self) -> None:
        self.lines.close()
        self.socket.close()

    def send(self, text: str) -> None:
        self.socket.sendall(text.encode())

    def settle(self) -> list[str]:
        """Return what came until the server answers a ping."""
        self.send("PING\r\n")
        told: list[str] = []
        while (line := self.lines.readline().decode().strip()) != "PONG":
            assert line, told
            told.append(line)
            if line.startswith("MSG"):
                self.lines.read(int(line.split()[-1]) + 2)
        return told


def written(sets: list[Subjects], chance: random.Random) -> str:
    """Return the users u0, u1, ... of a configuration, in the many ways that the format has to say the same."""

    def subject(one: str) -> str:
        return chance.choice([f'"{one}"', f"'{one}'", one])

    def listed(subjects: tuple[str, ...]) -> str:
        if len(subjects) == 1 and chance.random() < 0.5:
            return f'"{subjects[0]}"'
        return "[" + chance.choice([", ", "\n  ", ",\n  # more\n  "]).join(map(subject, subjects)) + "]"

    def entry(key: str, value: str) -> str:
        return chance.choice([f"{key}: {value}", f"{key} = {value}", f"{key} {value}", f'"{key}": {value}'])

    def joined(entries: list[str], around: str = "{}") -> str:
        between = chance.choice([", ", "\n", " // then\n", ";\n" if around == "{}" else ",\n"])
        return around[0] + " " + between.join(entries) + " " + around[1]

    def section(one: Subjects) -> str:
        if not one.deny and chance.random() < 0.5:
            return listed(one.allow)
        allow = [entry("allow", listed(one.allow))] if one.allow else []
        return joined([*allow, entry("deny", listed(one.deny))])

    def user(number: int, one: Subjects) -> str:
        rules = section(one)
        named = [entry("user", f"u{number}"), entry("password", "p")]
        kinds = [entry(chance.choice(["sub", "subscribe"]), rules), entry(chance.choice(["pub", "publish"]), rules)]
        if chance.random() < 0.5:
            return joined([*named, entry("permissions", joined(kinds))])
        variables.append(entry(f"RULES{number}", joined(kinds)))
        return joined([*named, entry("permissions", f"$RULES{number}")])

    variables: list[str] = []
    users = joined(["{user: admin, password: p}", *(user(number, one) for number, one in enumerate(sets))], "[]")
    return "\n".join([*variables, entry("authorization", joined([entry("users", users)])), ""])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, list[Subjects]]]:
    """Yield the port of a server of the test's own, and the rules of its users u0, u1, ..."""
    if shutil.which("nats-server") is None:
        pytest.skip("needs nats-server")
    chance = random.Random(4)
    sets = [rules(chance) for _ in range(300)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = tmp_path / "nats.conf"
    file.write_text(f"port: {port}\nhost: 127.0.0.1\n{written(sets, chance)}")
    (admin, *users) = nats_users(file)
    assert (admin.name, admin.subscribe) == ("admin", Subjects())
    assert [one.subscribe for one in users] == [one.publish for one in users] == sets
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(["nats-server", "-c", str(file)], stdout=log, stderr=log) as process,
    ):
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.05)
        yield port, sets
        process.terminate()


@pytest.mark.broker
@pytest.mark.slow
def test_a_server_gives_the_same_verdicts(server: tuple[int, list[Subjects]]) -> None:
    """300 random sets of rules: 10 subscriptions, 10 subjects to get and 10 to publish each."""
    port, sets = server
    chance = random.Random(5)
    with closing(Client(port, "admin")) as admin:
        check_all(admin, port, sets, chance)


def check_all(admin: Client, port: int, sets: list[Subjects], chance: random.Random) -> None:
    admin.send("SUB >  1\r\n")
    admin.settle()
    for number, one in enumerate(sets):
        with closing(Client(port, f"u{number}")) as client:
            check_one(admin, client, one, chance)


def check_one(admin: Client, client: Client, one: Subjects, chance: random.Random) -> None:
    subscriptions = [pattern(chance) for _ in range(10)]
    client.send("".join(f"SUB {two} {sid}\r\n" for sid, two in enumerate(subscriptions)))
    refused = [line.lower() for line in client.settle() if line.startswith("-ERR")]
    for two in subscriptions:
        assert any(f'"{two}"' in line for line in refused) != may_subscribe(one, two), (one, two, refused)
    subjects = [subject(chance) for _ in range(10)]
    admin.send("".join(f"PUB {two} 0\r\n\r\n" for two in subjects))
    admin.settle()
    got = sorted((line.split()[1], int(line.split()[2])) for line in client.settle() if line.startswith("MSG"))
    pairs = [(two, sid) for two in subjects for sid in range(len(subscriptions))]
    expected = {pair for pair in pairs if may_receive(one, subscriptions[pair[1]], pair[0])}
    if asks_at_delivery(one, subscriptions):
        assert set(got) == expected, (one, subscriptions)
    else:  # an older server's bypass: more comes, and all of it is denied
        assert set(got) >= expected
        for two, _ in set(got) - expected:
            assert any(matches(three.encode(), two.encode(), NATS) for three in one.deny)
    published = [f"{subject(chance)}" for _ in range(10)]
    client.send("".join(f"PUB {two} 0\r\n\r\n" for two in published))
    client.settle()
    seen = [line.split()[1] for line in admin.settle() if line.startswith("MSG")]
    assert seen == [two for two in published if may_publish(one, two)], one


def found_in(subjects: Subjects) -> dict[str, Passage]:
    return {one.rule: one for one in of_nats(NatsUser(name="u", subscribe=subjects, line=1))}


def test_bypasses_are_findings_with_a_subscription_and_a_subject() -> None:
    (leak,) = found_in(Subjects(allow=("foo.*",))).values()
    assert (leak.rule, leak.binding, leak.key) == ("leaking-subscription", "foo.>", "foo.foo.foo")
    (overlap,) = found_in(Subjects(deny=("*.secret",))).values()
    assert (overlap.rule, overlap.binding, overlap.key) == ("overlapped-denial", "any.*", "any.secret")
    assert found_in(Subjects(allow=("foo.*",), deny=("foo.*.>",))) == {}
    assert found_in(Subjects(allow=("foo.>", "bar"))) == {}
    assert set(found_in(Subjects(allow=("foo.a", "bar"), deny=("*.a",)))) == {"useless-rule"}


def test_there_is_a_finding_where_some_small_subscription_gets_past_the_rules() -> None:
    """All subscriptions of up to three words against all subjects of up to four."""
    words = ["a", "b", "secret", "x"]
    small = [".".join(one) for n in (1, 2, 3) for one in product([*words, "*", ">"], repeat=n) if ">" not in one[:-1]]
    keys = [".".join(one) for n in (1, 2, 3, 4) for one in product(words, repeat=n)]
    gets = {one: [key for key in keys if matches(one.encode(), key.encode(), NATS)] for one in small}
    seen: Counter[str] = Counter()
    for seed in range(40):
        one = rules(random.Random(seed))
        accepted = [two for two in small if may_subscribe(one, two)]
        allowed = {key for key in keys if any(matches(two.encode(), key.encode(), NATS) for two in one.allow)}
        denied = {key for key in keys if any(matches(two.encode(), key.encode(), NATS) for two in one.deny)}
        past = {
            "leaking-subscription": bool(one.allow) and any(set(gets[two]) - allowed - denied for two in accepted),
            "overlapped-denial": any(not asks_at_delivery(one, [two]) and denied & set(gets[two]) for two in accepted),
        }
        found = found_in(one)
        for rule, known in past.items():
            assert rule in found or not known, (rule, one)
            seen[rule] += known
        for two in (found[rule] for rule in past if rule in found):
            assert two.binding is not None
            assert two.key is not None
            assert may_subscribe(one, two.binding)
            assert matches(two.binding.encode(), two.key.encode(), NATS)
    assert min(seen.values()) > 3, seen
