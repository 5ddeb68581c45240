"""How long work tells how far it is, to whoever shows that to people."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Report"]

Report = Callable[[str, int, int], None]
"""Called now and then with what is being done, how many units of it are done, and how many there are: 0 where nobody knows yet."""
