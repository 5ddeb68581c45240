"""Cases as text, in the format of the test suite's data files: what reports print, and what a corpus keeps.

::

    // found by dfa-router fuzz: my_matcher:match misses it (seed 7, round 12)
    [misses a.# on a]
    dialect mqtt
    bind    a/#
    match   a    0

A title in brackets begins a case. ``bind PATTERN [DESTINATION]`` lines have the positions 0, 1, ... ``match KEY
POSITION...`` says which of them must match a key, ``none`` stands for no position, and keys are asked in the order of
their lines. ``refuse PATTERN`` is a pattern that the dialect refuses; ``unbind POSITION`` takes a binding out again, and
``join PATTERN`` is one that joins the set then, as is a ``bind`` line behind a ``match`` line; ``forget all`` begins another
set, with positions from 0;
``dialect NAME`` is ``amqp`` where the line is missing. Fields are separated by white space, a field in double quotes is
a Python string, and ``//`` begins a comment line.

:func:`parse_cases` reads the lines and does not ask whether they make sense together, as its two users differ in that:
a corpus takes what it can ask a target, and the test suite insists on complete cases.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from dfa_router.errors import InputError
from dfa_router.fuzz.findings import Finding, Kind
from dfa_router.fuzz.judging.judge import right_through
from dfa_router.target import Bind, Chapter, Unbind

__all__ = ["CaseLine", "CorpusError", "TextCase", "format_finding", "parse_cases"]

_WORDS = ("bind", "join", "match", "dialect", "refuse", "unbind", "forget")
_SAID = {
    Kind.MISSES: "misses it",
    Kind.MATCHES: "matches it falsely",
    Kind.REFUSES: "refuses it",
    Kind.ACCEPTS: "takes it",
    Kind.FAILS: "fails at it",
    Kind.SLOW: "takes too long for it",
}


class CorpusError(InputError):
    """A file of cases cannot be read; the text names file, line and remedy."""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A line of a case, taken apart."""

    place: str
    """``file:line``, for error texts."""
    word: str
    """The first word, such as ``bind``."""
    fields: tuple[str, ...]
    """What follows it, unquoted: at least one field."""
    text: str
    """The line as it was written."""


@dataclass(frozen=True, slots=True)
class TextCase:
    """A case as it stands in a file."""

    title: str
    place: str
    lines: list[CaseLine] = field(default_factory=list)

    def first_fields(self, word: str) -> list[str]:
        """Return the first field of each line that begins with ``word``."""
        return [line.fields[0] for line in self.lines if line.word == word]


def parse_cases(text: str, name: str) -> list[TextCase]:
    r"""Return the cases of a file; ``name`` is what errors call it. Raises :class:`CorpusError`.

    >>> [case] = parse_cases('[t]\nbind "a b"\nmatch a none', "x.txt")
    >>> case.title, case.place, case.first_fields("bind")
    ('t', 'x.txt:1', ['a b'])
    """
    cases: list[TextCase] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{name}:{number}"
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        if line.startswith("["):
            cases.append(TextCase(line.strip().removeprefix("[").removesuffix("]"), place))
        elif not cases:
            raise CorpusError(f"{place}: expected a title in brackets before the first line of a case")
        else:
            cases[-1].lines.append(_case_line(line, place))
    return cases


def _case_line(line: str, place: str) -> CaseLine:
    try:
        word, *fields = _fields(line)
    except (ValueError, SyntaxError) as error:
        raise CorpusError(f"{place}: cannot read {line.strip()!r}: {error}") from None
    if word not in _WORDS or not fields:
        raise CorpusError(
            f"{place}: cannot read {line.strip()!r}: expected bind PATTERN, join PATTERN, match KEY POSITION..., "
            "unbind POSITION, forget all, refuse PATTERN or dialect NAME"
        )
    return CaseLine(place, word, tuple(fields), line.strip())


def _fields(line: str) -> Iterator[str]:
    """Yield what white space separates; a field in double quotes is a Python string."""
    lexer = shlex.shlex(line, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.quotes = '"'
    for text in lexer:
        yield str(ast.literal_eval(text)) if text.startswith('"') else text


def format_finding(finding: Finding) -> str:
    """Return the minimal case of a finding as a case of a data file, with the right answer."""
    case, dialect = finding.case, finding.dialect
    origin = f" (seed {finding.seed}, round {finding.number})" if finding.number is not None else ""
    accused = re.sub(r"\s+", " ", finding.accused)
    lines = [f"// found by dfa-router fuzz: {accused} {_SAID[finding.kind]}{origin}", f"[{_title(finding)}]"]
    if dialect.name != "amqp":
        lines.append(f"dialect {dialect.name}")
    if finding.kind is Kind.ACCEPTS:
        return "\n".join([*lines, *(f"refuse  {_field(pattern)}" for pattern in case.patterns)]) + "\n"
    if case.together:
        lines.append(f"// other threads ask at the same time: {', '.join(map(_field, case.together))}")
    told = [*case.earlier, Chapter(case.patterns, (*case.before, case.key))]
    width = max(len(_field(step)) for one in told for step in one.steps if isinstance(step, str))
    for number, one in enumerate(told):
        lines += ["forget  all"] * bool(number)
        lines += _chapter_lines(one, finding, width)
    return "\n".join(lines) + "\n"


def _chapter_lines(chapter: Chapter, finding: Finding, width: int) -> list[str]:
    """Return the lines of a set, with the right answers; in the order in which a target is told."""
    lines = [f"bind    {_field(pattern)}" for pattern in chapter.patterns]
    if finding.kind is Kind.SLOW:  # the specification would take as long as the target
        right = [finding.expected or ()] * len(chapter.steps)
    else:
        right = right_through(chapter.patterns, chapter.steps, finding.dialect)
    for step, positions in zip(chapter.steps, right, strict=True):
        if isinstance(step, Bind):
            # In front of all else "bind" would say that the set began with it, and a target may fail only at what joins.
            lines.append(f"join    {_field(step.pattern)}")
        elif isinstance(step, Unbind):
            lines.append(f"unbind  {step.position}")
        else:
            lines.append(f"match   {_field(step):{width}}  {' '.join(map(str, positions)) or 'none'}")
    return lines


def _title(finding: Finding) -> str:
    case = finding.case
    text = f"{finding.kind}: {', '.join(map(_field, case.table)) or 'no patterns'}"
    if finding.kind is not Kind.ACCEPTS:
        text += f" on {_field(case.key)}"
    if case.stateful:
        text += ", after what happened before"
    return text.replace("]", ")").replace("[", "(")


def _field(text: str) -> str:
    """Return a text as a field of a line: as it is, or as a Python string where it would be read as something else."""
    if re.fullmatch(r"[!#-&(-~]+", text):
        return text
    parts = []
    for character in text:
        number = ord(character)
        if character in '"\\' or number < 0x20 or 0x7F <= number < 0x100:
            parts.append(f"\\x{number:02x}")
        elif number < 0x7F:
            parts.append(character)
        else:
            parts.append(f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}")
    return f'"{"".join(parts)}"'
