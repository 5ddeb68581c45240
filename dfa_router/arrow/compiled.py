"""Whether this process has kernels: those that would make or read columns faster are no reason to start a compiler."""

from __future__ import annotations

import sys

__all__ = ["compiles"]


def compiles() -> bool:
    """Tell whether numba is here already, and compiles: engines without kernels do without it."""
    jit = sys.modules.get("compiler.kernels._jit")
    return bool(getattr(jit, "JIT", False))  # another thread may just be importing it
