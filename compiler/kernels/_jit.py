"""The decorators that compile kernels, and single machine instructions for them.

This module, ``_builtins``, ``_lanes`` and those whose names end in ``_vectors`` are the only ones that import numba. Kernels are compiled
at their first call, never at import, and kept in files (:mod:`compiler.kernels.kept`). Kernels release the interpreter's lock, except
the :func:`brief` ones.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
from llvmlite import ir
from numba.core import caching, cgutils, serialize, sigutils, types
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numba.np import arrayobj

from compiler.kernels import kept
from compiler.kernels.aside import aside

__all__ = [
    "JIT",
    "OPTIONS",
    "array_at",
    "brief",
    "equal64",
    "folded_product",
    "inlined",
    "keep_on_disk",
    "kernel",
    "load64",
    "ones",
    "prefetch",
    "store64",
    "trailing_zeros",
    "typeof",
]

F = TypeVar("F", bound=Callable[..., Any])

JIT: bool = not cast("Any", numba.config).DISABLE_JIT
"""False where ``NUMBA_DISABLE_JIT=1`` is set; the plain-Python twins of the kernels are used then."""


typeof: Any = numba.typeof
"""From a value to its type in kernels."""

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # No reference counting: kernels allocate nothing and keep nothing, and their callers keep the arrays. numba would count
    # at every use of an array in a tuple, and the first pass of `stock` takes 3.5 times as long with it
    # (``python -m benchmarks ablations``).
    "_nrt": False,
    # Nobody calls kernels from C; builtins, which Python does, have theirs all the same.
    "no_cfunc_wrapper": True,
}
"""What numba is told of each kernel."""


def kernel(function: F) -> F:
    """Compile a function to machine code at its first call."""
    return _compiled(function, OPTIONS)


def brief(function: F) -> F:
    """Compile a kernel that runs so shortly that it keeps the interpreter's lock.

    Releasing the lock and taking it again takes 55 ns, and over 1 us if a second thread is waiting for it.
    """
    return _compiled(function, {**OPTIONS, "nogil": False})


def _compiled(function: F, options: dict[str, Any]) -> F:
    compiled: Any = numba.njit(**options)(function)
    if not JIT:
        return cast("F", compiled)
    compiled._compile_for_args = partial(aside, compiled._compile_for_args)  # noqa: SLF001 - what a first call does
    keep_on_disk(compiled, function)
    return cast("F", compiled)


def keep_on_disk(compiled: Any, function: Callable[..., Any]) -> None:
    """Have what numba compiles of a function kept on disk, unless it was typed at a prompt."""
    own, file = function.__module__.startswith(f"{__package__}."), Path(inspect.getfile(function))
    if own or (file.suffix == ".py" and file.is_file()):
        sources = "" if own else kept.digest_of(file.parent)
        compiled._cache = _Kept(function, sources)  # noqa: SLF001 - there is no public way


class _Kept(caching._Cache):  # noqa: SLF001 - as above
    """numba's cache of one kernel: a file for each signature and processor, in the folder of this package's content.

    ``sources`` tells the content of the folder that a kernel of another package is in.
    """

    cache_path = None

    def __init__(self, function: Callable[..., Any], sources: str) -> None:
        self._kernel = (function.__module__, function.__qualname__, sources)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature, or None if it is to be compiled."""
        target_context.refresh()
        data = kept.read(self._name(sig, target_context.codegen()))
        if data is None:
            _announce()
            return None
        return cast("Any", CompileResult)._rebuild(target_context, *pickle.loads(data))  # noqa: S301, SLF001 - our own file

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel."""
        kept.write(self._name(sig, data.codegen), cast("Any", serialize).dumps(data._reduce()))  # noqa: SLF001

    def _name(self, sig: Any, codegen: Any) -> str:
        """Return the name of a file: the kernel's, and a digest of all that its code depends on besides our sources."""
        arguments, _ = cast("Any", sigutils).normalize_signature(sig)
        versions = numba.__version__, llvmlite.__version__, sys.implementation.cache_tag
        digest = hashlib.sha256(repr((self._kernel, arguments, codegen.magic_tuple(), versions)).encode())
        return f"{self._kernel[1]}-{digest.hexdigest()[:32]}"

    def enable(self) -> None:
        """Do nothing: it is never switched off."""

    def disable(self) -> None:
        """Do nothing, as above."""

    def flush(self) -> None:
        """Do nothing: what is compiled again replaces its file."""


@cache
def _announce() -> None:
    """Say, once in a process, why an answer takes so long."""
    logging.getLogger("dfa_router.kernels").warning(
        "compiling kernels, once for this version and processor: a quarter of a minute for a first answer, or more"
    )


if JIT:
    # The first decorator would make it, in whichever thread it is in, and take llvmlite's lock three hundred times for that.
    # That lock is written in Python: an exception of a signal's handler while it is taken leaves it taken for ever.
    _ = cpu_target.target_context

