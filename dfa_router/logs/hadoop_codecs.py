r"""Files of text that are compressed by codecs of Hadoop's own form: Spark reads these, and nothing else of that name.

Hadoop writes blocks with the numbers of their bytes in front. What ``lz4`` and ``snzip`` write has the same ending and another
form. Spark would take its first bytes for numbers, ask for gigabytes and die of it, so whoever hands it files looks first.
Of the other form Arrow reads LZ4's.
"""

from __future__ import annotations

from dfa_router.errors import MessagesError
from dfa_router.logs.listing import files_of
from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.stores import STORE_ERRORS, Found, Place, is_pattern, place_of

__all__ = ["check_codecs", "is_left_to_spark"]

_FRAMED = {".lz4": b"\x04\x22\x4d\x18", ".snappy": b"\xff\x06\x00\x00sNaPpY"}
"""How files begin that are not of Hadoop's form."""
_PLAIN = ".deflate"
"""The ending of files without blocks."""


def is_left_to_spark(place: Place, file: Found) -> bool:
    """Tell whether Spark has to read a file, if anybody can; raises ``OSError`` and ``pa.ArrowException``."""
    ending = _ending(file)
    return ending in {_PLAIN, ".snappy"} or (ending == ".lz4" and not _head(place, file).startswith(_FRAMED[ending]))


def check_codecs(messages: str) -> None:
    """Raise :class:`MessagesError` for a file of a log that Spark could not decompress, as far as Arrow reaches it."""
    try:
        place = place_of(messages)
        files = [] if place is None else files_of(place, pattern=is_pattern(messages))
        wrong = [
            file for file in files if place is not None and _ending(file) in _FRAMED and not _is_hadoops(place, file)
        ]
    except (OtherWayError, *STORE_ERRORS):
        return  # Spark tells what it is that cannot be read
    if wrong:
        raise MessagesError(
            f"{wrong[0].path}: is compressed, but not in the form of Hadoop's, which is all that Spark reads of {_ending(wrong[0])}: "
            "decompress it, or compress it with gzip or zstd"
        )


def _is_hadoops(place: Place, file: Found) -> bool:
    head = _head(place, file)
    if head.startswith(_FRAMED[_ending(file)]):
        return False
    # The bytes of a block when it is decoded, those of its first chunk as it is stored, and the chunk.
    return len(head) < 8 or int.from_bytes(head[4:8], "big") <= file.size - 8


def _head(place: Place, file: Found) -> bytes:
    with place.store.open_input_file(file.path) as opened:
        return bytes(opened.read(16))


def _ending(file: Found) -> str:
    return next((ending for ending in (*_FRAMED, _PLAIN) if file.path.lower().endswith(ending)), "")
