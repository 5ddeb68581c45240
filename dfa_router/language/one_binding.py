"""A binding that is given singly, and not as one of a list."""

from __future__ import annotations

from dfa_router.errors import BindingError
from dfa_router.language.bindings import Binding, binding_set

__all__ = ["one_binding"]


def one_binding(pattern: str, destination: str) -> Binding:
    """Check a pattern and a destination as :func:`binding_set` does; the text of its error names no position.

    >>> one_binding("stock.#", 5)
    Traceback (most recent call last):
    dfa_router.errors.BindingError: the binding is ('stock.#', 5): expected a (pattern, destination) pair of strings, such as ('stock.#', 'q')
    """
    try:
        return binding_set([(pattern, destination)])[0]
    except BindingError as error:
        raise BindingError(str(error).replace("binding 0", "the binding", 1)) from None
