"""Findings that someone has looked at and wants to keep: a file with reasons.

TOML, a table for each::

    [[suppress]]
    rule = "covered-binding"
    subject = "stock.*.*.counted.#"   # as lint prints it
    reason = "kept until the old consumers are gone"

    [[suppress]]
    rule = "undeclared-queue"
    subjects = "tmp-*"                # all that fit, as names of files fit in a shell; [*] is the character * itself
    reason = "their consumers declare them"

The two have keys of their own, since most subjects are patterns, whose ``*`` is one word: one finding that somebody has
looked at would hide others. A suppression needs a reason. One that fits no finding is a finding itself, so that the file does not outlive its purpose.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from dfa_router.errors import OptionError
from dfa_router.lint.findings import RULES, Finding

__all__ = ["Suppression", "read_suppressions", "suppressed", "unused_suppressions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """A finding that is kept."""

    rule: str
    subject: str
    reason: str
    place: str
    """Which one it is of its file."""
    wild: bool = False
    """Whether the subject has a shell's wildcards, and stands for several."""

    def fits(self, finding: Finding) -> bool:
        """Tell whether it is about a finding."""
        if self.rule != finding.rule.name:
            return False
        return fnmatchcase(finding.subject, self.subject) if self.wild else self.subject == finding.subject


def read_suppressions(path: Path) -> tuple[Suppression, ...]:
    """Read a file of suppressions; raises :class:`OptionError` with file, place and remedy for what is none."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror}; name a file of suppressions") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: is no TOML: {error}") from None
    listed = document.pop("suppress", [])
    if document or not isinstance(listed, list):
        raise OptionError(
            f"{path}: expected tables [[suppress]] and nothing else, found {', '.join(document) or 'suppress'}"
        )
    return tuple(_suppression(path, number, entry) for number, entry in enumerate(listed))


def _suppression(path: Path, number: int, entry: object) -> Suppression:
    place = f"{path}: suppress[{number}]"
    wild = isinstance(entry, dict) and "subjects" in entry
    named = "subjects" if wild else "subject"
    if not isinstance(entry, dict) or entry.keys() != {"rule", named, "reason"}:
        raise OptionError(
            f"{place}: expected rule, subject (or subjects, with wildcards) and reason, all three and no other"
        )
    rule, subject, reason = entry["rule"], entry[named], entry["reason"]
    if rule not in RULES:
        raise OptionError(f"{place}: there is no rule {rule!r}; there are {', '.join(RULES)}")
    if not isinstance(subject, str) or not isinstance(reason, str) or not reason.strip():
        raise OptionError(f"{place}: {named} and reason are texts, and the reason says why the finding is kept")
    return Suppression(rule=rule, subject=subject, reason=reason, place=place, wild=wild)


def suppressed(
    findings: Iterable[Finding], suppressions: Sequence[Suppression]
) -> tuple[tuple[Finding, ...], tuple[tuple[Finding, Suppression], ...]]:
    """Return the findings that are left, and those that are suppressed, and by what."""
    left: list[Finding] = []
    kept: list[tuple[Finding, Suppression]] = []
    for finding in findings:
        fitting = next((one for one in suppressions if one.fits(finding)), None)
        if fitting is None:
            left.append(finding)
        else:
            kept.append((finding, fitting))
    return tuple(left), tuple(kept)


def unused_suppressions(
    suppressions: Iterable[Suppression], kept: Iterable[tuple[Finding, Suppression]]
) -> tuple[Finding, ...]:
    """Return a finding for each suppression by which nothing was kept, of all that was looked at."""
    used = {one.place for _, one in kept}
    return tuple(
        Finding(
            rule=RULES["unused-suppression"],
            place=one.place,
            subject=one.subject,
            message=f"it fits no finding of {one.rule}: remove it from the file of suppressions",
        )
        for one in suppressions
        if one.place not in used
    )
