"""Columns of keys that are damaged in all ways, over memory beside which nobody may read: answers are right, or KeyTypeError.

It is run as a program, ``python -m tests.router.damaged plain``, as a fault ends the process; ``thorough`` behind it tries all there is.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dfa_router as dr
from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
from tests.compiler.guarded import guarded_buffer

BINDINGS = [("a.*", "x"), ("#.b", "y"), ("#", "z"), ("", "w")]
ROUTERS = [
    dr.compile(BINDINGS),
    dr.compile(BINDINGS, key_cache="on"),
    dr.compile(BINDINGS, engine="nfa"),
    dr.compile([("a/+", "x"), ("#", "z")], dialect="mqtt"),
]
SPECIFICATION = dr.compile(BINDINGS, engine="naive")
TEXTS = [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()]
ODD = [-(2**63), -(2**31), -1, 0, 1, 2, 3, 5, 8, 64, 2**15, 2**31 - 1, 2**31, 2**63 - 1]


def buffer(data: bytes, side: str) -> pa.Buffer:
    """Lay bytes before, or behind, memory that nobody may read; nothing at all is laid there as well."""
    room = guarded_buffer(len(data), side)
    room[:] = np.frombuffer(data, np.uint8)
    return pa.foreign_buffer(room.ctypes.data, len(data), room)


def numbers(values: list[int], kind: type[np.integer[Any]]) -> bytes:
    limits = np.iinfo(kind)
    whole: npt.NDArray[Any] = np.array([min(max(value, limits.min), limits.max) for value in values], kind)
    return whole.tobytes()


def asked(column: Any) -> None:
    """Match a column; what comes must be what the specification says of its rows."""
    for router in ROUTERS:
        try:
            found = router.match_batch(column).bindings().to_pylist()
        except dr.KeyTypeError:
            continue
        if router.dialect.name == "amqp":
            assert found == SPECIFICATION.match_batch(as_bytes(column)).bindings().to_pylist()


def as_bytes(column: Any) -> list[bytes | None]:
    """Return the rows of a column that is not damaged, whether they are UTF-8 or not."""
    if column.type in (pa.string_view(), pa.binary_view()):  # which Arrow reads one by one, and not those of null rows
        return [None if row is None else row.encode() if isinstance(row, str) else row for row in column.to_pylist()]
    if isinstance(column, pa.ChunkedArray):
        return [row for chunk in column.chunks for row in as_bytes(chunk)]
    if pa.types.is_dictionary(column.type) and column.type.value_type in (pa.string_view(), pa.binary_view()):
        keys = as_bytes(column.dictionary)
        return [None if place is None else keys[place] for place in column.indices.to_pylist()]
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    wide = pa.types.is_large_string(plain.type) or pa.types.is_large_binary(plain.type)
    rows: list[bytes | None] = plain.view(pa.large_binary() if wide else pa.binary()).to_pylist()
    return rows


@st.composite
def layouts(draw: Any, kind: Any) -> pa.Array:
    """Draw a column whose offsets ascend or do not, whose buffers are too short, and whose number of nulls is a lie."""
    side = draw(st.sampled_from(["before", "behind"]))
    wide = kind in (pa.large_string(), pa.large_binary())
    data = draw(st.sampled_from([b"", b"a.b", b"a.b.a.a\xff..b", b"a.b" * 50]))
    offsets = draw(st.lists(st.integers(0, len(data)), max_size=12).map(sorted))
    if draw(st.booleans()):
        place = draw(st.integers(0, len(offsets)))
        offsets[place : place + 1] = [draw(st.sampled_from(ODD))]
    rows = draw(st.sampled_from([max(0, len(offsets) - 1)] * 4 + [len(offsets), len(offsets) + 1, 0]))
    start = draw(st.sampled_from([0] * 4 + [1, 3]))
    valid = draw(st.sampled_from([None, b"\xff\xff", b"\x05\x00", b"\x01", b""]))
    return pa.Array.from_buffers(
        kind,
        max(0, rows - start),
        [
            None if valid is None else buffer(valid, side),
            buffer(numbers(offsets, np.int64 if wide else np.int32), side),
            buffer(data, side),
        ],
        null_count=draw(st.sampled_from([-1, -1, 0, 3])),
        offset=start,
    )


@st.composite
def views(draw: Any, kind: Any) -> pa.Array:
    """Draw a column of views, some of them damaged, those of null rows among them."""
    side = draw(st.sampled_from(["before", "behind"]))
    data = b"a.b" * 30
    rows = []
    for _ in range(draw(st.integers(1, 9))):
        size = draw(st.sampled_from([0, 3, 12, 13, 40, 90, 91, -1, -100, -(2**31), 2**31 - 1]))
        start = draw(st.sampled_from([0, 0, 3, 50, -3, 2**31 - 1]))
        inner = size in range(13)
        rest = (
            data[:size].ljust(12, b"\0")
            if inner
            else data[:4] + numbers([draw(st.sampled_from([0, 0, 1, -1])), start], np.int32)
        )
        rows.append(numbers([size], np.int32) + rest)
    valid = draw(st.sampled_from([None, b"\xff\xff", b"\x05\x00", b"\x00\x00", b"\xaa\x00"]))
    skipped = draw(st.sampled_from([0, 0, 1]))
    bits = None if valid is None else buffer(valid, side)
    return pa.Array.from_buffers(
        kind, len(rows) - skipped, [bits, buffer(b"".join(rows), side), buffer(data, side)], offset=skipped
    )


THOROUGH = "thorough" in sys.argv
"""Whether all is tried, or a fifth of it."""
drawn = settings(
    max_examples=600 if THOROUGH else 120,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize=True,
)


def made(build: Callable[[], Any]) -> Any:
    """Return a column, or None where Arrow itself refuses to make it."""
    try:
        return build()
    except (pa.ArrowInvalid, pa.ArrowIndexError, ValueError, OverflowError):
        return None


@drawn
@given(st.data(), st.sampled_from(TEXTS))
def plain_columns(data: Any, kind: Any) -> None:
    column = made(lambda: data.draw(layouts(kind)))
    if column is not None:
        asked(column)
        asked(column.slice(data.draw(st.integers(0, 3)), data.draw(st.integers(0, 9))))


@drawn
@given(st.data(), st.sampled_from(TEXTS), st.sampled_from([np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]))
def dictionary_columns(data: Any, kind: Any, width: type[np.integer[Any]]) -> None:
    side = data.draw(st.sampled_from(["before", "behind"]))
    chunks = []
    for _ in range(data.draw(st.integers(1, 3))):
        values = made(lambda: data.draw(layouts(kind)))
        indices = data.draw(st.lists(st.one_of(st.integers(0, 3), st.sampled_from(ODD)), max_size=9))
        valid = data.draw(st.sampled_from([None, b"\xff\xff", b"\x05\x00"]))
        buffers = [None if valid is None else buffer(valid, side), buffer(numbers(indices, width), side)]
        if values is None:
            continue
        index_type = pa.from_numpy_dtype(width)
        kinds = pa.dictionary(index_type, kind)
        column = made(partial(pa.DictionaryArray.from_buffers, kinds, len(indices), buffers, values))
        if column is not None:
            chunks.append(column)
            asked(column)
    if chunks:
        asked(pa.chunked_array(chunks))


TOPOLOGY = topology_of(
    exchanges=[Exchange(name="x", type="topic")],
    queues=[Queue(name="q")],
    bindings=[Binding(source="x", destination="q", routing_key="a.#")],
).compile()


@drawn
@given(st.data(), st.sampled_from([pa.string_view(), pa.binary_view()]))
def columns_of_views(data: Any, kind: Any) -> None:
    column = made(lambda: data.draw(views(kind)))
    if column is None:
        return
    exchanges = pa.array(["x"] * len(column))
    for form in (
        column,
        pa.chunked_array([column, column]),
        pa.DictionaryArray.from_arrays(pa.array(range(len(column)), pa.int32()), column),
    ):
        asked(form)
    with contextlib.suppress(dr.KeyTypeError):
        queues = TOPOLOGY.route_columns(exchanges, column).queues.to_pylist()
        assert queues == [
            ["q"] if key is not None and (key + b".").startswith(b"a.") else [] for key in as_bytes(column)
        ]


def attributes() -> None:
    """Headers and CC of messages whose offsets lead out of their memory, at any depth, or whose null rows have views of negative size."""
    topology = topology_of(
        exchanges=[Exchange(name="h", type="headers")],
        queues=[Queue(name="q")],
        bindings=[Binding(source="h", destination="q", routing_key="", arguments={"a": "1"})],
    ).compile()
    good, bad = [0, 1, 2, 3], [0, 1, 1 << 30, 3]

    def text(ends: list[int]) -> pa.Array:
        return pa.Array.from_buffers(
            pa.string(), 3, [None, pa.py_buffer(numbers(ends, np.int32)), pa.py_buffer(b"aaa")]
        )

    def lists(ends: list[int], values: pa.Array) -> pa.Array:
        return pa.Array.from_buffers(
            pa.list_(values.type), 3, [None, pa.py_buffer(numbers(ends, np.int32))], children=[values]
        )

    hidden = pa.py_buffer(numbers([0, 0, 0, 0, -100_000, 0, 0, 0, 0, 0, 0, 0], np.int32))
    views = pa.Array.from_buffers(pa.string_view(), 3, [pa.py_buffer(b"\x05"), hidden, pa.py_buffer(b"aaa")])
    ends = pa.array(good, pa.int32())
    damaged: list[dict[str, Any]] = [
        {"cc": lists(bad, text(good))},
        {"bcc": lists(good, text(bad))},
        {"cc": lists(good, views)},
        {"headers": text(bad)},
        {"headers": views},
        {"headers": pa.StructArray.from_arrays([text(bad)], ["a"])},
        {"headers": pa.StructArray.from_arrays([views], ["a"])},
        {"headers": pa.MapArray.from_arrays(ends, text(good), text(bad))},
        {"headers": pa.MapArray.from_arrays(ends, text(bad), text(good))},
        {"headers": pa.MapArray.from_arrays(ends, text(good), views)},
    ]
    for attribute in damaged:
        with pytest.raises(dr.KeyTypeError, match="damaged"):
            topology.route_columns(["h"] * 3, ["key"] * 3, **attribute)


def patched_files() -> None:
    """Change each 32 bits of a file to numbers that are odd for an offset, a length or an index."""
    plain = pa.array(["a.b", None, "", "longer-than-eight.b"] * 3)
    table = pa.table(
        {
            "plain": plain,
            "view": plain.cast(pa.string_view()),
            "dictionary": plain.dictionary_encode(),
            "l": plain.cast(pa.large_string()),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    whole = sink.getvalue().to_pybytes()
    read = 0
    for place in range(0, len(whole) - 3, 4 if THOROUGH else 20):
        for number in (-1, 2**31 - 1, 1 << 20, 7):
            file = bytearray(whole)
            file[place : place + 4] = np.int32(number).tobytes()
            try:
                columns = pa.ipc.open_stream(pa.py_buffer(bytes(file))).read_all().columns
            except (pa.ArrowException, OSError, ValueError):
                continue
            for column in columns:
                read += 1
                for router in ROUTERS[:3]:
                    with contextlib.suppress(dr.KeyTypeError):
                        router.match_batch(column)
    assert read > (1000 if THOROUGH else 200)


if __name__ == "__main__":
    {
        "plain": plain_columns,
        "dictionary": dictionary_columns,
        "views": columns_of_views,
        "attributes": attributes,
        "files": patched_files,
    }[sys.argv[1]]()
