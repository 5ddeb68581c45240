"""A folder of trace logs that grow: how far each can be read, so that nothing is read twice and nothing in halves.

A file of the JSON form can be read up to its last line end. In the text form a record has no end of its own: it is complete when
the next one begins, so the last record of a file waits for that.

An offset says of each file how far it was read and how the file begins. A file that begins otherwise, or is shorter than what was read
of it, is another one under the old name, and is read from its beginning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from dfa_router.errors import MessagesError
from dfa_router.logs.blocks import BLANK
from dfa_router.logs.lines import BLOCK_BYTES, CODECS
from dfa_router.logs.parts import TextPiece
from dfa_router.logs.stores import Place, found
from dfa_router.logs.trace_reading import form_of
from dfa_router.logs.trace_text import LONGEST_BEGINNING, last_beginning

__all__ = ["Offset", "check_length", "ends_of", "pieces_between"]

Offset = dict[str, list[Any]]
"""For each path: how far it was read, its form, how many bytes of its beginning are known, and their digest."""

HEAD_BYTES = 512
"""Bytes by which a file is told from another one of its name: the first record has a time and a connection."""
PIECE_BYTES = 32 << 20

_log = logging.getLogger(__name__)


def ends_of(place: Place, *, pattern: bool) -> Offset:
    """Return how far each file at a place can be read; a compressed one, which does not grow, is refused.

    Raises :class:`MessagesError` for a file that is no trace, ``OSError`` and Arrow's errors.
    """
    ends: Offset = {}
    for file in found(place, pattern=pattern):
        if file.path.lower().endswith(tuple(CODECS)):
            raise MessagesError(
                f"{file.path}: is compressed, and cannot be followed as it grows; read it without a stream"
            )
        with place.store.open_input_file(file.path) as opened:
            size = opened.size()
            head = bytes(opened.read(HEAD_BYTES))
            if not head.strip(BLANK):
                continue
            try:
                form = form_of(place.store, file.path)
            except MessagesError:
                if size > HEAD_BYTES:
                    raise
                continue  # its first record may be half written
            end = _last_line(opened, size) if form == "json" else _last_record(opened, size)
        known = min(end, len(head))
        if end:
            ends[file.path] = [end, form, known, _digest(head[:known])]
    return dict(sorted(ends.items()))


def pieces_between(place: Place, start: Mapping[str, Any], end: Mapping[str, Any]) -> Iterator[TextPiece]:
    """Yield what lies between two offsets of a place, in pieces of at most :data:`PIECE_BYTES`.

    Raises what :func:`check_length` does, and ``OSError``.
    """
    for path, (last, form, *_) in sorted(end.items()):
        if start.get(path) == end[path]:  # nothing was added, so it may be gone by now
            continue
        check_length(place.store, path, last)
        first = 0
        if path in start:
            first, _, known, digest = start[path]
            with place.store.open_input_file(path) as opened:
                same = _digest(bytes(opened.read(known))) == digest
            if not same or last < first:
                _log.warning("%s: is another file than before, and is read from its beginning", path)
                first = 0
        for begin in range(first, last, PIECE_BYTES):
            yield TextPiece(path, begin, min(begin + PIECE_BYTES, last), 0, 0, (form,))


def check_length(store: Any, path: str, least: int) -> None:
    """Raise :class:`MessagesError` for a file that has not as many bytes any more as were seen in it, or is gone."""
    size = store.get_file_info(path).size
    if size is None or size < least:
        raise MessagesError(
            f"{path}: {'is not there any more' if size is None else 'was cut while it was read'}; start with a new checkpoint to read "
            "what is there now"
        )


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _last_line(opened: Any, size: int) -> int:
    """Return where the last line that has an end ends."""
    place = size
    while place:
        first = max(0, place - BLOCK_BYTES)
        opened.seek(first)
        cut = bytes(opened.read(place - first)).rfind(b"\n")
        if cut >= 0:
            return first + cut + 1
        place = first
    return 0


def _last_record(opened: Any, size: int) -> int:
    """Return where the last record begins, which ends the one before."""
    place = size
    while place:
        first = max(0, place - BLOCK_BYTES)
        opened.seek(first)
        found_at = last_beginning(bytes(opened.read(min(size, place + LONGEST_BEGINNING) - first)))
        if found_at is not None:
            return first + found_at
        place = first
    return 0
