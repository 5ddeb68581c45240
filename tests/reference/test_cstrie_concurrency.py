"""The CS-trie under threads: linearizable histories, no lost update, no ABA, snapshots that never change.

Every check is run against tries that are broken on purpose as well, and must catch them.
"""

from __future__ import annotations

import itertools
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec

import pytest

import dfa_router as dr
from dfa_router.language.dialects import AMQP, Dialect
from dfa_router.reference.cstrie.cell import CellFactory, cell_factory
from dfa_router.reference.cstrie.nodes import Branch, CNode
from dfa_router.reference.cstrie.snapshot import Snapshot
from dfa_router.reference.cstrie.trie import ConcurrentTrie
from tests.reference.broken_cstries import OneReading, WithoutGenerations, WithoutNewGeneration, WithoutTombs
from tests.reference.linearizability import Operation, PlainCell, ScheduledCell, Scheduler, linearizable

CELLS = ["locked", *["atomic"] * (find_spec("cereggii") is not None)]
PATTERNS = (b"a", b"a.b", b"a.*", b"*.b", b"#.b", b"a.b.c", b"a.b.#", b"", b"#")
KEYS = (b"a", b"a.b", b"a.b.c", b"")
START = ((0, b"a.b"), (1, b"a.b.c"), (2, b"*.b"))

TrieFactory = Callable[[Sequence[bytes], Dialect, CellFactory], ConcurrentTrie]


