"""A function that is asked for a key's answer: those that a dictionary has are its own; others it finds at once, or calls another function.

A method that looks into a dictionary takes 2.1 to 2.5 times as long as the look-up, as calling a function of Python takes longer than
looking. This one takes 1.3 to 1.4 times as long (``python -m benchmarks engine single``).

A key that was not asked for before went through four functions of Python, which took longer than walking it. So the functions of
:mod:`compiler.kernels.single` are called from here, where the machine is lent to nobody: nothing is lent here, as nothing else runs until the key is answered. The
interpreter's lock is kept, no code of Python is called until the positions are there, and no garbage is collected, which could call some.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._builtins import (
    Builtin,
    call,
    call_with_one,
    clear_dictionary,
    clear_error,
    dictionary_item,
    dictionary_keys,
    dictionary_size,
    disable_garbage,
    enable_garbage,
    error_is_one_of,
    length_of,
    list_item,
    make_dictionary,
    make_tuple,
    new_reference,
    number_of,
    numbers_at,
    pointer_at,
    pointer_of,
    release,
    set_dictionary_item,
    set_tuple_item,
    tuple_from_list,
    tuple_item,
    tuple_size,
    which_error,
)
from compiler.kernels._jit import inlined
from compiler.kernels.tables import Signed
from compiler.kernels.unsigned import ONE

__all__ = ["TYPE", "ask_remembered"]

REMEMBERED, OTHERWISE, LEFT, NAME = range(4)
"""Items of the state: the dictionary, the function that is called otherwise, the errors of a look-up that are left to it, and what the
argument is called."""
LOANS, LENT, FINDERS, COUNTS, VALUES, NONE_ITEM, TEXT, DATA, ROOM, MOST_KEYS, LONGEST, MOST_NAMES = range(4, 16)
"""Others, if keys are found at once, or it has but the four: what the machine lends, and what of that the finders use; the functions from a key to its positions, or None, of which the first is asked
first; where it is counted what each has answered; tuples of which item 1 is what is returned for a position; None, str and bytes; and what is remembered: the
address of how many more names may be, the most keys, the longest key, and the most names of all."""
TYPE = 8
"""The bytes of an object in front of its type."""
FINDER_COUNT = 3


def _ask_remembered(state: int, arguments: int, count: int, names: int) -> int:
    """Return the dictionary's value for the only argument, or what is found, or what the other function returns."""
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
        elif tuple_size(state) > LOANS:
            found = _find_names(state, key)
            if found != 0:
                return found  # type: ignore[no-any-return]
            clear_error()
        return call_with_one(tuple_item(state, OTHERWISE), key)  # type: ignore[no-any-return]
    return call(tuple_item(state, OTHERWISE), arguments, count, names)  # type: ignore[no-any-return]


ask_remembered = Builtin(_ask_remembered, keywords=True)


@inlined
def _find_names(state: Signed, key: Signed) -> Signed:
    """Return the names for a key, and remember them; 0 where another function must be asked, or for an error."""
    kind = pointer_at(key + TYPE)
    if kind != tuple_item(state, TEXT) and kind != tuple_item(state, DATA):  # whose methods are nobody's code
        return 0
    if dictionary_item(tuple_item(state, LOANS), tuple_item(state, LENT)) != 0:
        return 0
    collects = disable_garbage()
    positions = _positions(state, key)
    if collects != 0:
        enable_garbage()
    if positions == 0:
        return 0
    names = _names(
        tuple_item(state, VALUES), positions
    )  # where memory is short, the key is asked for, and counted, again
    release(positions)
    if names != 0:
        _remember(state, key, names)
    return names


@inlined
def _positions(state: Signed, key: Signed) -> Signed:
    """Return what the first of the finders returns that knows the key, and count it; 0 if none does."""
    finders, nothing = tuple_item(state, FINDERS), tuple_item(state, NONE_ITEM)
    for i in range(FINDER_COUNT):
        finder = list_item(finders, i)
        if finder == nothing:
            continue
        found = call_with_one(finder, key)
        if found == 0:
            return found
        if found != nothing:
            numbers_at(pointer_of(tuple_item(state, COUNTS)), FINDER_COUNT)[np.uint64(i)] += ONE
            return found
        release(found)
    return np.intp(0)


@inlined
def _names(values: Signed, positions: Signed) -> Signed:
    """Return item 1 of the values at these positions, each once, as a tuple; 0 for an error."""
    count = tuple_size(positions)
    if count < 2:
        names = make_tuple(count)
        if count == 1 and names != 0:
            name = tuple_item(tuple_item(values, number_of(tuple_item(positions, 0))), 1)
            new_reference(name)
            set_tuple_item(names, 0, name)
        return names
    once = make_dictionary()
    if once == 0:
        return once
    for i in range(count):
        name = tuple_item(tuple_item(values, number_of(tuple_item(positions, i))), 1)
        if set_dictionary_item(once, name, name) != 0:
            release(once)
            return np.intp(0)
    listed = dictionary_keys(once)
    release(once)
    if listed == 0:
        return listed
    names = tuple_from_list(listed)
    release(listed)
    return names


@inlined
def _remember(state: Signed, key: Signed, names: Signed) -> None:
    """Remember names for a key, if there is room, or room can be made."""
    remembered, count = tuple_item(state, REMEMBERED), tuple_size(names)
    most = number_of(tuple_item(state, MOST_NAMES))
    if length_of(key) > number_of(tuple_item(state, LONGEST)) or count > most:
        return
    room = numbers_at(pointer_of(tuple_item(state, ROOM)), 1)
    left = np.int64(room[np.uint64(0)]) - count
    if left < 0 or dictionary_size(remembered) >= number_of(tuple_item(state, MOST_KEYS)):
        clear_dictionary(remembered)
        left = most - count
    if set_dictionary_item(remembered, key, names) == 0:
        room[np.uint64(0)] = np.uint64(left)
    else:
        clear_error()
