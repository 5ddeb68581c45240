r"""Which findings have one cause, as far as questions can tell: the shape of a case, with what may stand in it as well.

One fault shows in many minimal cases: a wildcard that was translated to ``\w+`` misses ``$``, ``é`` and a line end, behind either
wildcard. So a case is asked once more with other characters in the place of its odd ones. If plain letters mend it, the fault
is about characters: it is named by the sorts of characters that show it, and by whether they are read in a pattern or by a
wildcard, and the rest of the case does not count; where a pattern has them, whether they are missed or matched falsely does
not either. Where most sorts show it, it is a fault about what is allowed, whichever character showed it; where few do, it is
about these. A separator that stands for any character, as a dot of a regular expression does, is such a fault, too.

The answer depends on the target and the case alone, so that findings of one campaign merge as those of its parts do.

Rejected: to call two cases one fault if every step on a way between them fails as well, since there is such a way between
any two faults, by way of a case that shows both; and the lines that a case runs, as all cases of a matcher that makes a regular
expression run the same ones.
"""

from __future__ import annotations

import unicodedata

from dfa_router.fuzz.findings import Case, Kind, shape_of, spelt
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError
from dfa_router.target import Refused, TargetFailure

__all__ = ["tested_shape"]

SORTS = {
    "marks of regular expressions": "\\^$.|?+()[]{}*",
    "marks": "!\"%&',-:;<=>@`~",
    "blanks": " \t\u00a0",
    "line ends": "\n\r\x0b\x85\u2028",
    "letters beyond ASCII": "éßıΩж中",
    "characters beyond 16 bits": "😀𝒳\U00010061",
}
"""What is put in the place of an odd character."""
_MOST = 4
"""Of so many sorts, a fault is about what is allowed, and not about single characters."""
_DENSE = 0.5
"""The part of a sort that has to show a fault for it to be about the sort."""
_IN_A_PATTERN = "in a pattern"
_CALLS = 400


def tested_shape(probe: Probe, case: Case) -> str:
    """Return a text that is equal for cases that probably have one cause; the target is asked some dozens of variants."""
    untested = shape_of(probe.kind, case, probe.dialect, probe.about)
    if case.stateful or case.together or probe.kind not in (Kind.MISSES, Kind.MATCHES):
        return untested
    probe.allow(_CALLS)
    try:
        named = _about_characters(probe, case)
    except (StoppedError, Refused, TargetFailure):
        return untested  # there is no time left, or nobody to ask: the case itself has to do
    if named is None:
        return untested
    misread = all(part.startswith(_IN_A_PATTERN) for part in named)  # then a miss and a false match are two sides of it
    return " | ".join(repr(part) for part in ("misreads" if misread else str(probe.kind), *named))


def _about_characters(probe: Probe, case: Case) -> tuple[str, ...] | None:
    """Return what is odd about the case's characters, or None if letters in their place do not mend it."""
    small = spelt(case, str.lower)
    if len(case.patterns) == 1 and small != case and probe.allowed(small, case) and not probe.shows(small):
        return ("letter case",)
    if _reads_a_separator_as_any(probe, case):
        return ("separator",)
    odd = [character for character in dict.fromkeys("".join(case.texts)) if _odd(probe, case, character)]
    letter = next(letter for letter in "qxyz" if letter not in "".join(case.texts)) if odd else ""
    mended = case
    for character in odd:
        mended = _replaced(probe, mended, character, letter)
    if not odd or _shows(probe, case, mended):
        return None
    return tuple(sorted({_described(probe, case, character) for character in odd}))


def _reads_a_separator_as_any(probe: Probe, case: Case) -> bool:
    """Tell whether a key matches falsely that would be right with a separator in the place of one character, and so with any."""
    if probe.kind is not Kind.MATCHES or len(case.patterns) != 1:
        return False
    for place, character in enumerate(case.key):
        right, other = (case.key[:place] + new + case.key[place + 1 :] for new in (probe.language.separator, "q"))
        if character != probe.language.separator and probe.judge.right(case.patterns, [right]) == [(0,)]:
            return _shows(probe, case, Case(patterns=case.patterns, key=other))
    return False


def _described(probe: Probe, case: Case, character: str) -> str:
    """Return where a character stands, and the sorts of characters that show the fault in its place."""
    separator, wild = probe.language.separator, probe.language.wildcards
    patterns = "".join(word for pattern in case.patterns for word in pattern.split(separator) if word not in wild)
    taken = [one for one in wild if character in patterns and _shows(probe, case, _with(one, probe, case, character))]
    place = _IN_A_PATTERN if character in patterns and not taken else "in the key"
    dense = set()
    for sort, characters in SORTS.items():
        others = [other for other in characters if other not in _meaningful(probe)]
        showing = sum(_shows(probe, case, _replaced(probe, case, character, other)) for other in others)
        dense |= {sort} if showing > _DENSE * len(others) else set()
    if len(dense) >= _MOST:
        return f"{place}: most that are odd"
    if character in _meaningful(probe):
        return f"{place}: {character}" if not dense else f"{place}: {', '.join(sorted(dense))}"
    own = next((sort for sort, characters in SORTS.items() if character in characters), _sort_of(character))
    return f"{place}: {', '.join(sorted(dense))}" if own in dense else f"{place}: some {own}"


def _with(wildcard: str, probe: Probe, case: Case, character: str) -> Case:
    """Return the case with a wildcard for each word of a pattern that has the character."""
    separator = probe.language.separator

    def pattern(text: str) -> str:
        return separator.join(wildcard if character in word else word for word in text.split(separator))

    return Case(patterns=tuple(map(pattern, case.patterns)), key=case.key)


def _sort_of(character: str) -> str:
    if ord(character) > 0xFFFF:
        return "characters beyond 16 bits"
    if not character.isascii():
        return "letters beyond ASCII"
    return "blanks" if unicodedata.category(character) == "Cc" else "marks"


def _shows(probe: Probe, case: Case, variant: Case) -> bool:
    return probe.allowed(variant, case) and probe.shows(variant)


def _odd(probe: Probe, case: Case, character: str) -> bool:
    """Tell whether a character may be replaced: wildcards of patterns and separators are not, what keys have is."""
    if character == probe.language.separator or (character.isascii() and character.isalnum()):
        return False
    return _replaced(probe, case, character, "a") != case


def _meaningful(probe: Probe) -> str:
    dialect = probe.dialect
    special = (dialect.separator, dialect.reserved, dialect.one, dialect.many, dialect.some)
    return b"".join(text for text in special if text is not None).decode()


def _replaced(probe: Probe, case: Case, character: str, other: str) -> Case:
    """Return the case with another character, in its key and in the words of its patterns that are no wildcards."""
    separator, wild = probe.language.separator, set(probe.language.wildcards)

    def pattern(text: str) -> str:
        words = text.split(separator)
        return separator.join(word if word in wild else word.replace(character, other) for word in words)

    return Case(patterns=tuple(map(pattern, case.patterns)), key=case.key.replace(character, other))
