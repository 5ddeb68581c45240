"""What a claim is, the figures that it is judged by, and how a verdict is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.seeds.rows import Row

__all__ = ["AGREES", "CANNOT", "DISAGREES", "Claim", "Document", "Figures", "Verdict", "judged"]

AGREES, DISAGREES, CANNOT = "agrees", "disagrees", "cannot be tested here"


class Verdict(NamedTuple):
    """What became of a claim."""

    word: str
    """:data:`AGREES`, :data:`DISAGREES` or :data:`CANNOT`."""
    figure: str
    why: str


class Figures:
    """The rows of a run, by what they are about."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = {(row.table, row.matcher, row.measure, row.condition): row.value for row in rows}

    def __call__(self, table: str, matcher: str, measure: str, condition: str) -> float:
        """Return a figure; raises ``KeyError`` if it was not measured."""
        return self._rows[table, matcher, measure, condition]

    def series(self, table: str, matcher: str, measure: str) -> dict[str, float]:
        """Return the figures of a measure by condition, in the order of the run; raises ``KeyError`` if there are none."""
        found = {key[3]: value for key, value in self._rows.items() if key[:3] == (table, matcher, measure)}
        if not found:
            raise KeyError((table, matcher, measure))
        return found

    def lookup(self, matcher: str, condition: str = "hot", measure: str = "lookup") -> float:
        """Return nanoseconds from the table of latency."""
        return self("latency", matcher, measure, condition)

    def rate(self, matcher: str) -> float:
        """Return messages a second from the table of throughput."""
        return self("throughput", matcher, "lookup", "hot")

    def growth(self, matcher: str, measure: str, condition: str, base: str) -> float:
        """Return how many times as long one condition takes as another, from the table of growth."""
        return self("growth", matcher, measure, condition) / self("growth", matcher, measure, base)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of a document that a measurement or a test can judge, or that nothing here can."""

    name: str
    """Such as ``topics.naive-linear``."""
    document: str
    says: str
    """The statement, in our words."""
    tables: tuple[str, ...]
    """What has to be measured for it, of :data:`benchmarks.seeds.suite.TABLES`."""
    judge: Callable[[Figures], Verdict]
    test: str = ""
    """The test that shows it, if no measurement does."""
    reachable: bool = True
    """Whether anything here can judge it."""

    @property
    def command(self) -> str:
        """The command that judges it."""
        if self.test:
            return f"pytest {self.test}"
        return f"python -m benchmarks seeds --claim {self.name}" if self.reachable else "-"

    def verdict(self, figures: Figures) -> Verdict:
        """Judge it; a claim whose figures were not measured cannot be tested."""
        try:
            return self.judge(figures)
        except KeyError as error:
            return Verdict(CANNOT, "-", f"not measured in this run: {', '.join(map(str, error.args[0]))}")


class Document:
    """The claims of a document, each a function that judges it, whose docstring is the statement."""

    def __init__(self, prefix: str, title: str) -> None:
        self.prefix = prefix
        self.title = title
        self.claims: list[Claim] = []

    def measured(self, *tables: str) -> Callable[[Callable[[Figures], Verdict]], None]:
        """Enter a claim that figures of these tables judge."""

        def enter(judge: Callable[[Figures], Verdict]) -> None:
            self._enter(judge.__name__, judge.__doc__ or "", judge, tables=tables)

        return enter

    def tested(self, name: str, says: str, test: str, why: str, *, agrees: bool = True) -> None:
        """Enter a claim that a test of the suite shows, or refutes."""
        verdict = Verdict(AGREES if agrees else DISAGREES, "a test", why)
        self._enter(name, says, lambda _: verdict, test=test)

    def out_of_reach(self, name: str, says: str, why: str) -> None:
        """Enter a claim that nothing here can judge."""
        self._enter(name, says, lambda _: Verdict(CANNOT, "-", why), reachable=False)

    def _enter(
        self,
        name: str,
        says: str,
        judge: Callable[[Figures], Verdict],
        *,
        tables: tuple[str, ...] = (),
        test: str = "",
        reachable: bool = True,
    ) -> None:
        assert says, name
        self.claims.append(
            Claim(
                name=f"{self.prefix}.{name.replace('_', '-')}",
                document=self.title,
                says=" ".join(says.split()),
                tables=tables,
                judge=judge,
                test=test,
                reachable=reachable,
            )
        )


def judged(holds: bool, figure: str, why: str = "", *, otherwise: str = "") -> Verdict:
    """Return the verdict of a measured claim; ``otherwise`` is said instead of ``why`` where it does not hold.

    >>> judged(True, "3 times").word
    'agrees'
    """
    return Verdict(AGREES if holds else DISAGREES, figure, why if holds else otherwise or why)
