"""Functions of Python whose machine code numba compiles: they take Python's objects as they are, by Python's C interface.

What a kernel takes to be called at all is converting its arguments, which is more than walking a key. A *builtin* gets pointers, and asks
the interpreter itself. It keeps the interpreter's lock. Pointers are numbers here, of type :data:`POINTER`, and 0 is C's NULL.

Such a function is made of a kernel and of a tuple, its *state*, which it keeps alive and gets as its first argument.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, NamedTuple, cast

from llvmlite import ir
from numba.core import sigutils, types
from numba.core.ccallback import CFunc
from numba.extending import intrinsic
from numba.np import arrayobj

from compiler.kernels._jit import OPTIONS, keep_on_disk
from compiler.kernels.aside import aside, in_background

__all__ = [
    "POINTER",
    "Builtin",
    "bytes_of",
    "call",
    "call_with_one",
    "clear_dictionary",
    "clear_error",
    "copy_bytes",
    "dictionary_item",
    "dictionary_keys",
    "dictionary_size",
    "disable_garbage",
    "enable_garbage",
    "error_is_one_of",
    "is_instance",
    "length_of",
    "list_item",
    "make_dictionary",
    "make_number",
    "make_tuple",
    "new_reference",
    "number_of",
    "numbers_at",
    "pointer_at",
    "pointer_of",
    "release",
    "set_dictionary_item",
    "set_tuple_item",
    "size_of_bytes",
    "take_utf8",
    "tuple_from_list",
    "tuple_item",
    "tuple_size",
    "which_error",
]

POINTER = types.intp
_INT = types.intc

_ONE_ARGUMENT, _FAST, _KEYWORDS = 0x0008, 0x0080, 0x0002
"""Flags of a PyMethodDef: METH_O, METH_FASTCALL and METH_KEYWORDS."""


def _c(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of the process, as kernels call it."""
    return cast("Any", types).ExternalFunction(name, result(*arguments))


bytes_of = _c("PyBytes_AsString", POINTER, POINTER)
call = _c("PyObject_Vectorcall", POINTER, POINTER, POINTER, POINTER, POINTER)
call_with_one = _c("PyObject_CallOneArg", POINTER, POINTER, POINTER)
clear_dictionary = _c("PyDict_Clear", types.void, POINTER)
clear_error = _c("PyErr_Clear", types.void)
copy_bytes = _c("memcpy", POINTER, POINTER, POINTER, POINTER)
dictionary_item = _c("PyDict_GetItemWithError", POINTER, POINTER, POINTER)
"""The reference is borrowed: nothing may be called before it has become a new one."""
dictionary_keys = _c("PyDict_Keys", POINTER, POINTER)
dictionary_size = _c("PyDict_Size", POINTER, POINTER)
disable_garbage = _c("PyGC_Disable", _INT)
"""Returns whether garbage was collected now and then before."""
enable_garbage = _c("PyGC_Enable", _INT)
error_is_one_of = _c("PyErr_ExceptionMatches", _INT, POINTER)
is_instance = _c("PyObject_IsInstance", _INT, POINTER, POINTER)
length_of = _c("PyObject_Size", POINTER, POINTER)
list_item = _c("PyList_GetItem", POINTER, POINTER, POINTER)
"""The reference is borrowed."""
make_dictionary = _c("PyDict_New", POINTER)
make_number = _c("PyLong_FromSsize_t", POINTER, POINTER)
make_tuple = _c("PyTuple_New", POINTER, POINTER)
new_reference = _c("Py_IncRef", types.void, POINTER)
number_of = _c("PyLong_AsSsize_t", POINTER, POINTER)
pointer_of = _c("PyLong_AsVoidPtr", POINTER, POINTER)
release = _c("Py_DecRef", types.void, POINTER)
set_dictionary_item = _c("PyDict_SetItem", _INT, POINTER, POINTER, POINTER)
set_tuple_item = _c("PyTuple_SetItem", _INT, POINTER, POINTER, POINTER)
"""It takes the reference of the item over."""
size_of_bytes = _c("PyBytes_Size", POINTER, POINTER)
take_utf8 = _c("PyUnicode_AsUTF8AndSize", POINTER, POINTER, POINTER)
tuple_from_list = _c("PyList_AsTuple", POINTER, POINTER)
tuple_item = _c("PyTuple_GetItem", POINTER, POINTER, POINTER)
"""The reference is borrowed."""
tuple_size = _c("PyTuple_Size", POINTER, POINTER)
which_error = _c("PyErr_Occurred", POINTER)


