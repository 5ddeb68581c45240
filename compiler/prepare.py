"""Compiling every kernel before it is needed.

A kernel is compiled at its first call, a minute or two of processor time for all of them, and kept on disk. A process
that is about to start others, or to measure, has them compiled first: the others then load them in a fraction of a
second instead of compiling them all at the same time.
"""

from __future__ import annotations

import numpy as np

from compiler.automata.nfa import Nfa, build_nfa
from compiler.automata.pattern import Wildcard
from compiler.criteria.counting import Demands
from compiler.criteria.demands import Demand
from compiler.criteria.vocabulary import FieldColumns, Vocabulary
from compiler.kernels.relay_tables import ASKS, SLACK, Directory, Network, Texts
from compiler.kernels.tables import Int64s, Keys, frozen
from compiler.machine.columns import whole
from compiler.machine.dense_rows import QUIET_KEYS
from compiler.machine.lazy import LazyDfa
from compiler.machine.policy import Policy
from compiler.machine.screen import Screen
from compiler.machine.simulator import Simulator
from compiler.relay.plain_relay import PlainRelay
from compiler.relay.words import words_of
from compiler.values import Int32s, KeyColumn

__all__ = ["compile_kernels", "jit_enabled", "kernels_kept"]


def jit_enabled() -> bool:
    """Tell whether kernels are compiled; imports numba."""
    from compiler.kernels._jit import JIT

    return JIT


def kernels_kept() -> bool:
    """Tell whether kernels of this release were compiled here before, so that loading them takes no time.

    Numba is not imported to find out.
    """
    from compiler.kernels.kept import folder, places

    return any(folder(place).is_dir() and any(folder(place).iterdir()) for place in places())


def compile_kernels(*, batches_only: bool = False) -> None:
    """Compile all kernels, or load them from disk where that was done before; nothing where ``NUMBA_DISABLE_JIT`` is set.

    It takes a minute of processor time or more at the first time for this version and processor, and a second later on: for where
    an image or an environment is built, or before what is to be measured. Nobody needs to call it, as each kernel is compiled when it is first used.
    Kernels are kept where ``NUMBA_CACHE_DIR`` says, or in the user's cache directory, and are for the processor that they are compiled on. Where
    other processors are to load them, ``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` must name the same at both times.

    ``batches_only`` leaves out those for single keys, for small batches and for sealed tables: two fifths of the time.
    """
    if not jit_enabled():
        return
    # The same keys often enough for the walk of settled ground.
    keys = 2 * QUIET_KEYS // 200 * [b"word%d.a-rather-long-word" % i for i in range(200)]
    offsets = np.concatenate(([0], np.cumsum([len(key) for key in keys]))).astype(np.int32)
    column = KeyColumn(offsets, np.frombuffer(b"".join(keys), np.uint8), np.ones(len(keys), np.bool_))
    small = build_nfa([[b"word%d" % i, Wildcard.ONE] for i in range(100)])
    Screen(separator=b".", wrong=b"+").mask(column)
    # A pattern of over 63 tokens keeps a set from being simulated as bits.
    large = build_nfa([[b"word%d" % i, b"a-rather-long-word"] for i in range(100)] + [[b"a"] * 64])
    _compile_texts()
    _compile_relay(column)
    _compile_criteria()
    if not batches_only:
        _compile_remembered()
        _compile_lost()
    for nfa in (small, large):
        machine = LazyDfa(nfa, b".", 1 << 20)
        machine.match_batch([column])
        machine.match_batch([column])
        Simulator(nfa, b".").match_batch([column])
        with_keys = LazyDfa(nfa, b".", 1 << 20, key_cache="on")
        if batches_only:
            with_keys.match_batch([column])
            continue
        machine.match(b"word1.x")
        machine.match_joined(b"word1.x", 1)
        _compile_seals(machine, with_keys, column)
    _compile_exact(large, column, batches_only=batches_only)
    _compile_store(LazyDfa(small, b".", 4 << 20, key_cache="auto", policy=Policy(key_store=True)), column)


def _compile_texts() -> None:
    from compiler.kernels.parting import part_texts

    part_texts(np.frombuffer(b"a\0b", np.uint8), np.empty(3, np.int32), np.empty(3 + 64, np.uint8))


def _compile_remembered() -> None:
    from compiler.kernels.remembered import ask_remembered

    ask_remembered.make(({}, str, (), "key"), "match")("word1.x")


def _compile_lost() -> None:
    from compiler.kernels.single_lost import match_lost

    match_lost.make((), "find")  # not called, as nobody has lost a key


def _compile_exact(nfa: Nfa, column: KeyColumn, *, batches_only: bool) -> None:
    whole_keys = LazyDfa(nfa, b".", 1 << 20, policy=Policy(exact=True))
    whole_keys.match_batch([column])
    machine = LazyDfa(nfa, b".", 4 << 20, key_cache="auto", policy=Policy(exact=True, key_store=True))
    machine.match_batch([column])
    if batches_only:
        return
    whole_keys.match(b"word1.a-rather-long-word")
    sealed = machine.seal()
    assert sealed is not None
    sealed.match_batch([column])


