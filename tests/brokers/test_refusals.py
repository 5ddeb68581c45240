"""What the running brokers refuse, and that we hear it from them: their words, the position, and no harm done."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest

from dfa_router.brokers import Broker, connect
from dfa_router.brokers.broker import failure
from dfa_router.brokers.stream import LostError
from dfa_router.errors import OptionError
from dfa_router.language.validity import pattern_problem
from dfa_router.target import Refused, TargetFailure

pytestmark = pytest.mark.broker

REFUSED_PATTERNS = {
    "amqp": {"x" * 256: "255", "é" * 128: "255", "\ud800": "surrogate"},
    "mqtt": {
        "": "0x81",
        "a+": "0x81",
        "a#": "0x81",
        "a/#/b": "0x81",
        "a\0": "0x81",
        "a\x01": "0x81",
        "\ufffe": "0x81",
        "$share/g+/a": "0x81",
        "a/" * 201: "0x81",
        "x" * 65_536: "65535",
        "\ud800": "surrogate",
    },
    "nats": {
        "a..b": "Invalid Subject",
        "a.": "Invalid Subject",
        ".": "Invalid Subject",
        "a.>.b": "Invalid Subject",
        "x" * 5_000: "maximum control line",
        "x" * 100_000: "maximum control line",
        "": "empty",
        "a b": "white space",
        "a\r\nPUB b 0\r\n": "white space",
        "\ud800": "surrogate",
    },
}
REFUSED_KEYS = {
    "amqp": {"x" * 256: "255", "\ud800": "surrogate"},
    "mqtt": {
        "": "0x82",
        "a/+": "0x82",
        "#": "0x82",
        "a\0": "0x81",
        "$SYS/x": "0x87 not authorized",
        "a/" * 201 + "a": "0x82",
        "x" * 65_536: "65535",
    },
    "nats": {"x" * 5_000: "maximum control line", "": "empty", "a\tb": "white space", "\ud800": "surrogate"},
}
TAKEN = {
    "amqp": ["", ".", "a*", "#.#.#", "\0", "a b", "#." * 127 + "#"],
    "mqtt": ["/", "+/+", "#", "a b", "ü/#", "$SYS/#", "$share/g/a/#", "$shared"],
    "nats": ["foo*", "a.>b", ">", "*.*.>", "\0", "ü.>", "$SYS.>"],
}
SHARED_MISTAKES = ["$share//a", "$share/g", "$share/g/", "$share/g/$share/h/a"]


def test_refused_patterns_in_the_brokers_words(broker: Broker) -> None:
    for pattern, words in REFUSED_PATTERNS[broker.dialect.name].items():
        assert words in str(broker.refusal(pattern)), pattern[:20]
        with pytest.raises(Refused, match=words) as refused:
            broker.answer(["a", "b", pattern, "c"], ["a", "b"])
        assert (refused.value.pattern, refused.value.key) == (2, None), pattern[:20]
        assert broker.answer(["a", "b"], ["b", "a"]) == [(1,), (0,)], pattern[:20]


def test_refused_keys_in_the_brokers_words(broker: Broker) -> None:
    for key, words in REFUSED_KEYS[broker.dialect.name].items():
        assert words in str(broker.key_refusal(key)), key[:20]
        with pytest.raises(Refused, match=words) as refused:
            broker.answer(["a", "b"], ["a", "b", "a", key, "b"])
        assert (refused.value.pattern, refused.value.key) == (None, 3), key[:20]
        assert broker.answer(["a", "b"], ["b", "a"]) == [(1,), (0,)], key[:20]


def test_nothing_else_is_refused(broker: Broker) -> None:
    for pattern in TAKEN[broker.dialect.name]:
        assert broker.refusal(pattern) is None, pattern
    for key in ["a", "ü", "$x", *([""] if broker.dialect.name == "amqp" else [])]:
        assert broker.key_refusal(key) is None, key
    assert broker.answer(["a"], ["a"]) == [(0,)]


def test_we_refuse_what_the_broker_refuses(broker: Broker) -> None:
    name = broker.dialect.name
    limits = [pattern for pattern in REFUSED_PATTERNS[name] if len(pattern) in (402, 5_000, 100_000)]
    for pattern in [*REFUSED_PATTERNS[name], *TAKEN[name]]:
        if pattern not in limits:  # of one product, not of its protocol
            assert (broker.refusal(pattern) is None) == (pattern_problem(pattern, broker.dialect) is None), pattern
    assert len(limits) == {"amqp": 0, "mqtt": 1, "nats": 2}[name]


def test_mosquitto_takes_shared_subscriptions_that_the_standard_forbids(live: Callable[[str], Broker]) -> None:
    target = live("mqtt")
    if "mosquitto version 2.0.11" not in target.describe():
        pytest.skip(f"only 2.0.11 was looked at, this is {target.describe()}")
    for pattern in SHARED_MISTAKES:
        assert target.refusal(pattern) is None
        assert pattern_problem(pattern, target.dialect) is not None


def test_the_position_of_a_key_far_beyond_the_packet_identifiers(live: Callable[[str], Broker]) -> None:
    keys = ["a"] * 70_000
    keys[66_000] = "$SYS/x"
    with pytest.raises(Refused) as refused:
        live("mqtt").answer(["b"], keys)
    assert refused.value.key == 66_000


def test_a_refusal_after_which_the_broker_is_gone_is_none(live: Callable[[str], Broker], protocol: str) -> None:
    target = live(protocol)
    failed = failure(target, LostError("died", "the connection broke"), ["a", "b"], ["a"])
    assert isinstance(failed, TargetFailure)
    assert (failed.kind, failed.patterns, failed.keys) == ("died", ("a", "b"), ("a",))


def control(*arguments: str) -> bool:
    ended = subprocess.run(["rabbitmqctl", "-q", *arguments], check=False, capture_output=True, timeout=60)
    return ended.returncode == 0


@pytest.fixture
def user(live: Callable[[str], Broker]) -> Iterator[str]:
    """Return the name of a user of RabbitMQ with the password ``p:w/d@1`` and no permissions."""
    live("amqp")
    if shutil.which("rabbitmqctl") is None:
        pytest.skip("needs rabbitmqctl, to make a user with few rights")
    name = f"dfa-router-{secrets.token_hex(4)}"
    if not control("add_user", name, "p:w/d@1"):
        pytest.skip("rabbitmqctl may not make users here: it wants the rights of the broker's own user")
    try:
        yield name
    finally:
        control("delete_user", name)


@pytest.fixture
def restricted(user: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """Return RabbitMQ as a user sees it who may use keys that begin with ``ok`` only."""
    run = secrets.token_hex(4)
    tokens = iter(f"{run}{number}" for number in range(20))
    monkeypatch.setattr("dfa_router.brokers.amqp.secrets.token_hex", lambda _size: next(tokens))
    each = (
        f'[rabbit_auth_backend_internal:set_topic_permissions(<<"{user}">>, <<"/">>, list_to_binary("dfa-router.{run}" '
        '++ integer_to_list(T) ++ ".x" ++ integer_to_list(X)), <<"^ok">>, <<"^ok">>, <<"test">>) '
        "|| T <- lists:seq(0, 19), X <- lists:seq(1, 40)]."
    )
    assert control("set_permissions", user, ".*", ".*", ".*")
    assert control("eval", each)
    with connect(f"amqp://{user}:p%3Aw%2Fd%401@127.0.0.1/%2F") as target:
        yield target


def test_rabbitmq_refuses_by_topic_permissions(restricted: Broker) -> None:
    assert restricted.answer(["ok.*", "ok"], ["ok.a"]) == [(0,)]
    with pytest.raises(Refused, match=r"ACCESS_REFUSED.*no.#") as refused:
        restricted.answer(["ok", "ok.*", "no.#", "ok.#"], ["ok"])
    assert (refused.value.pattern, refused.value.key) == (2, None)
    assert restricted.answer(["ok.*", "ok"], ["ok.a", "ok"]) == [(0,), (1,)]
    with pytest.raises(Refused, match=r"ACCESS_REFUSED.*no.a") as refused:
        restricted.answer(["ok.#"], ["ok", "no.a"])
    assert (refused.value.pattern, refused.value.key) == (None, 1)
    assert "ACCESS_REFUSED" in str(restricted.refusal("#"))
    assert restricted.refusal("ok.#") is None
    assert restricted.answer(["ok.*", "ok"], ["ok.a", "ok"]) == [(0,), (1,)]


@pytest.mark.parametrize("permissions", [("^$", "^$", "^$"), (".*", ".*", "^$"), (".*", "^$", ".*")])
def test_a_user_without_permissions_is_no_refusal_and_no_failure(user: str, permissions: tuple[str, str, str]) -> None:
    assert control("set_permissions", user, *permissions)
    with connect(f"amqp://{user}:p%3Aw%2Fd%401@127.0.0.1/%2F") as target:
        for ask in (lambda: target.answer(["a"], ["a"]), lambda: target.refusal("a")):
            with pytest.raises(
                OptionError, match=r"ACCESS_REFUSED.*check its permissions to configure, write and read"
            ):
                ask()
