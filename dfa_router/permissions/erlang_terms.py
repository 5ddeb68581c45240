"""Files of Erlang terms: tuples, lists, atoms, texts and whole numbers, each term with a full stop behind it.

What this leaves out, and refuses with its line: floats, maps, characters such as ``$a``, escapes by number, and everything
that has to be computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dfa_router.errors import InputError

__all__ = ["Atom", "Term", "read_terms"]


@dataclass(frozen=True, slots=True)
class Atom:
    """A bare word, such as ``allow``."""

    name: str


Term = Atom | str | int | tuple["Term", ...] | list["Term"]
"""A tuple is a tuple, a list a list, a text or a binary a str."""

_TOKEN = re.compile(
    r"""(?P<skip>(?:\s|%[^\n]*)+)
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<atom>[a-z][\w@]*|'(?:[^'\\]|\\.)*')
    |(?P<number>-?\d+)(?![\d.]*\.\d|\#)
    |(?P<opened><<|[{\[])
    |(?P<closed>(?:/utf8\s*)?>>|[}\]])
    |(?P<comma>,)
    |(?P<stop>\.(?=\s|%|$))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "e": "\x1b", '"': '"', "'": "'", "\\": "\\"}
_CLOSED_BY = {"{": "}", "[": "]", "<<": ">>"}
_DEEPEST = 50


def read_terms(text: str, source: str) -> Iterator[tuple[int, Term]]:
    r"""Yield each term with the line on which it begins; raises ``InputError`` with the line and what is expected there.

    >>> list(read_terms('%% who\n{allow, {user, "ann"}, all, [<<"a/#">>]}.', "acl.conf"))
    [(2, (Atom(name='allow'), (Atom(name='user'), 'ann'), Atom(name='all'), ['a/#']))]
    """
    reader = _Reader(text, source)
    while reader.kind != "end":
        line = reader.line
        term = reader.term(0)
        if reader.kind != "stop":
            raise reader.refused("a full stop behind the term, '.'")
        reader.advance()
        yield line, term


class _Reader:
    """Reads tokens one by one; ``kind`` and ``value`` are those of the next."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.at, self.line = 0, 1
        self.kind, self.value = "", ""
        self.advance()

    def advance(self) -> None:
        self.line += self.value.count("\n")
        while True:
            if self.at == len(self.text):
                self.kind, self.value = "end", ""
                return
            found = _TOKEN.match(self.text, self.at)
            if found is None:
                self.kind, self.value = "other", self.text[self.at]
                raise self.refused("a tuple, a list, an atom, a text in double quotes or a whole number")
            self.at = found.end()
            self.kind, self.value = str(found.lastgroup), found[0]
            if self.kind != "skip":
                return
            self.line += self.value.count("\n")

    def term(self, depth: int) -> Term:
        if depth > _DEEPEST:
            raise self.refused(f"at most {_DEEPEST} terms within each other")
        kind, value = self.kind, self.value
        if kind == "opened":
            return self._listed(value, depth)
        if kind == "atom":
            found: Term = Atom(self._unescaped(value[1:-1]) if value.startswith("'") else value)
        elif kind == "text":
            found = self._unescaped(value[1:-1])
        elif kind == "number":
            found = int(value)
        else:
            raise self.refused("a term")
        self.advance()
        return found

    def _listed(self, opened: str, depth: int) -> Term:
        closing = _CLOSED_BY[opened]
        parts: list[Term] = []
        self.advance()
        while not self._closes(closing):
            parts.append(self.term(depth + 1))
            if self.kind == "comma":
                self.advance()
                if not self._closes(closing):
                    continue
                raise self.refused("a term behind the comma")
            if not self._closes(closing):
                raise self.refused(f"',' or {closing!r}")
        if opened == "<<":
            if [type(one) for one in parts] not in ([], [str]):
                raise self.refused('one text in a binary, as in <<"a/b">>')
            self.advance()
            return "".join(map(str, parts))
        self.advance()
        return tuple(parts) if opened == "{" else parts

    def _closes(self, closing: str) -> bool:
        return self.kind == "closed" and self.value.endswith(closing)

    def _unescaped(self, inner: str) -> str:
        def plain(found: re.Match[str]) -> str:
            if found[1] not in _CONTROL:
                raise self.refused(rf"one of the escapes \n \t \r \s \e \" \' \\ and not {found[0]}")
            return _CONTROL[found[1]]

        return _ESCAPE.sub(plain, inner)

    def refused(self, expected: str) -> InputError:
        shown = self.value[:40] if self.kind != "end" else "the end of the file"
        return InputError(f"{self.source}:{self.line}: found {shown!r}, expected {expected}: correct it there")
