"""Mosquitto's access lists, held to the broker: what users publish and what reaches them."""

from __future__ import annotations

import random
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from dfa_router.analysis import relation
from dfa_router.errors import InputError
from dfa_router.permissions.differences import shifts
from dfa_router.permissions.mosquitto import AccessList, AccessRule, read_access_list
from dfa_router.permissions.passages import passages

WORDS = ["a", "b", "in"]
ACCESS = ["read ", "write ", "readwrite ", "deny ", ""]


def topic(chance: random.Random, wild: bool = True) -> str:
    words = [chance.choice([*WORDS, *("+" * wild)]) for _ in range(chance.randint(1, 3))]
    return "/".join([*words, "#"] if wild and chance.random() < 0.3 else words)


def access_list(chance: random.Random, users: int) -> str:
    lines = ["user admin", "topic readwrite #"]
    for number in range(users):
        lines.append(f"user u{number}")
        lines += [f"topic {chance.choice(ACCESS)}{topic(chance)}" for _ in range(chance.randint(0, 4))]
    return "\n".join([*lines, "pattern write in/%u", "pattern read b/%c/+", "pattern deny in/b/%u"]) + "\n"


class Client:
    """A connection to a broker, by MQTT 3.1.1."""

    def __init__(self, port: int, user: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        name, client = user.encode(), f"c-{user}".encode()
        body = b"\0\4MQTT\4\x82\0\0" + b"".join(struct.pack(">H", len(one)) + one for one in (client, name))
        self.send(0x10, body)
        assert self.packet() == (0x20, b"\0\0")

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def send(self, kind: int, body: bytes) -> None:
        assert len(body) < 128
        self.socket.sendall(bytes([kind, len(body)]) + body)

    def packet(self) -> tuple[int, bytes]:
        kind, length = self.file.read(2)
        return kind, self.file.read(length)

    def subscribe(self, topic: str) -> None:
        self.send(0x82, b"\0\1" + struct.pack(">H", len(topic)) + topic.encode() + b"\0")
        assert self.packet()[0] == 0x90

    def publish(self, topic: str) -> None:
        self.send(0x30, struct.pack(">H", len(topic)) + topic.encode())

    def settle(self) -> list[str]:
        """Return the topics that came until the broker answers a ping."""
        self.send(0xC0, b"")
        told = []
        while (packet := self.packet())[0] != 0xD0:
            (length,) = struct.unpack(">H", packet[1][:2])
            told.append(packet[1][2 : 2 + length].decode())
        return told


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[tuple[int, AccessList]]:
    """Yield the port of a broker of the test's own, and its access list, of 300 users."""
    if shutil.which("mosquitto") is None:
        pytest.skip("needs mosquitto")
    text = access_list(random.Random(6), 300)
    (tmp_path / "acl").write_text(text)
    (tmp_path / "acl").chmod(0o644)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "conf").write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nacl_file {tmp_path}/acl\nuser root\nmax_queued_messages 0\n"
    )
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(["mosquitto", "-c", str(tmp_path / "conf")], stdout=log, stderr=log) as process,
    ):
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.05)
        yield port, read_access_list(text)
        process.terminate()


@pytest.mark.broker
@pytest.mark.slow
def test_a_broker_gives_the_same_verdicts(broker: tuple[int, AccessList]) -> None:
    """300 users with random lists: 15 topics to get and 15 to publish each."""
    port, rules = broker
    chance = random.Random(7)
    with closing(Client(port, "admin")) as admin:
        admin.subscribe("#")
        for number in range(300):
            user = f"u{number}"
            extra = [f"in/{user}", f"b/c-{user}/a", f"in/b/{user}"]
            with closing(Client(port, user)) as client:
                client.subscribe("#")
                topics = [topic(chance, wild=False) for _ in range(12)] + extra
                for one in topics:
                    admin.publish(one)
                admin.settle()
                told = {"user": user, "client": f"c-{user}"}
                assert client.settle() == [one for one in topics if rules.allows("read", one, **told)], user
            left = list(topics)
            while left:  # a version may end the connection of whoever publishes what is refused
                with closing(Client(port, user)) as client, suppress(ValueError, ConnectionError):
                    while left:
                        client.publish(left.pop(0))
                        client.settle()
            assert admin.settle() == [one for one in topics if rules.allows("write", one, **told)], user


