"""The charts of a report, as SVG that stands in a page: drawn by matplotlib (the extra ``report``).

Names come from brokers and may be anything: mathematics in them is not set, and characters that a font lacks are the browser's
concern, as texts stay texts. matplotlib takes half a second to import, so it is imported where a chart is drawn.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfa_router.errors import EnvironmentLacksError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bar_chart", "check_charts", "histogram", "time_chart"]

ROUTED, LOST = "#4477aa", "#cc6677"
"""Colours that people of all sorts of sight tell apart (Paul Tol's)."""
LONGEST = 48
"""Characters of a name in a chart."""
MOST_POINTS = 400
"""Of a chart of times: more minutes are put together."""

MOST_MINUTES = 2_000_000
"""Between the first and the last one, of which each has a place in a chart; else only those in which a message came."""

SETTINGS: Any = {"svg.hashsalt": "dfa-router", "svg.fonttype": "none", "font.size": 9, "text.parse_math": False}
"""The same numbers give the same bytes; texts are texts, and no mathematics."""


def check_charts() -> None:
    """Raise :class:`EnvironmentLacksError` if there is no matplotlib."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise EnvironmentLacksError(
            "charts need matplotlib, which is not installed: pip install 'dfa-router[report]', or leave --html out"
        ) from None
    assert mpl.__version__


def histogram(counts: Mapping[int, int], label: str) -> str:
    """Return a chart of how often each number occurs; from 40 on, numbers are put together.

    >>> histogram({0: 3, 1: 7}, "copies").startswith("<svg")
    True
    """
    most = 40
    heights = [counts.get(number, 0) for number in range(min(most, max(counts, default=0)) + 1)]
    rest = sum(count for number, count in counts.items() if number > most)
    names = [str(number) for number in range(len(heights))] + ([f">{most}"] if rest else [])
    heights += [rest] if rest else []

    def draw(axes: Axes) -> None:
        axes.bar(range(len(heights)), heights, color=[LOST if name == "0" else ROUTED for name in names])
        axes.set_xticks(range(len(heights)), names, fontsize=8 if len(names) > 20 else 9)
        axes.set_xlabel(label)
        axes.set_ylabel("messages")

    return _drawn(draw, 7, 2.6)


def bar_chart(names: Sequence[str], values: Sequence[int], label: str) -> str:
    """Return a chart of named values, the first at the top."""
    short = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in names]

    def draw(axes: Axes) -> None:
        axes.barh(range(len(values)), values, color=ROUTED)
        axes.set_yticks(range(len(values)))
        axes.set_yticklabels(short)
        axes.invert_yaxis()
        axes.set_xlabel(label)

    return _drawn(draw, 7, 0.7 + 0.22 * max(2, len(values)))


def time_chart(times: Mapping[str, tuple[int, int]]) -> str:
    """Return a chart of messages, and of unroutable ones among them, by minute; ``times`` is not empty."""
    names = _every_minute(list(times))
    step = max(1, -(-len(names) // MOST_POINTS))
    groups = [names[first : first + step] for first in range(0, len(names), step)]
    totals = [sum(times.get(name, (0, 0))[0] for name in group) for group in groups]
    lost = [sum(times.get(name, (0, 0))[1] for name in group) for group in groups]

    def draw(axes: Axes) -> None:
        places = range(len(groups))
        axes.fill_between(places, totals, color=ROUTED, alpha=0.35, linewidth=0)
        axes.plot(places, totals, color=ROUTED, label="messages", marker="." if len(groups) < 3 else None)
        axes.plot(places, lost, color=LOST, label="unroutable", marker="." if len(groups) < 3 else None)
        shown = sorted({0, len(groups) // 3, 2 * len(groups) // 3, len(groups) - 1})
        axes.set_xticks(shown, [groups[place][0] for place in shown])
        axes.set_ylabel("messages" if step == 1 else f"messages in {step} minutes")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)

    return _drawn(draw, 7, 2.6)


def _every_minute(names: list[str]) -> list[str]:
    """Return the minutes from the first to the last one, or only those that are there where that is many, or no date."""
    try:
        first, last = (np.datetime64(name.replace(" ", "T"), "m") for name in (min(names), max(names)))
    except ValueError:  # such as February 30th
        return names
    every = int((last - first).astype(np.int64)) + 1
    return [str(one).replace("T", " ") for one in np.arange(first, last + 1)] if every < MOST_MINUTES else names


def _drawn(draw: Any, width: float, height: float) -> str:
    check_charts()
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import StrMethodFormatter

    log = logging.getLogger("matplotlib")
    level = log.level
    with mpl.rc_context(rc=SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of characters that its own font lacks, as browsers have others
        log.setLevel(logging.ERROR)
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes)
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.get_ticklabels() or axis.get_major_formatter().__class__.__name__ == "ScalarFormatter":
                axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        sink = io.StringIO()
        figure.savefig(sink, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
        log.setLevel(level)
    text = sink.getvalue()
    return text[text.index("<svg") :].strip()
