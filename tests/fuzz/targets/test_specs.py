"""SPECs that name nothing, and what is possible instead."""

from __future__ import annotations

import pytest

from dfa_router.errors import OptionError
from dfa_router.fuzz.targets import open_target
from dfa_router.language.dialects import AMQP, MQTT


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("dfaa", "did you mean dfa"),
        ("", "unknown target ''"),
        ("ampq://localhost", "did you mean amqp://"),
        ("http://localhost", "a live broker (amqp://host"),
        ("./my-matcher", "a program (cmd:./my-matcher)"),
        ("my matcher:f", "a Python callable (module:callable)"),
        ("cmd:", "names no program"),
        ("cmd:'x", "cannot be split into words"),
        ("cmd:no-such-program-here x", "cannot start the target"),
        ("cmd:no-such-program-here x", "write ./ before"),
        ("cmd:./no-such-program-here", "No such file"),
        ("cmd:/", "Permission denied"),
    ],
)
def test_unknown_specs_say_what_is_possible(spec: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        open_target(spec, AMQP)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "spec", ["ampq://guest:sEcReT@localhost", "amqp:guest:sEcReT@localhost", "guest:sEcReT@localhost"]
)
def test_an_unknown_spec_is_told_without_what_may_be_a_password(spec: str) -> None:
    with pytest.raises(OptionError, match="unknown target") as caught:
        open_target(spec, AMQP)
    assert "sEcReT" not in str(caught.value)


@pytest.mark.broker
def test_a_broker_of_another_language_is_told_without_its_password() -> None:
    with pytest.raises(OptionError, match="speaks 'amqp', not 'mqtt'") as caught:
        open_target("amqp://guest:guest@127.0.0.1", MQTT)
    assert ":guest" not in str(caught.value)


def test_the_timeout_is_a_time() -> None:
    with pytest.raises(OptionError, match="above 0"):
        open_target("dfa", AMQP, timeout=0)
