"""``python -m benchmarks families``: the engine on workloads that are drawn anew."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.options import new_seed_option, out_option, plots_option, quick_option, rounds_option

__all__ = ["families"]

QUICK = 0.05
"""The share of each workload that a quick run makes."""


def _known(_context: click.Context, _argument: click.Parameter, kinds: tuple[str, ...]) -> tuple[str, ...]:
    from benchmarks.families import KINDS

    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        raise click.BadParameter(f"no kind {unknown[0]!r}: use {', '.join(KINDS)}")
    return kinds or tuple(KINDS)


@click.command(short_help="Measure the engine on workloads that are drawn anew.")
@click.argument("kinds", nargs=-1, callback=_known)
@new_seed_option
@click.option("--variants", type=click.IntRange(1), default=12, show_default=True, help="Variants of each kind.")
@out_option("families.csv, families.md and families.svg")
@quick_option("A twentieth of the bindings and keys")
@rounds_option(5)
@plots_option
@click.pass_context
def families(
    context: click.Context,
    *,
    kinds: tuple[str, ...],
    seed: int,
    variants: int,
    out: Path,
    quick: bool,
    rounds: int,
    plots: bool,
) -> None:
    """Measure nanoseconds per key and their ratios on variants of the workloads, with the options of routers that are
    given none.

    KINDS are throughput, stock, fleet and hard; all by default, which takes about half an hour. Each run draws other
    variants, unless it is given the seed that another one has printed. Targets that are missed are reported as missed;
    answers that disagree end the run.

    \b
    Examples:
      python -m benchmarks families
      python -m benchmarks families fleet --seed 15 --rounds 3 --out /tmp/figures
    """  # noqa: D301 - click wants the control character itself
    from benchmarks.families import run, write
    from benchmarks.families.targets import ratio, targets
    from benchmarks.measure import pinned

    terminal = context.obj.terminal
    terminal.show(f"seed {seed}")
    scale = QUICK if quick else 1.0
    found = []
    with pinned():
        for one in run(kinds, seed=seed, variants=variants, scale=scale, rounds=rounds, progress=terminal.show):
            found.append(one)
            shares = {name: ratio(one, name) for name in ("first pass", "warm", "three passes")}
            terminal.show("  " + ", ".join(f"{name} {value:.2f}" for name, value in shares.items()))
    for target in targets(found):
        verdict = "met" if target.met else "MISSED"
        figures = f"median {target.median:.2f}, worst {target.worst:.2f} ({target.sense} {target.bound:.2f})"
        terminal.show(f"{verdict}: {target.kind}, {target.what}: {figures}")
    from benchmarks.families import KINDS

    named = [] if kinds == tuple(KINDS) else list(kinds)
    shortened = ["--quick"] if quick else []
    options = [f"--seed {seed}", f"--variants {variants}", *shortened, f"--rounds {rounds}"]
    command = " ".join(["python -m benchmarks families", *named, *options])
    for path in write(found, out, command=command, plots=plots):
        terminal.show(f"wrote {path}")
