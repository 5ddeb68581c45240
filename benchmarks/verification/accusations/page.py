"""The page of the campaigns against right matchers: what they were asked, and every accusation."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import machine
from benchmarks.result_files import write_page
from benchmarks.verification.accusations.campaigns import Asked, Result

__all__ = ["write"]


def write(result: Result, folder: Path, *, command: str) -> Path:
    """Write ``accusations.md`` into a folder, which is made."""
    return write_page(folder, "accusations", _page(result, command))


def _page(result: Result, command: str) -> str:
    found = len(result.accusations)
    verdict = "**Nobody was accused.**" if not found else f"**{found} campaigns accused a matcher that is right.**"
    parts = [
        "# Right matchers under the fuzz tester",
        (
            f"Written by `{command}` on {machine()}. {verdict} The matchers answer as the specification does, in the forms that the "
            "fuzz tester takes: functions, a class whose set changes, the same asked by several threads, and an engine of ours that "
            "is also asked how its time grows. Sets follow each other and change; all are started anew, traced and timed as any target is. "
            "So each accusation would be a mistake of the fuzz tester."
        ),
        f"Seeds {result.first_seed} to {max(result.first_seed, result.next_seed - 1)}, {result.seconds / 60:.1f} minutes.",
        _table(result),
        (
            "What it cannot show: that no seed accuses a right matcher. A machine that stands still for seconds would make one hang."
        ),
    ]
    for one in result.accusations:
        parts += [f"## {one.dialect}, {one.way}, seed {one.seed}", f"```\n{one.text}\n```"]
    return "\n\n".join(parts) + "\n"


def _table(result: Result) -> str:
    head = ["| dialect | matcher | campaigns | rounds | with histories | cases |", "|---|---|---:|---:|---:|---:|"]
    rows = [_row(dialect, way, asked) for (dialect, way), asked in result.asked.items()]
    return "\n".join([*head, *rows, _row("all", "", result.total)])


def _row(dialect: str, way: str, asked: Asked) -> str:
    counts = (asked.campaigns, asked.rounds, asked.histories, asked.cases)
    return f"| {dialect} | {way} | " + " | ".join(f"{number:,}" for number in counts) + " |"