def _pointer_at(typing_context: Any, address: Any) -> Any:
    """Load the pointer that lies at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], arguments[0].type.as_pointer()))

    return POINTER(POINTER), generate


def _numbers_at(typing_context: Any, address: Any, size: Any) -> Any:
    """Return the array of so many uint64 that lies at an address; nothing is checked, and it is not kept alive."""
    array_type = types.Array(types.uint64, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        width = context.get_constant(types.intp, 8)
        data = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        populate = cast("Any", arrayobj).populate_array
        populate(array, data=data, shape=[arguments[1]], strides=[width], itemsize=width, meminfo=None)
        return array._getvalue()  # noqa: SLF001  # numba's own name for it

    return array_type(POINTER, POINTER), generate


pointer_at: Any = intrinsic(_pointer_at)
numbers_at: Any = intrinsic(_numbers_at)


class _Definition(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new: Any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)


class _InBackground(NamedTuple):
    """What a thread of a process compiles."""

    process: int
    done: Future[int]

    def wait(self) -> None:
        """Wait for it, in that process."""
        if self.process == os.getpid():
            wait([self.done])


class Builtin:
    """A kernel of which functions of Python are made; compiled when the first one is made, and kept on disk as all kernels are.

    The kernel returns a new reference, or 0 where an error is set. It gets its function's state and, as :attr:`keywords` says, either the
    one argument, or those of METH_FASTCALL | METH_KEYWORDS: the address of the arguments, their number, and a tuple of the names of
    those that follow these, or 0.
    """

    def __init__(self, function: Callable[..., int], *, keywords: bool) -> None:
        """Take the kernel."""
        self.py_func = function
        self.keywords = keywords
        self._flags = _FAST | _KEYWORDS if keywords else _ONE_ARGUMENT
        self._compiled: Any = None
        self._compiling: _InBackground | None = None
        self._definitions: dict[tuple[str, str], _Definition] = {}
        """They are never freed, as functions point to them."""

    def make(self, state: tuple[object, ...], name: str, doc: str = "") -> Callable[..., Any]:
        """Return a function of Python with this state."""
        if (name, doc) not in self._definitions:
            address = aside(self._address)
            # One that another thread has made meanwhile stays.
            self._definitions.setdefault(
                (name, doc), _Definition(name.encode(), address, self._flags, doc.encode() or None)
            )
        definition = self._definitions[name, doc]
        return cast("Callable[..., Any]", _new(ctypes.addressof(definition), state, None))

    def ready(self) -> bool:
        """Return whether :meth:`make` takes no time; if not, it is compiled, or loaded, in another thread from the first question on.

        It is ready also if that has failed: :meth:`make` tries again, and raises what is wrong.
        """
        if self._compiled is not None:
            return True
        # A child has not the threads of its parent.
        if self._compiling is None or self._compiling.process != os.getpid():
            # Two threads may begin: the second one loads what the first has kept.
            self._compiling = _InBackground(os.getpid(), in_background(self._address))
            # Else processes that end sooner would begin it again and again.
            atexit.register(self._compiling.wait)
        return self._compiling.done.done()

    def _address(self) -> int:
        """Return where the machine code is."""
        if self._compiled is None:
            arguments = [POINTER] * (4 if self.keywords else 2)
            signature = cast("Any", sigutils).normalize_signature(POINTER(*arguments))
            options = {**OPTIONS, "nogil": False}
            compiled: Any = cast("Any", CFunc)(self.py_func, signature, locals={}, options=options)
            keep_on_disk(compiled, self.py_func)
            compiled.compile()
            self._compiled = compiled
        return cast("int", self._compiled.address)

    @property
    def compiled(self) -> bool:
        """Whether it was compiled or loaded in this process."""
        return self._compiled is not None
