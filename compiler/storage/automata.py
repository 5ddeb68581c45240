"""An automaton as sections of a file, and a file of nothing else, for whoever knows what its accept tags stand for.

What is read is checked: the checksum of the file, and all that kernels rely on (:mod:`compiler.storage.verify`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from compiler.automata.nfa import Nfa, Symbols
from compiler.storage.sections import read_file, refusal, write_file
from compiler.storage.verify import flaws

__all__ = ["SCHEMA", "nfa_of", "read_automaton", "sections_of", "write_automaton"]

Array = npt.NDArray[Any]

SCHEMA = {
    "labels": "i4",
    "children": "i4",
    "tag_offsets": "i4",
    "tags": "i4",
    "word_offsets": "i4",
    "word_data": "u1",
}
"""The sections and their types."""


def sections_of(nfa: Nfa) -> dict[str, Array]:
    """Return the sections of an automaton, in the order of ``SCHEMA``."""
    return {
        "labels": nfa.labels,
        "children": nfa.children,
        "tag_offsets": nfa.tag_offsets,
        "tags": nfa.tags,
        "word_offsets": nfa.symbols.offsets,
        "word_data": nfa.symbols.data,
    }


def nfa_of(sections: Mapping[str, Array], *, reserved: bytes = b"") -> Nfa:
    """Return the automaton of these sections, which nobody has checked yet; of others among them it takes no notice."""
    return Nfa(
        symbols=Symbols(data=sections["word_data"], offsets=sections["word_offsets"]),
        labels=sections["labels"],
        children=sections["children"],
        tag_offsets=sections["tag_offsets"],
        tags=sections["tags"],
        reserved=reserved,
    )


def write_automaton(path: str | os.PathLike[str], nfa: Nfa) -> None:
    """Write an automaton with one root, atomically; raises ``OSError`` if the path cannot be written."""
    write_file(path, sections_of(nfa))


def read_automaton(path: str | os.PathLike[str], *, mapped: bool = False) -> Nfa:
    """Read an automaton; raises :class:`FileFormatError`. If it is ``mapped``, nobody may write into the file afterwards."""
    nfa = nfa_of(read_file(path, SCHEMA, mapped=mapped))
    for kind, section, problem in flaws(nfa):
        raise refusal(path, kind, problem, section=section)
    return nfa
