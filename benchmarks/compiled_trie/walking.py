"""The walk: a block of keys, level by level, one (key, node) pair after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.compiled_trie.hashing import (
    DONE,
    DOT,
    GROW_OUT,
    GROW_PAIRS,
    KEY,
    LOW,
    MIX,
    NOTHING,
    U0,
    U1,
    U2,
    U3,
    U4,
    U8,
    U32,
    U63,
    U64,
    edge_slot,
    name_of,
    word_slot,
)
from compiler.kernels._jit import equal64, inlined, kernel, prefetch, trailing_zeros

__all__ = ["BLOCK", "walk"]

BLOCK = 128
"""Keys that are walked together. With 64 or 256 the time is within 5 %."""
# Eight numbers for each key of the block: where its next word begins; where the key ends; a bit for each byte from that word
# on that is a separator, 0 where that is not known; the word's name, length and symbol; the level at which the key last had a
# node; and the symbol's bit in the filters of nodes.
AT, END, DOTS, NAME, SIZE, SYMBOL, LEVEL, BIT = (np.uint64(i) for i in range(8))


@inlined
def _next_word(keys: Any, data: Any, line: Any, at: Any, end: Any) -> Any:
    """Return the length of the word that begins at ``at``, and keep the separators behind it in ``keys``."""
    dots = keys[line + DOTS]
    if dots == U0:
        dots = equal64(data, at, DOT)
        rest = end - at
        if rest < U64:
            dots = dots & ((U1 << rest) - U1) | U1 << rest
    if dots == U0:
        size = U64
        while size < end - at and data[at + size] != DOT:
            size += U1
        return size
    size = trailing_zeros(dots)
    keys[line + DOTS] = dots >> size >> U1
    return size


@kernel
def walk(trie: Any, work: Any, offsets: Any, data: Any, row: Any, stop: Any, out_offsets: Any, out: Any) -> Any:
    """Match keys from ``row`` to ``stop``; the bindings of key i are ``out[out_offsets[i]:out_offsets[i + 1]]``, in no order.

    Return DONE or what must grow. Then ``work.counts[0]`` is the row to go on at, and ``counts[1]`` the size that is needed.
    """
    words, word_shift, word_mask = trie.words, np.uint64(trie.word_shift), np.uint64(trie.words.size // 2 - 1)
    edges, edge_shift, edge_mask = trie.edges, np.uint64(trie.edge_shift), np.uint64(trie.edges.size // 2 - 1)
    nodes, bindings, nested = trie.nodes, trie.bindings, np.uint64(trie.nested)
    keys, live, asking, entered, found = work.keys, work.live, work.asking, work.entered, work.found
    now, then, sizes = work.pairs, work.pairs_next, work.sizes
    room = np.uint64(now.size - 4)
    while row < stop:
        work.counts[0] = row
        count = np.uint64(min(work.block, stop - row))
        first = np.uint64(row)
        for i in range(count * nested):
            entered[i] = U0
        for i in range(count):
            line = U8 * i
            begin, end = np.uint64(offsets[first + i]), np.uint64(offsets[first + i + U1])
            keys[line + AT] = begin + np.uint64(begin == end)  # "" has no word; any other key begins with one
            keys[line + END] = end
            keys[line + DOTS] = U0
            keys[line + LEVEL] = U0
            sizes[i] = U0
            live[i] = line
            now[i] = i
        n, n_live, n_found, level = count, count, U0, U0
        while n > U0:
            # The next word of each key that still has a node is named, then looked up.
            m = U0
            for j in range(n_live):
                line = live[j]
                at, end = keys[line + AT], keys[line + END]
                if keys[line + LEVEL] != level:
                    continue
                if at > end:
                    keys[line + SYMBOL] = NOTHING
                    continue
                size = _next_word(keys, data, line, at, end)
                name = name_of(data, at, size)
                prefetch(words, U2 * word_slot(name, size, word_shift))
                keys[line + NAME] = name
                keys[line + SIZE] = size
                live[m] = line
                m += U1
            n_live = m
            level += U1
            for j in range(n_live):
                line = live[j]
                at, name, size = keys[line + AT], keys[line + NAME], keys[line + SIZE]
                slot = word_slot(name, size, word_shift)
                symbol = U0
                while True:
                    entry = words[U2 * slot + U1]
                    if entry == U0:
                        break
                    if words[U2 * slot] == name and entry >> U32 == size:
                        symbol = entry & LOW
                        if size <= U8 or _same(trie, symbol, data, at, size):
                            break
                        symbol = U0
                    slot = (slot + U1) & word_mask
                keys[line + SYMBOL] = symbol
                keys[line + BIT] = U0 if symbol == U0 else U1 << (symbol & U63)
                keys[line + AT] = at + size + U1
            # A step for each pair of a key and a node. A pair for the edge table is written in any case, and counted if it
            # is due: whether it is due cannot be predicted, and a misprediction costs as much as the whole step.
            step = n_next = asks = U0
            while step < n:
                if n >= room or n_next >= room or n_found + U4 >= np.uint64(found.size):
                    return GROW_PAIRS
                pair = now[step]
                step += U1
                node, key = pair >> U8, pair & KEY
                line = U8 * key
                ways, single, filtered = nodes[U4 * node], nodes[U4 * node + U1], nodes[U4 * node + U2]
                symbol = keys[line + SYMBOL]
                many = ways >> U32
                if many != U0:
                    held = nodes[U4 * many + U3] >> U32
                    last = nodes[U4 * many + U1] == NOTHING and nodes[U4 * many + U2] == U0
                    if nested == U0 or _enter(trie, many, key, entered, nested):
                        if last:
                            found[n_found] = many << U8 | key
                            n_found += U1
                            sizes[key] += held
                        else:
                            now[n] = many << U8 | key
                            n += U1
                if symbol == NOTHING:
                    held = nodes[U4 * node + U3] >> U32
                    found[n_found] = pair
                    n_found += np.uint64(held != U0)
                    sizes[key] += held
                    continue
                one, child = ways & LOW, single >> U32
                before = n_next
                if one != U0:
                    prefetch(nodes, U4 * one)
                    then[n_next] = one << U8 | key
                    n_next += U1
                if single & LOW == symbol:
                    prefetch(nodes, U4 * child)
                    then[n_next] = child << U8 | key
                    n_next += U1
                asking[asks] = pair
                asks += np.uint64(filtered & keys[line + BIT] != U0)
                keys[line + LEVEL] = level if n_next != before else keys[line + LEVEL]
            for j in range(asks):
                pair = asking[j]
                line = U8 * (pair & KEY)
                prefetch(edges, U2 * edge_slot(pair >> U8, keys[line + SYMBOL], edge_shift))
            for j in range(asks):
                pair = asking[j]
                line = U8 * (pair & KEY)
                wanted = pair >> U8 << U32 | keys[line + SYMBOL]
                slot = wanted * MIX >> edge_shift
                while edges[U2 * slot] != wanted and edges[U2 * slot] != U0:
                    slot = (slot + U1) & edge_mask
                if edges[U2 * slot] == wanted:
                    if n_next >= room:
                        return GROW_PAIRS
                    child = edges[U2 * slot + U1]
                    prefetch(nodes, U4 * child)
                    then[n_next] = child << U8 | pair & KEY
                    n_next += U1
                    keys[line + LEVEL] = level
            now, then = then, now
            n = n_next
        # The bindings of the nodes that were found are written, key by key.
        used = np.uint64(out_offsets[first])
        for i in range(count):
            size = sizes[i]
            sizes[i] = used
            used += size
            out_offsets[first + i + U1] = used
        if used > np.uint64(out.size):
            work.counts[1] = used
            return GROW_OUT
        for j in range(n_found):
            held = nodes[U4 * (found[j] >> U8) + U3]
            at = held & LOW
            place = sizes[found[j] & KEY]
            for i in range(held >> U32):
                out[place + i] = bindings[at + i]
            sizes[found[j] & KEY] += held >> U32
        row += np.int64(count)
    work.counts[0] = row
    return DONE


@inlined
def _enter(trie: Any, many: Any, key: Any, entered: Any, nested: Any) -> Any:
    """Tell whether a key enters a ``#`` node for the first time, and mark it as entered.

    Only a node below another ``#`` can be reached again: its number is not 0.
    """
    number = np.uint64(trie.numbers[many])
    at, bit = nested * key + (number >> np.uint64(6)), U1 << (number & U63)
    new = number == U0 or entered[at] & bit == U0
    entered[at] |= bit
    return new


@kernel
def _same(trie: Any, symbol: Any, data: Any, at: Any, size: Any) -> Any:
    """Tell whether a symbol's word, of over 8 bytes, is the one that begins at ``at``."""
    start = np.uint64(trie.starts[symbol])
    same = U0
    while same < size and trie.text[start + same] == data[at + same]:
        same += U1
    return same == size
