r"""The regular part of PCRE, written for a library of automata, and everything else refused by its name.

Brokers search a pattern anywhere in a text, and automata read whole texts. So a text is put between two marks that no text
has, ``^`` and ``$`` become these marks, and the pattern may stand anywhere between them. Patterns and texts are read byte by byte,
each byte as a character of Latin-1, whose letters Erlang's ``re`` counts among ``\w``.

What this leaves out, and refuses: look-ahead and look-behind, back references, word boundaries, atomic groups, possessive
quantifiers, options such as ``(?i)``, classes by name or by property, and anchors in the middle of a pattern. Lazy
quantifiers change what a group captures and not what matches, so they are read as the others.
"""

from __future__ import annotations

import re

from dfa_router.errors import InputError

__all__ = ["BEGIN", "END", "UnsupportedRegexError", "as_bytes", "regular"]

BEGIN, END = "\ue000", "\ue001"
"""The marks, which are no bytes."""

_SHORTHAND = {"d": "0-9", "w": "A-Za-z0-9_ªµºÀ-ÖØ-öø-ÿ", "s": " \t\n\r\f\v"}
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_GROUPS = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "an atomic group",
    "(?|": "a branch reset",
    "(?#": "a comment",
    "(?(": "a condition",
    "(*": "a verb",
}
_ESCAPES = {"b": "a word boundary", "B": "a word boundary", "p": "a Unicode property", "P": "a Unicode property"}
_SPECIAL, _CLASS_SPECIAL = frozenset("\\[]|(){}.*+?"), frozenset("\\[]^-")
"""What the library wants escaped, outside of classes and within; it takes no other escape."""
_QUANTIFIER = re.compile(r"[*+?]|\{(\d+)(?:,(\d*))?\}")
_DEEPEST = 30
"""Groups within groups that the library reads on the stack that there is."""
_LARGEST = 65_535
"""The largest bound of PCRE."""


class UnsupportedRegexError(InputError):
    """A regular expression has something that no automaton can say, or that is not read here; the text names it."""


def as_bytes(text: str) -> str:
    """Return a text with the bytes of its UTF-8 for characters, those of Latin-1.

    >>> as_bytes("café")
    'cafÃ©'
    """
    return text.encode().decode("latin-1")


