"""Room for exchange types that read more of a message than its routing key: what one needs, and what reaches it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from compiler.values import CacheStats
from dfa_router.rabbitmq import Binding, Exchange, topology_of
from dfa_router.rabbitmq.exchange_types import SIMULATED, attributes_read
from dfa_router.rabbitmq.matching import Columns, ExchangeType, MatchedColumns, Message
from dfa_router.rabbitmq.traversal import Sets


class ByColour:
    """Conditions are colours; a message meets that of its attribute ``paint``."""

    def __init__(self, colours: Sequence[str]) -> None:
        self.colours = list(colours)
        self.seen: list[list[str]] = []

    def match(self, message: Message) -> list[int]:
        return self.numbers(message.get("paint"))

    def match_columns(self, columns: Columns) -> MatchedColumns:
        self.seen.append(sorted(columns))
        paints = columns["paint"].to_pylist() if "paint" in columns else [None] * len(columns["routing_key"])
        found = [self.numbers(paint) for paint in paints]
        offsets = np.cumsum([0, *map(len, found)])
        return MatchedColumns(
            np.arange(len(found)), Sets(offsets, np.array([one for numbers in found for one in numbers], np.int64))
        )

    def numbers(self, paint: str | None) -> list[int]:
        return [number for number, colour in enumerate(self.colours) if colour == paint]

    def stats(self) -> CacheStats:
        return CacheStats()


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter the type ``x-colour``."""
    kind = ExchangeType(
        condition=lambda binding: binding.arguments["colour"],
        compile=lambda conditions, _engine, _bytes: ByColour(conditions),
        reads=("paint",),
    )
    monkeypatch.setitem(SIMULATED, "x-colour", kind)


TOPOLOGY_PARTS: dict[str, Any] = {
    "exchanges": [
        Exchange(name="x", type="topic"),
        Exchange(name="c", type="x-colour", arguments={"alternate-exchange": "rest"}),
        Exchange(name="rest", type="fanout"),
    ],
    "bindings": [
        Binding(source="x", destination="c", destination_type="exchange", routing_key="a.#"),
        Binding(source="x", destination="all", routing_key="#"),
        Binding(source="c", destination="reds", arguments={"colour": "red"}),
        Binding(source="c", destination="warm", arguments={"colour": "red"}),
        Binding(source="c", destination="blues", arguments={"colour": "blue"}),
        Binding(source="rest", destination="others"),
    ],
}


def test_single_messages_and_columns_carry_what_a_type_reads() -> None:
    router = topology_of(**TOPOLOGY_PARTS).compile()
    rows = [("x", "a.b", "red"), ("x", "b", "red"), ("c", "", "blue"), ("x", "a", None), ("c", "z", "green")]
    expected = [["all", "reds", "warm"], ["all"], ["blues"], ["all", "others"], ["others"]]
    for (exchange, key, paint), queues in zip(rows, expected, strict=True):
        assert list(router.route(exchange, key, paint=paint).queues) == queues
    names, keys, paints = map(list, zip(*rows, strict=True))
    for column in (paints, pa.array(paints), pa.chunked_array([paints[:2], pa.array(paints[2:])])):
        assert router.route_columns(names, keys, paint=column).queues.to_pylist() == expected
    assert router.route("c", "").queues == ("others",), "an attribute may be missing"
    assert router.route_columns(["c"], [""]).queues.to_pylist() == [["others"]]


def test_a_type_gets_what_it_reads_and_nothing_else() -> None:
    router = topology_of(**TOPOLOGY_PARTS).compile()
    router.route_columns(["c", "x"], ["a", "b"], paint=["red", "red"])
    matcher = router.matcher(router.node_numbers["/", "c"])
    assert isinstance(matcher, ByColour)
    assert matcher.seen == [["paint", "routing_key"]]


def test_a_matcher_that_no_file_holds_is_pickled(tmp_path: Path) -> None:
    router = topology_of(**TOPOLOGY_PARTS).compile()
    for copy in (
        pickle.loads(pickle.dumps(router)),
        pickle.loads(pickle.dumps(router.detach(tmp_path / "file"))).attach(tmp_path / "file"),
    ):
        assert copy.route("x", "a", paint="red").queues == ("all", "reds", "warm")
        assert copy.route_columns(["x"], ["a"], paint=["blue"]).queues.to_pylist() == [["all", "blues"]]


def test_what_no_type_reads_is_refused() -> None:
    assert attributes_read(["topic", "x-colour", None]) == ("bcc", "cc", "headers", "paint")
    topology = topology_of(**TOPOLOGY_PARTS)
    with pytest.raises(TypeError, match=r"unexpected argument 'colour'.*read bcc, cc, headers, paint of a message"):
        topology.route("x", "a", colour="red")
    with pytest.raises(TypeError, match="unexpected argument 'colour'"):
        topology.compile().route_columns(["x"], ["a"], colour=["red"])
