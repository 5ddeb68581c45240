"""The files of a run: figures, two pages and plots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.seeds.pages import prose, tables
from benchmarks.seeds.pages.claims import claims_page
from benchmarks.seeds.predicates import FRESH, RECURRING
from benchmarks.seeds.rows import COLUMNS, Row
from benchmarks.seeds.sources import digest
from benchmarks.seeds.threads.interpreters import FREE

__all__ = ["MEASURED", "write"]

MEASURED = "Of the engines with the digest "
"""What stands before the digest in the page."""


def write(rows: Iterable[Row], folder: Path, *, quick: bool, plots: bool = True) -> list[Path]:
    """Write ``seeds.csv``, ``seeds.md``, ``seeds-claims.md`` and the plots into a folder, which is made; return their paths.

    Raises :class:`EnvironmentLacksError` if plots are wanted and matplotlib is not installed.
    """
    import csv

    rows = list(rows)
    folder.mkdir(parents=True, exist_ok=True)
    images: list[Path] = []
    if plots:
        from benchmarks.seeds.pages.plots import draw

        images = draw(rows, folder)
    table, page, claims = (folder / name for name in ("seeds.csv", "seeds.md", "seeds-claims.md"))
    with table.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for row in rows:
            out.writerow(["" if (value := getattr(row, name)) is None else value for name in COLUMNS])
    written_by = f"Written by `python -m benchmarks seeds{' --quick' * quick}` on {machine()}, {_cells()}. {MEASURED}`{digest()}`."
    page.write_text(_page(rows, images, written_by), "utf-8")
    claims.write_text(claims_page(rows, written_by), "utf-8")
    return [table, page, claims, *images]


def _page(rows: Sequence[Row], images: Sequence[Path], written_by: str) -> str:
    def image(name: str) -> str:
        return next((f"![{name}]({path.name})" for path in images if path.stem == f"seeds-{name}"), "")

    parts = [
        "# The tables of published articles, measured again",
        written_by,
        prose.SOURCES,
        prose.LIMITS,
        "## Latency",
        prose.LATENCY,
        *(tables.latency(rows, condition) for condition in ("cold", "hot")),
        image("latency"),
        tables.splitting(rows),
        "## Throughput",
        prose.THROUGHPUT,
        tables.throughput(rows),
        image("throughput"),
        "## Memory",
        prose.MEMORY,
        *tables.memory(rows),
        image("memory"),
        "## Growth",
        prose.GROWTH,
        tables.growth(rows),
        "## Fields and selectors",
        prose.FIELDS,
        tables.by_condition(rows, "fields", "message"),
        "## Several threads",
        prose.THREADS,
        *_threads(rows, "", image),
        *_threads(rows, FREE, image),
        "## Arbitrary predicates",
        prose.PREDICATES,
        *(f"{condition.capitalize()}:\n\n{tables.predicates(rows, condition)}" for condition in (RECURRING, FRESH)),
        image("predicates"),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _threads(rows: Sequence[Row], suffix: str, image: object) -> list[str]:
    """Return the part with the interpreter's lock, or without it."""
    title = "### Without the interpreter's lock" if suffix else "### With the interpreter's lock"
    measured = {r.table: r.note.rpartition("; ")[2] for r in rows}
    if f"mix{suffix}" not in measured:
        return [title, "Not measured in this run: no free-threaded Python was named (`--free-threaded PYTHON`)."]
    assert callable(image)

    def measures(table: str) -> list[str]:
        return list(dict.fromkeys(row.measure for row in rows if row.table == table + suffix))

    drawn = "-free" if suffix else ""
    return [
        f"{title}: {measured[f'mix{suffix}']}",
        prose.MIX,
        *(tables.by_condition(rows, f"mix{suffix}", measure) for measure in measures("mix")),
        image(f"mix{drawn}"),
        prose.INSERTS,
        *(tables.inserts(rows, f"inserts{suffix}", measure) for measure in measures("inserts")),
        image(f"inserts{drawn}"),
        prose.READS,
        tables.by_condition(rows, f"reads{suffix}", "look-ups alone"),
        prose.TAIL,
        tables.by_condition(rows, f"tail{suffix}", "look-up"),
    ]


def _cells() -> str:
    try:
        return f"the CS-trie's cells by cereggii {version('cereggii')}"
    except PackageNotFoundError:
        return "the CS-trie's cells with locks (cereggii is not installed)"
