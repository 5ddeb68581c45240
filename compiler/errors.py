"""Everything that can go wrong, as one tree.

The root lives in this package because imports run one way; users meet it as ``dfa_router.RouterError``.

::

    RouterError                      anything this project raises on purpose
    ├── InputError                   (ValueError) what the caller handed over is wrong
    │   ├── PatternError             a binding pattern: which one, and what is wrong with it
    │   └── CapacityError            an automaton would outgrow the limit it was given
    └── (see dfa_router.errors)      bindings, definitions files, the environment
"""

from __future__ import annotations


class RouterError(Exception):
    """Base of every error that the project raises on purpose; its text says what to do next."""


class InputError(RouterError, ValueError):
    """The caller's input is wrong: the text names the place, what was expected and the remedy."""


class PatternError(InputError):
    """A binding pattern cannot be compiled."""


class CapacityError(InputError):
    """An automaton would outgrow the stated limit on its states or bytes; the text names both."""
