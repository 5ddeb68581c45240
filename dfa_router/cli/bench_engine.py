"""``dfa-router bench engine``: the automata beside whole-key look-ups and the matchers that people use."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["engine"]

QUICK = 0.02
"""The share of each workload that a quick run makes."""


@click.command(short_help="Measure the automata beside hash joins and other matchers.")
@click.argument("parts", nargs=-1)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("benchmarks"),
    show_default=True,
    help="The folder for engine.csv, engine-targets.csv, engine.md and engine.svg; earlier ones are replaced.",
)
@click.option("--quick", is_flag=True, help="Less of everything, in about two minutes: to see it work, not to quote.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Rounds to take the median of.")
@click.option("--plots/--no-plots", default=True, show_default=True, help="Draw the plot, which needs matplotlib.")
@click.pass_context
def engine(context: click.Context, *, parts: tuple[str, ...], out: Path, quick: bool, rounds: int, plots: bool) -> None:
    """Measure nanoseconds per key, as a ratio to pyarrow's index_in in the same run, and hold them to their targets.

    PARTS are workloads (throughput, stock, fleet, hard, rabbit2011, nservicebus, repeat) and what is measured beside
    them: threads, single (keys), process (start-up), memory (from outside), adversarial (families that no cache can
    hold). All by default, in about ten minutes. Peers that are not installed are left out and named. A target that is
    missed is reported as missed; answers that disagree end the run.

    \b
    Examples:
      dfa-router bench engine stock fleet --out /tmp/figures
      dfa-router bench engine adversarial --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from dfa_router.bench.engine import PARTS, WORKLOADS, Row, run, write
    from dfa_router.bench.measure import pinned
    from dfa_router.bench.plotting import check_installed

    known = (*WORKLOADS, *PARTS)
    unknown = sorted(set(parts) - set(known))
    if unknown:
        raise click.BadParameter(f"no part {unknown[0]!r}: use {', '.join(known)}", param_hint="PARTS")
    if plots:
        check_installed()  # before the run, not after it
    terminal = context.obj.terminal
    found = []
    missed = 0
    with pinned():
        for one in run(parts or known, scale=QUICK if quick else 1.0, rounds=rounds, progress=terminal.show):
            found.append(one)
            if isinstance(one, Row):
                if one.ns_per_key is not None:
                    ratio = "" if one.ratio is None else f", {one.ratio:.2f} x index_in"
                    terminal.show(f"  {one.contestant}: {one.ns_per_key:,.0f} ns/key{ratio}")
            elif one.met is not None:
                missed += not one.met
                verdict = "met" if one.met else "MISSED"
                terminal.show(
                    f"  {verdict}: {one.what}: {one.measured:,.2f} {one.unit} ({one.sense} {one.bound:,.2f} {one.unit})"
                )
    command = " ".join(["dfa-router bench engine", *parts, *(["--quick"] if quick else [])])
    for path in write(found, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
    if missed:
        terminal.show(f"{missed} targets were missed")
