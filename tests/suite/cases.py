"""The cases of ``tests/data`` (README.md has the format), with the checks that the suite's own files have to pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dfa_router.fuzz.text import casefile

__all__ = ["DATA", "Case", "load_cases", "parse_cases"]

DATA = Path(__file__).parents[1] / "data"


@dataclass
class Case:
    """A binding set, what is taken out of it, and the positions that each key must give."""

    title: str
    place: str
    dialect: str = "amqp"
    bindings: list[tuple[str, str]] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    expected: dict[str, list[int]] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        return list(self.expected)

    def destinations(self, key: str) -> list[str]:
        """Return what a router must answer: a copy per destination."""
        return list(dict.fromkeys(self.bindings[position][1] for position in self.expected[key]))


def load_cases() -> list[Case]:
    """Read every case of every file."""
    return [case for path in sorted(DATA.glob("*.txt")) for case in parse_cases(path.read_text("utf-8"), path.name)]


def parse_cases(text: str, name: str) -> list[Case]:
    """Read the cases of one file; raises ValueError with the line for one that cannot be read."""
    try:
        read = casefile.parse_cases(text, name)
    except casefile.CorpusError as error:
        raise ValueError(f"{error}: see tests/README.md") from error
    cases: list[Case] = []
    titles: set[str] = set()
    for found in read:
        if found.title in titles:
            raise ValueError(f"{found.place}: there is a case {found.title!r} above: give this one a title of its own")
        titles.add(found.title)
        cases.append(Case(found.title, found.place))
        for line in found.lines:
            try:
                _take_line(cases[-1], line)
            except (ValueError, IndexError) as error:
                raise ValueError(f"{line.place}: {error}: see tests/README.md") from error
    for case in cases:
        if not case.expected:
            raise ValueError(f"{case.place}: the case {case.title!r} has no match line")
    return cases


def _take_line(case: Case, line: casefile.CaseLine) -> None:
    word, rest = line.word, line.fields
    if word in ("bind", "join") and len(rest) in (1, 2):
        case.bindings.append((rest[0], rest[-1]))
    elif word == "unbind" and len(rest) == 1:
        case.removed.append(int(rest[0]))
    elif word == "refuse" and len(rest) == 1:
        case.refused.append(rest[0])
    elif word == "dialect" and len(rest) == 1:
        case.dialect = rest[0]
    elif word == "match" and len(rest) >= 2:
        key, *positions = rest
        if key in case.expected:
            raise ValueError(f"the key {key!r} is there twice")
        case.expected[key] = [] if positions == ["none"] else [int(position) for position in positions]
        if any(position >= len(case.bindings) or position in case.removed for position in case.expected[key]):
            raise ValueError("a position is expected that is not bound")
    else:
        raise ValueError(f"cannot read {line.text!r}")
