"""The page of claims: what each statement of the documents is worth here, with the figure, and the command that judges it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from benchmarks.seeds.claims import CLAIMS, Claim, Figures
from benchmarks.seeds.claims.claim import AGREES, CANNOT, DISAGREES
from benchmarks.seeds.pages.tables import markdown
from benchmarks.seeds.rows import Row

__all__ = ["ABOUT", "claims_page", "verdict_lines"]

ABOUT = """\
Each statement of the five documents that could be measured or tested, in our words, and what became of it. Figures are those
of the run that wrote [seeds.md](seeds.md), which says what they cannot show; the limit at which a statement agrees stands in
its claim (`benchmarks/seeds/claims`). `python -m benchmarks seeds --claim NAME` measures what a claim needs and judges it
alone; where a test shows it, the test is named."""


def claims_page(rows: Sequence[Row], written_by: str) -> str:
    """Return the page."""
    figures = Figures(rows)
    counts = Counter(claim.verdict(figures).word for claim in CLAIMS)
    parts = [
        "# The claims of the documents",
        written_by,
        ABOUT,
        f"Of {len(CLAIMS)} claims {counts[AGREES]} agree, {counts[DISAGREES]} disagree, and {counts[CANNOT]} cannot be tested here.",
    ]
    for document, claims in groupby(CLAIMS, lambda claim: claim.document):
        parts += [f"## {document}", _table(claims, figures)]
    return "\n\n".join(parts) + "\n"


def _table(claims: Iterable[Claim], figures: Figures) -> str:
    lines = []
    for claim in claims:
        word, figure, why = claim.verdict(figures)
        shown = f"`{claim.test.rpartition('/')[2]}`" if claim.test else figure
        name = f"`{claim.name}`" if not claim.test and claim.reachable else claim.name.partition(".")[2]
        lines.append([name, claim.says, f"**{word}**", shown, why or "-"])
    cells = [[cell.replace("|", "\\|").replace("``", "`") for cell in line] for line in lines]
    return markdown(["claim", "statement", "verdict", "figure, or test", "why"], cells, numbers=False)


def verdict_lines(claim: Claim, rows: Sequence[Row]) -> list[str]:
    """Return a verdict as lines for a terminal."""
    word, figure, why = claim.verdict(Figures(rows))
    lines = [f"{claim.name}: {word}", f"  {claim.says}", f"  {figure}"]
    return lines + [f"  {why}"] * bool(why)
