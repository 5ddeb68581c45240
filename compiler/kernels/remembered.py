"""A function that is asked for a key's answer: those that a dictionary has are its own, for all others it calls another function.

A method that looks into a dictionary takes 2.1 to 2.5 times as long as the look-up, as calling a function of Python takes longer than
looking. This one takes 1.3 to 1.4 times as long (``python -m benchmarks engine single``).
"""

from __future__ import annotations

from compiler.kernels._builtins import (
    Builtin,
    call,
    call_with_one,
    clear_error,
    dictionary_item,
    error_is_one_of,
    new_reference,
    pointer_at,
    tuple_item,
    tuple_size,
    which_error,
)

__all__ = ["ask_remembered"]

REMEMBERED, OTHERWISE, LEFT, NAME = range(4)
"""Items of the state: the dictionary, the function that is called otherwise, the errors of a look-up that are left to it, and what the
argument is called."""


def _ask_remembered(state: int, arguments: int, count: int, names: int) -> int:
    """Return the dictionary's value for the only argument, or what the other function returns."""
    single = count == 1 and names == 0
    named = (
        count == 0
        and names != 0
        and tuple_size(names) == 1
        # Names of arguments are interned. One that is not is left to the other function.
        and tuple_item(names, 0) == tuple_item(state, NAME)
    )
    if single or named:
        key = pointer_at(arguments)
        found = dictionary_item(tuple_item(state, REMEMBERED), key)
        if found != 0:
            new_reference(found)  # before anything else is called, which could empty the dictionary
            return found  # type: ignore[no-any-return]
        if which_error() != 0:  # it cannot be hashed, or compared
            if error_is_one_of(tuple_item(state, LEFT)) == 0:
                return 0
            clear_error()
        return call_with_one(tuple_item(state, OTHERWISE), key)  # type: ignore[no-any-return]
    return call(tuple_item(state, OTHERWISE), arguments, count, names)  # type: ignore[no-any-return]


ask_remembered = Builtin(_ask_remembered, keywords=True)
