"""The neighbours of a case: cases that differ from it by one step of simplification, which greedy shrinking tries next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dfa_router.fuzz.findings import Case
from dfa_router.fuzz.generating.language import Language

__all__ = ["smaller_cases"]

Words = tuple[str, ...]

_FEW = 8
"""The most patterns of which two lose a word at once: of 64 that would be thousands of neighbours."""
_LETTERS = 40
"""The most places of a word at which a letter is left out."""


def smaller_cases(case: Case, language: Language) -> Iterator[Case]:
    """Yield variants of a case without a history, with fewer bindings, fewer words or simpler words; not all of them are simpler.

    A word of a pattern and the word of the key that it takes often have to be left out together, so every deletion in a
    pattern is combined with every deletion in the key.
    """
    separator = language.separator

    def split(text: str) -> Words:
        return tuple(text.split(separator)) if text else ()

    patterns = [split(pattern) for pattern in case.patterns]
    key = split(case.key)

    def made(patterns: Sequence[Words], key: Words) -> Case:
        return Case(patterns=tuple(map(separator.join, patterns)), key=separator.join(key))

    if len(patterns) > _FEW:
        yield made([("a",)] * len(patterns), ("a",))
    shorter_keys = [key, *_without_one(key)]
    for number in range(1, len(patterns)) if len(patterns) <= _FEW else ():
        yield made([*patterns[: number - 1], patterns[number], patterns[number - 1], *patterns[number + 1 :]], key)
    for number in range(len(patterns)) if len(patterns) > 1 else ():
        fewer = patterns[:number] + patterns[number + 1 :]
        for shorter in shorter_keys if len(patterns) <= _FEW else [key]:
            yield made(fewer, shorter)
    for shorter in _without_runs(key):
        yield made(patterns, shorter)
    for changed in _shorter_patterns(patterns):
        for shorter in shorter_keys if len(patterns) <= _FEW else [key]:
            yield made(changed, shorter)
    wild = set(language.wildcards)
    every = sorted({word for words in (*patterns, key) for word in words})
    for word in every:
        yield made(*_removed(word, patterns, key))
        if word not in wild:
            for simpler in _simpler(word):
                yield made(
                    [_renamed(pattern, word, simpler) for pattern in patterns],
                    _renamed(key, word, simpler),
                )
    for character in sorted({letter for word in every if word not in wild for letter in word} - {"a"}):
        for letter in "abc":
            other_letter = str.maketrans(character, letter)
            yield made(
                [_spelt(pattern, other_letter, wild) for pattern in patterns],
                _spelt(key, other_letter, wild),
            )
    longest = min(max((len(word) for word in every if word not in wild), default=0), _LETTERS)
    # A word of a pattern and the one that it takes may have to lose it together.
    for letter_at in range(-longest, longest):
        yield made([_lost(pattern, letter_at, wild) for pattern in patterns], _lost(key, letter_at, wild))
    for place, word in enumerate(key):
        for simpler in _simpler(word):
            yield made(patterns, (*key[:place], simpler, *key[place + 1 :]))
    for number, pattern in enumerate(patterns):
        for place, word in enumerate(pattern):
            for simpler in _simpler(word) if word not in wild else ("a", "b"):
                other = (*pattern[:place], simpler, *pattern[place + 1 :])
                yield made([*patterns[:number], other, *patterns[number + 1 :]], key)


def _without_one(words: Words) -> list[Words]:
    return [words[:place] + words[place + 1 :] for place in range(len(words))]


def _without_runs(words: Words) -> Iterator[Words]:
    for length in range(1, len(words) + 1):
        for place in range(len(words) - length + 1):
            yield words[:place] + words[place + length :]


def _shorter_patterns(patterns: Sequence[Words]) -> Iterator[list[Words]]:
    """Yield the patterns with one word left out in one of them, or in each of two."""
    shorter = [_without_one(pattern) for pattern in patterns]
    others = len(patterns) if len(patterns) <= _FEW else 0
    for number, variants in enumerate(shorter):
        for variant in variants:
            changed = list(patterns)
            changed[number] = variant
            yield changed
            for other in range(number + 1, others):
                for second in shorter[other]:
                    both = list(changed)
                    both[other] = second
                    yield both


def _removed(word: str, patterns: Sequence[Words], key: Words) -> tuple[list[Words], Words]:
    def without(words: Words) -> Words:
        return tuple(other for other in words if other != word)

    return [without(pattern) for pattern in patterns], without(key)


def _renamed(words: Words, word: str, other: str) -> Words:
    return tuple(other if one == word else one for one in words)


def _spelt(words: Words, letters: dict[int, int], wild: set[str]) -> Words:
    return tuple(word if word in wild else word.translate(letters) for word in words)


def _lost(words: Words, place: int, wild: set[str]) -> Words:
    """Return the words without the letter at a place, counted from the end if it is negative, where they have another one."""

    def lost(word: str) -> str:
        at = place if place >= 0 else len(word) + place
        return word[:at] + word[at + 1 :] if word not in wild and len(word) > 1 and at >= 0 else word

    return tuple(map(lost, words))


def _simpler(word: str) -> list[str]:
    """Return words to try instead of this one, the simplest first."""
    simpler = ["a", "b", "c", ""]
    if len(word) > 1:
        half = len(word) // 2
        simpler += [word[:half], word[half:], word[:1], word[-1:]]
        simpler += [word[:place] + word[place + 1 :] for place in range(min(len(word), _LETTERS))]
        simpler += [
            word[:place] + "a" + word[place + 1 :] for place in range(min(len(word), _LETTERS)) if word[place] != "a"
        ]
    return [other for other in dict.fromkeys(simpler) if other != word]
