"""NATS' configuration files: maps, lists and texts, with variables and comments, each value with its line.

``key: value``, ``key = value`` and ``key value`` say the same; values of a map end with a line, a comma or a semicolon, those of
a list with a line or a comma. ``# ...`` and ``// ...`` are comments. ``$NAME`` is the value of that key in this map or one around
it, as far as it was read, or of the environment.

Source: the server's documentation of the format, and the server, asked with ``nats-server -t``. What this leaves out: numbers,
truth values and dates are texts here; blocks in parentheses and ``include`` are refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dfa_router.errors import InputError

__all__ = ["Value", "read_nats_config"]


@dataclass(frozen=True, slots=True)
class Value:
    """A text, a list of values, or a map of them by key, and the line on which it begins."""

    content: str | list[Value] | dict[str, Value]
    line: int
    text: bool = True
    """Whether a text is one to the server as well, and no number or truth value."""


_BLANK, _LINES = re.compile(r"[ \t]*"), re.compile(r"(?:\s|#[^\n]*|//[^\n]*)*")
_KEY = re.compile(r"""(?:"([^"]*)"|'([^']*)'|([^\s:=]+))\s*[:=]?\s*""")
_BARE = re.compile(r"[^\s;,\]}]+")
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([kmg]b?)?|true|false|on|off|yes|no|\d{4}-\d\d-\d\dT[\d:]+Z", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_DEEPEST = 50


def read_nats_config(text: str, source: str, environment: Mapping[str, str] = os.environ) -> Value:
    r"""Return the map of a file; raises ``InputError`` with the line, what is found there and what is expected.

    >>> found = read_nats_config('ann: {user ann}\nusers = [$ann, {user: "bob"}] # two', "nats.conf", {})
    >>> [one.content["user"].content for one in found.content["users"].content], found.content["users"].line
    (['ann', 'bob'], 2)
    """
    reader = _Reader(text, source, environment)
    reader.skip(_LINES)
    braces = reader.takes("{")  # the server reads JSON, too
    found = reader.entries("}" if braces else "", 1)
    reader.skip(_LINES)
    if reader.at < len(text):
        raise reader.refused("nothing behind the last brace")
    return found


class _Reader:
    """Reads a text from left to right; ``scopes`` are the maps around the place that is read."""

    def __init__(self, text: str, source: str, environment: Mapping[str, str]) -> None:
        self.text, self.source, self.environment = text, source, environment
        self.at = 0
        self.scopes: list[dict[str, Value]] = []
        self._counted, self._line = 0, 1

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def skip(self, what: re.Pattern[str]) -> None:
        found = what.match(self.text, self.at)
        self.at = self.at if found is None else found.end()

    def takes(self, one: str) -> bool:
        """Pass over a character if it is the next."""
        if not self.text.startswith(one, self.at):
            return False
        self.at += len(one)
        return True

    def entries(self, closing: str, depth: int) -> Value:
        """Read the entries of a map up to its brace, or to the end of the file."""
        line, found = self.line, dict[str, Value]()
        self.scopes.append(found)
        while True:
            self.skip(_LINES)
            if self.at == len(self.text) if not closing else self.takes(closing):
                break
            key = _KEY.match(self.text, self.at)
            if key is None or self.text[self.at] in "[]{}(),;":
                raise self.refused(f"a key{f' or {closing!r}' if closing else ''}")
            if (key[3] or "").lower() == "include":
                raise self.refused(
                    "entries themselves: the file that 'include' names is not read here, put its text in place of the line"
                )
            self.at = key.end()
            found[next(part for part in key.groups() if part is not None)] = self.value(depth)
            self.ended(closing, ",;")
        self.scopes.pop()
        return Value(found, line)

    def value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise self.refused(f"at most {_DEEPEST} values within each other")
        line = self.line
        if self.takes("{"):
            return self.entries("}", depth + 1)
        if self.takes("["):
            listed: list[Value] = []
            while True:
                self.skip(_LINES)
                if self.takes("]"):
                    return Value(listed, line)
                listed.append(self.value(depth + 1))
                self.ended("]", ",")
        if self.text.startswith("(", self.at):
            raise self.refused("no block in parentheses: write a text in quotes")
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is not None:
            self.at = quoted.end()
            return Value(quoted[1] if quoted[1] is not None else self.unescaped(quoted[2]), line)
        bare = _BARE.match(self.text, self.at)
        if bare is None or bare[0][0] in "\"'":
            raise self.refused("a value")
        if bare[0].startswith("$") and not bare[0].startswith("$2a$"):  # which begins a hashed password
            return self.variable(bare[0][1:], bare.end(), line)
        self.at = bare.end()
        return Value(self.unescaped(bare[0]), line, _NUMBER.fullmatch(bare[0]) is None)

    def ended(self, closing: str, marks: str) -> None:
        """Pass over what ends a value: a line, a mark, or the bracket around it, which stays."""
        self.skip(_BLANK)
        rest = self.text[self.at : self.at + 2]
        if rest[:1] in marks:
            self.at += bool(rest)
        elif rest[:1] not in ("\n", "\r", "#", closing) and rest != "//":
            raise self.refused(
                f"the end of the value: a line, {' or '.join(map(repr, marks))}{f' or {closing!r}' if closing else ''}"
            )

    def variable(self, name: str, end: int, line: int) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                self.at = end
                return Value(scope[name].content, line, scope[name].text)
        if name not in self.environment:
            raise self.refused(f"a key {name!r} before this line, or the variable {name} in the environment")
        self.at = end
        return _Reader(self.environment[name], f"${name}", {}).value(1)

    def unescaped(self, inner: str) -> str:
        def plain(found: re.Match[str]) -> str:
            if len(found[1]) == 3:
                return chr(int(found[1][1:], 16))
            if found[1] not in _CONTROL:
                raise self.refused(rf"one of the escapes \xXX \t \n \r \" \\ and not {found[0]}")
            return _CONTROL[found[1]]

        return _ESCAPE.sub(plain, inner)

    def refused(self, expected: str) -> InputError:
        shown = self.text[self.at : self.at + 30].split("\n")[0] or (
            "the end of the line" if self.at < len(self.text) else "the end of the file"
        )
        return InputError(f"{self.source}:{self.line}: found {shown!r}, expected {expected}: correct it there")
