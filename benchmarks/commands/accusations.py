"""``python -m benchmarks accusations``: right matchers under the fuzz tester, for minutes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.options import expected_steps, out_option
from dfa_router.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from benchmarks.verification.accusations import Result

__all__ = ["accusations"]


@click.command(short_help="Fuzz matchers that are right for minutes: nobody may be accused.")
@out_option("accusations.md")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="How long; 30 unless --seeds is given.")
@click.option("--seeds", type=click.IntRange(1), help="How many seeds, instead of a time.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The first seed.")
@click.pass_context
def accusations(context: click.Context, *, out: Path, minutes: float | None, seeds: int | None, seed: int) -> None:
    """Fuzz matchers that are right for minutes: nobody may be accused.

    Each seed is asked in every dialect: a function that checks nothing, one that refuses, a class whose set changes, the same asked
    by several threads, and the automaton, whose growth is measured. The exit code is 1 if any of them is accused; the page says of
    what.

    \b
    Examples:
      python -m benchmarks accusations --minutes 30
      python -m benchmarks accusations --seed 17 --seeds 1 --out /tmp/again
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.verification.accusations import run, write

    if minutes is None and seeds is None:
        minutes = 30.0
    terminal = context.obj.terminal
    with terminal.progress("campaigns") as report:

        def progress(result: Result) -> None:
            if report is not None:
                done, found = result.total.campaigns, len(result.accusations)
                known = expected_steps(done, result.seconds, minutes)
                report(f"fuzzing: {found} accusations" if found else "fuzzing", done, known)

        result = run(minutes=minutes, seeds=seeds, seed=seed, progress=progress)
    given = f"--minutes {minutes:g}" if seeds is None else f"--seeds {seeds}"
    path = write(result, out, command=f"python -m benchmarks accusations {given} --seed {seed}")
    total = result.total
    terminal.show(
        f"{total.campaigns:,} campaigns, {total.cases:,} cases in {total.rounds:,} rounds, {len(result.accusations)} accusations "
        f"in {result.seconds:.0f} s"
    )
    terminal.show(f"wrote {path}")
    for one in result.accusations:
        terminal.show(f"  {one.dialect}, {one.way}, seed {one.seed}")
    if result.accusations:
        context.exit(ExitCode.FOUND)
