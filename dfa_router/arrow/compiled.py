"""Whether kernels pay that only make or read columns faster: they are no reason to start a compiler, and loading them takes some milliseconds."""

from __future__ import annotations

import sys

__all__ = ["Before"]


class Before:
    """What went without some kernels in this process."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.rows = 0

    def enough(self, soon: int, rows: int) -> bool:
        """Tell whether kernels are to be used, as ``soon`` rows went without them, and numba is here already, and compiles; else count ``rows`` more."""
        if self.rows < soon:
            self.rows += rows
            return False
        jit = sys.modules.get("compiler.kernels._jit")  # engines without kernels do without numba
        return bool(getattr(jit, "JIT", False))  # another thread may just be importing it
