"""A corpus: a folder that keeps what campaigns find, a case file each, to be asked again first.

A corpus only grows. A file whose case the target answers right by now stays: a fault that comes back is then found at
once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from dfa_router.errors import OptionError
from dfa_router.fuzz.findings import Finding
from dfa_router.fuzz.text.casefile import CorpusError, TextCase, format_finding, parse_cases
from dfa_router.language.dialects import Dialect
from dfa_router.target import Bind, Chapter, Round, Step, Unbind, bound

__all__ = ["parse_rounds", "read_case_file", "read_corpus", "write_corpus"]


def parse_rounds(text: str, name: str) -> list[tuple[str, str, Round]]:
    r"""Return the cases of a file as rounds: (place, dialect's name, round) each; raises :class:`CorpusError`.

    Each pattern of a ``refuse`` line is a round of its own. Of the other lines, the right answers are not read: the
    specification gives them.

    >>> parse_rounds("[t]\nbind a.#\nmatch a 0", "x.txt")
    [('x.txt:1', 'amqp', Round(patterns=('a.#',), keys=('a',), classes=frozenset({'corpus'}), then=()))]
    """
    rounds = []
    for case in parse_cases(text, name):
        dialect = ["amqp", *case.first_fields("dialect")][-1]
        rounds += [(case.place, dialect, _round([pattern], ["a"])) for pattern in case.first_fields("refuse")]
        chapters = _chapters(case)
        if chapters:
            first, *then = chapters
            if first.changes:
                then = chapters
            # A target that offers no changes is asked the set as it is at the first key.
            before = tuple(takewhile(lambda step: not isinstance(step, str), first.steps))
            table, gone = bound(first.patterns, before)
            first = Chapter(tuple(p for place, p in enumerate(table) if place not in gone), first.steps)
            keys = [step for step in first.steps if isinstance(step, str)]
            rounds.append((case.place, dialect, _round(first.patterns, keys, then)))
    return rounds


def _chapters(case: TextCase) -> list[Chapter]:
    """Return the sets of a case; a line that binds belongs to a set until something joins it, is asked or taken out of it."""
    chapters: list[Chapter] = []
    patterns: list[str] = []
    steps: list[Step] = []
    for line in [*case.lines, None]:
        word = "forget" if line is None else line.word
        if word == "forget":
            if patterns or steps:
                chapters.append(Chapter(tuple(patterns), tuple(steps)))
            patterns, steps = [], []
        elif line is not None and word in ("bind", "join"):
            if steps or word == "join":
                steps.append(Bind(line.fields[0]))
            else:
                patterns.append(line.fields[0])
        elif line is not None and word == "match":
            steps.append(line.fields[0])
        elif line is not None and word == "unbind":
            if not line.fields[0].isascii() or not line.fields[0].isdigit():
                raise CorpusError(f"{line.place}: cannot read {line.text!r}: expected unbind POSITION")
            steps.append(Unbind(int(line.fields[0])))
    return [one for one in chapters if any(isinstance(step, str) for step in one.steps)]


def _round(patterns: Sequence[str], keys: Sequence[str], then: Sequence[Chapter] = ()) -> Round:
    return Round(patterns=tuple(patterns), keys=tuple(keys), classes=frozenset(("corpus",)), then=tuple(then))


def read_corpus(folder: Path, dialect: Dialect) -> list[tuple[str, Round]]:
    """Return the rounds of this dialect that a folder's ``*.txt`` files hold, each with its ``file:line``.

    A folder that does not exist has none. Raises :class:`CorpusError` for a file that cannot be read, and
    :class:`OptionError` where ``folder`` is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"the corpus {folder} is no folder: name one, or a new one")
    found = [one for path in sorted(folder.glob("*.txt")) for one in _read(path)]
    return [(place, one) for place, name, one in found if name == dialect.name]


def read_case_file(path: Path, dialect: Dialect) -> list[tuple[str, Round]]:
    """Return the rounds of this dialect that a file holds, each with its ``file:line``.

    Raises :class:`CorpusError` for a file that cannot be read, and :class:`OptionError` where it has no case of the dialect.
    """
    found = _read(path)
    rounds = [(place, one) for place, name, one in found if name == dialect.name]
    if not rounds:
        others = sorted({name for _, name, _ in found})
        known = f", but of {', '.join(others)}: give that as --dialect" if others else ", nor of another dialect"
        raise OptionError(f"{path} has no case of the dialect {dialect.name}{known}")
    return rounds


def _read(path: Path) -> list[tuple[str, str, Round]]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read {path}: {error}: corpus files are UTF-8 text") from None
    return parse_rounds(text, str(path))


def write_corpus(folder: Path, findings: Iterable[Finding]) -> list[Path]:
    """Write each finding to a file that is named after its dialect, kind and shape; return the paths of the new files.

    The folder is made where it is missing; a file that is there already is left as it is.
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
