"""What the plots of all benchmarks share: whether matplotlib is installed, and a figure in the common style.

matplotlib is optional and takes half a second to import, so it is imported where a figure is made.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from dfa_router.errors import EnvironmentLacksError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_installed", "new_figure"]


def check_installed() -> None:
    """Raise :class:`EnvironmentLacksError` if there is no matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise EnvironmentLacksError(
            "plots need matplotlib, which is not installed: pip install 'dfa-router[bench]', or leave the plots out"
        )


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches.

    The same content gives the same bytes of SVG, so that version control shows a difference only where figures differ.
    """
    check_installed()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams |= {"svg.hashsalt": "dfa-router", "svg.fonttype": "none", "font.size": 9}
    return Figure(figsize=(width, height), layout="constrained")
