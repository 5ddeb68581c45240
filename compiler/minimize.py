"""The path by which users import this; it lies in :mod:`compiler.automata.minimize`."""

from compiler.automata.minimize import MinimalDfa, minimize

__all__ = ["MinimalDfa", "minimize"]
