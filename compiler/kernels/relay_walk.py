"""A small plain batch from its exchanges to its queues in one call: begin, walk, take a step, until none waits.

Between kernels of 10 us each, Python took as long again to hand arrays from one to the next. What a kernel cannot do is left to the caller,
who goes on where this one stopped: tables that must grow, keys that are to be simulated, and stations that are asked.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import kernel
from compiler.kernels.relay_batches import pass_on, publish
from compiler.kernels.relay_tables import (
    ASIDE,
    BEGIN,
    DONE,
    GO_ON,
    LEFT,
    PASSING,
    WAITING,
    WALKED,
    Directory,
    Itineraries,
    Network,
    Room,
    Scratch,
)
from compiler.kernels.tables import BLOCK, DEFERRED, Cache, Int32s, Keys, Program, Signed, Uint64s
from compiler.kernels.walk import walk
from compiler.kernels.work import Work

__all__ = ["send"]


@kernel
def send(
    program: Program,
    tables: Cache,
    work: Work,
    keys: Keys,
    ids: Int32s,
    key_table: Uint64s,
    directory: Directory,
    network: Network,
    cache: Itineraries,
    scratch: Scratch,
    room: Room,
    marks: Int32s,
    named: Signed,
    rows: Signed,
    longest: Signed,
    word: Signed,
    learns: Signed,
    conditions: Int32s,
    memo: Int32s,
    first: Signed,
) -> Signed:
    """Send a batch of ``rows`` rows as far as it goes; ``first`` is BEGIN, GO_ON where it has begun, or the row at which to go on with a step.

    The first six arguments are those of :func:`compiler.kernels.walk.walk`, with ``ids`` for what it writes; the others are those of
    ``publish`` and ``pass_on``. Returns WRONG; minus the table that must grow, and ``room.counts`` has as PASSING whether rows were taking a
    step; LEFT if some keys that wait are not walked; and DONE if none waits, or only at stations that are asked. WALKED is how many keys were
    walked.
    """
    counts = room.counts
    if first < 0:
        counts[WALKED] = counts[PASSING] = 0
    if first == BEGIN:
        status = publish(directory, network, cache, scratch, room, marks, named, rows, longest, word, learns)
        if status != DONE:
            return np.int64(status)
    while True:
        if first < 0:
            waiting = counts[WAITING]
            if waiting == 0 or counts[ASIDE] > 0:
                return np.int64(DONE)
            status = walk(
                program, tables, work, keys, np.int64(0), waiting, np.int64(BLOCK), np.int64(0), ids, key_table
            )
            counts[WALKED] += waiting
            if status != DONE or tables.meta[DEFERRED] > 0:
                return np.int64(LEFT)
        counts[PASSING] = 1
        status = pass_on(
            network,
            cache,
            scratch,
            room,
            marks,
            named,
            rows,
            ids,
            tables.set_end,
            tables.tags,
            conditions,
            memo,
            max(first, np.int64(0)),
        )
        if status != DONE:
            return np.int64(status)
        counts[PASSING] = 0
        first = np.int64(GO_ON)
