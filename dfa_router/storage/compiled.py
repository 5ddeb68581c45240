"""A router in a file: its automaton, its bindings, and a description of its engine and dialect.

A router is a set of named arrays (:data:`SCHEMA`) in a file of :mod:`compiler.storage.sections`: the arrays of the NFA,
patterns and destinations as flat text (:mod:`dfa_router.storage.flat_bindings`), and a description in JSON
(:mod:`dfa_router.storage.description`). The content of the lazy DFA's cache is left out: it depends on the keys that were
matched, and is built again in seconds. The tables of a sealed router follow in sections of their own.

Loading checks everything (:class:`compiler.errors.Defect` is the list), in three layers:

* the checksum, over every byte;
* the structure: array by array, and, binding by binding, that the automaton is that of the patterns;
* a fingerprint of what nothing else in the file can confirm: dialect, options and destinations.

So a file with an error is refused even if its checksum was recomputed. Whoever changes bindings, automaton and
fingerprint so that they fit each other has written the file of another router, and gets that router. Arrays stay where
the file's content was read to, and bindings are decoded when they are asked for.

Rejected: saving the automaton alone and writing the patterns from its paths. The file would be a quarter smaller, but a
damaged word would be a valid file of other bindings.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler import Nfa
from compiler.errors import Defect
from compiler.kernels.seal_tables import Seal
from compiler.storage import automata, seals
from compiler.storage.sections import refusal
from compiler.storage.verify import flaws
from dfa_router.engines.protocol import EngineSpec
from dfa_router.language.bindings import Binding
from dfa_router.language.dialects import Dialect
from dfa_router.storage.checks import binding_flaws
from dfa_router.storage.description import Description, describe, read_description
from dfa_router.storage.flat_bindings import FlatBindings, Texts, flat

__all__ = ["SCHEMA", "SEALED", "Compiled", "compiled_of", "sections_of"]

Array = npt.NDArray[Any]

SCHEMA = {
    "about": "u1",
    "fingerprint": "u1",
    **automata.SCHEMA,
    "pattern_offsets": "i8",
    "pattern_data": "u1",
    "codes": "i4",
    "name_offsets": "i8",
    "name_data": "u1",
}
"""The sections of a router and their types; ``about`` is the description."""
SEALED = seals.SCHEMA
"""The sections that follow in the file of a sealed router."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compiled:
    """A router in the form that a file holds: what is needed to make it again, with an empty cache."""

    nfa: Nfa
    bindings: Sequence[Binding]
    dialect: Dialect
    engine: str
    """The name of the engine."""
    options: Any
    """The engine's options: a value of ``EngineSpec.options``."""
    seal: Seal | None = None
    """The tables that are sealed. From a file they are not checked yet, as that takes the automaton as kernels read it."""


def sections_of(compiled: Compiled) -> dict[str, Array]:
    """Return the sections of a router, in the order of ``SCHEMA``."""
    bindings = flat(compiled.bindings)
    about = describe(Description(compiled.engine, compiled.options, compiled.dialect))
    sections: dict[str, Array] = {
        "about": np.frombuffer(about, np.uint8),
        "fingerprint": np.empty(0, np.uint8),
        **automata.sections_of(compiled.nfa),
        "pattern_offsets": bindings.patterns.offsets,
        "pattern_data": bindings.patterns.data,
        "codes": bindings.codes,
        "name_offsets": bindings.names.offsets,
        "name_data": bindings.names.data,
    }
    sections["fingerprint"] = _fingerprint(sections)
    return sections if compiled.seal is None else {**sections, **seals.sections_of(compiled.seal)}


def compiled_of(
    sections: Mapping[str, Array], engines: Mapping[str, EngineSpec], path: str | os.PathLike[str]
) -> Compiled:
    """Check the sections of a router and return it; ``engines`` are those that a file may name.

    Raises :class:`FileFormatError`, with ``path`` in its text, for the first problem.
    """
    try:
        about = read_description(sections["about"].tobytes(), engines)
    except ValueError as error:
        raise refusal(path, Defect.OPTIONS, str(error), section="about") from None
    nfa = automata.nfa_of(sections, reserved=about.dialect.reserved or b"")
    bindings = FlatBindings(
        patterns=Texts(sections["pattern_offsets"], sections["pattern_data"]),
        codes=sections["codes"],
        names=Texts(sections["name_offsets"], sections["name_data"]),
    )
    for kind, section, problem in chain(flaws(nfa), binding_flaws(bindings, nfa, about.dialect)):
        raise refusal(path, kind, problem, section=section)
    if not np.array_equal(sections["fingerprint"], _fingerprint(sections)):
        problem = "it is not that of the dialect, the options and the destinations"
        raise refusal(path, Defect.FINGERPRINT, problem, section="fingerprint")
    seal = None
    if "seal_begin" in sections:
        seal = seals.seal_from(sections)
        if seal is None:
            raise refusal(path, Defect.SEAL, "it is not two references", section="seal_begin")
    return Compiled(
        nfa=nfa, bindings=bindings, dialect=about.dialect, engine=about.engine, options=about.options, seal=seal
    )


def _fingerprint(sections: Mapping[str, Array]) -> npt.NDArray[np.uint8]:
    """Return the digest of the sections whose content no other section confirms."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ("about", "codes", "name_offsets", "name_data"):
        digest.update(len(sections[name]).to_bytes(8, "little"))
        digest.update(sections[name].data)
    return np.frombuffer(digest.digest(), np.uint8)
