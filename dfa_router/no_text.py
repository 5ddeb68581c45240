"""Files that are no text in UTF-8, recognised by how they begin, and what to do with them.

People point commands at a compressed file, at one of another format, or at what PowerShell's ``>`` wrote. Read as text, such files give
nonsense, and errors that speak of it.
"""

from __future__ import annotations

from typing import NamedTuple

from dfa_router.errors import MessagesError

__all__ = ["check_header", "check_text", "no_text"]


class _Kind(NamedTuple):
    """A kind of file."""

    what: str
    remedy: str
    ending: str | None = None
    """The end of a name by which readers of keys and messages take such a file as it is."""


_ICONV = "save it as UTF-8, or convert it: iconv -f {} -t UTF-8"

_KINDS = {
    b"\x1f\x8b": _Kind("compressed with gzip", "unpack it first (gunzip)", ".gz"),
    b"PK\x03\x04": _Kind("a zip archive", "unpack it first"),
    b"\x28\xb5\x2f\xfd": _Kind("compressed with zstd", "unpack it first (unzstd)", ".zst"),
    b"BZh91AY&SY": _Kind("compressed with bzip2", "unpack it first (bunzip2)", ".bz2"),
    b"\xfd7zXZ\x00": _Kind("compressed with xz", "unpack it first (unxz)"),
    b"PAR1": _Kind("a Parquet file", "write text", ".parquet"),
    b"ARROW1": _Kind("a file of Arrow IPC", "write text, or Parquet where that is taken"),
    b"\xff\xfe": _Kind("UTF-16, as PowerShell's '>' writes it", _ICONV.format("UTF-16")),
    b"\xfe\xff": _Kind("UTF-16", _ICONV.format("UTF-16")),
}
"""By how they begin."""

_ERLANG = b"\x83"
"""How terms begin in Erlang's own format, and any key or line of a log may."""

_UNMARKED = (
    (slice(0, 8, 2), slice(1, 8, 2), _Kind("UTF-16 without a byte order mark", _ICONV.format("UTF-16LE"))),
    (slice(1, 8, 2), slice(0, 8, 2), _Kind("UTF-16 without a byte order mark", _ICONV.format("UTF-16BE"))),
)
"""Where each of the first characters, which are of ASCII in all that is read here, has its own byte, and where a zero."""


def no_text(raw: bytes, *, endings: bool = False) -> str | None:
    r"""Say what the bytes of a file are by their beginning, and what to do, where that is no text in UTF-8; None otherwise.

    ``endings`` is for files of keys and messages, which are read as their names say.

    >>> no_text(b"\x1f\x8b\x08")
    'is compressed with gzip: unpack it first (gunzip)'
    >>> no_text(b"\x1f\x8b\x08", endings=True)
    'is compressed with gzip: give it the ending .gz, or unpack it first (gunzip)'
    >>> no_text("exchange".encode("utf-16-le"))
    'is UTF-16 without a byte order mark: save it as UTF-8, or convert it: iconv -f UTF-16LE -t UTF-8'
    """
    if raw.startswith(_ERLANG) and not endings:
        return "looks like an export in Erlang's own format: export it again with '--format json'"
    kind = next((kind for begins, kind in _KINDS.items() if raw.startswith(begins)), None) or _unmarked(raw)
    if kind is None:
        return None
    named = f"give it the ending {kind.ending}, or " if endings and kind.ending is not None else ""
    return f"is {kind.what}: {named}{kind.remedy}"


def check_text(path: object, beginning: bytes) -> None:
    """Raise :class:`MessagesError` for a file of keys or messages that begins as no text does; of a compressed one, its content is asked."""
    if (meaning := no_text(beginning, endings=True)) is not None:
        raise MessagesError(f"{path}: {meaning}")


def check_header(path: object, beginning: bytes) -> None:
    """Do so for CSV, where zeros in front of what names the columns leave no header to read: not to Spark either."""
    check_text(path, beginning)
    if beginning.lstrip().startswith(b"\0"):
        raise MessagesError(
            f"{path}: its first line, which names the columns, begins with zeros, as a crash leaves them: remove them"
        )


def _unmarked(raw: bytes) -> _Kind | None:
    for own, zero, kind in _UNMARKED:
        if raw[zero] == bytes(4) and b"\0" not in raw[own] and raw[own].isascii():
            return kind
    return None
