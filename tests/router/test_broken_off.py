"""An exception may end compiling, loading or matching between any two steps: the next call is right, with the same router if any."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

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


LIVE = ["a.#", "a.*.c", "#.c.#", "x", "*.b.#.c", ""]
LIVE_KEYS = ["a", "a.b", "a.b.c", "x", "a.b.c.d", "", "c"]
MATCHING = {(p, key) for p in LIVE for key in LIVE_KEYS if dr.compile([(p, "q")], engine="naive").any(key)}
TOPICS: list[dict[str, Any]] = [{}, {"topics": ["a.b.c", "x"], "unknown": "add"}]
CHANGING = [
    pytest.param(name, options, id=f"{name}-topics" if options else name)
    for name in dr.engines()
    if dr.engine_info(name).dynamic
    for options in (TOPICS if "topics" in dr.engine_info(name).options else TOPICS[:1])
]


# A lock guards live bindings. Signals cannot lose that, as Python handles none between taking it and being sure to give it back, but
# an exception of a tracing function can: what takes the lock is spared, and so are the locks of cells.
@strides(7)
@pytest.mark.parametrize(("engine", "options"), CHANGING)
def test_changing_bindings_may_be_broken_off_at_every_step(engine: str, options: dict[str, Any], stride: int) -> None:
    """The answers are those of the bindings that are listed, all of these can be removed, and then nothing matches."""

    def fresh() -> dr.Router:
        return dr.compile([(pattern, "q") for pattern in LIVE], engine=engine, **options)

    routers = [fresh()]

    def call() -> None:
        router = routers[0]
        for pattern in LIVE:
            router.any("a.b.c")
            router.unsubscribe(pattern, "q")
            router.subscribe(pattern, "new")
            router.match("a.b.c")

    def check(_step: int) -> None:
        router = routers.pop()
        routers.append(fresh())
        live = router.subscriptions()
        right = [tuple(at for at, binding in live.items() if (binding.pattern, key) in MATCHING) for key in LIVE_KEYS]
        assert [router.match_bindings(key) for key in LIVE_KEYS] == right
        assert [router.any(key) for key in LIVE_KEYS] == list(map(bool, right))
        for binding in live.values():
            router.unsubscribe(*binding)
        assert router.subscriptions() == {}
        assert [router.match_bindings(key) for key in LIVE_KEYS] == [()] * len(LIVE_KEYS)
        assert router.subscribe("a.b", "late") == len(router) - 1
        assert router.match("a.b") == ("late",)

    assert everywhere(call, check, PACKAGES, stride=29 * stride, spared=("alone", "compare_and_set")) > 500


def test_a_copy_of_a_router_whose_change_was_broken_off_is_right() -> None:
    """It can be broken off itself: what the copy needs is then made anew from the topics, of which a generator gave each once."""
    router = dr.compile([("a.*", "q")], engine="inverted", topics=(topic for topic in ["a.b", "b"]))

    def call() -> None:
        router.subscribe("b", "q")

    def check(_step: int) -> None:
        for one in (router, pickle.loads(pickle.dumps(router)), copy.deepcopy(router)):
            assert one.match_bindings("a.b") == (0,)
            assert one.match_bindings("b") == tuple(one.subscriptions())[1:]
            with pytest.raises(dr.InputError, match="outside the topic space"):
                one.match("c")

    assert everywhere(call, check, PACKAGES, spared=("alone",)) > 100


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
