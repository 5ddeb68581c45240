"""The path by which users import this; it lies in :mod:`compiler.automata.twin`."""

from compiler.automata.twin import Twin

__all__ = ["Twin"]
