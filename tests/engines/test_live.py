"""Routers whose bindings change under threads: no thread waits for one that is suspended, and no binding is lost."""

from __future__ import annotations

import copy
import itertools
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.counted import counted
from dfa_router.language.bindings import Binding
from dfa_router.reference.cstrie import ConcurrentTrie, Snapshot
from dfa_router.reference.cstrie.cell import LockedCell

PACKAGE = str(Path(dr.__file__).parent)
PATIENCE = 60
"""Seconds after which a thread is taken to hang; it needs a thousandth of one."""

DYNAMIC = [name for name in dr.engines() if dr.engine_info(name).dynamic]


@pytest.fixture
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Suspended:
    """A thread that stops before the ``line``-th line of the package that it runs, until it is released."""

    def __init__(self, act: Callable[[], object], line: int) -> None:
        self._left = line
        self._act = act
        self._stopped = threading.Event()
        self._go_on = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._stopped.wait(PATIENCE)
        self.reached = self._left == 0

    def release(self) -> None:
        """Let it go on to its end."""
        self._go_on.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        sys.settrace(self._trace)
        try:
            self._act()
        finally:
            sys.settrace(None)
            self._stopped.set()

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self._left -= 1
            if self._left == 0:
                self._stopped.set()
                assert self._go_on.wait(PATIENCE)
        return self._trace


@pytest.mark.skipif(find_spec("cereggii") is None, reason="needs cereggii: pip install 'dfa-router[atomics]'")
@pytest.mark.parametrize(
    "act",
    [
        lambda router: router.subscribe("a.b", "q"),
        lambda router: router.subscribe("new.#", "r"),
        lambda router: router.unsubscribe("a.b", "q"),
        lambda router: router.match("a.b"),
        lambda router: router.subscriptions(),
    ],
    ids=["subscribe", "subscribe a new branch", "unsubscribe", "match", "subscriptions"],
)
def test_wherever_a_thread_is_suspended_the_others_go_on(act: Callable[[dr.Router], object]) -> None:
    """What free of locks means: a thread is suspended before each of its lines in turn, and another does all there is to do."""
    for line in itertools.count(1):
        router = dr.compile([("a", "first"), ("a.b", "q"), ("a.b", "q")], engine="cstrie", cells="atomic")
        suspended = Suspended(partial(act, router), line)
        ended = threading.Event()
        working = threading.Thread(target=_everything, args=(router, ended), daemon=True)
        working.start()
        went_on = ended.wait(PATIENCE)
        suspended.release()
        working.join(PATIENCE)
        assert went_on, f"suspended before line {line} of the package, the thread keeps others from going on"
        assert ended.is_set()
        if not suspended.reached:
            assert line > 10, "the action has hardly any lines"
            return


def _everything(router: dr.Router, ended: threading.Event) -> None:
    router.subscribe("a.b", "mine")
    assert "mine" in router.match("a.b")
    assert router.any("a.b")
    assert router.topics("mine") == ("a.b",)
    router.unsubscribe("a.b", "mine")
    assert router.topics("mine") == ()
    ended.set()


@pytest.mark.parametrize("engine", DYNAMIC)
@pytest.mark.usefixtures("_quick_switches")
def test_equal_bindings_of_many_threads_have_a_position_each_and_are_removed_once(engine: str) -> None:
    options: dict[str, Any] = {"topics": ["a.b"]} if dr.engine_info(engine).needs_topics else {}
    router = dr.compile([("a.b", "q")], engine=engine, **options)
    binding = Binding("a.b", "q")
    added: list[list[int]] = [[] for _ in range(6)]
    removed: list[list[int]] = [[] for _ in range(6)]

    def work(thread: int) -> None:
        for call in range(200):
            added[thread].append(router.subscribe(*binding))
            assert router.bindings[added[thread][-1]] == binding
            if call % 2:
                removed[thread].append(router.unsubscribe(*binding))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [0, *itertools.chain(*added)]
    gone = list(itertools.chain(*removed))
    assert sorted(everything) == list(range(1201))
    assert len(gone) == len(set(gone)) == 600
    assert sorted(router.subscriptions()) == sorted(set(everything) - set(gone))