@pytest.fixture
def _quick_switches() -> Iterator[None]:
    """Let the interpreter switch between threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def record(
    trie: ConcurrentTrie,
    tick: Callable[[], int],
    chance: random.Random,
    thread: int,
    calls: int,
    history: list[Operation],
) -> list[Snapshot]:
    """Call the trie some times and note what happened; a thread removes only what it added, or what it was given."""
    mine = [binding for binding in START if binding[0] % 3 == thread]
    snapshots: list[Snapshot] = []
    for call in range(calls):
        name = chance.choice(("add", "add", "remove", "remove", "match", "match", "any", "snapshot"))
        argument: object = None
        act: Callable[[], object]
        if name == "remove" and not mine:
            name = "add"
        if name == "add":
            binding = (100 + 10 * thread + call, chance.choice(PATTERNS))
            mine.append(binding)
            argument, act = binding, partial(trie.add, *binding)
        elif name == "remove":
            binding = mine.pop(chance.randrange(len(mine)))
            argument, act = binding, partial(trie.remove, *binding)
        elif name == "snapshot":
            act = trie.snapshot
        else:
            key = chance.choice(KEYS)
            argument, act = key, partial(getattr(trie, name), key)
        invoked = tick()
        result = act()
        returned = tick()
        if isinstance(result, Snapshot):
            snapshots.append(result)
            result = content(result)
        history.append(Operation(name, argument, result, invoked, returned))
    return snapshots


def content(snapshot: Snapshot) -> frozenset[tuple[int, bytes]]:
    return frozenset((position, pattern) for pattern, position in snapshot.subscriptions())


def scheduled_history(
    seed: int, make: TrieFactory = ConcurrentTrie, cell: type[ScheduledCell[object]] = ScheduledCell
) -> tuple[list[Operation], bool]:
    """Run three threads of four calls under the scheduler; return the history and whether all snapshots stayed."""
    scheduler = Scheduler(seed)
    trie = make([pattern for _, pattern in START], AMQP, partial(cell, scheduler))
    histories: list[list[Operation]] = [[], [], []]
    snapshots: list[list[Snapshot]] = [[], [], []]

    def work(thread: int) -> None:
        chance = random.Random(1000 * seed + thread)
        snapshots[thread] = record(trie, scheduler.tick, chance, thread, 4, histories[thread])

    scheduler.run([partial(work, thread) for thread in range(3)])
    # A last reader finds what is left, after all others.
    last = trie.snapshot()
    left = Operation("snapshot", None, content(last), scheduler.tick(), scheduler.tick())
    taken = [op.result for history in histories for op in history if op.name == "snapshot"]
    unchanged = [content(snapshot) for some in snapshots for snapshot in some] == taken
    return [op for history in histories for op in history] + [left], unchanged


def is_right(seed: int, make: TrieFactory = ConcurrentTrie, cell: type[ScheduledCell[object]] = ScheduledCell) -> bool:
    """Run one history; a broken trie may also fall over its own assertions."""
    history, unchanged = scheduled_history(seed, make, cell)
    return unchanged and linearizable(history, frozenset(START))


def test_a_thousand_histories_are_linearizable() -> None:
    wrong = [seed for seed in range(1000) if not is_right(seed)]
    assert not wrong, f"seeds {wrong[:10]} of the scheduler"


@pytest.mark.parametrize("make", [WithoutGenerations, WithoutNewGeneration, OneReading, WithoutTombs])
def test_a_broken_trie_is_caught_by_the_same_check(make: TrieFactory) -> None:
    assert any(is_broken(seed, make, ScheduledCell) for seed in range(1000))


def test_plain_assignment_in_place_of_compare_and_set_is_caught_by_the_same_check() -> None:
    assert any(is_broken(seed, ConcurrentTrie, PlainCell) for seed in range(1000))


def is_broken(seed: int, make: TrieFactory, cell: type[ScheduledCell[object]]) -> bool:
    try:
        return not is_right(seed, make, cell)
    except (AssertionError, dr.BindingError):
        return True


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.usefixtures("_quick_switches")
def test_histories_of_free_threads_are_linearizable(cells: str) -> None:
    overlapping = seed = 0
    while seed < 300 or overlapping <= 30:  # on a busy machine threads meet seldom: then it takes more histories
        history = free_history(seed, cells)
        assert linearizable(history, frozenset(START)), seed
        history.sort(key=lambda operation: operation.invoked)
        overlapping += any(one.returned > other.invoked for one, other in itertools.pairwise(history))
        seed += 1


def free_history(seed: int, cells: str) -> list[Operation]:
    """Run three threads of ten calls, which the interpreter switches when it wants."""
    trie = ConcurrentTrie([pattern for _, pattern in START], AMQP, cell_factory(cells))
    clock = itertools.count()
    histories: list[list[Operation]] = [[], [], []]
    barrier = threading.Barrier(3)

    def work(thread: int) -> None:
        barrier.wait()
        record(trie, partial(next, clock), random.Random(seed * 3 + thread), thread, 10, histories[thread])

    run_threads([partial(work, thread) for thread in range(3)])
    return [operation for history in histories for operation in history]


def run_threads(functions: Sequence[Callable[[], None]]) -> None:
    errors: list[BaseException] = []

    def guarded(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.slow
@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.usefixtures("_quick_switches")
def test_eight_threads_and_a_hundred_thousand_operations_lose_no_update(cells: str) -> None:
    """Each thread knows what it has bound; in the end the router has exactly that, and every answer agrees."""
    router = dr.compile([], engine="cstrie", cells=cells)
    words = ("a", "b", "c", "*", "#")
    held: list[list[tuple[str, str]]] = [[] for _ in range(8)]

    def work(thread: int) -> None:
        chance = random.Random(thread)
        mine = held[thread]
        me = f"t{thread}"
        for call in range(12_500):
            draw = chance.random()
            if draw < 0.35 or not mine:
                binding = (".".join(chance.choices(words, k=chance.randint(0, 4))), me)
                router.subscribe(*binding)
                mine.append(binding)
            elif draw < 0.68:
                router.unsubscribe(*mine.pop(chance.randrange(len(mine))))
            elif draw < 0.99:
                pattern, _ = chance.choice(mine)
                # Its own bindings cannot go away meanwhile: a pattern without wildcards is its own key.
                assert "*" in pattern or "#" in pattern or me in router.match(pattern)
            elif call % 10 == 0:
                assert set(router.topics(me)) == {pattern for pattern, _ in mine}

    run_threads([partial(work, thread) for thread in range(8)])
    assert sorted(router.subscriptions().values()) == sorted(binding for mine in held for binding in mine)
    for thread, mine in enumerate(held):
        for binding in mine:
            router.unsubscribe(*binding)
        assert router.topics(f"t{thread}") == ()
    assert not router.any("a.b")


class _Interposed(ScheduledCell[object]):
    """A cell that lets something happen just before a compare-and-set, once."""

    before_next: Callable[[], None] | None = None

    def compare_and_set(self, expected: object, new: object, /) -> bool:
        act, _Interposed.before_next = _Interposed.before_next, None
        if act is not None:
            act()
        return super().compare_and_set(expected, new)


def interposed_trie(patterns: Sequence[bytes], make: TrieFactory = ConcurrentTrie) -> ConcurrentTrie:
    return make(patterns, AMQP, partial(_Interposed, Scheduler(0)))


def test_two_inserts_as_treat_draws_them_lose_nothing() -> None:
    """One thread subscribes to ``foo`` while another puts ``foo.bar`` below it: neither may orphan the other."""
    trie = interposed_trie([b"foo"])
    _Interposed.before_next = partial(trie.add, 2, b"foo.bar")
    trie.add(1, b"foo")
    assert (trie.match(b"foo"), trie.match(b"foo.bar")) == ((0, 1), (2,))
    _Interposed.before_next = partial(trie.add, 4, b"foo")
    trie.add(3, b"foo.baz")
    assert (trie.match(b"foo"), trie.match(b"foo.baz")) == ((0, 1, 4), (3,))


def test_two_inserts_with_plain_assignment_lose_one() -> None:
    """The test above would notice the fault that it is about."""

    class Plain(_Interposed):
        def compare_and_set(self, expected: object, new: object, /) -> bool:
            super().compare_and_set(expected, new)
            self._value = new
            return True

    trie = ConcurrentTrie([b"foo"], AMQP, partial(Plain, Scheduler(0)))
    _Interposed.before_next = partial(trie.add, 2, b"foo.bar")
    trie.add(1, b"foo")
    assert (trie.match(b"foo"), trie.match(b"foo.bar")) != ((0, 1), (2,))


def test_an_insert_into_a_node_that_is_being_cut_off_is_not_lost() -> None:
    """The last subscription below ``a`` is removed, and before the node is pruned another one is added."""
    trie = interposed_trie([b"a.b"])

    def insert_when_the_tomb_stands() -> None:
        # The first compare-and-set of the removal empties the node below a; this is inside its second, the pruning.
        _Interposed.before_next = partial(trie.add, 1, b"a.c")

    _Interposed.before_next = insert_when_the_tomb_stands
    trie.remove(0, b"a.b")
    assert trie.match(b"a.c") == (1,)
    assert trie.match(b"a.b") == ()


def test_aba_a_node_that_looks_as_before_is_not_the_one_that_was_read() -> None:
    """T1 reads the root's node; T2 subscribes and unsubscribes, so that it looks the same; T1's update must fail."""
    trie = ConcurrentTrie([b"a"], AMQP, cell_factory())
    root = trie._root.read()
    read = trie._root.settled(root)
    assert isinstance(read, CNode)
    trie.add(1, b"b")
    trie.remove(1, b"b")
    now = trie._root.settled(root)
    assert isinstance(now, CNode)
    assert now.branches == read.branches
    late = read.with_branch(b"c", Branch(frozenset({2}), None))
    assert not trie._root.gcas(root, read, late)
    assert trie.match(b"c") == ()
    assert trie.match(b"a") == (0,)


def test_a_writer_that_read_the_old_root_does_not_change_a_snapshot() -> None:
    """A snapshot between a writer's reading and its update: the update moves to the new generation."""
    trie = interposed_trie([b"a.b"])
    taken: list[Snapshot] = []
    _Interposed.before_next = lambda: taken.append(trie.snapshot())
    trie.add(1, b"a.c")
    assert content(taken[0]) == {(0, b"a.b")}
    assert trie.match(b"a.c") == (1,)
    assert content(trie.snapshot()) == {(0, b"a.b"), (1, b"a.c")}


