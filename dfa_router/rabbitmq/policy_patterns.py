r"""The patterns of policies, read by the broker's own kind of regular expression engine, and within its limit.

RabbitMQ matches a policy's pattern with Erlang's ``re``, which is PCRE, over the bytes of a name. PCRE backtracks: a pattern
such as ``^(a+)+$`` takes twice the time for each further byte. So it counts its steps and gives up at ten million, and ``re``
reports that as no match. PCRE2 has the same syntax, the same limit, and the same default for it. Steps are counted and not
timed, so an answer never depends on how busy a machine is.

What this leaves out: to Erlang's PCRE ``\w`` and its like know the letters of Latin-1 beyond ASCII, here only those of ASCII.

Rejected: Python's ``re``, which has no limit and other syntax; RE2, which needs none, but knows no lookahead, and
``^(?!amq\.)`` is the commonest of all policies; the package ``regex``, whose limit is a time.
"""

from __future__ import annotations

import re

import pcre2

__all__ = ["PolicyPattern", "PolicyPatternError"]

_OTHERWISE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:x\{|[uUC])")
"""Escapes that pcre2's binding reads as JavaScript does, or forbids."""
_LATER = re.compile(r"(?<!\\)(?:\\\\)*\{(?: *, *\d+ *| +\d+ *(?:, *\d* *)?| *\d+(?: +(?:, *\d* *)?|, +\d* *|,\d+ +))\}")
"""Quantifiers without a least number or with spaces: to PCRE, up to OTP 27, they are literal text, and to newer PCRE2 quantifiers."""


class PolicyPatternError(ValueError):
    """A text is no pattern to PCRE; says why. Never leaves the package: it becomes a warning about the policy."""

    def __init__(self, reason: str, *, at_broker: bool = False) -> None:
        super().__init__(reason)
        self.at_broker = at_broker
        """Whether a broker refuses it, too."""


class PolicyPattern:
    """A compiled pattern; raises :class:`PolicyPatternError`. It remembers what it was asked: an answer may take 0.2 s."""

    def __init__(self, text: str) -> None:
        if _OTHERWISE.search(text):
            raise PolicyPatternError(r"\x{...}, \u, \U and \C are not read here; write bytes as \xhh")
        if _LATER.search(text):
            raise PolicyPatternError(
                "{,n} and bounds with spaces are quantifiers to some brokers and text to others; write {0,n}, or \\{ for text"
            )
        try:
            # Compiled to machine code, the limit would count other steps.
            self._compiled = pcre2.compile(text.encode(), jit=False)
        except UnicodeEncodeError:
            raise PolicyPatternError("it has half of a surrogate pair, which has no UTF-8 form") from None
        except pcre2.LibraryError as error:
            raise PolicyPatternError(str(error), at_broker=True) from None
        self._text = text
        self._answers: dict[str, bool | None] = {}

    def __reduce__(self) -> tuple[type[PolicyPattern], tuple[str]]:
        return PolicyPattern, (self._text,)

    def search(self, name: str) -> bool | None:
        """Return whether the pattern is found in a name, or None where PCRE gives up, which a broker takes for no."""
        if name not in self._answers:
            try:
                self._answers[name] = self._compiled.search(name.encode()) is not None
            except pcre2.LibraryError:
                self._answers[name] = None
        return self._answers[name]
