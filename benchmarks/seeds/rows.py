"""A figure, and what was published for it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COLUMNS", "LATENCY", "PUBLISHED", "THROUGHPUT", "Row"]

COLUMNS = ("table", "matcher", "measure", "condition", "value", "unit", "published", "note")
"""The columns of the file of figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured figure."""

    table: str
    """The table that it belongs to, such as latency."""
    matcher: str
    measure: str
    """What was measured, such as ``lookup``, or the shares of a mix."""
    condition: str
    """The condition, such as ``hot`` or ``8 threads``."""
    value: float
    unit: str
    note: str = ""

    @property
    def published(self) -> float | None:
        """The figure that the matcher's author gives for it, in the same unit, or None."""
        return PUBLISHED.get((self.table, self.matcher, self.measure, self.condition))


# Tyler Treat, "Fast Topic Matching": nanoseconds to subscribe, unsubscribe and look up, cold and then hot; messages a second.
# His naive.go splits the subscription and the topic again for each pair.
LATENCY = {
    "scan, split every time": ((172, 51.2, 787), (221, 55, 815_787)),
    "inverted": ((3795, 198, 380), (3863, 198, 395)),
    "inverted_opt": ((1053, 330, 2724), (1076, 371, 3337)),
    "trie": ((406, 221, 2145), (443, 257, 2278)),
    "cstrie": ((412, 245, 1615), (471, 280, 1637)),
}
THROUGHPUT = {
    "scan, split every time": 4053.48,
    "inverted": 1_052_315.02,
    "inverted_opt": 130_705.98,
    "trie": 248_762.10,
    "cstrie": 340_910.64,
}

PUBLISHED: dict[tuple[str, str, str, str], float] = {
    ("latency", matcher, measure, condition): figure
    for matcher, conditions in LATENCY.items()
    for condition, figures in zip(("cold", "hot"), conditions, strict=True)
    for measure, figure in zip(("subscribe", "unsubscribe", "lookup"), figures, strict=True)
} | {("throughput", matcher, "lookup", "hot"): figure for matcher, figure in THROUGHPUT.items()}
"""(table, matcher, measure, condition) -> the author's figure. Figures that were only drawn (memory, mixes) are left out."""
