r"""Erlang's terms as its ``io:format("~p", ...)`` prints them: what a trace log of the text form holds in brackets.

``[<<"a.b">>,<<97,0>>]`` is a list of two binaries, of which the second has bytes that are no text, so that its numbers stand there.
Binaries become bytes, tuples become tuples, atoms :class:`Atom`. A long binary is broken into several texts, one a line.

What this leaves out: terms that a broker puts in no trace (references, processes, functions, maps, strings that are lists).
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["Atom", "TermError", "read_term"]

DEEPEST = 200
"""Lists and tuples within each other; Python's own stack would bear a thousand."""

_BLANK = re.compile(rb"\s*")
_BETWEEN = re.compile(rb"\s*+(,?)\s*+")
_TEXT = re.compile(rb'"((?:[^"\\]|\\.)*)"(/utf8)?', re.DOTALL)
_BYTE = re.compile(rb"\d+")
_NUMBER = re.compile(rb"-?\d+(\.\d+(?:e[+-]?\d+)?)?")
_ATOM = re.compile(rb"[a-z][\w@]*|'(?:[^'\\]|\\.)*'")
_PLAIN_LIST = re.compile(rb'\[(?:<<"[^"\\]*">>,?\s*)*\]')
_PLAIN_BINARY = re.compile(rb'<<"([^"\\]*)">>')
_PLAIN_FIELD = re.compile(
    rb'\{<<"([^"\\]*+)">>,\s*+([a-z][\w@]*+),\s*+(?:<<"([^"\\]*+)">>|(-?\d{1,18}+)|([a-z][\w@]*+))\}\s*+(,?)\s*+'
)
"""Most entries of tables: a name, a type, and a value that holds no others. It never goes back, so what is none costs once more at most."""
_ESCAPE = re.compile(rb"\\(x\{[0-9a-fA-F]+\}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {
    b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v", b"b": b"\b", b"f": b"\f", b"e": b"\x1b", b"s": b" ", b"d": b"\x7f"
}  # fmt: skip


class TermError(ValueError):
    """The bytes are no term; the text says where and what was expected."""


class Atom(str):
    """An atom, such as ``true`` or ``longstr``."""

    __slots__ = ()


def read_term(data: bytes, place: int = 0) -> tuple[Any, int]:
    r"""Return the term that begins at a place, and where it ends; raises :class:`TermError`.

    >>> read_term(rb'[{<<"n">>,signedint,5},{<<"s">>,longstr,<<"a\"b">>}]')
    ([(b'n', 'signedint', 5), (b's', 'longstr', b'a"b')], 52)
    """
    plain = _PLAIN_LIST.match(data, place)
    if plain is not None:  # most are: a list of keys without anything that needs an escape
        return _PLAIN_BINARY.findall(plain[0]), plain.end()
    return _term(data, place, 0)


def _term(data: bytes, place: int, depth: int) -> tuple[Any, int]:
    first = data[place : place + 1]
    if first == b"<":
        return _binary(data, place)
    if first in {b"[", b"{"}:
        if depth == DEEPEST:
            raise TermError(f"lists and tuples nest deeper than {DEEPEST} at byte {place}")
        found, end = _several(data, place + 1, b"]" if first == b"[" else b"}", depth + 1)
        return (found if first == b"[" else tuple(found)), end
    number = _NUMBER.match(data, place)
    if number is not None:
        if len(number[0]) > 400:
            raise TermError(f"a number of {len(number[0])} digits at byte {place}")
        return (int(number[0]) if number[1] is None else float(number[0])), number.end()
    atom = _ATOM.match(data, place)
    if atom is not None:
        return Atom(atom[0].strip(b"'").decode(errors="replace")), atom.end()
    raise TermError(f"no term at byte {place}: {data[place : place + 20]!r}")


def _several(data: bytes, place: int, closing: bytes, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    place = _after_blank(data, place)
    while data[place : place + 1] != closing:
        field = _PLAIN_FIELD.match(data, place) if depth < DEEPEST else None
        if field is not None:
            name, kind, text, number, atom, comma = field.groups()
            value = text if text is not None else int(number) if number is not None else Atom(atom.decode())
            found.append((name, Atom(kind.decode()), value))
            place = field.end()
        else:
            value, place = _term(data, place, depth)
            found.append(value)
            between = _BETWEEN.match(data, place)
            assert between is not None, "an empty run of blanks is one, too"
            comma, place = between[1], between.end()
        if not comma and data[place : place + 1] != closing:
            raise TermError(f"expected ',' or {closing.decode()!r} at byte {place}: {data[place : place + 20]!r}")
    return found, place + 1


def _binary(data: bytes, place: int) -> tuple[bytes, int]:
    begun = place
    place += 2
    pieces: list[bytes] = []
    while data[place : place + 2] != b">>":
        text = _TEXT.match(data, place)
        if text is not None:
            pieces.append(_unescaped(text[1], wide=text[2] is not None))
            place = text.end()
        else:
            byte = _BYTE.match(data, place)
            if byte is None or len(byte[0]) > 3 or int(byte[0]) > 255:
                raise TermError(f"the binary at byte {begun} does not end")
            pieces.append(bytes([int(byte[0])]))
            place = byte.end()
        place = _after_blank(data, place)
        if data[place : place + 1] == b",":
            place = _after_blank(data, place + 1)
    return b"".join(pieces), place + 2


def _unescaped(text: bytes, *, wide: bool) -> bytes:
    def character(escape: re.Match[bytes]) -> bytes:
        said = escape[1]
        if said.startswith(b"x{"):
            code = int(said[2:-1], 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise TermError(f"an escape of no character: {said[:20]!r}")
            return chr(code).encode() if wide or code > 255 else bytes([code])
        if said.isdigit():
            return bytes([int(said, 8) & 255])
        return _ESCAPED.get(said, said)

    return _ESCAPE.sub(character, text) if b"\\" in text else text


def _after_blank(data: bytes, place: int) -> int:
    found = _BLANK.match(data, place)
    assert found is not None, "an empty run of blanks is one, too"
    return found.end()
