"""What charts of a report show: the heights and names that they are drawn with."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from dfa_router.inspection import charts
from dfa_router.inspection.times import NAMES, time_column


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the axes that are drawn on from now on."""
    kept: list[Any] = []

    def keep(draw: Any, _width: float, _height: float) -> str:
        kept.append(Figure().add_subplot())
        draw(kept[-1])
        return ""

    monkeypatch.setattr(charts, "_drawn", keep)
    return kept


def names(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def test_each_number_has_a_bar_and_those_over_forty_share_one(drawn: list[Any]) -> None:
    charts.histogram({0: 3, 2: 7}, "copies")
    charts.histogram({40: 5, 41: 2, 90: 1}, "copies")
    few, many = ([bar.get_height() for bar in axes.patches] for axes in drawn)
    assert few == [3, 0, 7]
    assert names(drawn[0]) == ["0", "1", "2"]
    assert many == [*[0] * 40, 5, 3]
    assert names(drawn[1])[-2:] == ["40", ">40"]


def test_a_chart_of_times_has_all_messages_and_the_lost_ones_of_each_minute(drawn: list[Any]) -> None:
    charts.time_chart({"2026-01-01 23:59": (5, 1), "2026-01-02 00:01": (4, 2)})
    lines = {line.get_label(): list(line.get_ydata()) for line in drawn[0].lines}
    assert lines == {"messages": [5, 0, 4], "unroutable": [1, 0, 2]}
    charts.time_chart({f"2026-01-01 {n // 60:02}:{n % 60:02}": (2, 1) for n in range(charts.MOST_POINTS + 1)})
    totals, lost = (sum(line.get_ydata()) for line in drawn[1].lines)
    assert (totals, lost) == (2 * charts.MOST_POINTS + 2, charts.MOST_POINTS + 1)
    assert drawn[1].get_ylabel() == "messages in 2 minutes"


def test_a_column_that_is_named_as_a_time_comes_before_others_of_times() -> None:
    schema = pa.schema({"stored": pa.timestamp("ms"), NAMES[1]: pa.string(), NAMES[0]: pa.int64()})
    assert time_column(schema) == NAMES[1]
