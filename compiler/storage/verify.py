"""What must be true of an NFA from a file before a kernel may use it.

Kernels check no index. A checksum finds accidents, but whoever changes a file on purpose, or by an error in a program,
can recompute it. So everything that kernels rely on is checked here:

* offsets ascend and end where they should; every index is in range;
* the ranges of children make one tree, numbered level by level; labels ascend among siblings;
* no wildcard follows MANY (:func:`compiler.automata.pattern.normalize` ensures it, and subset construction relies on it);
* each binding's tag occurs once, the tags of a position ascend, and every leaf has one;
* no two literal words are equal, and each is used.

After these checks the automaton is well formed, but it may still be that of other bindings. :func:`misspelt` finds the
bindings whose pattern differs from the path to their tag. If there are none, the automaton is that of the patterns.

All checks are arithmetic on whole arrays: about a second for a million bindings, a millisecond for a thousand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.automata.nfa import MANY, OTHER, RESERVED, Nfa
from compiler.automata.paths import parents_of
from compiler.errors import Defect

__all__ = ["ascends", "flaws", "misspelt", "repeated"]

Array = npt.NDArray[Any]

_IMPOSSIBLE = 1 << 40
"""The length of a token that cannot occur, such as a wildcard that the dialect does not have: no pattern is that long."""
_HASHED = 256
"""How many bytes at the beginning of a word go into its hash; words with equal hashes are compared as a whole."""
_DEEP = 256
"""The most tokens of a pattern that is compared here: the caller compares longer ones one by one, as steps on whole arrays
are slow for a few rows."""
_BATCH, _BATCH_BYTES = 1 << 16, 1 << 20
"""The most bindings, and the most bytes of patterns, that are compared together; either takes about 40 bytes of memory
each."""


def ascends(offsets: Array, end: int) -> bool:
    """Tell whether offsets begin at 0, never descend and end at ``end``."""
    return bool(len(offsets) and offsets[0] == 0 and offsets[-1] == end and np.all(offsets[1:] >= offsets[:-1]))


def flaws(nfa: Nfa) -> Iterator[tuple[Defect, str, str]]:
    """Check an NFA: yield each problem as its defect, the array's name and a text.

    Every check relies on those before it, so the caller must stop at the first problem.

    >>> from compiler import build_nfa
    >>> list(flaws(build_nfa([[b"a", b"b"]])))
    []
    """
    n, words, bindings = len(nfa.labels), len(nfa.symbols.offsets) - 1, len(nfa.tags)
    if n < 1:
        yield Defect.SECTION, "labels", "it is empty: expected the root at least"
    for name, array in (("children", nfa.children), ("tag_offsets", nfa.tag_offsets)):
        if len(array) != n + 1:
            yield Defect.SECTION, name, f"it has {len(array)} items, expected {n + 1}, one more than positions"
    if not ascends(nfa.symbols.offsets, len(nfa.symbols.data)):
        yield Defect.OFFSETS, "word_offsets", f"expected offsets that ascend from 0 to {len(nfa.symbols.data)}"
    if not ascends(nfa.tag_offsets, bindings):
        yield Defect.OFFSETS, "tag_offsets", f"expected offsets that ascend from 0 to {bindings}"
    # Positions are numbered from 0. A tree is numbered level by level if the parents of ascending positions ascend and
    # each parent comes before its children.
    roots = 2 if nfa.reserved else 1
    if nfa.children[0] != roots or nfa.children[-1] != n or np.any(nfa.children[1:] < nfa.children[:-1]):
        yield Defect.TREE, "children", f"expected offsets that ascend from {roots} to {n}"
    if np.any(nfa.children[roots - 1 : -1] <= np.arange(roots - 1, n)):
        yield Defect.TREE, "children", "a position comes before its parent"
    yield from _label_flaws(nfa, words)
    yield from _tag_flaws(nfa, bindings)
    yield from _word_flaws(nfa, words)


def _label_flaws(nfa: Nfa, words: int) -> Iterator[tuple[Defect, str, str]]:
    labels, roots = nfa.labels, len(nfa.roots)
    if np.any(labels[:roots] != OTHER):
        yield Defect.LABELS, "labels", f"a root's is not {OTHER}"
    entered = labels[roots:]
    if np.any(entered < MANY) or np.any(entered == OTHER) or np.any(entered > words):
        yield Defect.LABELS, "labels", f"one is none of the {words} literal words and no wildcard"
    firsts = np.zeros(len(labels) + 1, np.bool_)
    firsts[nfa.children] = True
    if np.any((entered[1:] <= entered[:-1]) & ~firsts[roots + 1 : -1]):
        yield Defect.LABELS, "labels", "those of siblings do not ascend"
    if nfa.reserved:
        below = labels[nfa.children[RESERVED] : nfa.children[RESERVED + 1]]
        if np.any(below < OTHER):
            yield Defect.LABELS, "labels", f"a wildcard begins a pattern of keys that begin with {nfa.reserved!r}"
        starts, data = nfa.symbols.offsets, nfa.symbols.data
        for root in nfa.roots:
            here = labels[nfa.children[root] : nfa.children[root + 1]]
            here = here[here > OTHER]
            apart = starts[here] > starts[here - 1]
            apart[apart] = data[starts[here - 1][apart]] == nfa.reserved[0]
            if np.any(apart != (root == RESERVED)):
                yield Defect.LABELS, "labels", "a literal word begins patterns at the wrong root"
    # Children are ordered with wildcards first, so it is enough to look at the first child of each MANY.
    many = np.flatnonzero(labels == MANY)
    many = many[nfa.children[many] < nfa.children[many + 1]]
    if np.any(labels[nfa.children[many]] < OTHER):
        yield Defect.LABELS, "labels", "a wildcard follows the one for any number of words"


def _tag_flaws(nfa: Nfa, bindings: int) -> Iterator[tuple[Defect, str, str]]:
    tags = nfa.tags
    if np.any(tags < 0) or np.any(tags >= bindings):
        yield Defect.TAGS, "tags", f"one is none of the {bindings} bindings"
    seen = np.zeros(bindings, np.bool_)
    seen[tags] = True
    if not np.all(seen):
        yield Defect.TAGS, "tags", "one occurs twice, and another not at all"
    firsts = np.zeros(bindings + 1, np.bool_)
    firsts[nfa.tag_offsets] = True
    if np.any((tags[1:] <= tags[:-1]) & ~firsts[1:-1]):
        yield Defect.TAGS, "tags", "those of a position do not ascend"
    leaves = nfa.children[1:] == nfa.children[:-1]
    leaves[: len(nfa.roots)] = False
    if np.any(leaves & (nfa.tag_offsets[1:] == nfa.tag_offsets[:-1])):
        yield Defect.TAGS, "tag_offsets", "no pattern ends at a leaf"
    if nfa.reserved and nfa.tag_offsets[RESERVED] != nfa.tag_offsets[RESERVED + 1]:
        # Only the pattern without words ends at a root, and the key without words begins at the first.
        yield Defect.TAGS, "tag_offsets", f"a pattern ends where keys that begin with {nfa.reserved!r} begin"


def _word_flaws(nfa: Nfa, words: int) -> Iterator[tuple[Defect, str, str]]:
    used = np.zeros(words + 1, np.bool_)
    used[nfa.labels[nfa.labels > OTHER]] = True
    if not np.all(used[1:]):
        yield Defect.WORDS, "word_offsets", "a literal word occurs in no pattern"
    if repeated(nfa.symbols.data, nfa.symbols.offsets.astype(np.int64)):
        yield Defect.WORDS, "word_data", "a literal word occurs twice"


def repeated(data: Array, offsets: Array) -> bool:
    """Tell whether two words are equal: sort them by a hash of length and first bytes, and compare those of equal hash."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    padded = np.concatenate((data, np.zeros(8, np.uint8)))
    # The eight bytes from each place on, as one number: item i overlaps item i + 1.
    eights = np.ndarray((len(data) + 1,), np.uint64, padded, strides=(1,))
    hashes = lengths.astype(np.uint64)
    rest = np.arange(len(lengths))
    at = 0
    while at < _HASHED and len(rest := rest[lengths[rest] > at]):
        left = np.minimum(lengths[rest] - at, 8)
        value = eights[starts[rest] + at] & _LOW_BYTES[left]
        mixed = (hashes[rest] ^ value) * _ODD
        hashes[rest] = mixed ^ (mixed >> np.uint64(29))
        at += 8
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    alike = np.zeros(len(order) + 1, np.bool_)
    alike[1:-1] = ordered[1:] == ordered[:-1]
    doubtful = order[alike[1:] | alike[:-1]].tolist()
    return len({data[offsets[word] : offsets[word + 1]].tobytes() for word in doubtful}) < len(doubtful)


