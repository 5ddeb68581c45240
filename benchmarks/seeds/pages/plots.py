"""The plots: bars for figures of one thread, lines over the number of threads; logarithmic where the sources' plots are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.plotting import new_figure
from benchmarks.seeds.memory import LITERAL
from benchmarks.seeds.predicates import RECURRING
from benchmarks.seeds.rows import Row
from benchmarks.seeds.threads.contestants import THREADED, TRIES
from benchmarks.seeds.threads.interpreters import FREE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

Panels = Sequence[Callable[["Axes"], None]]
"""Functions that draw into axes."""


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw every plot into the folder as an SVG file; return the paths."""
    paths = []
    for name, (columns, panels) in {
        "latency": (2, [_latency_panel(rows, "cold"), _latency_panel(rows, "hot")]),
        "throughput": (1, [_bars(rows, "throughput", "messages/s", None)]),
        "memory": (1, [_bars(rows, "memory", "bytes per subscription", LITERAL)]),
        **_thread_plots(rows, "", ""),
        **_thread_plots(rows, FREE, "-free"),
        "predicates": (1, [_factors(rows)]),
    }.items():
        drawn = [panel for some in panels for panel in some]
        height = -(-len(drawn) // columns)
        figure = new_figure(6.2 * columns, 3.6 * height)
        for number, panel in enumerate(drawn):
            panel(figure.add_subplot(height, columns, number + 1))
        path = folder / f"seeds-{name}.svg"
        figure.savefig(path, metadata={"Date": None})
        paths.append(path)
    return paths


def _thread_plots(rows: Sequence[Row], suffix: str, ending: str) -> dict[str, tuple[int, list[Panels]]]:
    """Return the plots of several threads in one kind of interpreter, if they were measured in it."""
    if not any(r.table == f"mix{suffix}" for r in rows):
        return {}
    mix, inserts = f"mix{suffix}", f"inserts{suffix}"
    return {
        f"mix{ending}": (2, [_lines(rows, mix, "ms", None), _lines(rows, mix, "ms", TRIES)]),
        f"inserts{ending}": (2, [_lines(rows, inserts, "ms", None)]),
    }


def _factors(rows: Sequence[Row]) -> Panels:
    """Return a panel with messages a second by the number of subscribers, of each way."""
    found = [r for r in rows if r.table == "predicates" and r.measure == RECURRING]

    def panel(axes: Axes) -> None:
        for matcher in dict.fromkeys(r.matcher for r in found):
            some = [r for r in found if r.matcher == matcher]
            subscribers = [int(r.condition.split()[0].replace(",", "")) for r in some]
            axes.plot(subscribers, [r.value for r in some], "o-", label=matcher)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("subscribers")
        axes.set_ylabel("messages/s")
        axes.set_title(RECURRING)
        axes.legend(fontsize=7)

    return [panel]


def _latency_panel(rows: Sequence[Row], condition: str) -> Panels:
    """Return a panel with bars for look-ups, subscriptions and removals, and marks for the published figures."""
    found = [r for r in rows if r.table == "latency" and r.condition == condition and r.measure != "any" and not r.note]
    matchers = list(dict.fromkeys(r.matcher for r in found))

    def panel(axes: Axes) -> None:
        for number, measure in enumerate(("lookup", "subscribe", "unsubscribe")):
            some = [r for r in found if r.measure == measure]
            at = [matchers.index(r.matcher) + (number - 1) * 0.27 for r in some]
            axes.barh(at, [r.value for r in some], height=0.25, label=measure)
            marked = [(place, r.published) for place, r in zip(at, some, strict=True) if r.published is not None]
            label = "published" if number == 0 else None
            axes.plot([p[1] for p in marked], [p[0] for p in marked], "k|", markersize=7, label=label)
        axes.set_xscale("log")
        axes.set_xlabel("ns")
        axes.set_yticks(range(len(matchers)), matchers)
        axes.invert_yaxis()
        axes.set_title(f"latency, {condition}")
        axes.legend(fontsize=7)

    return [panel]


def _bars(rows: Sequence[Row], table: str, label: str, measure: str | None) -> Panels:
    """Return a panel with a bar for each figure of a table, or of a measure, and marks for the published ones."""
    found = [r for r in rows if r.table == table and measure in (None, r.measure)]
    names = {id(r): r.matcher + f", {r.condition}" * (r.condition == "after use") for r in found}

    def panel(axes: Axes) -> None:
        axes.barh([names[id(r)] for r in found], [r.value for r in found], label="here")
        marked = [(r.published, r.matcher) for r in found if r.published is not None]
        if marked:
            axes.plot(
                [figure for figure, _ in marked], [name for _, name in marked], "k|", markersize=9, label="published"
            )
            axes.legend(fontsize=7)
        axes.set_xscale("log")
        axes.set_xlabel(label)
        axes.invert_yaxis()
        axes.set_title(table)

    return [panel]


def _lines(rows: Sequence[Row], table: str, unit: str, only: Sequence[str] | None) -> Panels:
    """Return a panel for each measure, time over threads: of all matchers on a logarithmic scale, of ``only`` some linear."""
    matchers = list(THREADED)

    def make(measure: str) -> Callable[[Axes], None]:
        found = [r for r in rows if r.table == table and r.measure == measure]
        found = [r for r in found if not r.condition.startswith("1 thread,")]

        def panel(axes: Axes) -> None:
            for matcher in dict.fromkeys(r.matcher for r in found if only is None or r.matcher in only):
                some = [r for r in found if r.matcher == matcher]
                threads = [int(r.condition.split()[0]) for r in some]
                axes.plot(threads, [r.value for r in some], "o-", color=f"C{matchers.index(matcher)}", label=matcher)
            if only is None and table.startswith("mix"):
                axes.set_yscale("log")
            axes.set_ylim(bottom=None if axes.get_yscale() == "log" else 0)
            axes.set_xlabel("threads")
            axes.set_ylabel(unit)
            axes.set_title(measure if only is None else f"{measure}, tries")
            axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))

        return panel

    return [make(measure) for measure in dict.fromkeys(r.measure for r in rows if r.table == table)]
