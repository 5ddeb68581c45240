"""Patterns -> NFA -> lazy DFA -> tables that compiled kernels walk.

This package knows words, patterns and automata. It knows no broker, no Arrow, no Spark and no drawing.
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
