"""A compiled topology without its automata, and the file that they lie in."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

TOPOLOGY = topology_of(
    exchanges=[
        Exchange(name="market", type="topic"),
        Exchange(name="idle", type="topic"),
        Exchange(name="direct", type="direct"),
        Exchange(name="odd", type="x-unheard-of"),
    ],
    queues=[Queue(name="fx"), Queue(name="audit")],
    bindings=[
        Binding(source="market", destination="fx", destination_type="queue", routing_key="forex.*"),
        Binding(source="market", destination="audit", destination_type="queue", routing_key="#"),
        Binding(source="market", destination="direct", destination_type="exchange", routing_key="#.usd"),
        Binding(source="market", destination="odd", destination_type="exchange", routing_key="odd"),
        Binding(source="direct", destination="fx", destination_type="queue", routing_key="stock.usd"),
    ],
)
MESSAGES = [("market", "forex.eur"), ("market", "stock.usd"), ("market", "odd"), ("idle", "x"), ("direct", "stock.usd")]
MESSAGES += [("", "fx"), ("", "nobody"), ("missing", "x")]


def routed(router: object, messages: list[tuple[str, str]] = MESSAGES) -> object:
    exchanges, keys = zip(*messages, strict=True)
    columns = router.route_columns(list(exchanges), list(keys))  # type: ignore[attr-defined]
    return [column.to_pylist() for column in columns]


@pytest.mark.parametrize("engine", ["dfa", "nfa"])
def test_what_is_detached_and_attached_routes_as_before(engine: str, tmp_path: Path) -> None:
    router = TOPOLOGY.compile(engine=engine)
    detached = pickle.loads(pickle.dumps(router.detach(tmp_path / "file")))
    again = detached.attach(tmp_path / "file")
    assert "exchanges, compiled" in repr(again)
    assert routed(again) == routed(router)
    assert again.route("market", "stock.usd") == router.route("market", "stock.usd")
    # What is attached can be pickled whole, and outlives its file.
    (tmp_path / "file").unlink()
    copy = pickle.loads(pickle.dumps(again))
    assert routed(copy) == routed(again) == routed(router)


def test_the_file_is_mapped_and_nothing_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    router = TOPOLOGY.compile()
    assert "not compiled yet" in repr(router)
    detached = router.detach(tmp_path / "file")
    monkeypatch.setattr("dfa_router.rabbitmq.routing.compile_shared", None)
    attached = detached.attach(tmp_path / "file")
    assert str(tmp_path / "file") in Path("/proc/self/maps").read_text()
    assert attached.route("market", "forex.eur").queues == ("audit", "fx")
    assert all(not node.conditions for node in attached.nodes if node.type is not None), "the file has them"


def test_a_damaged_file_and_that_of_another_topology_are_refused(tmp_path: Path) -> None:
    detached = TOPOLOGY.compile().detach(tmp_path / "file")
    data = bytearray((tmp_path / "file").read_bytes())
    data[-1] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    with pytest.raises(dr.FileFormatError, match="checksum"):
        detached.attach(tmp_path / "damaged")
    dr.compile([("a", "b")]).save(tmp_path / "one")
    with pytest.raises(dr.FileFormatError, match="sections"):
        detached.attach(tmp_path / "one")
    with pytest.raises(dr.FileFormatError, match="cannot be read"):
        detached.attach(tmp_path / "missing")


def test_an_engine_without_a_compiled_form_cannot_be_detached(tmp_path: Path) -> None:
    with pytest.raises(dr.OptionError, match="dfa, nfa have"):
        TOPOLOGY.compile(engine="naive").detach(tmp_path / "file")
