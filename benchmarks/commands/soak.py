"""``python -m benchmarks soak``: random bindings and keys in random circumstances, for minutes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.options import expected_steps, out_option
from dfa_router.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from benchmarks.verification.soak import Tally

__all__ = ["soak"]


@click.command(short_help="Match random keys for minutes, and check every answer.")
@out_option("soak.md")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="How long; 10 unless --rounds is given.")
@click.option("--rounds", type=click.IntRange(1), help="How many rounds, instead of a time.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the first round.")
@click.option(
    "--hang-after",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds after which a round counts as one that never ends.",
)
@click.pass_context
def soak(
    context: click.Context,
    *,
    out: Path,
    minutes: float | None,
    rounds: int | None,
    seed: int,
    hang_after: float,
) -> None:
    """Match random keys for minutes, and check every answer.

    Binding sets, keys, their order and form, the bound on the cache, threads, saving and loading, pickling, signals, forks
    and damaged files: all are drawn from a seed, and the reference trie says what is right. The exit code is 1 if an
    answer differed or memory grew; the page says which. A round that does not end leaves the stacks of all threads in
    soak-hang.txt beside the page, and ends the process.

    \b
    Examples:
      python -m benchmarks soak --minutes 10
      python -m benchmarks soak --seed 4711 --rounds 1 --out /tmp/again
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.verification.soak import run, write

    if minutes is None and rounds is None:
        minutes = 10.0
    terminal = context.obj.terminal
    with terminal.progress("rounds") as report:

        def progress(tally: Tally) -> None:
            if report is not None:
                known = rounds or expected_steps(tally.rounds, tally.seconds, minutes)
                found = len(tally.disagreements)
                report(f"soaking: {found} disagreements" if found else "soaking", tally.rounds, known)

        tally = run(
            minutes=minutes,
            rounds=rounds,
            seed=seed,
            hangs=out / "soak-hang.txt",
            hang_seconds=hang_after,
            progress=progress,
        )
    given = f"--minutes {minutes:g}" if rounds is None else f"--rounds {rounds}"
    path = write(tally, out, command=f"python -m benchmarks soak {given} --seed {seed}")
    terminal.show(
        f"{tally.rounds:,} rounds, {tally.keys:,} keys, {tally.clears:,} clears, {tally.fallbacks:,} fallbacks, "
        f"{len(tally.disagreements)} disagreements in {tally.seconds:.0f} s"
    )
    terminal.show(f"wrote {path}")
    for one in tally.disagreements:
        terminal.show(f"  {one}")
    if tally.disagreements:
        context.exit(ExitCode.FOUND)
