"""A topology that a program makes: values that no broker could hold are refused where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Policy, Queue, given, topology_of

WHOLE: dict[str, Any] = {
    "exchanges": Exchange(name="x", type="topic"),
    "queues": Queue(name="q"),
    "bindings": Binding(source="x", destination="q", routing_key="a.*"),
    "policies": Policy(name="p", pattern="^x"),
}
"""A value of each section that is as it should be."""

LONG = "q" * 300
HALF = "q\ud800"

make_exchange: Any = Exchange
make_queue: Any = Queue
make_binding: Any = Binding
make_policy: Any = Policy
make_topology: Any = topology_of
"""What is called with values that no type checker lets by."""

WRONG: list[tuple[Any, str, str]] = [
    (make_binding(source="x", destination="q", routing_key=None), "routing_key (binding from 'x' to 'q')", "is None: expected a text; leave it out for the empty key"),
    (make_binding(source="x", destination="q", routing_key=b"a"), "routing_key (binding from 'x' to 'q')", "is b'a' (bytes): expected a text"),
    (make_binding(source="x", destination="q", routing_key=LONG), "routing_key (binding from 'x' to 'q')", "has 300 bytes"),
    (make_binding(source="x", destination="q", routing_key=HALF), "routing_key (binding from 'x' to 'q')", "has half of a surrogate pair"),
    (make_binding(source="x", destination="q", destination_type="queues"), "destination_type (binding from 'x' to 'q')", "is 'queues' (str): expected 'queue' or 'exchange'"),
    (make_binding(source="x", destination="q", destination_type=[]), "destination_type (binding from 'x' to 'q')", "is [] (list): expected 'queue' or 'exchange'"),
    (make_binding(source="x", destination=5), "destination (binding from 'x' to 5)", "is 5 (int): expected a text"),
    (make_binding(source=[], destination="q"), "source (binding from [] to 'q')", "is [] (list): expected a text"),
    (make_binding(source="x", destination="q", arguments=None), "arguments (binding from 'x' to 'q')", "is None: expected a mapping of names to values; leave it out for none"),
    (make_binding(source="x", destination="q", arguments={1: 2}), "arguments (binding from 'x' to 'q')", "has the name 1 (int): expected a text"),
    (make_exchange(name=b"x", type="topic"), "name (exchange b'x')", "is b'x' (bytes): expected a text, so decode it"),
    (make_exchange(name="é" * 128, type="topic"), "name (exchange '", "has 256 bytes"),
    (make_exchange(vhost=None, name="x", type="topic"), "vhost (exchange 'x')", "is None: expected a text"),
    (make_exchange(name="x", type=5), "type (exchange 'x')", "is 5 (int): expected the name of a type, such as 'topic', or None"),
    (make_exchange(name="x", type="topic", internal="no"), "internal (exchange 'x')", "is 'no' (str): expected True or False"),
    (make_exchange(name="x", type="topic", arguments={"alternate-exchange": 5}), "arguments (exchange 'x')", "at 'alternate-exchange' is 5 (int): expected the name of an exchange"),
    (make_queue(name=HALF), "name (queue 'q\\ud800')", "has half of a surrogate pair, such as \\ud800, at character 1"),
    (make_queue(name="q", type=b"quorum"), "type (queue 'q')", "is b'quorum' (bytes): expected the name of a type, such as 'quorum'"),
    (make_queue(name="q", arguments=[]), "arguments (queue 'q')", "is [] (list): expected a mapping"),
    (make_policy(name=None, pattern="^x"), "name (policy None)", "is None: expected a text"),
    (make_policy(name="p", pattern=None), "pattern (policy 'p')", "is None: expected a regular expression as text"),
    (make_policy(name="p", pattern="^x", apply_to=None), "apply_to (policy 'p')", "is None: expected a text"),
    (make_policy(name="p", pattern="^x", priority="1"), "priority (policy 'p')", "is '1' (str): expected a whole number"),
    (make_policy(name="p", pattern="^x", priority=True), "priority (policy 'p')", "is True (bool): expected a whole number"),
    (make_policy(name="p", pattern="^x", definition=None), "definition (policy 'p')", "is None: expected a mapping"),
    (make_policy(name="p", pattern="^x", definition={"alternate-exchange": 5}), "definition (policy 'p')", "at 'alternate-exchange' is 5 (int)"),
]  # fmt: skip
"""Values with one field that is wrong, and what is said of it."""

SECTIONS = {Exchange: "exchanges", Queue: "queues", Binding: "bindings", Policy: "policies"}


@pytest.mark.parametrize(("value", "field", "said"), WRONG, ids=[f"{field} {said}"[:60] for _, field, said in WRONG])
def test_a_field_that_no_broker_could_hold_is_named_with_its_place(value: Any, field: str, said: str) -> None:
    section = SECTIONS[type(value)]
    with pytest.raises(dr.DefinitionsError) as caught:
        make_topology(**{**{name: [one] for name, one in WHOLE.items()}, section: [WHOLE[section], value]})
    text = str(caught.value)
    assert text.startswith(f"{section}[1].{field}")
    assert said in text
    with pytest.raises(dr.DefinitionsError, match=rf"^mine: {section}\[0\]\."):
        make_topology(**{section: iter([value])}, source="mine")


@pytest.mark.parametrize("section", WHOLE)
def test_what_is_of_another_kind_is_named_with_what_is_expected(section: str) -> None:
    kind = type(WHOLE[section]).__name__
    for other in (None, "x", {"name": "x"}, ("a.*", "q"), dr.Binding("a.*", "q")):
        with pytest.raises(dr.DefinitionsError) as caught:
            make_topology(**{section: [WHOLE[section], other]})
        text = str(caught.value)
        assert text.startswith(f"{section}[1] is {other!r} (")
        assert f"expected dfa_router.rabbitmq.{kind}, such as {kind}(" in text
    for name, other in WHOLE.items():
        if name != section:
            with pytest.raises(dr.DefinitionsError, match=rf"^{section}\[0\] is .*: give it among the {name}$"):
                make_topology(**{section: [other]})


@pytest.mark.parametrize("section", WHOLE)
def test_what_is_no_list_of_values_is_refused(section: str) -> None:
    for other in (WHOLE[section], None, 5, "x", b"x", {"x": WHOLE[section]}):
        with pytest.raises(dr.OptionError, match=rf"^{section} is .*: expected several: give a list, such as \["):
            make_topology(**{section: other})


def test_names_of_vhosts_and_of_the_source_are_texts() -> None:
    said: list[tuple[dict[str, Any], str]] = [
        ({"vhosts": 5}, r"vhosts is 5: expected several names: give a list, such as \['/'\]"),
        ({"vhosts": b"/"}, r"vhosts is b'/': expected several names"),
        ({"vhosts": ["/", 5]}, r"vhosts\[1\] is 5 \(int\): expected a text"),
        ({"vhosts": [HALF]}, r"vhosts\[0\] has half of a surrogate pair"),
        ({"default_vhost": None}, r"default_vhost is None: expected a text"),
        ({"default_vhost": LONG}, r"default_vhost has 300 bytes"),
        ({"source": 5}, r"source is 5: expected what the topology is called"),
    ]
    for wrong, text in said:
        with pytest.raises(dr.OptionError, match=text):
            make_topology(**wrong)


def test_every_field_has_a_rule() -> None:
    for value in WHOLE.values():
        assert list(given._RULES[type(value)]) == [field.name for field in fields(value)]


class Named(str):
    """A text of a type of its own."""

    __slots__ = ()


class Durable(Queue):
    """A queue of a type of its own."""


def test_values_at_the_edge_of_what_a_broker_holds_are_taken() -> None:
    """Names of 255 bytes, texts, queues and mappings of other types, no type, numbers of NumPy, and iterators."""
    key: Any = Named("é" * 127)
    demand: Mapping[str, Any] = MappingProxyType({"a": 1})
    priority: Any = np.int64(2)
    topology = topology_of(
        exchanges=iter(
            [Exchange(name="x" * 255, type="topic"), Exchange(name="", type="direct"), Exchange(name="u", type=None)]
        ),
        queues=(one for one in [Durable(name="q"), Durable(name="q")]),
        bindings=[Binding(source="x" * 255, destination="q", routing_key=key, arguments=demand)],
        policies=[
            Policy(name="p", pattern="x" * 1000, priority=priority, definition=MappingProxyType({"max-length": 1}))
        ],
        vhosts=iter(["/"]),
    )
    assert topology.route("x" * 255, key).queues == ("q",)
    assert [one.place for one in topology.warnings] == ["queues[1]"]
