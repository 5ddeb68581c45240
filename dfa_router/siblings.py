"""The other packages of this distribution, and what may stand in front of them.

``compiler`` and ``viz`` are plain names, and Python looks for a module in the folder of the program first: a file
``compiler.py`` there is found before ours, and each of our imports fails with a text that names neither. So it is checked
what Python finds, before it is imported.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["ShadowedError", "check_sibling"]


class ShadowedError(ImportError):
    """Another module has the name of one of our packages; the text names its file and the remedy."""


def check_sibling(name: str) -> None:
    """Raise :class:`ShadowedError` unless Python finds the package of that name beside this one; it takes 0.1 ms.

    Nothing is imported: that would run what was found.
    """
    ours = Path(__file__).parents[1] / name
    behind = Path(__file__).resolve().parents[1] / name  # where this package is a link
    if name in sys.modules:
        module = sys.modules[name]
        file, folders = getattr(module, "__file__", None), list(getattr(module, "__path__", ()))
        how = "another module of that name was imported before, "
    else:
        spec = find_spec(name)
        file, folders = (spec.origin, list(spec.submodule_search_locations or ())) if spec else (None, [])
        how = "Python finds under that name "
        if spec is None:
            raise ShadowedError(f"dfa_router needs its package {name!r} in {ours}, which is missing: install it again")
    if any(Path(folder) in (ours, behind) or Path(folder).resolve() == behind for folder in folders):
        return
    found = file or ", ".join(folders) or "which has no file"
    raise ShadowedError(
        f"dfa_router needs its package {name!r} in {ours}, but {how}{found}: rename that, or run the program from another "
        "folder",
        name=name,
        path=file,
    )