_ODD = np.uint64(0x9E3779B97F4A7C15)
_LOW_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


def misspelt(
    nfa: Nfa,
    data: Array,
    offsets: Array,
    *,
    separator: bytes,
    one: bytes | None,
    many: bytes | None,
    special: Collection[bytes] = (),
) -> dict[int, int]:
    """Return the bindings whose pattern may differ from the path to their tag, each with the position of its tag.

    Pattern b is ``data[offsets[b]:offsets[b + 1]]``, and is compared byte by byte with the spelling of the path; the NFA
    must have no flaws. The result includes patterns that may be right, and that the caller must compare token by token:
    those that were normalised, those of over 256 tokens or a million bytes, and those with one of the ``special`` words,
    which need not be literal words where they stand.

    >>> from compiler import Wildcard, build_nfa
    >>> nfa = build_nfa([[b"a", b"b"], [b"a", Wildcard.MANY]])
    >>> text = np.frombuffer(b"a.ba.c", np.uint8)
    >>> misspelt(nfa, text, np.array([0, 3, 6]), separator=b".", one=b"*", many=b"#")
    {1: 2}
    """
    offsets_of_words = nfa.symbols.offsets.astype(np.int64)
    # In the order of labels from MANY up. If both wildcards were spelt alike, the token would be MANY.
    wildcards = [many, None if one == many else one, None]
    spelt = [b"" if one_of is None else one_of for one_of in wildcards]
    begins = np.cumsum([0, *(len(text) for text in spelt)])
    lengths = np.concatenate(([len(text) for text in spelt], np.diff(offsets_of_words)))
    lengths[[i for i, text in enumerate(wildcards) if text is None or separator in text]] = _IMPOSSIBLE
    lengths[3:][_no_words(nfa, separator, (one, many, *special))] = _IMPOSSIBLE
    tokens = (
        np.concatenate((np.frombuffer(b"".join(spelt), np.uint8), nfa.symbols.data)),
        np.concatenate((begins[:-1], offsets_of_words[:-1] + begins[-1])),
        lengths,
    )
    parents = parents_of(nfa)
    ends = np.empty(len(nfa.tags), np.int32)
    ends[nfa.tags] = np.repeat(np.arange(len(nfa), dtype=np.int32), np.diff(nfa.tag_offsets))
    wrong: list[int] = []
    first = 0
    while first < len(ends):
        fitting = int(np.searchsorted(offsets, offsets[first] + _BATCH_BYTES, side="right")) - 1
        rows = np.arange(first, min(first + _BATCH, fitting, len(ends)))
        wrong += _misspelt(rows, ends, nfa, parents, tokens, (data, offsets), separator[0]) if len(rows) else [first]
        first += max(1, len(rows))
    return {binding: int(ends[binding]) for binding in wrong}


