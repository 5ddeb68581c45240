"""Whether a pattern matches falsely as it does not insist on one of its separators.

A dot that a regular expression takes for any character, ``/#`` that was translated to any rest, and a prefix that is compared without
the separator behind it are read alike: something else, or nothing, may stand where the separator is. It is asked of the pattern with
letters in the place of its wildcards, so that what these are read as has no part in it. A key that the pattern matches if the
separators in question are any character or none is a case of that fault, whatever else is odd about the key.
"""

from __future__ import annotations

import re

from dfa_router.fuzz.findings import Case, Kind
from dfa_router.fuzz.shrinking.probe import Probe

__all__ = ["about_separators"]


def about_separators(probe: Probe, case: Case) -> tuple[str, ...] | None:
    """Return the name of the fault, or None if the case does not show it."""
    if probe.kind is not Kind.MATCHES or len(case.patterns) != 1:
        return None
    separator, wild = probe.language.separator, set(probe.language.wildcards)
    words = case.patterns[0].split(separator)
    if len(words) < 2 or set(words) <= wild - {probe.language.one}:
        return None
    read = {place: _read(probe, case, words, place) for place in range(1, len(words))}
    return (str(probe.kind), "separator") if any(read.values()) and _explained(probe, words, read, case.key) else None


def _read(probe: Probe, case: Case, words: list[str], place: int) -> str:
    """Return as what the separator before the word at ``place`` is read, as an expression; empty where it is insisted on.

    A pattern of letters is asked about a key with another character there, and about one with none.
    """
    language = probe.language
    last = words[-1] if words[-1] in (language.many, language.tail) else None
    letters = [word if word not in language.wildcards else "a" for word in words[: len(words) - (last is not None)]]
    pattern = language.separator.join([*letters, *([last] if last else [])])
    key = [*letters, *(["a"] if last else [])]
    found = []
    for between in ("q", ""):
        joined = language.separator.join([*key[: place - 1], key[place - 1] + between + key[place], *key[place + 1 :]])
        variant = Case(patterns=(pattern,), key=joined)
        if not probe.judge.right_of(variant) and probe.allowed(variant, case) and probe.shows(variant):
            found.append("." if between else "")
    return "" if not found else ".?" if len(found) > 1 else found[0] or "(?:)"


def _explained(probe: Probe, words: list[str], read: dict[int, str], key: str) -> bool:
    """Tell whether the pattern matches the key if its separators are what they are read as."""
    language = probe.language
    separator = re.escape(language.separator)
    reserved = (probe.dialect.reserved or b"").decode()
    expression = ""
    for place, word in enumerate(words):
        if word == language.one:
            first = re.escape(reserved) if not place else ""
            piece = f"[^{separator}{first}]*"
        elif word in language.wildcards:
            piece = ".*" if place else f"(?!{re.escape(reserved)}).*" if reserved else ".*"
        else:
            piece = re.escape(word)
        expression += (read[place] or separator if place else "") + piece
    return re.fullmatch(expression, key, re.DOTALL) is not None
