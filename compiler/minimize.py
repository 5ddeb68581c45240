"""The public import path of :mod:`compiler.automata.minimize`."""

from compiler.automata.minimize import MinimalDfa, minimize

__all__ = ["MinimalDfa", "minimize"]
