"""Small batches at the Arrow boundary: keys that go to the engine without a column being made of them.

To make a column of one key, check it and cut it takes 15 us, and matching the key one. So the keys of a short list are
joined to one text, and those of a short Arrow array are read by the engine where they lie, which checks their offsets itself.

What this leaves out, and :mod:`dfa_router.arrow` does: everything out of the ordinary. That are null keys, text that is no
UTF-8, columns of several chunks, dictionaries, views, other libraries, and all errors: whatever is wrong with keys is said
there.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from compiler.values import FEW, SetBatch
from dfa_router.engines.protocol import FewMatcher

__all__ = ["few_keys"]

_WIDTHS = {pa.StringArray: 4, pa.BinaryArray: 4, pa.LargeStringArray: 8, pa.LargeBinaryArray: 8}
"""The bytes of an offset in arrays of these types."""


def few_keys(engine: FewMatcher, keys: Any) -> SetBatch | None:
    """Match a list or an Arrow array of few keys; return None for keys that must go the way of columns.

    >>> from compiler.automata.nfa import build_nfa
    >>> from compiler.machine.lazy import LazyDfa
    >>> engine = LazyDfa(build_nfa([[b"a"]]), b".", 1 << 20)
    >>> few_keys(engine, ["a", "b"]).set_ids.tolist(), few_keys(engine, ["a", None])
    ([0, 1], None)
    """
    if type(keys) is list:
        count = len(keys)
        if not 0 < count <= FEW:
            return None
        try:
            joined = "\0".join(keys).encode()
        except (TypeError, UnicodeEncodeError):  # bytes and None, or what is no key at all
            return None
        return engine.match_joined(joined, count)
    if type(keys) is pa.ChunkedArray and keys.num_chunks == 1:
        keys = keys.chunk(0)
    width = _WIDTHS.get(type(keys))
    if width is None:
        return None
    count = len(keys)
    if not 0 < count <= FEW:
        return None
    valid, offsets, data = keys.buffers()
    if offsets is None or (valid is not None and (8 * valid.size < keys.offset + count or keys.null_count)):
        return None
    return engine.match_memory(offsets, data, keys.offset, count, width)
