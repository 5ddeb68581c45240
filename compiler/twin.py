"""The public import path of :mod:`compiler.automata.twin`."""

from compiler.automata.twin import Twin

__all__ = ["Twin"]