def test_without_generations_that_writer_does_change_it() -> None:
    """The test above would notice the fault that it is about."""
    trie = interposed_trie([b"a.b"], WithoutGenerations)
    taken: list[Snapshot] = []
    _Interposed.before_next = lambda: taken.append(trie.snapshot())
    trie.add(1, b"a.c")
    assert content(taken[0]) != {(0, b"a.b")} or trie.match(b"a.c") != (1,)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.usefixtures("_quick_switches")
def test_a_snapshot_never_changes_while_writers_go_on(cells: str) -> None:
    trie = ConcurrentTrie([b"a.%d" % number for number in range(50)], AMQP, cell_factory(cells))
    stop = threading.Event()

    def write(thread: int) -> None:
        position = 1000 * (thread + 1)
        while not stop.is_set():
            trie.add(position, b"a.%d.%d" % (position % 50, thread))
            trie.remove(position, b"a.%d.%d" % (position % 50, thread))
            position += 10

    def read() -> None:
        try:
            for _ in range(100):
                snapshot = trie.snapshot()
                first = content(snapshot)
                assert {(number, b"a.%d" % number) for number in range(50)} <= first
                keys = [pattern for _, pattern in first]
                answers = [snapshot.match(key) for key in keys]
                assert all(content(snapshot) == first for _ in range(3))
                assert [snapshot.match(key) for key in keys] == answers
                assert all(position in answer for (position, _), answer in zip(first, answers, strict=True))
        finally:
            stop.set()

    run_threads([partial(write, 0), partial(write, 1), read])


