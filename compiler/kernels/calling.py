"""Calls of kernels that do not look at the types of their arguments each time."""

from __future__ import annotations

import os
from typing import Any

from compiler.kernels._jit import JIT, typeof
from compiler.kernels.aside import aside

__all__ = ["direct", "entry"]


def entry(kernel: Any, *arguments: Any) -> Any:
    """Return a kernel's machine code for arguments of these types; it is compiled first if need be.

    Calling it takes 0.1 us less than calling the kernel, which looks at the types of its arguments at each call.
    """
    signature = _signature(arguments)
    if (kernel, signature) not in _ENTRIES:
        _ENTRIES[kernel, signature] = aside(kernel.compile, signature)
    return _ENTRIES[kernel, signature]


_ENTRIES: dict[tuple[Any, Any], Any] = {}
"""What :func:`entry` has found. Asking numba takes its lock each time, and 15 us instead of 9."""


def direct(kernel: Any, *arguments: Any) -> Any:
    """Call a kernel whose arguments have the same types at each call: only the first call looks at them.

    Looking takes 17 us where NamedTuples of arrays are among them, as long as walking 300 keys. Arguments of other types would be
    taken for what they are not, so whoever uses this makes all its arrays itself, or has them from
    :mod:`compiler.machine.columns`; with CHECKED, each call looks.
    """
    if not JIT:
        return kernel(*arguments)
    known = _DIRECT.get(kernel)
    if known is None:
        known = _DIRECT[kernel] = _signature(arguments), entry(kernel, *arguments)
    if CHECKED and _signature(arguments) != known[0]:
        raise TypeError(f"{kernel.__name__} was called with {_signature(arguments)} and before with {known[0]}")
    return known[1](*arguments)


def _signature(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(typeof(argument) for argument in arguments)


_DIRECT: dict[Any, tuple[tuple[Any, ...], Any]] = {}
"""The signatures and the machine code of kernels that are called so."""
CHECKED: bool = bool(os.environ.get("DFA_ROUTER_CHECK_ARGUMENTS"))
"""Whether the types of arguments are looked at nevertheless, as in all tests."""
