"""Arrays that end directly before memory that nobody may read, or begin directly behind it, and a run of all kernels on such.

It is run as a program, as a fault ends the process: ``python -m tests.compiler.guarded before`` has arrays before unreadable
pages, and with ``behind`` they begin behind such pages. ``unpadded`` plants a fault, which must end it. ``thorough`` behind one of
them tries all combinations of what is tried.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import mmap
import pkgutil
import random
import sys
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from tests.borders import LENGTHS

__all__ = ["guarded", "guarded_buffer"]

PAGE = mmap.PAGESIZE
PROT_NONE = 0

_mprotect = ctypes.CDLL(None, use_errno=True).mprotect  # looked up once: arrays are made by the hundred thousand
_mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


def guarded_buffer(size: int, side: str) -> npt.NDArray[np.uint8]:
    """Return memory of ``size`` bytes directly ``before`` an unreadable page, or directly ``behind`` one."""
    pages = -(-size // PAGE) * PAGE
    room = np.frombuffer(mmap.mmap(-1, pages + 2 * PAGE), np.uint8)
    first = room.__array_interface__["data"][0]
    for place in (first, first + pages + PAGE):
        if _mprotect(place, PAGE, PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect")
    begin = PAGE if side == "behind" else PAGE + pages - size
    return room[begin : begin + size]


def guarded(array: npt.NDArray[Any], side: str) -> npt.NDArray[Any]:
    """Return a copy of an array beside an unreadable page."""
    copy = guarded_buffer(array.nbytes, side).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class GuardedNumpy:
    """numpy, but that the arrays which it makes from nothing lie beside unreadable pages."""

    def __init__(self, side: str) -> None:
        self._side = side

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, *arguments: Any, **options: Any) -> npt.NDArray[Any]:
        return guarded(np.zeros(*arguments, **options), self._side)

    def empty(self, *arguments: Any, **options: Any) -> npt.NDArray[Any]:
        made = guarded(np.zeros(*arguments, **options), self._side)
        made.view(np.uint8)[...] = 0x5A  # what nobody has written is nothing to rely on
        return made


@contextlib.contextmanager
def everything_guarded(side: str) -> Iterator[None]:
    """Have all tables of all machines beside unreadable pages: those that are made from nothing, and those that are frozen."""
    import compiler.criteria
    import compiler.kernels.tables
    import compiler.machine
    import compiler.relay
    import dfa_router.rabbitmq

    plain = compiler.kernels.tables.frozen

    def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return plain(guarded(np.ascontiguousarray(array), side))

    def key_room(size: int) -> npt.NDArray[np.uint8]:
        return guarded_buffer(size, side)

    with contextlib.ExitStack() as stack:
        stack.enter_context(patch("compiler.mappings.MAPPED_FROM", sys.maxsize))  # so that NumPy makes them all
        wings = compiler.criteria, compiler.machine, compiler.relay, dfa_router.rabbitmq
        names = [f"{wing.__name__}.{one.name}" for wing in wings for one in pkgutil.iter_modules(wing.__path__)]
        for name in [
            *names,
            "compiler.mappings",
            "compiler.kernels.store_tables",
            "compiler.kernels.work",
            "compiler.kernels.tables",
            "dfa_router.arrow.lists",
            "dfa_router.arrow.sets",
        ]:
            module = importlib.import_module(name)
            if hasattr(module, "np"):
                stack.enter_context(patch.object(module, "np", GuardedNumpy(side)))
            if hasattr(module, "frozen"):
                stack.enter_context(patch.object(module, "frozen", frozen))
            if name.startswith("dfa_router.arrow") or name.endswith("name_lists"):
                stack.enter_context(patch.object(module, "new", GuardedNumpy(side).empty))
        for name in ("exact_keys", "single_keys"):
            stack.enter_context(patch(f"compiler.machine.{name}.bytearray", key_room, create=True))
        yield


def never_run() -> list[str]:
    """Return the names of compiled functions that were neither called by Python nor, by name, by one that was.

    A kernel that comes from numba's cache says nothing of those that it calls. ``_plain`` is left out: kernels call it in place
    of the vectors where nothing is compiled, and tests of the two call both.
    """
    from numba.core.dispatcher import Dispatcher

    import compiler.kernels
    from compiler.kernels._builtins import Builtin

    names: dict[Any, str] = {}
    for found in pkgutil.iter_modules(compiler.kernels.__path__):
        module = importlib.import_module(f"compiler.kernels.{found.name}")
        for name, function in vars(module).items() if found.name != "_plain" else ():
            if isinstance(function, Dispatcher | Builtin) and function.py_func.__module__ == module.__name__:
                names[function] = f"{found.name}.{name}"
    waiting = [
        function for function in names if (function.compiled if isinstance(function, Builtin) else function.overloads)
    ]
    seen = set(waiting)
    while waiting:
        code = waiting.pop().py_func
        called = {code.__globals__.get(name) for name in code.__code__.co_names if name in code.__globals__}
        new = {function for function in called if isinstance(function, Dispatcher)} - seen
        seen |= new
        waiting += new
    return [name for function, name in names.items() if function not in seen]


def keys_of(chance: random.Random, count: int) -> list[bytes | None]:
    """Make keys of all lengths that a load of 8 or 64 bytes may cross, of few words and of many."""
    words = [
        b"a",
        b"b",
        b"",
        b"w7",
        b"w299",
        b"longer-than-8",
        b"longer-than-9",
        b"$x",
        b"x" * 63,
        b"y" * 64,
        b"z" * 130,
    ]
    keys: list[bytes | None] = [b".".join(chance.choices(words, k=chance.randrange(9))) for _ in range(count)]
    keys += [letter * length for letter in (b"x", b".") for length in (*range(80), *LENGTHS)]
    keys += [b"a." * 3000, None]
    chance.shuffle(keys)
    return keys


def run(side: str, *, thorough: bool = False) -> None:
    """Match keys in every way, each beside an unreadable page, and compare with the plain-Python twin.

    Each kind of cache meets each way through memory, with one of the pattern sets; with all of them if it is ``thorough``.
    """
    from compiler import Wildcard, build_nfa
    from compiler.automata.twin import Twin
    from compiler.kernels.single_lost import match_lost
    from compiler.machine.lazy import LazyDfa
    from compiler.machine.screen import Screen
    from compiler.machine.simulator import Simulator
    from compiler.values import KeyColumn
    from tests.compiler.machines import answers, column, without_bits

    match_lost.make((), "find")  # which another thread does otherwise
    many, one = Wildcard.MANY, Wildcard.ONE
    few: list[list[Any]] = [
        [many, b"a", one, one],
        [b"b", many],
        [many, b"longer-than-8"],
        [one, b"a", many, b"b"],
        [many],
    ]
    sets = [
        (few, b""),
        ([[b"w%d" % i, one, b"z" * 130] for i in range(300)] + [[many, b"a", many, b"b", many]] + few, b""),
        ([[b"$x", one], [many, b"b"], [b"$" + b"y" * 70]], b"$"),
        ([[b"a"] * 70, [many, b"a", *[one] * 9], [b"b", one, many, b"a", many, b"a"]], b""),
    ]

    def beside(keys: list[bytes | None]) -> KeyColumn:
        offsets, data, valid = column(keys)
        assert valid is not None
        return KeyColumn(guarded(offsets, side), guarded(data, side), guarded(valid, side))

    chance = random.Random(1)
    with everything_guarded(side), patch("tests.compiler.machines.column", beside):
        caches = [(0, "off"), (2000, "off"), (1 << 20, "off"), (1 << 20, "on")]
        ways = list(itertools.product((4 << 20, -1), (1, 1 << 20)))
        for number, (patterns, reserved) in enumerate(sets):
            nfa = build_nfa(patterns, reserved=reserved)
            keys = keys_of(chance, 400)
            expected = answers(Twin(nfa, b".", 1 << 22), keys)
            for (which, (capacity, key_cache)), (way, (far, quiet)) in itertools.product(
                enumerate(caches), enumerate(ways)
            ):
                if not thorough and way != (number + which) % len(ways):
                    continue
                with (
                    patch("compiler.machine.bounded_cache.FAR_BYTES", far),
                    patch("compiler.machine.dense_rows.QUIET_KEYS", quiet),
                ):
                    for machine in (
                        LazyDfa(nfa, b".", capacity, key_cache=key_cache),  # type: ignore[arg-type]
                        without_bits(LazyDfa(nfa, b".", capacity)),
                    ):
                        for _ in range(3):
                            assert answers(machine, keys) == expected
                        for key, right in list(zip(keys, expected, strict=True))[:200]:
                            assert key is None or list(machine.match(key)) == right
                            assert key is None or list(machine.match_text(key.decode()) or machine.match(key)) == right
                        match_few(machine, keys, expected, side)
                        match_sealed(machine, keys, expected, side)
            match_stored(nfa, keys, expected, side)
            match_exact([*patterns[-5:], *spelled_by(keys)], reserved, keys, side)
            assert answers(Simulator(nfa, b"."), keys) == answers(without_bits(Simulator(nfa, b".")), keys) == expected
        for screen in (
            Screen(separator=b".", empty_words=False, wrong=b"*b", prefix=b"$x"),
            Screen(separator=b".", empty_text=False, prefix=b"x" * 64),
        ):
            keys = keys_of(chance, 400)
            assert screen.mask(beside(keys)).tolist() == [
                passes if key is not None else found
                for key, found, passes in zip(
                    keys, screen.mask(beside(keys)), (screen.passes(key or b"") for key in keys), strict=True
                )
            ]
        run_relay(chance, side)
        run_criteria(chance)
        run_listing(chance)
    run_texts(chance, side)
    # It reads nothing but Python's objects, which lie where they lie.
    from compiler.kernels.remembered import ask_remembered

    assert ask_remembered.make(({b"a": "found"}, str, (), "key"), "match")(b"a") == "found"
    if left_out := never_run():
        sys.exit(f"these kernels were never run beside unreadable memory: {left_out}")


def match_few(machine: Any, keys: list[bytes | None], expected: list[list[int] | None], side: str) -> None:
    """Match small batches: keys that are joined, and keys that lie beside memory that nobody may read."""
    pairs = [(key, right) for key, right in zip(keys, expected, strict=True) if key is not None]
    for at in range(0, len(pairs), 50):
        some, rights = zip(*pairs[at : at + 50], strict=True)
        ends = np.cumsum([0, *map(len, some)])
        data = guarded(np.frombuffer(b"".join(some), np.uint8), side)
        batches = [machine.match_joined(b"\0".join(some), len(some))]
        for kind in (np.int32, np.int64):
            offsets = guarded(ends.astype(kind), side)
            batches.append(machine.match_memory(Place(offsets), Place(data), 0, len(some), offsets.itemsize))
        for batch in batches:
            if batch is not None:
                found = np.split(batch.positions, batch.offsets[1:-1])
                assert [found[number].tolist() for number in batch.set_ids] == list(rights)


def match_sealed(machine: Any, keys: list[bytes | None], expected: list[list[int] | None], side: str) -> None:
    """Match with sealed tables that know half of the keys, or all, and have them checked."""
    from compiler.machine.lazy import LazyDfa
    from compiler.machine.policy import Policy
    from tests.compiler.machines import answers

    half = LazyDfa(machine.nfa, b".", 1 << 20, policy=Policy(exact=machine._parts.exact is not None))
    answers(half, keys[::2])
    for known in (half, machine):
        sealed = known.seal()
        if sealed is not None:
            sealed = machine.with_seal(sealed.sealed)  # with rows only where the capacity has room for them
            for _ in range(2):
                assert answers(sealed, keys) == expected
            for key, right in list(zip(keys, expected, strict=True))[:200]:
                assert key is None or list(sealed.match(key)) == right
            match_few(sealed, keys, expected, side)


def match_stored(nfa: Any, keys: list[bytes | None], expected: list[list[int] | None], side: str) -> None:
    """Match with keys that are stored, in tables that are full at last: of all sizes, so that the records of some end where they do."""
    from compiler.machine import key_store, stored_keys
    from compiler.machine.lazy import LazyDfa
    from compiler.machine.policy import Policy
    from tests.compiler.machines import answers

    small = {"FEWEST": 1, "SMALLEST": 0, "SLOTS": 16, "NUMBERS": 64, "ROWS": 80}
    count_different(keys, side)
    with contextlib.ExitStack() as stack:
        for name, value in small.items():
            stack.enter_context(patch.object(key_store if hasattr(key_store, name) else stored_keys, name, value))
        for capacity, most in (*((1 << 20, most) for most in range(460, 500)), (40_000, 4000), (20_000, 4000)):
            with patch.object(stored_keys, "reserved", lambda _, most=most: guarded(np.zeros(most, np.uint64), side)):
                policy = Policy(key_store=True, simulate=False)
                machine = LazyDfa(nfa, b".", capacity, key_cache="auto", policy=policy)
                for _ in range(3):
                    assert answers(machine, keys) == expected


def count_different(keys: list[bytes | None], side: str) -> None:
    """Count the different keys of a column that ends where nothing more may be read."""
    from compiler.kernels.key_store import count_different
    from compiler.kernels.tables import frozen
    from compiler.machine.columns import whole
    from tests.compiler.machines import column

    where = whole(column(keys))
    where = where._replace(data=frozen(guarded(where.data, side)), offsets=frozen(guarded(where.offsets, side)))
    assert 0 < count_different(where, 0, len(keys), guarded(np.zeros(64, np.uint64), side)) <= len(set(keys))


def spelled_by(keys: list[bytes | None]) -> list[list[Any]]:
    """Return patterns without wildcards that spell every third key, of whatever length, and one that many of them spell."""
    return [key.split(b".") for key in keys[::3] if key] + 40 * [[b"w7"]]


def match_exact(patterns: list[list[Any]], reserved: bytes, keys: list[bytes | None], side: str) -> None:
    """Match keys that are looked up whole: in a column, one by one, in small batches, and in front of sealed tables."""
    from compiler import build_nfa
    from compiler.automata.twin import Twin
    from compiler.machine import key_store
    from compiler.machine.lazy import LazyDfa
    from compiler.machine.policy import Policy
    from tests.compiler.machines import answers

    nfa = build_nfa(patterns, reserved=reserved)
    expected = answers(Twin(nfa, b".", 1 << 22), keys)

    def room(size: int) -> npt.NDArray[np.uint64]:
        return guarded(np.zeros(size // 8, np.uint64), side)

    with patch("compiler.machine.dividing.reserved", room):
        for capacity in (0, 3000, 1 << 20):
            machine = LazyDfa(nfa, b".", capacity, key_cache="auto", policy=Policy(exact=True))
            assert machine._parts.exact is not None
            for _ in range(2):
                assert answers(machine, keys) == expected
            for key, right in zip(keys, expected, strict=True):
                assert key is None or list(machine.match(key)) == right
            match_few(machine, keys, expected, side)
            match_sealed(machine, keys, expected, side)
    with patch.object(key_store, "FEWEST", 1), patch.object(key_store, "SMALLEST", 0):
        policy = Policy(exact=True, key_store=True, simulate=False)
        machine = LazyDfa(nfa, b".", 16 << 20, key_cache="auto", policy=policy)
        for _ in range(3):  # sets of found keys become the cache's
            assert answers(machine, keys) == expected
        assert machine._walkers[0]._key_store._stored.count
        sealed = machine.seal()
        assert sealed is not None
        for _ in range(3):  # the store is asked before the exact keys
            assert answers(sealed, keys) == expected
        assert sealed._stored_keys.count


def run_listing(chance: random.Random) -> None:
    """List the sets of batches, and what they lead to, by kernels; compare with what Arrow makes of them."""
    from dfa_router.arrow import sets
    from tests.router.test_lists import batch_of, listed

    with patch.object(sets, "SOON", 0):
        for number in range(60):
            listed(*batch_of(chance, sets=1 + number % 9, rows=chance.randrange(200), nulls=number % 3 == 0))


def run_texts(chance: random.Random, side: str) -> None:
    """Part texts that are joined, in arrays that have no more room than is asked for."""
    from compiler.kernels.parting import part_texts
    from compiler.kernels.tables import frozen

    for _ in range(300):
        texts = [b"t" * chance.choice(LENGTHS) for _ in range(chance.randrange(1, 9))]
        joined = guarded(np.frombuffer(b"\0".join(texts), np.uint8), side)
        offsets = guarded(np.zeros(len(texts) + 1, np.int32), side)
        data = guarded(np.zeros(len(joined) + 64, np.uint8), side)
        assert part_texts(frozen(joined), offsets, data) == len(texts)
        assert [data[begin:end].tobytes() for begin, end in itertools.pairwise(offsets.tolist())] == texts


class Place:
    """Where an array lies."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.address, self.size = array.ctypes.data, array.nbytes