def _misspelt(
    rows: Array,
    ends: Array,
    nfa: Nfa,
    parents: Array,
    spelt: tuple[Array, Array, Array],
    patterns: tuple[Array, Array],
    separator: int,
) -> list[int]:
    """Return the rows whose pattern differs from the path to its tag.

    All patterns are read backwards, one token at a time, while ``at`` goes from their tags up to the root. ``spelt`` has
    the bytes of all tokens, and by label + 2 the offset and the length of each.
    """
    tokens, starts, lengths = spelt
    data, offsets = patterns
    labels, roots = nfa.labels, len(nfa.roots)
    wrong = np.zeros(len(rows), np.bool_)
    at, stop, begin = ends[rows], offsets[rows + 1].astype(np.int64), offsets[rows].astype(np.int64)
    wrong[(at < roots) & (stop > begin)] = True
    left = np.flatnonzero(at >= roots)
    wrong[left[stop[left] == begin[left]]] = True  # an empty pattern has no words, not an empty one
    left = left[stop[left] > begin[left]]
    for _ in range(_DEEP):
        label = labels[at[left]] + 2
        length = lengths[label]
        start = stop[left] - length
        fits = start >= begin[left]
        wrong[left[~fits]] = True
        left, label, length, start = left[fits], label[fits], length[fits], start[fits]
        # The bytes of all tokens of this step in one row, and where each token begins in it.
        behind = np.cumsum(length)
        byte = np.arange(int(behind[-1]) if len(behind) else 0)
        shift = behind - length
        differs = (
            data[byte + np.repeat(start - shift, length)] != tokens[byte + np.repeat(starts[label] - shift, length)]
        )
        if np.any(differs):
            wrong[left[np.repeat(np.arange(len(left)), length)[differs]]] = True
        at[left] = parents[at[left]]
        arrived = at[left] < roots
        wrong[left[arrived & (start > begin[left])]] = True
        left, start = left[~arrived], start[~arrived]
        inside = start > begin[left]
        wrong[left[~inside]] = True
        left, start = left[inside], start[inside]
        wrong[left[data[start - 1] != separator]] = True
        stop[left] = start - 1
        left = left[~wrong[left]]
        if not len(left):
            break
    wrong[left] = True
    found: list[int] = rows[wrong].tolist()
    return found


def _no_words(nfa: Nfa, separator: bytes, special: Iterable[bytes | None]) -> list[int]:
    """Return the literal words that a pattern cannot contain: special words, and words with the separator in them."""
    data, offsets = nfa.symbols.data, nfa.symbols.offsets
    split = np.searchsorted(offsets, np.flatnonzero(data == separator[0]), side="right") - 1
    lengths = np.diff(offsets)
    found = set(split.tolist())
    for wildcard in special:
        if wildcard is not None:
            candidates = np.flatnonzero(lengths == len(wildcard))
            for k, byte in enumerate(wildcard):
                candidates = candidates[data[offsets[candidates] + k] == byte]
            found.update(candidates.tolist())
    return sorted(found)
