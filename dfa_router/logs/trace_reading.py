"""A part of a trace log as tables, whichever form its files have.

What a client publishes is a message; what a queue delivers is the same message once more. So who routes a log asks for
publications alone, and rows that could not be read are handed over in either case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.errors import MessagesError
from dfa_router.logs.blocks import BLANK, Block
from dfa_router.logs.lines import BLOCK_BYTES, blocks, open_piece
from dfa_router.logs.parts import TextPiece
from dfa_router.logs.trace_records import count_json, json_records
from dfa_router.logs.trace_text import count_text, last_beginning, record_blocks, text_records
from dfa_router.no_text import check_text

__all__ = ["FORMS", "form_of", "publication_counts", "trace_tables"]

FORMS = ("json", "text")
"""The forms of a trace log."""


def form_of(store: Any, path: str) -> str:
    """Return the form of a file, by how it begins, or else by what its first blocks hold.

    Raises :class:`MessagesError` for a file that is no trace, ``OSError`` and Arrow's errors.
    """
    with open_piece(store, TextPiece(path, 0, None, 0, 0)) as file:
        head = bytes(file.read(BLOCK_BYTES))
    check_text(path, head)
    begins = head.removeprefix(b"\xef\xbb\xbf").strip(BLANK)
    if not begins or begins.startswith(b"{"):
        return "json"
    if begins.startswith(b"=" * 80) or last_beginning(head) is not None:
        return "text"
    if b'\n{"' in head and b'"routing_keys":' in head:  # its first line was cut
        return "json"
    raise MessagesError(
        f"{path}: is no trace log of RabbitMQ: it begins with {begins[:40].decode(errors='replace')!r}; expected what the "
        "plugin rabbitmq_tracing writes"
    )


def trace_tables(store: Any, piece: TextPiece, *, published: bool) -> Iterator[tuple[Block, pa.Table]]:
    """Yield the blocks of a piece, whose only name is the form of its file, and their columns.

    ``published`` leaves out what queues delivered; the block's rows and marks are then those of the rest.
    """
    text = piece.names == ("text",)
    for data in record_blocks(store, piece) if text else blocks(store, piece):
        block, table = text_records(data) if text else json_records(data)
        yield _publications(block, table) if published else (block, table)


def _publications(block: Block, table: pa.Table) -> tuple[Block, pa.Table]:
    kept = pc.fill_null(pc.not_equal(table["type"], "received"), True)
    rows = pc.sum(kept).as_py() or 0
    if rows == len(table):
        return block, table
    places = np.cumsum(kept.to_numpy()) - 1
    mask = kept.to_numpy()
    marks = tuple(mark._replace(row=int(places[mark.row])) for mark in block.marks if mask[mark.row])
    return Block(block.data, rows, marks), table.filter(kept)


def publication_counts(store: Any, piece: TextPiece) -> Iterator[int]:
    """Yield how many rows :func:`trace_tables` gives for each block of a piece without deliveries, at less cost."""
    text = piece.names == ("text",)
    return map(count_text, record_blocks(store, piece)) if text else map(count_json, blocks(store, piece))