@pytest.mark.parametrize("engine", DYNAMIC)
def test_the_oldest_of_equal_bindings_goes_first_and_what_is_not_there_is_refused(engine: str) -> None:
    options: dict[str, Any] = {"topics": ["a", "b"]} if dr.engine_info(engine).needs_topics else {}
    router = dr.compile([("a", "q"), ("a", "other"), ("a", "q")], engine=engine, **options)
    assert [router.unsubscribe("a", "q"), router.unsubscribe("a", "q")] == [0, 2]
    for pattern, destination in (("a", "q"), ("b", "q"), ("a.*", "other"), ("x" * 300, "q"), ("", "q")):
        with pytest.raises(dr.BindingError, match="no live binding"):
            router.unsubscribe(pattern, destination)
    for change in (router.subscribe, router.unsubscribe):
        with pytest.raises(dr.BindingError, match=r"the binding is \(5, 'q'\)"):
            change(5, "q")  # type: ignore[arg-type]
        with pytest.raises(dr.BindingError, match=r"the binding: the destination .* lone surrogate"):
            change("a", "\ud800")
    again = pickle.loads(pickle.dumps(router))
    assert again.subscribe("b", "q") == 3
    assert again.match_bindings("a") == (1,)
    assert again.subscriptions() == {1: Binding("a", "other"), 3: Binding("b", "q")}


@pytest.mark.parametrize("engine", DYNAMIC)
def test_a_signal_handler_in_the_middle_of_a_call_is_answered_or_told_and_never_waits(engine: str) -> None:
    """It runs in the thread that it has interrupted, which would never give the lock back."""
    interrupted: list[int] = []

    class Key(bytes):
        """A key that is interrupted while its words are read."""

        def split(self, *arguments: Any) -> list[bytes]:
            if not interrupted:
                interrupted.append(1)
                signal.raise_signal(signal.SIGUSR1)
            return super().split(*arguments)

    router = dr.compile([("a.*", "q"), ("b", "q")], engine=engine)
    matcher = router._matcher
    expected = ("q",)
    found: list[object] = []

    def handler(_signal: int, _frame: FrameType | None) -> None:
        try:
            found.append(router.match("a.c"))
        except dr.ReentryError as told:
            found.append(told)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        assert [router.bindings[one].destination for one in matcher.match(Key(b"a.c"))] == list(expected)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert interrupted
    if engine == "cstrie":
        assert found == [expected]
    else:
        assert len(found) == 1
        assert isinstance(found[0], dr.ReentryError)
    router.subscribe("a.b", "r")
    assert len(router.match("a.b")) == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda router: pickle.loads(pickle.dumps(router))])
@pytest.mark.parametrize("engine", DYNAMIC)
def test_a_copy_and_its_original_go_ways_of_their_own(copied: Callable[[dr.Router], dr.Router], engine: str) -> None:
    router = dr.compile([("a", "q"), ("b", "q")], engine=engine)
    router.unsubscribe("a", "q")
    again = copied(router)
    router.subscribe("a", "mine")
    assert [again.subscribe("a", "its"), again.subscribe("b", "its")] == [2, 3]
    assert again.unsubscribe("b", "q") == 1
    assert [again.match("a"), again.match("b")] == [("its",), ("its",)]
    assert [router.match("a"), router.match("b")] == [("mine",), ("q",)]
    assert [len(router), len(again)] == [3, 4]
    assert again.match_batch(["a", "b"]).destinations().to_pylist() == [["its"], ["its"]]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda router: pickle.loads(pickle.dumps(router))])