def test_bad_lines() -> None:
    for text, problem in (
        ("topic read a/#/b", "acl_file:1: the topic 'a/#/b' is refused"),
        ("\nallow a", "acl_file:2: is 'allow a': expected"),
        ("user", "acl_file:1: is 'user'"),
    ):
        with pytest.raises(InputError) as refused:
            read_access_list(text)
        assert problem in str(refused.value)
    assert read_access_list("# nothing\n\n").rules == ()


def test_names_with_wildcards_get_no_pattern() -> None:
    """A user that is called ``+`` or ``#`` must not get everybody's topics by ``%u``."""
    rules = read_access_list("pattern read in/%u/#\n")
    assert rules.allows("read", "in/ann/x", user="ann")
    assert not rules.allows("read", "in/ann/x", user="+")
    assert not rules.allows("read", "in/ann/x", user="ann", client="#")
    assert not rules.allows("read", "in/x")


def test_clients_that_are_not_known_get_no_pattern(tmp_path: Path) -> None:
    """What ``%c`` stands for is not the empty text, which is no topic."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("pattern read %c\npattern read out/%c\n")
    new.write_text("pattern read %c\ntopic read a\n")
    rules = read_access_list(old.read_text())
    assert rules.allows("read", "c7", user="ann", client="c7")
    assert not rules.allows("read", "out/", user="ann")
    assert not read_access_list("pattern read %u").allows(
        "read", "a", user="a\0b"
    )  # no text of MQTT has that character
    assert [(one.user, one.gained, one.lost) for one in shifts(old, new, broker="mosquitto")] == [("", "a", None)]
    named = shifts(old, new, client="c7", broker="mosquitto")
    assert [(one.user, one.gained, one.lost) for one in named] == [("", "a", "out/c7"), ("anyone", None, "out/c7")]


def test_a_topic_is_no_prefix() -> None:
    """A list that allows ``allowed`` allows nothing below it; a broker that matched prefixes let ``allowed/secret`` through."""
    rules = read_access_list("user ann\ntopic write allowed\n")
    witness = relation("allowed/#", "allowed", "mqtt").only_first
    assert witness == "allowed/allowed"
    assert rules.allows("write", "allowed", user="ann")
    assert not rules.allows("write", witness, user="ann")
    assert not rules.allows("write", "allowed/secret", user="ann")


def verdicts_of(rules: Iterable[AccessRule]) -> list[bool]:
    """Tell what a user may read and write where everybody may do nothing, and where everybody may do all.

    It is asked of all topics of up to four words, of which one stands for those that nobody names.
    """
    topics = ["/".join(words) for count in range(1, 5) for words in product([*WORDS, "other"], repeat=count)]
    own = tuple(rules)
    anybody = AccessRule(user=None, access="readwrite", topic="#", pattern=True, line=0)
    lists = AccessList(own), AccessList((*own, anybody))
    return [one.allows(access, topic, user="u0") for one in lists for access in ("read", "write") for topic in topics]


@pytest.mark.parametrize("seed", range(5))
def test_a_rule_is_useless_where_another_one_of_its_user_leaves_nothing_to_it(seed: int, tmp_path: Path) -> None:
    """Held to verdicts: beside that other one, it changes none. Of two that do the same, the first is of use."""
    more = ["user u0", "topic read a/b", "topic readwrite a/b", "topic read a/b", "topic deny in/a", "topic deny in/+"]
    text = access_list(random.Random(seed), 2) + "\n".join(more)
    (tmp_path / "list.acl").write_text(text)
    rules = [one for one in read_access_list(text).rules if not one.pattern]
    expected = set()
    for one in rules:
        for other in rules:
            if one is other or one.user != other.user:
                continue
            first, second, both = (
                verdicts_of(replace(rule, user="u0") for rule in some) for some in ((one,), (other,), (one, other))
            )
            if both == second and not (first == second and one.access == other.access and one.line < other.line):
                expected.add(str(one.line))
    found = passages(tmp_path / "list.acl", "mosquitto")
    assert {one.place for one in found if one.rule == "useless-rule"} == expected
    assert expected