def test_a_walk_that_reads_once_returns_a_state_that_never_was() -> None:
    """``a.b`` is added where the walk was, then ``*.b`` where it has not been yet: only the second is found."""

    def history(make: TrieFactory) -> list[Operation]:
        scheduler = Scheduler(0, switches=0.0)
        trie = make([b"a.x", b"*.x"], AMQP, partial(ScheduledCell, scheduler))
        walked, early = [], trie._root.settled

        def settled_and_then(inode: object) -> object:
            main = early(inode)  # type: ignore[arg-type]
            walked.append(inode)
            if len(walked) == 2:  # the root, and the first of the two branches
                trie._root.settled = early  # type: ignore[method-assign]
                # The walk takes its branches from a stack: the star's before the word's.
                operations.append(timed("add", (3, b"*.b"), partial(trie.add, 3, b"*.b")))
                operations.append(timed("add", (2, b"a.b"), partial(trie.add, 2, b"a.b")))
            return main

        def timed(name: str, argument: object, act: Callable[[], object]) -> Operation:
            invoked = scheduler.tick()
            result = act()
            return Operation(name, argument, result, invoked, scheduler.tick())

        operations: list[Operation] = []
        trie._root.settled = settled_and_then  # type: ignore[method-assign,assignment]
        operations.append(timed("match", b"a.b", partial(trie.match, b"a.b")))
        return operations

    start = frozenset({(0, b"a.x"), (1, b"*.x")})
    once = history(OneReading)
    assert once[-1].result == (2,)
    assert not linearizable(once, start)
    twice = history(ConcurrentTrie)
    assert twice[-1].result == (2, 3)
    assert linearizable(twice, start)


def test_the_checker_knows_right_from_wrong() -> None:
    add = Operation("add", (0, b"a"), None, 1, 2)
    assert linearizable([add, Operation("match", b"a", (0,), 3, 4)])
    assert not linearizable([add, Operation("match", b"a", (), 3, 4)])
    during = Operation("add", (0, b"a"), None, 1, 10)
    assert linearizable([during, Operation("any", b"a", False, 2, 3), Operation("any", b"a", True, 4, 5)])
    assert not linearizable([during, Operation("any", b"a", True, 2, 3), Operation("any", b"a", False, 4, 5)])
    assert not linearizable([Operation("remove", (0, b"a"), None, 1, 2)])
    assert linearizable(
        [Operation("snapshot", None, frozenset({(0, b"a")}), 1, 5), Operation("add", (0, b"a"), None, 2, 3)]
    )
