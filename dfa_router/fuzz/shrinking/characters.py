"""Whether a case is wrong for its characters: those that are odd give way to letters, and what shows the fault is named by sorts.

A fault of characters is named by the sorts that show it, and by whether they are read in a pattern or by a wildcard. Where most
sorts show it, it is a fault about what is allowed, whichever character showed it; where few do, it is about these.

A character of a pattern that has a meaning in the target's own language is missed in one place, matches falsely in another and
raises an error in a third. So characters of patterns are tried in a few patterns that are the same for every case, and any wrong
answer counts.
"""

from __future__ import annotations

import unicodedata

from dfa_router.fuzz.findings import Case, spelt
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.fuzz.shrinking.separators import about_separators

__all__ = ["about_characters"]

SORTS = {
    "marks of regular expressions": "\\^$.|?+()[]{}*",
    "marks": "!\"%&',-:;<=>@`~",
    "blanks": " \t\u00a0",
    "line ends": "\n\r\x0b\x85\u2028",
    "letters beyond ASCII": "éßıΩж中",
    "characters beyond 16 bits": "😀𝒳\U00010061",
}
"""What is put in the place of an odd character."""
_MARKS = "marks of regular expressions"
_MOST = 4
"""Of so many sorts, a fault is about what is allowed, and not about single characters."""
_DENSE = 0.5
"""The part of a sort that has to show a fault for it to be about the sort."""


def about_characters(probe: Probe, case: Case) -> tuple[str, ...] | None:
    """Return in which way characters are read wrong, or None if letters in their place do not mend the case."""
    small = spelt(case, str.lower)
    if len(case.patterns) == 1 and small != case and probe.allowed(small, case) and not probe.shows(small):
        return str(probe.kind), "letter case"
    if (loose := about_separators(probe, case)) is not None:
        return loose
    odd = [character for character in dict.fromkeys("".join(case.texts)) if _odd(probe, case, character)]
    letter = next(letter for letter in "qxyz" if letter not in "".join(case.texts)) if odd else ""
    mended = case
    for character in odd:
        mended = _replaced(probe, mended, character, letter)
    if not odd or _shows(probe, case, mended):
        return None
    read = {character: _read_by_a_pattern(probe, case, character) for character in odd}
    if all(read.values()):  # then a miss, a false match and an error are sides of it
        named = {f"in a pattern: {_in_patterns(probe, character)}" for character in odd}
        return "misreads", *sorted(named)
    return str(probe.kind), *sorted({f"in the key: {_in_keys(probe, case, one)}" for one in odd if not read[one]})


# --- characters of a pattern --------------------------------------------------------------------------------------------


def _read_by_a_pattern(probe: Probe, case: Case, character: str) -> bool:
    """Tell whether it is the pattern's character that is read wrong, and not the key's, which a wildcard would show as well."""
    separator, wild = probe.language.separator, probe.language.wildcards
    patterns = "".join(word for pattern in case.patterns for word in pattern.split(separator) if word not in wild)
    if character not in patterns:
        return False
    taken = any(_shows(probe, case, _with(one, probe, case, character)) for one in wild)
    return not taken or _misread(probe, character, keys=False)


def _in_patterns(probe: Probe, character: str) -> str:
    """Return the sorts of characters that patterns misread, as far as this one is of them."""
    wild, own = "".join(probe.language.wildcards), _sort_of(character)
    fixed = [one for one in _meaningful(probe) if one not in wild]
    dense = set()
    for sort, characters in SORTS.items():
        others = [other for other in characters if other not in fixed]
        showing = sum(_misread(probe, other) for other in others)
        dense |= {sort} if showing > _DENSE * len(others) else set()
    if (
        character in wild
    ):  # where all marks of expressions are read as such, a wildcard within a word may be one of them
        words = any(_misread(probe, one) for one in wild if one not in SORTS[_MARKS])
        if words or _MARKS not in dense or character not in SORTS[_MARKS]:
            return "wildcards within a word"
    if len(dense) >= _MOST:
        return "most that are odd"
    if own in dense:
        return ", ".join(sorted(dense))
    return character if character in _meaningful(probe) else f"some {own}"


def _misread(probe: Probe, character: str, *, keys: bool = True) -> bool:
    """Tell whether patterns with this character are answered wrong in any way, where they are not with a letter.

    Without ``keys`` they are asked only about keys that do not have the character.
    """
    return bool(_wrong(probe, character, keys=keys) - _wrong(probe, "q", keys=keys))


def _wrong(probe: Probe, character: str, *, keys: bool) -> set[tuple[int, int]]:
    """Return the pairs that are answered wrong, of the patterns that a character is tried in."""
    separator, like = probe.language.separator, Case(patterns=("a",), key="a")
    alone = 2 * character if character in probe.language.wildcards else character  # one of them is no literal
    words = [alone, f"a{character}", f"{character}a"]
    tails = ["", *(separator + wild for wild in (probe.language.one, probe.language.tail) if wild is not None)]
    patterns = [word + tail for tail in tails for word in words]
    plain = ["a", "aa", "b", *(words if keys else ())]
    asked = [*plain, *(f"{word}{separator}a" for word in plain)]
    some = [place for place, one in enumerate(patterns) if probe.allowed(Case(patterns=(one,), key="a"), like)]
    others = [place for place, key in enumerate(asked) if probe.allowed(Case(patterns=("a",), key=key), like)]
    wrong = probe.wrong_pairs([patterns[place] for place in some], [asked[place] for place in others])
    return {(some[place], others[number]) for place, number in wrong}


def _with(wildcard: str, probe: Probe, case: Case, character: str) -> Case:
    """Return the case with a wildcard for each word of a pattern that has the character."""
    separator = probe.language.separator

    def pattern(text: str) -> str:
        return separator.join(wildcard if character in word else word for word in text.split(separator))

    return Case(patterns=tuple(map(pattern, case.patterns)), key=case.key)


# --- characters of a key ------------------------------------------------------------------------------------------------


def _in_keys(probe: Probe, case: Case, character: str) -> str:
    """Return the sorts of characters that show the fault in the place of this one."""
    dense = set()
    for sort, characters in SORTS.items():
        others = [other for other in characters if other not in _meaningful(probe)]
        showing = sum(_shows(probe, case, _replaced(probe, case, character, other)) for other in others)
        dense |= {sort} if showing > _DENSE * len(others) else set()
    if len(dense) >= _MOST:
        return "most that are odd"
    if character in _meaningful(probe):
        return ", ".join(sorted(dense)) or character
    own = _sort_of(character)
    return ", ".join(sorted(dense)) if own in dense else f"some {own}"


def _sort_of(character: str) -> str:
    known = next((sort for sort, characters in SORTS.items() if character in characters), None)
    if known is not None:
        return known
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