def test_a_copy_has_the_kind_of_cells_of_its_original(copied: Callable[[dr.Router], dr.Router]) -> None:
    kinds = {}
    for cells in ("auto", "locked"):
        router = dr.compile([("a", "q")], engine="cstrie", cells=cells)
        kinds[cells] = type(router._matcher._engine._root._root)  # type: ignore[attr-defined]
        assert type(copied(router)._matcher._engine._root._root) is kinds[cells]  # type: ignore[attr-defined]
        again = copied(router.snapshot())
        assert again._matcher.root.cell is kinds[cells]  # type: ignore[attr-defined]
    assert kinds["locked"] is LockedCell


@pytest.mark.parametrize("engine", DYNAMIC)
def test_a_router_shows_how_many_bindings_are_live(engine: str) -> None:
    router = dr.compile([("a", "q"), ("b", "q"), ("b", "q")], engine=engine)
    for left, pattern in ((2, "a"), (1, "b"), (0, "b")):
        router.unsubscribe(pattern, "q")
        assert repr(router) == f"<Router: {counted(left, 'binding')}, dialect amqp, engine {engine}>"
    assert len(router) == 3


def test_a_copy_knows_each_binding_that_its_engine_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that another thread adds just before the engine is asked for what it holds."""
    router = dr.compile([("a", "q")], engine="cstrie")
    ask = ConcurrentTrie.snapshot

    def late(trie: ConcurrentTrie) -> Snapshot:
        with monkeypatch.context() as within:
            within.setattr(ConcurrentTrie, "snapshot", ask)
            router.subscribe("a", "late")
        return ask(trie)

    monkeypatch.setattr(ConcurrentTrie, "snapshot", late)
    stored = pickle.dumps(router)
    monkeypatch.undo()
    again = pickle.loads(stored)
    assert again.match("a") == ("q", "late")
    assert again.subscribe("b", "r") == 2


@pytest.mark.parametrize("engine", [name for name in DYNAMIC if not dr.engine_info(name).concurrent])
def test_a_copy_is_of_one_moment_though_the_original_changes_before_it_is_written(engine: str) -> None:
    router = dr.compile([("a", "q")], engine=engine)
    state = router._matcher.__getstate__()
    router.subscribe("a", "late")
    assert router.unsubscribe("a", "q") == 0
    again = type(router._matcher).__new__(type(router._matcher))
    again.__setstate__(pickle.loads(pickle.dumps(state)))  # type: ignore[attr-defined]
    assert again.match(b"a") == (0,)
    assert again.live_positions() == [0]  # type: ignore[attr-defined]
    assert again.bindings == [Binding("a", "q")]  # type: ignore[attr-defined]


def test_later_changes_do_not_show_in_a_snapshot() -> None:
    router = dr.compile([("a", "q")], engine="cstrie")
    snapshot = router.snapshot()
    router.subscribe("b", "p")
    router.unsubscribe("a", "q")
    assert (len(snapshot), repr(snapshot)) == (1, "<Router: 1 binding, dialect amqp, engine cstrie>")
    assert snapshot.bindings == (Binding("a", "q"),)
    assert snapshot.subscriptions() == {0: Binding("a", "q")}
    assert snapshot.match("a") == ("q",)
    assert snapshot.match_batch(["a", "b"]).destinations().to_pylist() == [["q"], []]


@pytest.mark.parametrize("cells", ["auto", "locked"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda router: pickle.loads(pickle.dumps(router))])
def test_a_snapshot_is_copied(copied: Callable[[dr.Router], dr.Router], cells: str) -> None:
    router = dr.compile([("", "none"), ("a.#", "q"), ("*.b", "r"), ("a.b", "gone")], engine="cstrie", cells=cells)
    router.unsubscribe("a.b", "gone")
    snapshot = router.snapshot()
    router.subscribe("a.b", "late")
    again = copied(snapshot)
    assert [again.match(key) for key in ("", "a.b", "c")] == [("none",), ("q", "r"), ()]
    assert again.subscriptions() == snapshot.subscriptions()
    assert len(again) == 4
    assert repr(again) == repr(snapshot) == "<Router: 3 bindings, dialect amqp, engine cstrie>"
    with pytest.raises(dr.OptionError, match="snapshot"):
        again.subscribe("b", "q")
