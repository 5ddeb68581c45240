"""Modules with a planted bug: a copy of a module in which one piece of its source is another."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

__all__ = ["mutant"]


def mutant(module: ModuleType, right: str, planted: str) -> ModuleType:
    """Return a copy of a module with ``planted`` in place of ``right``, which its source must have."""
    source = Path(str(module.__file__)).read_text()
    assert right in source, f"{right!r} is no longer in {module.__name__}"
    copy = ModuleType(f"{module.__name__}_mutant")
    copy.__file__ = module.__file__
    sys.modules[copy.__name__] = copy  # dataclasses look their module up
    exec(compile(source.replace(right, planted), str(module.__file__), "exec"), copy.__dict__)
    return copy
