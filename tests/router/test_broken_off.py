"""An exception may end compiling, loading or matching between any two steps: the next call is right, with the same router if any."""

from __future__ import annotations

from pathlib import Path

import pytest

import compiler
import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, topology_of
from tests.breaking_off import everywhere, folders
from tests.strides import strides

BINDINGS = [("*.stock.#", "stock"), ("#.usd.*", "usd"), ("a.b", "ab"), ("#", "all"), ("$SYS.#", "sys")]
KEYS: list[str | bytes | None] = ["x.stock", b"y.usd.z", "a.b", "", None, "$SYS.a", "x.stock.usd.y"]
PACKAGES = folders(compiler, dr)


@strides(3)
@pytest.mark.parametrize("engine", ["dfa", "nfa"])
@pytest.mark.parametrize("dialect", ["amqp", "mqtt"])
def test_compiling_may_be_broken_off_at_every_step(engine: str, dialect: str, stride: int) -> None:
    bindings = BINDINGS if dialect == "amqp" else [(p.replace(".", "/").replace("*", "+"), d) for p, d in BINDINGS[::2]]

    def compiled() -> dr.Router:
        return dr.compile(bindings, engine=engine, dialect=dialect)

    expected = compiled().match_batch(KEYS).destinations().to_pylist()

    def check(_step: int) -> None:
        assert compiled().match_batch(KEYS).destinations().to_pylist() == expected

    assert everywhere(compiled, check, PACKAGES, stride=41 * stride) > 500


# Live bindings are guarded by a lock. Signals cannot lose that, as Python handles none between taking it and being sure to give
# it back, but an exception of a tracing function can.
@strides(3)
@pytest.mark.parametrize("engine", [name for name in dr.engines() if not dr.engine_info(name).dynamic])
def test_matching_may_be_broken_off_at_every_step(engine: str, stride: int) -> None:
    """All that a router does beside its machine: columns, answers that are remembered, tables of names."""
    router = (
        dr.compile(BINDINGS, engine=engine, cache_bytes=4000)
        if engine == "dfa"
        else dr.compile(BINDINGS, engine=engine)
    )
    right = dr.compile(BINDINGS, engine="naive")
    expected = right.match_batch(KEYS).destinations().to_pylist()

    def call() -> None:
        router.match("a.b")
        router.match_batch(KEYS).destinations().to_pylist()
        router.match_batch(KEYS[2:4]).destinations().to_pylist()

    def check(_step: int) -> None:
        assert router.match("a.b") == right.match("a.b")
        assert router.match_batch(KEYS[2:4]).destinations().to_pylist() == expected[2:4]
        assert router.match_batch(KEYS).destinations().to_pylist() == expected
        assert router.match_batch(KEYS[:2], threads=2).destinations().to_pylist() == expected[:2]

    assert everywhere(call, check, PACKAGES, stride=7 * stride) > 100


# A file that was just opened when its call ended is closed later, of which Python complains.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@strides(3)
@pytest.mark.parametrize("mapped", [False, True])
def test_saving_and_loading_may_be_broken_off_at_every_step(tmp_path: Path, mapped: bool, stride: int) -> None:
    """A file is there complete or not at all, and nothing of a broken save is left after the next."""
    path = tmp_path / "bindings.router"
    router = dr.compile(BINDINGS)
    expected = router.match_batch(KEYS).destinations().to_pylist()
    router.save(path)

    def call() -> None:
        router.save(path)
        dr.load(path, mapped=mapped)

    def check(_step: int) -> None:
        assert dr.load(path, mapped=mapped).match_batch(KEYS).destinations().to_pylist() == expected

    assert everywhere(call, check, PACKAGES, stride=61 * stride) > 500
    router.save(path)
    assert [left.name for left in tmp_path.iterdir()] == ["bindings.router"]


@strides(3)
def test_routing_columns_may_be_broken_off_at_every_step(stride: int) -> None:
    """Growing and clearing what is worked out, and messages that are read twice: the next batch is right."""
    bindings = [Binding(source="x", destination=f"q{n}", routing_key=f"#.w{n}.#") for n in range(4)]
    bindings += [
        Binding(source="x", destination="y", destination_type="exchange", routing_key="#.w1.#"),
        Binding(source="y", destination="x", destination_type="exchange", routing_key="#"),
        Binding(source="y", destination="last", routing_key="w2.#"),
    ]
    topology = topology_of(exchanges=[Exchange(name=name, type="topic") for name in "xy"], bindings=bindings)
    keys = [".".join(f"w{n >> i & 3}" for i in range(4)) for n in range(24)]
    names = ["x", "y", "x"] * 8
    expected = topology.compile(engine="naive").route_columns(names, keys)
    router = topology.compile(cache_bytes=4000)

    def check(_step: int) -> None:
        assert router.route_columns(names, keys) == expected

    check(0)
    assert everywhere(lambda: router.route_columns(names, keys), check, PACKAGES, stride=29 * stride) > 500
