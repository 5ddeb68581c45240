"""Cases as text, in the format of the suite's data files: what reports print and what a corpus keeps.

::

    // found by dfa-router fuzz: my_matcher:match misses it (seed 7, round 12)
    [misses a.# on a]
    dialect mqtt
    bind    a/#
    match   a    0

``bind PATTERN`` lines are the positions 0, 1, ...; ``match KEY POSITION...`` (or ``none``) is what a key must give,
keys being asked in the order of the lines; ``refuse PATTERN`` is a pattern that the dialect refuses; ``unbind
POSITION`` takes a binding out again; ``dialect`` is ``amqp`` where the line is missing. A text in double quotes is a
Python string, ``//`` begins a comment.
"""

from __future__ import annotations

import ast
import hashlib
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from dfa_router.errors import InputError, OptionError
from dfa_router.fuzz.findings import Finding, Kind
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.language.dialects import Dialect
from dfa_router.target import Round

__all__ = ["CorpusError", "format_finding", "parse_rounds", "read_corpus", "write_corpus"]


class CorpusError(InputError):
    """A file of a corpus cannot be read; the text names file, line and remedy."""


def format_finding(finding: Finding) -> str:
    """Return the minimal case of a finding as a case of a data file, with the right answer."""
    case, dialect = finding.case, finding.dialect
    origin = f" (seed {finding.seed}, round {finding.number})" if finding.number is not None else ""
    said = {Kind.MISSES: "misses it", Kind.MATCHES: "matches it falsely", Kind.REFUSES: "refuses it"}.get(
        finding.kind, "takes it" if finding.kind is Kind.ACCEPTS else "fails at it"
    )
    lines = [f"// found by dfa-router fuzz: {_line(finding.accused)} {said}{origin}", f"[{_title(finding)}]"]
    if dialect.name != "amqp":
        lines.append(f"dialect {dialect.name}")
    if finding.kind is Kind.ACCEPTS:
        return "\n".join([*lines, *(f"refuse  {_field(pattern)}" for pattern in case.patterns)]) + "\n"
    lines += [f"bind    {_field(pattern)}" for pattern in case.patterns]
    keys = list(dict.fromkeys((*case.before, case.key)))
    right = Judge(dialect).right(case.patterns, keys)
    width = max(len(_field(key)) for key in keys)
    for key, positions in zip(keys, right, strict=True):
        lines.append(f"match   {_field(key):{width}}  {' '.join(map(str, positions)) or 'none'}")
    return "\n".join(lines) + "\n"


def _title(finding: Finding) -> str:
    case = finding.case
    text = f"{finding.kind}: {', '.join(map(_field, case.patterns))}"
    if finding.kind is not Kind.ACCEPTS:
        text += f" on {_field(case.key)}"
    return text.replace("]", ")").replace("[", "(")


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _field(text: str) -> str:
    """Return a text as a field of a line: as it is, or as a Python string where that could not be read back."""
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


def parse_rounds(text: str, name: str) -> list[tuple[str, str, Round]]:
    r"""Return the cases of a file: (place, dialect's name, round) each; raises :class:`CorpusError`.

    >>> parse_rounds("[t]\nbind a.#\nmatch a 0", "x.txt")
    [('x.txt:1', 'amqp', Round(patterns=('a.#',), keys=('a',), classes=frozenset({'corpus'})))]
    """
    read: list[tuple[str, dict[str, list[str]]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        if line.startswith("["):
            read.append((f"{name}:{number}", {}))
            continue
        try:
            word, *fields = _fields(line)
        except (ValueError, SyntaxError) as error:
            raise CorpusError(f"{name}:{number}: cannot read {line.strip()!r}: {error}") from None
        if not read:
            raise CorpusError(f"{name}:{number}: expected a title in brackets before the first line of a case")
        if word not in ("bind", "match", "dialect", "refuse", "unbind") or not fields:
            raise CorpusError(
                f"{name}:{number}: cannot read {line.strip()!r}: expected bind PATTERN, match KEY POSITION..., "
                "unbind POSITION, refuse PATTERN or dialect NAME"
            )
        read[-1][1].setdefault(word, []).append(fields[0])
    rounds = []
    for place, lines in read:
        dialect = lines.get("dialect", ["amqp"])[-1]
        if "refuse" in lines:
            rounds += [(place, dialect, _round([pattern], ["a"])) for pattern in lines["refuse"]]
        if "bind" in lines:
            gone = set(lines.get("unbind", []))
            patterns = [pattern for number, pattern in enumerate(lines["bind"]) if str(number) not in gone]
            rounds.append((place, dialect, _round(patterns, lines.get("match", []))))
    return rounds


def _round(patterns: Sequence[str], keys: Sequence[str]) -> Round:
    return Round(patterns=tuple(patterns), keys=tuple(keys), classes=frozenset(("corpus",)))


def _fields(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.quotes = '"'
    return [str(ast.literal_eval(text)) if text.startswith('"') else text for text in lexer]


def read_corpus(folder: Path, dialect: Dialect) -> list[tuple[str, Round]]:
    """Return the rounds of this dialect that a folder's ``*.txt`` files hold, each with file and line.

    A folder that does not exist has none. Raises :class:`CorpusError` for a file that cannot be read.
    """
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"the corpus {folder} is no folder: name one, or a new one")
    rounds: list[tuple[str, Round]] = []
    for path in sorted(folder.glob("*.txt")):
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"cannot read {path}: {error}: corpus files are UTF-8 text") from None
        rounds += [(place, found) for place, name, found in parse_rounds(text, str(path)) if name == dialect.name]
    return rounds


def write_corpus(folder: Path, findings: Iterable[Finding]) -> list[Path]:
    """Write each finding to a file of its own that its case names; return those that were new.

    Replayed later, a file that the target answers right by then is kept: a corpus only grows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for finding in findings:
        kind = str(finding.kind).replace(" ", "-")
        digest = hashlib.sha256(f"{finding.dialect.name} {finding.shape}".encode()).hexdigest()[:12]
        path = folder / f"{finding.dialect.name}-{kind}-{digest}.txt"
        if not path.exists():
            path.write_text(format_finding(finding), "utf-8")
            written.append(path)
    return written