if JIT and hasattr(os, "register_at_fork"):
    # A child that is forked while another thread compiles would find the lock taken by a thread that it does not have.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def inlined(function: F) -> F:
    """Compile a helper into the kernels that call it.

    A call passes every field of every array in its arguments, hundreds of numbers on the stack, which is too slow for a step
    of a few nanoseconds. The first pass of `stock` takes 1.7 times as long when building is called
    (``python -m benchmarks ablations``). Inlined, a NamedTuple of arrays costs nothing: what is not used is not passed.
    """
    # What Python would call a helper by is larger than most helpers, as it takes each array of each argument apart. Without that, and without
    # the same for C, a first answer on a new machine takes 16 s in place of 25, and all kernels 71 in place of 106.
    options = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
    compiled: Any = numba.njit(**options)(function)
    if JIT:
        # Python's calls, which tests make, go to a kernel of the same function: numba shall neither remember one of these for them, nor make one.
        compiled.add_overload = lambda found: compiled.overloads.update({found.signature.args: found})
        compiled._compile_for_args = lambda *_arguments, **_named: _direct(function)  # noqa: SLF001 - as above
    return cast("F", compiled)


@cache
def _direct(function: Callable[..., Any]) -> Any:
    return numba.njit(**OPTIONS)(function)


def _load64(typing_context: Any, data: Any, index: Any) -> Any:
    """Load 8 bytes of a uint8 array, from any index, as a little-endian number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _element(context, builder, signature, arguments)
        return builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(data, index), generate


def _store64(typing_context: Any, data: Any, index: Any, value: Any) -> Any:
    """Store a number in 8 bytes of a uint8 array, from any index, the lowest byte first."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _element(context, builder, signature, arguments)
        builder.store(arguments[2], builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(data, index, types.uint64), generate


def _equal64(typing_context: Any, data: Any, index: Any, byte: Any) -> Any:
    """Compare 64 bytes of a uint8 array, from any index, with one byte; bit i of the result says whether byte i is equal."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _element(context, builder, signature, arguments)
        lanes = ir.VectorType(ir.IntType(8), 64)
        loaded = builder.load(builder.bitcast(pointer, lanes.as_pointer()), align=1)
        single = builder.insert_element(lanes(ir.Undefined), arguments[2], ir.IntType(32)(0))
        every = builder.shuffle_vector(single, lanes(ir.Undefined), ir.VectorType(ir.IntType(32), 64)([0] * 64))
        return builder.bitcast(builder.icmp_unsigned("==", loaded, every), ir.IntType(64))

    return types.uint64(data, index, types.uint8), generate


def _folded_product(typing_context: Any, a: Any, b: Any) -> Any:
    """Multiply two uint64 and return the two halves of the product, 64 bits each, combined by exclusive or."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        upper = builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))
        return builder.xor(upper, builder.trunc(product, ir.IntType(64)))

    return types.uint64(types.uint64, types.uint64), generate


def _prefetch(typing_context: Any, data: Any, index: Any) -> Any:
    """Tell the processor to load an element of an array into its cache, without waiting for it.

    Without prefetching, the first pass of `fleet` takes 1.5 times as long, and a key of `stock` a sixth more
    (``python -m benchmarks ablations``).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.bitcast(_element(context, builder, signature, arguments), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cast("Any", cgutils).get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [pointer, number(0), number(3), number(1)])  # read, keep in all caches, data
        return context.get_dummy_value()

    return types.void(data, index), generate


def _trailing_zeros(typing_context: Any, value: Any) -> Any:
    """Count the zero bits below the lowest set bit of a uint64; 64 if it is 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


def _ones(typing_context: Any, value: Any) -> Any:
    """Count the set bits of a uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def _array_at(typing_context: Any, table: Any, index: Any, kind: Any) -> Any:
    """Return the array, of numbers of type ``kind``, whose address and size are ``table[index]`` and ``table[index + 1]``.

    Nothing is checked, and the array is not kept alive: the caller must have it, and must have written the right numbers.
    """
    array_type = types.Array(kind.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _element(context, builder, signature, arguments)
        address, size = builder.load(place), builder.load(builder.gep(place, [ir.IntType(32)(1)]))
        array = context.make_array(array_type)(context, builder)
        width = context.get_constant(types.intp, array_type.dtype.bitwidth // 8)
        data = builder.inttoptr(address, array.data.type)
        populate = cast("Any", arrayobj).populate_array
        populate(array, data=data, shape=[size], strides=[width], itemsize=width, meminfo=None)
        return array._getvalue()  # noqa: SLF001  # numba's own name for it

    return array_type(table, index, kind), generate


def _element(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the address of an element: the first argument is the array, the second the index."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])


array_at: Any = intrinsic(_array_at)
equal64: Any = intrinsic(_equal64)
folded_product: Any = intrinsic(_folded_product)
load64: Any = intrinsic(_load64)
ones: Any = intrinsic(_ones)
prefetch: Any = intrinsic(_prefetch)
store64: Any = intrinsic(_store64)
trailing_zeros: Any = intrinsic(_trailing_zeros)
