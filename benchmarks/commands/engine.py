"""``python -m benchmarks engine``: the automata beside look-ups of whole keys and the matchers that people use."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import out_option, plots_option, quick_option, rounds_option

__all__ = ["engine"]

QUICK = 0.02
"""The share of each workload that a quick run makes."""


def _known(_context: click.Context, _argument: click.Parameter, parts: tuple[str, ...]) -> tuple[str, ...]:
    from benchmarks.engine import PARTS, WORKLOADS

    known = (*WORKLOADS, *PARTS)
    unknown = sorted(set(parts) - set(known))
    if unknown:
        raise click.BadParameter(f"no part {unknown[0]!r}: use {', '.join(known)}")
    return parts or known


@click.command(short_help="Measure the automata beside hash joins and other matchers.")
@click.argument("parts", nargs=-1, callback=_known)
@out_option("engine.csv, engine-targets.csv, engine.md and engine.svg")
@quick_option("Less of everything, in about two minutes")
@rounds_option(5)
@plots_option
@click.pass_context
def engine(context: click.Context, *, parts: tuple[str, ...], out: Path, quick: bool, rounds: int, plots: bool) -> None:
    """Measure nanoseconds per key and their ratio to pyarrow's index_in in the same run, and compare with the targets.

    PARTS are workloads (throughput, stock, fleet, hard, rabbit2011, nservicebus, repeat) and what is measured beside
    them: threads, single (keys), process (start-up), memory (as the system counts it), adversarial (binding sets whose
    states no cache can hold). All by default, in about ten minutes. Peers that are not installed are left out and named.
    A target that is missed is reported as missed; answers that disagree end the run.

    \b
    Examples:
      python -m benchmarks engine stock fleet --out /tmp/figures
      python -m benchmarks engine adversarial --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.engine import PARTS, WORKLOADS, Row, run, write
    from benchmarks.measure import pinned

    named = [] if parts == (*WORKLOADS, *PARTS) else parts
    terminal = context.obj.terminal
    found = []
    missed = 0
    with pinned():
        for one in run(parts, scale=QUICK if quick else 1.0, rounds=rounds, progress=terminal.show):
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
    command = " ".join(["python -m benchmarks engine", *named, *(["--quick"] if quick else []), f"--rounds {rounds}"])
    for path in write(found, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
    if missed:
        terminal.show(f"{missed} targets were missed")
