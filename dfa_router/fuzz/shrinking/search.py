"""The second step of shrinking: all cases smaller than the result are tried that its own words can make.

Deletion alone stops where two words have to change at once. Cases are tried in layers, of one binding and no word, of one
binding and one word, and so on, as far as a budget allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from dfa_router.fuzz.findings import Case, rank
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError

__all__ = ["search"]

_CALLS, _CASES = 1500, 20_000
"""Calls of the target, and cases, that the search may take."""


def search(probe: Probe, case: Case) -> Case:
    """Return the simplest case that shows the disagreement and is made of the case's own words and ``a``.

    It is the case itself where the budget ends before a simpler one is found, and where it has a history.
    """
    if case.stateful:
        return case
    separator = probe.language.separator
    wild = set(probe.language.wildcards)
    spelt = {word for text in (*case.patterns, case.key) if text for word in text.split(separator)} | {"a"}
    tokens, words = sorted(spelt), sorted((spelt - wild) | {word for word in case.key.split(separator) if case.key})
    total = rank(case, probe.dialect).words
    probe.allow(_CALLS)
    left = _CASES
    best = case
    try:
        for bindings in range(1, len(case.patterns) + 1):
            for count in range(total + 1 if bindings == len(case.patterns) else total):
                layer = list(_layer(bindings, count))
                cost = sum(len(tokens) ** sum(split[:-1]) * len(words) ** split[-1] for split in layer)
                left -= cost
                if left < 0:
                    break
                found = probe.simplest(best, _layer_cases(layer, tokens, words, separator))
                if found is not None:
                    best = found
                    break
            if rank(best, probe.dialect).bindings == bindings and best is not case:
                break
    except StoppedError:
        pass  # expected, as the budget is small: the best case so far is the result
    return best


def _layer(bindings: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to divide ``count`` words among ``bindings`` patterns and a key, as numbers of words."""
    for parts in itertools.product(range(count + 1), repeat=bindings):
        if sum(parts) <= count:
            yield (*parts, count - sum(parts))


def _layer_cases(
    layer: Sequence[tuple[int, ...]], tokens: Sequence[str], words: Sequence[str], separator: str
) -> Iterator[Case]:
    """Yield all cases of a layer: patterns made of tokens, and a key made of words."""
    for *lengths, length in layer:
        choices = [[separator.join(made) for made in itertools.product(tokens, repeat=n)] for n in lengths]
        keys = [separator.join(made) for made in itertools.product(words, repeat=length)]
        for patterns in itertools.product(*choices):
            for key in keys:
                yield Case(patterns=patterns, key=key)