def run_relay(chance: random.Random, side: str) -> None:
    """Route messages through exchanges with names of all lengths, and compare with the walk from exchange to exchange."""
    import pyarrow as pa

    from compiler.relay import relay
    from dfa_router.rabbitmq import Binding, Exchange, topology_of
    from tests.compiler.machines import column

    names = ["x" * length for length in (1, 7, 8, 9, 16, 17, 40)]
    words = ["a", "b", "w7", "longer-than-8", "*", "#"]
    bindings = [
        Binding(source=name, destination=f"{'q' * chance.randrange(1, 70)}{number}", routing_key=".".join(key))
        for name in names
        for number in range(40)
        if (key := chance.choices(words, k=chance.randrange(4))) is not None
    ]
    bindings += [
        Binding(source=source, destination=chance.choice(names), destination_type="exchange", routing_key=key)
        for source in names
        for key in ("#.a.#", "b.*", "#")
    ]
    declared = [Exchange(name=name, type="topic", arguments={"alternate-exchange": names[0]}) for name in names]
    declared.append(Exchange(name="h", type="headers"))  # which is asked, as it reads no key
    bindings.append(Binding(source=names[0], destination="h", destination_type="exchange", routing_key="#.b"))
    bindings += [Binding(source="h", destination=f"q{number}", arguments={"a": number}) for number in range(3)]
    topology = topology_of(exchanges=declared, bindings=bindings)
    keys = [key for key in keys_of(chance, 300) if key is None or len(key) < 255]
    published = [chance.choice([*names, "x" * 41, ""]).encode() for _ in keys]

    def beside(texts: list[bytes | None]) -> pa.Array:
        offsets, data, valid = column(texts)
        bits = pa.array(valid, pa.bool_()).buffers()[1] if None in texts else None
        buffers = [bits, pa.py_buffer(guarded(offsets, side)), pa.py_buffer(guarded(data, side))]
        return pa.Array.from_buffers(pa.binary(), len(texts), buffers)

    reference = topology.compile(engine="naive")
    expected = reference.route_columns(published, keys)
    for least in (1 << 20, 4096):
        with patch.object(relay, "LEAST_BYTES", least):
            router = topology.compile(cache_bytes=1000 if least == 4096 else 1 << 20)
            for _ in range(2):
                assert router.route_columns(beside([*published]), beside(keys)) == expected
    known: Any = [chance.choice([{"a": 1}, {}, None]) for _ in keys]  # then "h" is asked
    by_headers = reference.route_columns(published, keys, headers=known)
    router = topology.compile()
    assert router.route_columns(beside([*published]), beside(keys), headers=known) == by_headers
    mapped = pa.array([one and list(one.items()) for one in known], pa.map_(pa.string(), pa.int64()))
    plain = [key for key in keys if key is not None and len(key) < 255]
    for first in range(0, len(plain), 7):  # so that keys of each length are the last ones
        some: list[bytes | None] = [*plain[first : first + 7]]
        starts: list[bytes | None] = [chance.choice(names).encode() for _ in some]
        exact = beside(starts), beside(some)
        assert router.send_plain(*exact, None, "/", {}) is not None
        assert router.route_columns(*exact) == reference.route_columns(starts, some)
        more = {"headers": mapped[first : first + len(some)]}
        assert router.send_plain(*exact, None, "/", more) is not None
        assert router.route_columns(*exact, **more) == reference.route_columns(starts, some, **more)


