"""An exception may end compiling, loading or matching between any two steps: the next call is right, with the same router if any."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import compiler
import dfa_router as dr

BINDINGS = [("*.stock.#", "stock"), ("#.usd.*", "usd"), ("a.b", "ab"), ("#", "all"), ("$SYS.#", "sys")]
KEYS: list[str | bytes | None] = ["x.stock", b"y.usd.z", "a.b", "", None, "$SYS.a", "x.stock.usd.y"]
PACKAGES = tuple(str(Path(package.__file__).parent) for package in (compiler, dr) if package.__file__)


class Broken(Exception):  # noqa: N818 - what a signal handler might raise
    """Ends a call."""


def broken_at(step: int, call: Callable[[], Any]) -> tuple[bool, int]:
    """Make a call and raise an exception at this step of the interpreter in our packages; return if so, and the steps."""
    steps = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        if not frame.f_code.co_filename.startswith(PACKAGES):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps += 1
            if steps == step:
                raise Broken
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Broken:
        return True, steps
    finally:
        sys.settrace(before)
    return False, steps


def everywhere(call: Callable[[], Any], check: Callable[[], None], stride: int) -> int:
    """Break a call off at every ``stride``-th of its steps, and check after each; return how many steps there are."""
    step = 1
    while True:
        broken, steps = broken_at(step, call)
        check()
        if not broken and steps < step:
            return steps
        step += stride


@pytest.mark.parametrize("engine", ["dfa", "nfa"])
@pytest.mark.parametrize("dialect", ["amqp", "mqtt"])
def test_compiling_may_be_broken_off_at_every_step(engine: str, dialect: str) -> None:
    bindings = BINDINGS if dialect == "amqp" else [(p.replace(".", "/").replace("*", "+"), d) for p, d in BINDINGS[::2]]

    def compiled() -> dr.Router:
        return dr.compile(bindings, engine=engine, dialect=dialect)

    expected = compiled().match_batch(KEYS).destinations().to_pylist()

    def check() -> None:
        assert compiled().match_batch(KEYS).destinations().to_pylist() == expected

    assert everywhere(compiled, check, stride=41) > 500


# Live bindings are guarded by a lock. Signals cannot lose that, as Python handles none between taking it and being sure to give
# it back, but an exception of a tracing function can.
@pytest.mark.parametrize("engine", [name for name in dr.engines() if not dr.engine_info(name).dynamic])
def test_matching_may_be_broken_off_at_every_step(engine: str) -> None:
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

    def check() -> None:
        assert router.match("a.b") == right.match("a.b")
        assert router.match_batch(KEYS).destinations().to_pylist() == expected
        assert router.match_batch(KEYS[:2], threads=2).destinations().to_pylist() == expected[:2]

    assert everywhere(call, check, stride=7) > 100


# A file that was just opened when its call ended is closed later, of which Python complains.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("mapped", [False, True])
def test_saving_and_loading_may_be_broken_off_at_every_step(tmp_path: Path, mapped: bool) -> None:
    """A file is there complete or not at all, and nothing of a broken save is left after the next."""
    path = tmp_path / "bindings.router"
    router = dr.compile(BINDINGS)
    expected = router.match_batch(KEYS).destinations().to_pylist()
    router.save(path)

    def call() -> None:
        router.save(path)
        dr.load(path, mapped=mapped)

    def check() -> None:
        assert dr.load(path, mapped=mapped).match_batch(KEYS).destinations().to_pylist() == expected

    assert everywhere(call, check, stride=61) > 500
    router.save(path)
    assert [left.name for left in tmp_path.iterdir()] == ["bindings.router"]