def _compile_store(machine: LazyDfa, column: KeyColumn) -> None:
    from compiler.kernels.key_store import count_different, rehash_stored

    machine.match_batch([column])
    simulated_first = Policy(key_store=True, doorkeeper=True)
    LazyDfa(machine.nfa, b".", 4 << 20, key_cache="auto", policy=simulated_first).match_batch([column])
    rehash_stored(np.zeros(1, np.uint64), np.zeros(2, np.uint64))
    count_different(whole(column), 0, 1, np.zeros(1, np.uint64))


def _compile_seals(machine: LazyDfa, with_keys: LazyDfa, column: KeyColumn) -> None:
    sealed = machine.seal()
    assert sealed is not None
    assert sealed.sealed is not None
    with_keys.with_seal(sealed.sealed, checked=True).match_batch([column])
    sealed = machine.with_seal(sealed.sealed)
    further = np.frombuffer(b"beyond.word2", np.uint8)
    sealed.match_batch([column, KeyColumn(np.array([0, len(further)], np.int32), further, None)])
    sealed.match_joined(b"word1.x", 1)
    sealed.match(b"word1.x")


def _compile_relay(column: KeyColumn) -> None:
    from compiler.kernels.leading import AT_ONCE, copy_names, measure_names, repeat_names, screen_keys
    from compiler.kernels.places import fill_places, find_places
    from compiler.kernels.relay import rehash_steps, set_aside

    numbers = np.arange(len(column.offsets) - 1, dtype=np.int32)
    one = frozen(np.array([0, 1], np.int32))
    network = Network(
        kinds=frozen(np.array([ASKS], np.uint8)),
        conditions=one,
        offsets=one,
        targets=frozen(np.zeros(1, np.int32)),
        alternates=frozen(np.full(1, -1, np.int32)),
        group_offsets=frozen(np.zeros(2, np.int32)),
        groups=frozen(np.zeros(0, np.int32)),
    )
    words = words_of(1)
    machine = LazyDfa(build_nfa([[b"0", b"word1", Wildcard.MANY]]), b".", 1 << 20)
    relay = PlainRelay(network, 1, machine, one[:1], words, 1 << 20, one[:0])
    found = relay.run(column, np.zeros(len(numbers), np.int32), lambda _station, _rows: machine.match_batch([column]))
    names = Texts(0, frozen(np.array([0, 1], np.int64)), frozen(np.zeros(1 + SLACK, np.uint8)))
    sizes, totals = np.empty(6 * len(found.offsets), np.int64), np.empty(4, np.int64)
    measure_names(*found, *names[:2], *names[:2], sizes, totals, np.empty(len(numbers), np.uint8))
    ends, starts, texts = (
        np.zeros(len(numbers) + 1, np.int32),
        np.zeros(totals[0] + 1, np.int32),
        np.empty(totals[1] + SLACK, np.uint8),
    )
    set_ids, positions = frozen(found.set_ids), frozen(found.positions)
    copy_names(set_ids, positions, sizes, *names, ends, starts, texts)
    room = np.zeros(len(starts) + AT_ONCE, np.int32)
    repeat_names(set_ids[:0], sizes, ends, starts, texts, ends.copy(), room, texts.copy())
    _compile_listing(set_ids[:0], frozen(found.offsets), positions, frozen(names.offsets))
    set_aside(frozen(np.ones(1, np.bool_)), numbers[:1], numbers[:1], np.empty(4, np.int32))
    rehash_steps(np.zeros(2, np.uint64), np.zeros(4, np.uint64))
    keys: Keys = whole(column._replace(valid=None))
    screen_keys(keys)
    table = np.zeros(6 << 10, np.uint64)
    fill_places(keys, keys, np.uint64(1), table)
    directory = Directory(keys, keys, frozen(table), np.uint64(1), frozen(np.zeros(len(numbers), np.int32)))
    find_places(keys, keys, directory, 1, numbers.copy())
    place = keys.offsets.ctypes.data, 2, keys.data.ctypes.data, keys.data.size
    plain = [*place, *place, *place], 1, 255, directory
    assert relay.run_plain(*plain, lambda _station, _rows: found) is not None
    blocks = (names, names), lambda size: np.empty(size, np.int32)
    assert relay.name_plain(*plain, *blocks, lambda _station, _rows: found) is not None


def _compile_listing(ids: Int32s, offsets: Int32s, members: Int32s, name_offsets: Int64s) -> None:
    from compiler.kernels.listing import copy_members, end_lists, name_sets, total_names

    end_lists(ids, offsets, np.empty(1, np.int32))
    copy_members(ids, offsets, members, np.empty(0, np.int32))
    sizes, codes = np.zeros(3 * len(offsets), np.int64), np.empty(len(members), np.int32)
    name_sets(offsets[:1], members, members, name_offsets, np.zeros(0, np.uint64), codes, sizes)
    total_names(ids, sizes, np.empty(2, np.int64))


def _compile_criteria() -> None:
    from compiler.kernels.criteria import find_copies

    texts = whole(KeyColumn(np.array([0, 1], np.int32), np.frombuffer(b"a", np.uint8), None))
    fields = FieldColumns(np.array([0, 1], np.int32), texts, texts, np.ones(1, np.uint8))
    demands = [Demand(((b"a", 1, b"a"),), every=True)]
    vocabulary = Vocabulary(demands)
    _, ends, members = vocabulary.combine(fields)
    Demands(vocabulary, demands).satisfied_by(ends, members, np.zeros(1, np.int32))
    find_copies(texts)
