"""Patterns -> NFA -> lazy DFA -> flat tables that compiled kernels walk.

``automata`` holds the algorithms in their textbook form, ``machine`` and ``kernels`` the fast form of the same,
``storage`` puts an automaton into a file and checks one that comes from a file. The names below are the part that needs
no kernel. This package knows words, patterns and automata; it knows no broker, no Arrow, no Spark and no drawing.
"""

from __future__ import annotations

from compiler.automata.dfa import Dfa, build_dfa
from compiler.automata.nfa import Nfa, build_nfa
from compiler.automata.pattern import Pattern, Token, Wildcard, normalize
from compiler.errors import CapacityError, InputError, PatternError, RouterError

__all__ = [
    "CapacityError",
    "Dfa",
    "InputError",
    "Nfa",
    "Pattern",
    "PatternError",
    "RouterError",
    "Token",
    "Wildcard",
    "build_dfa",
    "build_nfa",
    "normalize",
]