def regular(pattern: str) -> str:
    r"""Return an expression of alternatives, sequences, classes and quantifiers alone, with marks in place of anchors.

    >>> regular("^a.b$").replace(BEGIN, "<").replace(END, ">")
    '<a[^\n<>]b(\n)?>'
    >>> regular("(?=a)b")
    Traceback (most recent call last):
    dfa_router.permissions.dialect.UnsupportedRegexError: '(?=a)b' has look-ahead at character 0, which automata cannot say, or ...
    """
    return "".join(_Reader(pattern).read())


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.shown, self.pattern, self.at = pattern, "", 0
        try:
            self.pattern = as_bytes(pattern)
        except UnicodeEncodeError as error:
            raise self._refused(error.start, "half of a surrogate pair") from None

    def read(self) -> list[str]:
        parts: list[str] = []
        depth = 0
        while self.at < len(self.pattern):
            start, one = self.at, self.pattern[self.at]
            self.at += 1
            if one == "(":
                self._group(start)
                depth += 1
                if depth > _DEEPEST:
                    raise self._refused(start, f"over {_DEEPEST} groups within each other")
                parts.append("(")
                continue
            if one == "|":
                parts.append("|")
                continue
            if one == ")":
                depth -= 1
                if depth < 0:
                    raise self._refused(start, "an unmatched parenthesis")
            parts.append(self._item(start, one))
            parts.append(self._quantifier(start, one))
        if depth:
            raise self._refused(len(self.pattern), "an unmatched parenthesis")
        return parts

    def _item(self, start: int, one: str) -> str:
        if one == ")":
            return ")"
        if one == "^":
            if start and self.pattern[start - 1] not in "(|:>":
                raise self._refused(start, "an anchor behind other characters")
            return BEGIN
        if one == "$":
            return self._end(start, rf"({chr(10)})?{END}")
        if one == ".":
            return f"[^\n{BEGIN}{END}]"
        if one == "[":
            return self._class(start)
        if one == "\\":
            return self._escape(start)
        if _QUANTIFIER.match(self.pattern, start):
            raise self._refused(start, "a quantifier of nothing, or of a quantifier,")
        return _literal(one)

    def _end(self, start: int, written: str) -> str:
        if self.at < len(self.pattern) and self.pattern[self.at] not in ")|":
            raise self._refused(start, "an anchor before other characters")
        return written

    def _group(self, start: int) -> None:
        rest = self.pattern[start:]
        for opening, name in _GROUPS.items():
            if rest.startswith(opening):
                raise self._refused(start, name)
        named = re.match(r"\(\?(:|P?<\w+>|'\w+')", rest)
        if named:
            self.at = start + named.end()
        elif rest.startswith("(?"):
            raise self._refused(start, "an option")

    def _quantifier(self, start: int, one: str) -> str:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return ""
        if one in "^$":
            raise self._refused(start, "a quantified anchor")
        low, high = found[1] or "0", found[2] or found[1] or "0"
        if any(len(bound.lstrip("0")) > 5 or int(bound) > _LARGEST for bound in (low, high)):
            raise self._refused(self.at, f"a bound over {_LARGEST}, which no broker takes,")
        if int(high) < int(low):
            raise self._refused(self.at, "bounds that descend, which no broker takes,")
        self.at = found.end()
        following = self.pattern[self.at : self.at + 1]
        if following == "+":
            raise self._refused(self.at, "a possessive quantifier")
        if following == "?":  # lazy: it matches the same texts
            self.at += 1
        return found[0]

    def _escape(self, start: int) -> str:
        one = self.pattern[self.at : self.at + 1]
        self.at += 1
        if one in ("A", "z", "Z"):
            if one == "A":
                return BEGIN
            return self._end(start, END if one == "z" else rf"({chr(10)})?{END}")
        if one and one in _SHORTHAND:
            return f"[{_SHORTHAND[one]}]"
        if one.lower() in _SHORTHAND:
            return f"[^{_SHORTHAND[one.lower()]}{BEGIN}{END}]"
        return _literal(self._character(start, one))

    def _character(self, start: int, one: str) -> str:
        """Return the character that an escape stands for."""
        if one == "x":
            found = re.compile(r"[0-9A-Fa-f]{2}").match(self.pattern, self.at)
            if found is None:
                raise self._refused(start, "an escape by a number that is not \\xhh")
            self.at = found.end()
            return chr(int(found[0], 16))
        if one in _CONTROL:
            return _CONTROL[one]
        if not one or one.isalnum():
            name = "a back reference" if one.isdigit() or one in "kg" else _ESCAPES.get(one, f"the escape \\{one}")
            raise self._refused(start, name)
        return one

    def _class(self, start: int) -> str:
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        parts: list[str] = []
        first = True
        while True:
            one = self.pattern[self.at : self.at + 1]
            if not one:
                raise self._refused(start, "a class without an end")
            if one == "]" and not first:
                self.at += 1
                break
            first = False
            if one == "[" and self.pattern[self.at + 1 : self.at + 2] in (":", ".", "="):
                raise self._refused(self.at, "a class by name")
            parts.append(self._member())
        return f"[{'^' if negated else ''}{''.join(parts)}{BEGIN + END if negated else ''}]"

    def _member(self) -> str:
        """Return a shorthand, a character or a range of a class."""
        low = self._bound()
        if (
            len(low) > 1
            or self.pattern[self.at : self.at + 1] != "-"
            or self.pattern[self.at + 1 : self.at + 2] in ("]", "")
        ):
            return low if len(low) > 1 else _class_literal(low)
        self.at += 1
        high = self._bound()
        if len(high) > 1 or high < low:
            raise self._refused(self.at, "a range that does not ascend")
        return f"{_class_literal(low)}-{_class_literal(high)}" if low != high else _class_literal(low)

    def _bound(self) -> str:
        """Return a character of a class, or what a shorthand stands for."""
        start, one = self.at, self.pattern[self.at]
        self.at += 1
        if one != "\\":
            return one
        escaped = self.pattern[self.at : self.at + 1]
        self.at += 1
        if escaped and escaped in _SHORTHAND:
            return _SHORTHAND[escaped]
        if escaped.lower() in _SHORTHAND:
            raise self._refused(start, "a negated shorthand within a class")
        return self._character(start, escaped)

    def _refused(self, at: int, name: str) -> UnsupportedRegexError:
        at -= sum("\x80" <= byte < "\xc0" for byte in self.pattern[:at])  # all bytes of a character but its first
        return UnsupportedRegexError(
            f"{self.shown[:200]!r} has {name} at character {at}, which automata cannot say, or which is not read here: write it with "
            "alternatives, classes and quantifiers"
        )


def _literal(one: str) -> str:
    return "\\" + one if one in _SPECIAL else one


def _class_literal(one: str) -> str:
    return "\\" + one if one in _CLASS_SPECIAL else one