def run_criteria(chance: random.Random) -> None:
    """Ask demands on fields, by bitmaps and by counting, and compare with trying each."""
    from compiler.criteria import counting
    from compiler.criteria.counting import Demands
    from compiler.criteria.vocabulary import Vocabulary
    from compiler.kernels.criteria import find_copies
    from tests.compiler.criteria.test_criteria import by_trying, demands_of, drawn, keys_of, matched

    for count in (1, 64, 300):
        for narrow, single in ((0, False), (0, True), (32, False)):
            with patch.object(counting, "NARROW", narrow):
                demands = demands_of(chance, count, single=single)
                messages = [[drawn(chance) for _ in range(chance.randrange(8))] for _ in range(200)]
                vocabulary = Vocabulary(demands)
                found = matched(vocabulary, Demands(vocabulary, demands), messages)
                assert found == [by_trying(demands, message) for message in messages]
    names = [chance.choice([b"", b"C", b"CC", b"BCC", b"x" * 9]) for _ in range(500)]
    for first in range(0, 500, 20):
        some = names[first : first + 20]
        copies = [at for at, name in enumerate(some) if name in (b"CC", b"BCC")]
        assert int(find_copies(keys_of(some))) == min(copies, default=len(some))


if __name__ == "__main__":
    if sys.argv[1] == "unpadded":
        with patch("compiler.machine.columns.PADDING", 0):
            run("before")
    else:
        run(sys.argv[1], thorough="thorough" in sys.argv[2:])
